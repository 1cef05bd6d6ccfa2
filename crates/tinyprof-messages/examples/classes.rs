//! Measures how long it takes to find the classes of many ranks: the goal is 4,096 ranks with 200
//! nodes each in 2 s and 1 GiB.
//!
//! `cargo run --release -p tinyprof-messages --example classes -- 4096 200`, under
//! `/usr/bin/time -v` for the memory. The ranks are a grid that exchanges with four neighbours.
//! With `distinct` as third argument their times differ from rank to rank, and there are many
//! classes.
#![expect(clippy::disallowed_types, reason = "a measurement needs the clock")]
#![expect(clippy::print_stdout, reason = "the result")]

#[expect(dead_code, reason = "tests have more to build")]
#[path = "../tests/graphs/builder.rs"]
mod builder;

use std::time::Instant;

use builder::Builder;
use tinyprof_messages::graph::{Comparison, Tag, phases};
use tinyprof_messages::time::Call;

/// The graph of a rank with this many nodes, of which each fourth has messages.
fn tag(rank: u32, ranks: u32, nodes: u64, is_distinct: bool) -> Tag {
    let width = ranks.isqrt();
    let mut builder = Builder::new(rank, 10_000, 0);
    let mut now_ns = 0;
    let work_ns = 100_000 + if is_distinct { 4_000 * u64::from(rank) } else { u64::from(rank % 7) };
    for outer in 0..4 {
        builder.enter_loop(1_000 + outer);
        for _ in 0..3 {
            builder.iterate(now_ns);
            for region in 0..nodes.saturating_sub(10) / 4 {
                builder.enter(region);
                now_ns += work_ns;
                let call = Call { entered_ns: now_ns, left_ns: now_ns + 1_000 };
                let node = builder.call(1, call);
                now_ns = call.left_ns;
                if region % 4 == 0 {
                    let neighbours =
                        [rank + 1, rank + ranks - 1, rank + width, rank + ranks - width];
                    neighbours.into_iter().for_each(|to| builder.sent(node, to % ranks, 1_024));
                }
                builder.leave();
            }
        }
        builder.leave_loop(now_ns);
    }
    builder.end(now_ns)
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |or: u32| arguments.next().and_then(|text| text.parse().ok()).unwrap_or(or);
    let (ranks, nodes) = (number(4_096), number(200));
    let is_distinct = arguments.next().is_some_and(|text| text == "distinct");
    let tags: Vec<Tag> =
        (0..ranks).map(|rank| tag(rank, ranks, nodes.into(), is_distinct)).collect();
    let start = Instant::now();
    let found = phases(&tags, &Comparison::new(ranks));
    let elapsed = start.elapsed();
    for phase in &found {
        println!("{} classes in {:?}", phase.classes.len(), phase.section);
    }
    println!("{ranks} ranks with {} nodes: {} ms", tags[0].nodes.len(), elapsed.as_millis());
}
