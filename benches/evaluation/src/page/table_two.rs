//! Table II: by the paper's formula, and by the difference of runs with and without profiling.

use tinyprof_bench_collective::document::table::{Table, float};

use super::Rows;
use super::cells::{
    NOT_MEASURED, below, bold_spread, milliseconds, seconds, spread, three, to_a_processor,
};
use crate::application::{RunRow, Variant};
use crate::formula::{TABLE_TWO, overhead_percent};
use crate::kept::Kept;
use crate::statistics::{WANTED, median_interval};

/// Returns the overhead of a run by the paper's formula, in percent.
pub(super) fn overhead(row: &RunRow) -> Option<f64> {
    overhead_percent(
        float(row.cost.application_ns),
        float(row.cost.annotation_ns),
        float(row.cost.io_ns()),
    )
}

/// Returns the runs of a variant, in the order of the repetitions.
fn runs(kept: &Kept<RunRow>, is_wanted: impl Fn(Variant) -> bool) -> Vec<&RunRow> {
    kept.rows.iter().filter(|row| is_wanted(row.variant)).collect()
}

/// Returns the variants with profiling, with their names in the paper's table.
pub(super) fn profiled(kept: &Kept<RunRow>) -> Vec<(String, Vec<&RunRow>)> {
    let name = kept.rows.first().map(|row| row.name.clone()).unwrap_or_default();
    let on = runs(kept, |variant| variant == Variant::On);
    let checkpoints = runs(kept, |variant| matches!(variant, Variant::Checkpoints(_)));
    let mut cases = vec![(name.clone(), on), (format!("{name}, checkpoints"), checkpoints)];
    cases.retain(|(_, runs)| !runs.is_empty());
    cases
}

pub(super) fn costs(rows: &Rows) -> String {
    let mut table = Table::new(&[
        "application",
        "P",
        "ranks to a processor",
        "points or edges",
        "checkpoints",
        "application, s",
        "annotation, s",
        "I/O, s",
        "overhead, %",
        "where",
    ]);
    let mut notes = String::new();
    for kept in rows.table_two() {
        for (name, runs) in profiled(kept) {
            let of = |value: fn(&RunRow) -> f64| runs.iter().map(move |row| value(row));
            table.row(&[
                name,
                runs[0].ranks.to_string(),
                to_a_processor(runs[0].ranks, &kept.head),
                format!("{} x {}", runs[0].iterations, runs[0].size),
                spread(of(|row| f64::from(row.cost.checkpoints))),
                spread(of(|row| seconds(row.cost.application_ns))),
                spread(of(|row| seconds(row.cost.annotation_ns))),
                spread(of(|row| seconds(row.cost.io_ns()))),
                bold_spread(runs.iter().filter_map(|row| overhead(row))),
                "here".to_owned(),
            ]);
        }
        let name = kept.rows.first().map(|row| row.name.as_str()).unwrap_or_default();
        let repetitions = runs(kept, |variant| variant == Variant::On).len();
        notes.push_str(&format!("\n{name}: {}", below(&kept.head, repetitions).trim_start()));
    }
    for row in TABLE_TWO {
        let overhead = overhead_percent(row.application_s, row.annotation_s, row.io_s);
        table.row(&[
            row.application.to_owned(),
            row.ranks.to_string(),
            "a processor each".to_owned(),
            "-".to_owned(),
            if row.application.ends_with("checkpoints") { "122" } else { "0" }.to_owned(),
            row.application_s.to_string(),
            row.annotation_s.to_string(),
            row.io_s.to_string(),
            format!("**{}**", overhead.map_or("-".to_owned(), |percent| format!("{percent:.3}"))),
            "the paper, Theta".to_owned(),
        ]);
    }
    table.finish() + &notes
}

