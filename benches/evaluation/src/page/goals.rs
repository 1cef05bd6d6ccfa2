//! The goals, and whether they are met.

use tinyprof_bench_collective::document::table::{Table, float};

use super::Rows;
use super::always_on::Outcome;
use super::cells::three;
use super::formats::of_the_widest;
use crate::application::{RunRow, Variant};
use crate::formats::Format;
use crate::formula::FIGURE_7_32K_S;
use crate::kept::Kept;

/// Length of the shortest run for which profiling is intended: one minute.
const MINUTE_NS: f64 = 60e9;

pub(super) fn table(rows: &Rows) -> String {
    let mut table = Table::new(&["goal", "at most", "here", ""]);
    let mut goal = |what: &str, limit: f64, reached: Option<f64>| {
        let verdict = reached
            .map_or("not measured", |value| if value <= limit { "met" } else { "**missed**" });
        let value = reached.map_or("-".to_owned(), three);
        table.row(&[what.to_owned(), limit.to_string(), value, verdict.to_owned()]);
    };
    let on = |kept: &Kept<RunRow>| {
        let runs = kept.rows.iter().filter(|row| row.variant == Variant::On);
        runs.map(of_a_minute).reduce(f64::max)
    };
    goal(
        "overhead of Table II if the run lasted a minute, %, the worst run",
        0.2,
        rows.table_two().filter_map(on).reduce(f64::max),
    );
    let always_on = rows.always_on.as_ref().and_then(Outcome::of);
    let of = |value: fn(&Outcome<'_>) -> Option<f64>| always_on.as_ref().and_then(value);
    goal(
        "always on: overhead by the paper's formula, %",
        0.3,
        of(|outcome| outcome.overhead_percent()),
    );
    goal(
        "always on: memory of the last third beside the first, of the process that grew most",
        1.05,
        of(|outcome| outcome.memory_growth()),
    );
    goal(
        "always on: most memory in the whole run beside the first third, of the process that grew most",
        1.05,
        of(|outcome| outcome.peak_growth()),
    );
    goal(
        "always on: largest checkpoint of the last third beside the first",
        1.05,
        of(|outcome| outcome.profile_growth()),
    );
    goal(
        "always on: checkpoints on disk (two, and for a moment the next)",
        3.0,
        of(|outcome| Some(f64::from(outcome.kept_most()))),
    );
    let simulated = rows.simulated.iter().find(|row| row.ranks == 32_768);
    goal(
        "flush of 32,768 ranks, simulated, s (the paper's 0.397 is measured)",
        FIGURE_7_32K_S,
        simulated.map(|row| float(row.total_ns) / 1e9),
    );
    for (format, name) in
        [(Format::Text, "the paper's text"), (Format::Csv, "CSV"), (Format::Json, "JSON")]
    {
        let ratios = rows.formats.as_ref().and_then(|kept| of_the_widest(kept, format));
        let what = |which: &str| format!("{which} of the widest profile beside {name}");
        goal(&what("size"), 1.0, ratios.map(|[size, _]| size));
        goal(&what("loading"), 1.0, ratios.map(|[_, load]| load));
    }
    table.finish()
}

/// Returns the overhead in percent of a run that lasts a minute: annotation grows with the run, I/O
/// does not.
fn of_a_minute(row: &RunRow) -> f64 {
    let annotation = float(row.cost.annotation_ns) / float(row.cost.application_ns);
    (annotation + float(row.cost.io_ns()) / MINUTE_NS) * 100.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::application::Cost;

    #[test]
    fn in_a_minute_there_are_more_annotations_and_one_flush() {
        let cost = Cost {
            application_ns: 6_000_000_000,
            annotation_ns: 6_000_000,
            write_ns: 60_000_000,
            ..Cost::default()
        };
        assert!((of_a_minute(&RunRow::example(cost)) - 0.2).abs() < 1e-9);
    }
}
