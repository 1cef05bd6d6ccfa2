//! A run for tests of the rules.

use tinyprof_format::model::{CallpathIndex, Edge};
use tinyprof_format::text::read_text;
use tinyprof_report::Totals;

use crate::facts::activities::Doing;
use crate::facts::run::{Run, RunBuilder};
use crate::place::Place;

/// Returns a run of 1 s in which ranks compute for these times in ms, in 10 equal visits each,
/// before calls of these functions: a row for each function.
pub(super) fn run_of(rows: &[(&str, &[u64])]) -> Run {
    let ranks = rows[0].1.len();
    let times = vec!["0"; ranks].join("|");
    let lines = rows.iter().map(|(function, _)| format!("{function},null,COMM,0,{times}\n"));
    let text = format!("id,parent,tag,is_loop,times\n{}", lines.collect::<String>());
    let profile = read_text(text.as_bytes()).expect("it is right").profile;
    let totals = Totals::of_profile(&profile);
    let mut run = RunBuilder::new(&profile.callpaths, ranks).finish(&totals);
    run.rank_ns = vec![1_000_000_000; ranks];
    for (function, of_ranks) in rows {
        let row = row_of(&run, function);
        run.calls.entry(row).or_default().function = (*function).to_owned();
        for (rank, ms) in of_ranks.iter().enumerate().filter(|(_, ms)| **ms > 0) {
            let (sum_ns, min_ns) = (ms * 1_000_000, ms * 100_000);
            let edge = Edge { count: 10, sum_ns, min_ns, max_ns: min_ns, ..Edge::default() };
            run.activities.add_gaps(Doing::Before(row), rank, &edge, true);
        }
    }
    run
}

/// Returns the row of a function, which tables sort by its id.
pub(super) fn row_of(run: &Run, function: &str) -> CallpathIndex {
    let mut rows = run.callpaths.iter().map(|(row, _)| row);
    rows.find(|row| Place::of(&run.callpaths, *row).name() == function).expect("it is there")
}
