//! Figure 8: overhead against the number of iterations.

use std::path::Path;

use tinyprof_bench_collective::document::plot::{Line, Words, draw_even};
use tinyprof_bench_collective::document::table::{Table, float};

use super::Rows;
use super::cells::{
    NOT_MEASURED, below, bold_spread, median, milliseconds, seconds, spread, to_a_processor,
};
use super::scaling::cases;
use crate::application::RunRow;
use crate::kept::Kept;

pub(super) fn table(kept: Option<&Kept<RunRow>>) -> String {
    let Some(kept) = kept else { return NOT_MEASURED.to_owned() };
    let mut table = Table::new(&[
        "P",
        "ranks to a processor",
        "iterations",
        "application, s",
        "annotations of a rank",
        "annotation, ms",
        "I/O, ms",
        "overhead, %",
    ]);
    let cases = cases(&kept.rows);
    for case in &cases {
        table.row(&[
            case.ranks.to_string(),
            to_a_processor(case.ranks, &kept.head),
            case.iterations.to_string(),
            spread(case.values(|row| seconds(row.cost.application_ns))),
            spread(case.values(|row| float(row.cost.visits))),
            spread(case.values(|row| milliseconds(row.cost.annotation_ns))),
            spread(case.values(|row| milliseconds(row.cost.io_ns()))),
            bold_spread(case.overheads()),
        ]);
    }
    table.finish()
        + &below(&kept.head, cases.iter().map(|case| case.runs.len()).max().unwrap_or_default())
}

pub(super) fn plot(rows: &Rows, directory: &Path) -> Result<(), String> {
    let Some(kept) = &rows.iterations else { return Ok(()) };
    let cases = cases(&kept.rows);
    let mut ranks: Vec<u32> = cases.iter().map(|case| case.ranks).collect();
    ranks.dedup();
    let of_cases = cases.iter().map(|case| (case, float(case.iterations)));
    let lines: Vec<Line> = ranks
        .into_iter()
        .map(|ranks| Line {
            name: if ranks == 1 { "1 rank".to_owned() } else { format!("{ranks} ranks") },
            points: of_cases
                .clone()
                .filter(|(case, _)| case.ranks == ranks)
                .map(|(case, iterations)| (iterations, median(case.overheads())))
                .collect(),
        })
        .collect();
    let title = format!("FFT, overhead, measured on {} processors", kept.head.place.processors);
    let words = Words { title: &title, x: "iterations", y: "%", names_in_the_middle: false };
    draw_even(&directory.join("figure8.svg"), &words, &lines)
}
