//! The tables: each mix, each network, and what the rules know of it.

use std::fmt::Write as _;

use tinyprof_messages::time::Offset;

use crate::engine;
use crate::mix::Mix;
use crate::network::{Network, Tree};
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
    /// The rules of this crate, which find the latency out, or are told it.
    unknown: Score,
    known: Score,
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
    }
    row
}

/// Runs a table, prints it, and checks what is said of each row.
fn table(title: &str, world: World, mixes: &[Mix], mut check: impl FnMut(Mix, &Row)) {
    let mut text = format!(
        "{title}; errors in % of the run time; {} programs a mix\n\
         {:18} |  local | unknown  in +- | known    max  in +- (width) waiting without us |\n",
        programs(),
        "mix",
    );
    let mut rows = Vec::new();
    for &mix in mixes {
        let row = row(mix, world);
        let Row { local, unknown, known } = &row;
        let _ = writeln!(
            text,
            "{:18} | {:6.3} | {:7.3}  {:5.1} | {:5.3} {:6.2}  {:5.1} ({:5.2}) {:7.3} {:10.3} |",
            mix.name(),
            local.time(),
            unknown.time(),
            unknown.covered(),
            known.time(),
            known.worst(),
            known.covered(),
            known.width(),
            known.waiting(),
            known.compensated(),
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

/// Checks what holds on each network.
fn check(mix: Mix, row: &Row) {
    let name = mix.name();
    let Row { local, unknown, known } = row;
    for rules in [unknown, known] {
        assert!(rules.waiting() < 0.001, "{name}: waiting is off by {} %", rules.waiting());
        assert!(rules.time() < local.time(), "{name}: {} %", rules.time());
    }
    if mix.is_collective() {
        assert!(known.time() < 1.0, "{name}: {} %", known.time());
        assert!(known.covered() >= 95.0, "{name}: {} % in +-", known.covered());
    }
    if mix.is_followed() {
        assert!(known.time() < 0.5, "{name}: {} %", known.time());
        assert!(known.covered() >= 95.0, "{name}: {} % in +-", known.covered());
    }
}

/// Checks besides what holds where the latency is short beside the time between messages.
fn check_near(mix: Mix, row: &Row) {
    check(mix, row);
    if mix.is_followed() || mix.is_collective() {
        let (time, covered) = (row.unknown.time(), row.unknown.covered());
        assert!(time < 0.5 && covered >= 95.0, "{}: {time} %, {covered} % in +-", mix.name());
    }
}

/// Checks besides what holds where a message takes as long as the work between two.
fn check_far(mix: Mix, row: &Row) {
    check(mix, row);
    if mix.is_followed() {
        let (time, covered) = (row.unknown.time(), row.unknown.covered());
        assert!(time < 0.5 && covered >= 95.0, "{}: {time} %, {covered} % in +-", mix.name());
    }
}

#[test]
fn in_a_node() {
    table("latency 300 ns", world(300), &Mix::all(), check_near);
}

#[test]
fn between_nodes() {
    table("latency 2 us", world(2_000), &Mix::all(), check_near);
}

#[test]
fn over_ethernet() {
    table("latency 50 us", world(50_000), &Mix::all(), check_far);
}

#[test]
fn costs_that_are_known_to_a_fifth() {
    let world = World { cost_error: 20, ..world(2_000) };
    table("latency 2 us, costs known to 20 %", world, &Mix::all(), |mix, row| {
        let covered = row.unknown.covered();
        let is_sure = mix.is_followed() || mix.is_collective();
        assert!(covered >= 95.0 || !is_sure, "{}: {covered} % in +-", mix.name());
    });
}

#[test]
fn rooted_collectives_along_any_tree() {
    let latencies = [300, 2_000, 50_000];
    for (tree, latency_ns) in Tree::ALL.into_iter().flat_map(|tree| latencies.map(|ns| (tree, ns)))
    {
        let network = Network { tree, ..Network::new(latency_ns) };
        let world = World { network, cost_error: 0 };
        let title = format!("latency {latency_ns} ns, {tree:?}");
        table(&title, world, &Mix::ROOTED, |mix, row| {
            let (time, covered) = (row.unknown.time(), row.unknown.covered());
            let name = mix.name();
            assert!(time < row.local.time() / 2.0, "{tree:?}, {name}: {time} %");
            assert!(covered >= 95.0, "{tree:?}, {name}: {covered} % in +-");
        });
    }
}

#[test]
fn receivers_that_work_in_calls_alone() {
    let network = Network { is_lazy: true, ..Network::new(2_000) };
    let world = World { network, cost_error: 0 };
    table("latency 2 us, no progress outside of calls", world, &Mix::POSTED, |mix, row| {
        let Row { local, unknown, .. } = row;
        assert!(unknown.time() < local.time() / 2.0, "{}: {} %", mix.name(), unknown.time());
    });
}