pub(super) fn differences(rows: &Rows) -> String {
    let mut table = Table::new(&[
        "application",
        "pairs",
        "off, s",
        "on, s",
        "on - off, ms",
        "where its median is, ms",
        "sure of that, %",
        "of the time, %",
        "by counting, ms",
        "so the cost is",
    ]);
    let mut any = false;
    for kept in rows.table_two() {
        let off = runs(kept, |variant| variant == Variant::Off);
        for (name, on) in profiled(kept) {
            let pairs: Vec<(&RunRow, &RunRow)> = on
                .iter()
                .filter_map(|&on| {
                    off.iter().find(|off| off.repetition == on.repetition).map(|&off| (off, on))
                })
                .collect();
            any |= !pairs.is_empty();
            table.row(&difference(&name, &pairs));
        }
    }
    if any { table.finish() } else { NOT_MEASURED.to_owned() }
}

fn difference(name: &str, pairs: &[(&RunRow, &RunRow)]) -> [String; 10] {
    let difference_ms: Vec<f64> = pairs
        .iter()
        .map(|(off, on)| milliseconds(on.took_ns) - milliseconds(off.took_ns))
        .collect();
    let percent =
        pairs.iter().map(|(off, on)| (float(on.took_ns) / float(off.took_ns) - 1.0) * 100.0);
    let counted =
        pairs.iter().map(|(_, on)| milliseconds(on.cost.annotation_ns + on.cost.checkpoints_ns));
    let interval = median_interval(difference_ms.iter().copied());
    let (place, confidence) = interval.map_or(("-".to_owned(), "-".to_owned()), |of| {
        (format!("{} to {}", three(of.low), three(of.high)), three(of.confidence * 100.0))
    });
    let verdict = match interval {
        Some(of) if of.confidence < WANTED => "not known: too few pairs",
        Some(of) if of.low > 0.0 => "seen",
        Some(of) if of.high < 0.0 => "not seen: the runs with it were the faster ones",
        Some(_) => "less than what runs differ by",
        None => "not known",
    };
    [
        name.to_owned(),
        pairs.len().to_string(),
        spread(pairs.iter().map(|(off, _)| seconds(off.took_ns))),
        spread(pairs.iter().map(|(_, on)| seconds(on.took_ns))),
        bold_spread(difference_ms.iter().copied()),
        place,
        confidence,
        spread(percent),
        spread(counted),
        verdict.to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::application::Cost;

    fn run(variant: Variant, repetition: u32, took_ms: u64) -> RunRow {
        let cost = Cost {
            application_ns: took_ms * 1_000_000,
            annotation_ns: 500_000,
            write_ns: 1_500_000,
            ..Cost::default()
        };
        let took_ns = took_ms * 1_000_000;
        RunRow { repetition, variant, size: 10, iterations: 3, took_ns, ..RunRow::example(cost) }
    }

    #[test]
    fn overhead_is_annotation_and_io_over_the_application() {
        assert_eq!(overhead(&run(Variant::On, 0, 1000)), Some(0.2));
    }

    #[test]
    fn a_difference_is_taken_pair_by_pair() {
        let off: Vec<RunRow> =
            (0..6).map(|n| run(Variant::Off, n, 1000 * u64::from(n + 1))).collect();
        let on: Vec<RunRow> = (0..6)
            .map(|n| run(Variant::On, n, 1000 * u64::from(n + 1) + 2 + u64::from(n)))
            .collect();
        let pairs: Vec<_> = off.iter().zip(&on).collect();
        let cells = difference("TC", &pairs);
        assert_eq!(cells[1], "6");
        assert_eq!(cells[4], "**4.50** (2.00 to 7.00)");
        assert_eq!((&*cells[5], &*cells[6], &*cells[9]), ("2.00 to 7.00", "96.9", "seen"));
        assert_eq!(cells[8], "0.500");
        let turned: Vec<_> = on.iter().zip(&off).collect();
        assert!(difference("TC", &turned)[9].starts_with("not seen"));
        let mixed = [pairs[0], turned[1], pairs[2], turned[3], pairs[4], turned[5]];
        assert_eq!(difference("TC", &mixed)[9], "less than what runs differ by");
        assert_eq!(difference("TC", &pairs[..5])[9], "not known: too few pairs");
    }
}
