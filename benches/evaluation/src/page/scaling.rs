//! Figure 7: the cost of profiling for growing numbers of ranks.

use std::path::Path;

use tinyprof_bench_collective::document::plot::{Line, Words, draw, draw_even};
use tinyprof_bench_collective::document::table::{Table, float};

use super::Rows;
use super::cells::{
    NOT_MEASURED, below, bold_spread, median, milliseconds, seconds, spread, to_a_processor,
};
use super::simulated::flush_line;
use super::table_two::overhead;
use crate::application::RunRow;
use crate::formula::FIGURE_7_32K_S;
use crate::kept::Kept;

/// The repetitions of a case, and its parameters.
pub(super) struct Case<'a> {
    pub(super) name: &'a str,
    pub(super) ranks: u32,
    pub(super) iterations: u64,
    pub(super) runs: Vec<&'a RunRow>,
}

impl Case<'_> {
    pub(super) fn values(&self, of: fn(&RunRow) -> f64) -> impl Iterator<Item = f64> {
        self.runs.iter().map(move |row| of(row))
    }

    pub(super) fn overheads(&self) -> impl Iterator<Item = f64> {
        self.runs.iter().filter_map(|row| overhead(row))
    }
}

/// Groups the rows by case: by name, then by ranks, then by iterations.
pub(super) fn cases(rows: &[RunRow]) -> Vec<Case<'_>> {
    let mut cases: Vec<Case<'_>> = Vec::new();
    for row in rows {
        let key = (row.name.as_str(), row.ranks, row.iterations);
        match cases.iter_mut().find(|case| (case.name, case.ranks, case.iterations) == key) {
            Some(case) => case.runs.push(row),
            None => {
                cases.push(Case { name: key.0, ranks: key.1, iterations: key.2, runs: vec![row] });
            }
        }
    }
    cases.sort_by_key(|case| (case.name, case.ranks, case.iterations));
    cases
}

pub(super) fn table(kept: Option<&Kept<RunRow>>) -> String {
    let Some(kept) = kept else { return NOT_MEASURED.to_owned() };
    let mut table = Table::new(&[
        "application",
        "P",
        "ranks to a processor",
        "points or edges",
        "application, s",
        "annotations of a rank",
        "annotation, ms",
        "snapshot, ms",
        "1 synchronise, ms",
        "2 aggregate, ms",
        "3 write, ms",
        "profiling, ms",
        "overhead, %",
    ]);
    let cases = cases(&kept.rows);
    for case in &cases {
        let of = |value: fn(&RunRow) -> u64| {
            spread(case.runs.iter().map(|row| milliseconds(value(row))))
        };
        table.row(&[
            case.name.to_owned(),
            case.ranks.to_string(),
            to_a_processor(case.ranks, &kept.head),
            format!("{} x {}", case.iterations, case.runs[0].size),
            spread(case.values(|row| seconds(row.cost.application_ns))),
            spread(case.values(|row| float(row.cost.visits))),
            of(|row| row.cost.annotation_ns),
            of(|row| row.cost.snapshot_ns),
            of(|row| row.cost.synchronise_ns),
            of(|row| row.cost.aggregate_ns),
            of(|row| row.cost.write_ns),
            bold_spread(case.values(|row| milliseconds(row.cost.annotation_ns + row.cost.io_ns()))),
            bold_spread(case.overheads()),
        ]);
    }
    table.finish()
        + &below(&kept.head, cases.iter().map(|case| case.runs.len()).max().unwrap_or_default())
}

pub(super) fn plot(rows: &Rows, directory: &Path) -> Result<(), String> {
    let mut flushes = Vec::new();
    let mut counts = Vec::new();
    for (kind, kept) in [("weak", &rows.weak), ("strong", &rows.strong)] {
        let Some(kept) = kept else { continue };
        let cases = cases(&kept.rows);
        let line = |name: &str, application: &str, value: fn(&RunRow) -> f64| Line {
            name: name.to_owned(),
            points: cases
                .iter()
                .filter(|case| case.name == application)
                .map(|case| (f64::from(case.ranks), median(case.values(value))))
                .collect(),
        };
        let lines = [
            line("application", "FFT", |row| milliseconds(row.cost.application_ns)),
            line("annotation", "FFT", |row| milliseconds(row.cost.annotation_ns)),
            line("1 synchronise", "FFT", |row| milliseconds(row.cost.synchronise_ns)),
            line("2 aggregate", "FFT", |row| milliseconds(row.cost.aggregate_ns)),
            line("3 write", "FFT", |row| milliseconds(row.cost.write_ns)),
        ];
        let title =
            format!("FFT, {kind} scaling, measured on {} processors", kept.head.place.processors);
        let words = Words { title: &title, x: "ranks", y: "ms", names_in_the_middle: true };
        draw(&directory.join(format!("figure7-{kind}.svg")), &words, &lines)?;
        for application in ["FFT", "TC"] {
            flushes.push(line(&format!("{application}, {kind}, measured"), application, |row| {
                milliseconds(row.cost.io_ns())
            }));
            counts.push(line(&format!("{application}, {kind}"), application, |row| {
                float(row.cost.visits)
            }));
        }
    }
    let words = Words {
        title: "Annotations of a rank",
        x: "ranks",
        y: "annotations",
        names_in_the_middle: false,
    };
    draw_even(&directory.join("annotations.svg"), &words, &counts)?;
    flushes.push(flush_line(&rows.simulated));
    flushes.push(Line {
        name: "the paper, Theta".to_owned(),
        points: vec![(32_768.0, FIGURE_7_32K_S * 1e3)],
    });
    let title = "Flush: measured on few processors, and simulated";
    let words = Words { title, x: "ranks", y: "ms", names_in_the_middle: false };
    draw(&directory.join("figure7.svg"), &words, &flushes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::application::Cost;

    #[test]
    fn repetitions_of_a_case_are_put_together() {
        let cost = Cost {
            application_ns: 1_000_000_000,
            visits: 5,
            write_ns: 3_000_000,
            ..Cost::default()
        };
        let row = |ranks, repetition| RunRow {
            name: "FFT".into(),
            ranks,
            repetition,
            size: 64,
            iterations: 20,
            ..RunRow::example(cost)
        };
        let rows = [row(16, 0), row(2, 0), row(16, 1)];
        let seen: Vec<_> = cases(&rows).iter().map(|case| (case.ranks, case.runs.len())).collect();
        assert_eq!(seen, [(2, 1), (16, 2)]);
        let kept = Kept { head: crate::kept::tests::head("abc"), rows: rows.to_vec() };
        let text = table(Some(&kept));
        assert!(text.contains("| FFT | 16 | 8.00 (shared) | 20 x 64 | 1.00 | 5.00 |"), "{text}");
        assert!(
            text.contains("| **3.00** | **0.300** |") && text.contains("2 repetitions"),
            "{text}"
        );
    }
}
