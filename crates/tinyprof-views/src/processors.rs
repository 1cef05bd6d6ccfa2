//! The processor time of the ranks, as JSON.

use serde_json::{Map, Value, json};
use tinyprof_report::Report;

use crate::json_list::integer;

/// Returns the processor time and run-queue delay of all ranks together and of each; null if
/// nothing is known. `delay_ns` in an entry of `ranks` is null where it is not known of that rank.
pub(crate) fn processors_json(report: &Report) -> Value {
    let times = report.statistics.times();
    if times.wall_ns == 0 && times.threads_ns == 0 {
        return Value::Null;
    }
    let of_ranks = report.processors.iter().map(|of| {
        let mut entry: Map<String, Value> =
            of.named().into_iter().map(|(name, number)| (name.to_owned(), number.into())).collect();
        entry.insert("delay_ns".to_owned(), of.known_delay_ns().into());
        Value::Object(entry)
    });
    json!({
        "wall_ns": integer(times.wall_ns),
        "cpu_ns": integer(times.cpu_ns),
        "followed_ranks": times.followed_ranks,
        "threads_ns": integer(times.threads_ns),
        "delay_ns": times.delay_share().map(|_| integer(times.delay_ns)),
        "delay_share": times.delay_share(),
        "threads_at_work": times.threads_at_work_of_a_rank(),
        "processors_allowed": times.processors_of_a_rank(),
        "useful_delay_at_least_ns": times.delay_share().map(|_| integer(times.useful_delay_ns)),
        "ranks": of_ranks.collect::<Vec<_>>(),
    })
}
