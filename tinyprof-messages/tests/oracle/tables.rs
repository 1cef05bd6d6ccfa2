//! The tables: each mix, each network, and what the rules know of it.

use std::fmt::Write as _;

use tinyprof_messages::time::Offset;

use crate::arrival::Arrival;
use crate::engine;
use crate::mix::Mix;
use crate::moved::Moved;
use crate::network::Network;
use crate::random::Random;
use crate::replay::replay;
use crate::rules::{Local, Public};
use crate::score::Score;

/// What a table is about.
#[derive(Clone, Copy, Debug)]
struct World {
    network: Network,
    /// By how much the cost of an event may differ from what a rank believes, in percent.
    cost_error: u64,
}

/// The scores of a mix.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    local: Score,
    /// The rules of this crate, with a latency of 0 and with that measured at the start.
    unknown: Score,
    known: Score,
    /// The same functions, with partners that are moved.
    moved: Score,
    /// The proposed rules, in the same way.
    learned: Score,
    proposed: Score,
}

/// Returns how many programs of each mix are run: `TINYPROF_ORACLE_PROGRAMS`, or a few.
fn programs() -> u64 {
    std::env::var("TINYPROF_ORACLE_PROGRAMS").map_or(20, |text| text.parse().expect("a number"))
}

fn row(mix: Mix, world: World) -> Row {
    let network = world.network;
    let mut row = Row::default();
    for seed in 0..programs() {
        let program = mix.program(seed);
        let run = engine::run(&program, network, None);
        let truth = engine::run(&program, network, Some(&run.choices));
        let mut random = Random::new(seed + 1_000_000);
        let mut about = |value: u64, error: u64| {
            let percent = random.between(100 - error, 100 + error);
            value * percent / 100
        };
        let exact_ps = program.event_ns * 1_000;
        let costs: Vec<u64> =
            program.ranks.iter().map(|_| about(exact_ps, world.cost_error)).collect();
        let (latency_ns, ps_per_byte) =
            (about(network.latency_ns, 10), about(network.ps_per_byte, 10));
        let offset = Offset { latency_ns, ps_per_byte, ..Offset::default() };
        row.local.add(&run, &truth, &replay(&run, &costs, Local::default));
        row.unknown.add(&run, &truth, &replay(&run, &costs, || Public::new(Offset::default())));
        row.known.add(&run, &truth, &replay(&run, &costs, || Public::new(offset)));
        row.moved.add(&run, &truth, &replay(&run, &costs, || Moved::new(offset)));
        row.learned.add(&run, &truth, &replay(&run, &costs, || Arrival::new(0, 0)));
        let proposed = replay(&run, &costs, || Arrival::new(latency_ns, ps_per_byte));
        row.proposed.add(&run, &truth, &proposed);
    }
    row
}

/// Runs a table, prints it, and checks what is said of each row.
fn table(title: &str, world: World, mixes: &[Mix], mut check: impl FnMut(Mix, &Row)) {
    let mut text = format!(
        "{title}; errors in % of the run time; {} programs a mix\n\
         {:18} |  local | rules: latency 0, known   max  in +- (width) waiting without | \
         moved   max in +- | \
         proposed: unknown, in +-, known   max  in +- (width) without\n",
        programs(),
        "mix",
    );
    let mut rows = Vec::new();
    for &mix in mixes {
        let row = row(mix, world);
        let Row { local, unknown, known, moved, learned, proposed } = &row;
        let _ = writeln!(
            text,
            "{:18} | {:6.3} |         {:7.3} {:7.3} {:6.2} {:5.1} ({:5.2}) {:7.3} {:7.3} | \
             {:6.3} {:6.2} {:5.1} | \
             {:17.3} {:6.1} {:7.3} {:6.2} {:5.1} ({:5.2}) {:7.3}",
            mix.name(),
            local.time(),
            unknown.time(),
            known.time(),
            known.worst(),
            known.covered(),
            known.width(),
            known.waiting(),
            known.compensated(),
            moved.time(),
            moved.worst(),
            moved.covered(),
            learned.time(),
            learned.covered(),
            proposed.time(),
            proposed.worst(),
            proposed.covered(),
            proposed.width(),
            proposed.compensated(),
        );
        rows.push((mix, row));
    }
    println!("{text}");
    for (mix, row) in &rows {
        check(*mix, row);
    }
}

fn world(latency_ns: u64) -> World {
    World { network: Network::new(latency_ns), cost_error: 0 }
}

/// Checks what holds on each network whose rooted collectives go along trees.
fn check(mix: Mix, row: &Row) {
    let name = mix.name();
    let Row { local, known, moved, learned, proposed, .. } = row;
    assert!(known.waiting() < 0.001, "{name}: waiting is off by {} %", known.waiting());
    assert!(proposed.waiting() < 0.001, "{name}: waiting is off by {} %", proposed.waiting());
    if mix.is_followed() {
        assert!(known.time() < 0.5, "{name}: {} %", known.time());
    }
    // What a rank does while it tests is its own affair.
    let limit = if mix == Mix::Overlap { 2.0 } else { 0.5 };
    for time in [moved.time(), proposed.time()] {
        assert!(time < limit && time < local.time() / 5.0, "{name}: {time} %");
    }
    assert!(learned.time() < local.time() / 2.0, "{name}: {} %", learned.time());
    let covered = proposed.covered();
    let share = if matches!(mix, Mix::Overlap | Mix::Test) { 90.0 } else { 95.0 };
    assert!(covered > share, "{name}: {covered} % within the uncertainty");
}

#[test]
fn in_a_node() {
    table("latency 300 ns", world(300), &Mix::all(), check);
}

#[test]
fn between_nodes() {
    table("latency 2 us", world(2_000), &Mix::all(), check);
}

#[test]
fn over_ethernet() {
    table("latency 50 us", world(50_000), &Mix::all(), check);
}

#[test]
fn costs_that_are_known_to_a_fifth() {
    let world = World { cost_error: 20, ..world(2_000) };
    table("latency 2 us, costs known to 20 %", world, &Mix::all(), |mix, row| {
        let covered = row.proposed.covered();
        assert!(covered > 90.0, "{}: {covered} % within the uncertainty", mix.name());
    });
}

#[test]
fn rooted_collectives_without_a_tree() {
    let network = Network { is_tree: false, ..Network::new(2_000) };
    let world = World { network, cost_error: 0 };
    table("latency 2 us, no trees", world, &Mix::ROOTED, |mix, row| {
        let proposed = row.proposed;
        assert!(proposed.time() < 1.0, "{}: {} %", mix.name(), proposed.time());
    });
}

#[test]
fn receivers_that_work_in_calls_alone() {
    let network = Network { is_lazy: true, ..Network::new(2_000) };
    let world = World { network, cost_error: 0 };
    table("latency 2 us, no progress outside of calls", world, &Mix::POSTED, |mix, row| {
        let Row { local, proposed, .. } = row;
        assert!(proposed.time() < local.time() / 2.0, "{}: {} %", mix.name(), proposed.time());
    });
}
