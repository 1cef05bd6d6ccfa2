//! The ways through iterations of programs whose ways are known.

use serde_json::{Value, json};
use tinyprof_format::model::EdgeKind;
use tinyprof_structure::Structure;

use crate::fixture::profile;
use crate::programs::{nested, wave_send};
use crate::world::World;

fn phases(world: World) -> Vec<Value> {
    let found = Structure::of_profile(&profile(&world.end()), false).to_json("run");
    found["phases"].as_array().expect("a list").clone()
}

/// The steps of a way: `MPI_Send [1] x2`, with partners, and calls if there are several.
fn steps(way: &Value) -> Vec<String> {
    let step = |step: &Value| {
        let name = step["function"].as_str().or(step["loop"].as_str()).expect("a name");
        let calls = step["calls"].as_f64().expect("a number");
        let partners = step["peers"].as_array().filter(|peers| !peers.is_empty());
        let partners = partners.map_or_else(String::new, |_| format!(" {}", step["peers"]));
        let calls = if calls > 1.0 { format!(" x{calls}") } else { String::new() };
        format!("{name}{partners}{calls}")
    };
    way["steps"].as_array().expect("a list").iter().map(step).collect()
}

/// Each way with its count.
fn ways(iterations: &Value) -> Vec<(f64, String)> {
    let ways = iterations["ways"].as_array().expect("a list").iter();
    ways.map(|way| (way["count"].as_f64().expect("a number"), steps(way).join(", "))).collect()
}

#[test]
fn a_wave_has_one_way_for_each_class() {
    for iterations in [5_u32, 500] {
        let phases = phases(wave_send(8, iterations.into(), None));
        let (iterations, work_ns) = (f64::from(iterations), 100_000.0);
        let classes = phases[1]["classes"].as_array().expect("a list");
        let expected = [
            "MPI_Isend [1], MPI_Recv [1], MPI_Wait",
            "MPI_Isend [-1], MPI_Isend [1], MPI_Recv [-1], MPI_Recv [1], MPI_Wait x2",
            "MPI_Isend [-1], MPI_Recv [-1], MPI_Wait",
        ];
        for (class, expected) in classes.iter().zip(expected) {
            let found = &class["iterations"];
            assert_eq!(found["count"], json!(iterations));
            assert_eq!(ways(found), [(iterations, expected.to_owned())]);
            assert_eq!((&found["unknown"], &found["others"]), (&json!(0.0), &Value::Null));
            let ns = found["ways"][0]["time_ns"].as_f64().expect("a time");
            // The computation before the first iteration comes after another phase.
            let all = class["in_calls_ns"].as_f64().expect("a time")
                + class["computing_ns"].as_f64().expect("a time");
            let mean = all / iterations;
            assert!((ns - mean).abs() < 2.0 * work_ns / iterations, "{ns} {mean}");
            assert!(ns > 0.8 * work_ns, "{ns}");
        }
        assert_eq!(phases[0]["classes"][0]["iterations"], Value::Null, "it is no loop");
    }
}

#[test]
fn loops_in_loops_are_steps() {
    let phases = phases(nested(4));
    let found = &phases[0]["classes"][0]["iterations"];
    assert_eq!(ways(found).len(), 1, "{found:#}");
    let steps = steps(&found["ways"][0]);
    assert!(steps.iter().any(|step| step.starts_with("loop from MPI_Allreduce")), "{steps:?}");
}

/// Returns one rank that begins each iteration with a call, and goes on with those that `of` gives.
fn rank_with(iterations: u64, of: impl Fn(u64) -> Vec<String>) -> World {
    let mut world = World::new(1, "main");
    for iteration in 0..iterations {
        world.call(0, "MPI_Barrier at main (m.c:1)", 2_000);
        for name in of(iteration) {
            world.compute(0, 500);
            world.call(0, &name, 1_000 * (1 + iteration % 2));
        }
        world.compute(0, 100);
    }
    world
}

fn iterations_of(world: World) -> Value {
    let phases = phases(world);
    let is_loop = |phase: &&Value| phase["kind"] == "loop";
    phases.iter().find(is_loop).expect("a loop")["classes"][0]["iterations"].clone()
}

#[test]
fn branches_are_ways_with_their_counts_and_times() {
    let found = iterations_of(rank_with(90, |iteration| match iteration % 3 {
        0 => vec!["MPI_Allreduce at main (m.c:2)".into()],
        _ => vec!["MPI_Bcast at main (m.c:3)".into()],
    }));
    let way = |name: &str| format!("MPI_Barrier, {name}");
    assert_eq!(ways(&found), [(60.0, way("MPI_Bcast")), (30.0, way("MPI_Allreduce"))]);
    assert_eq!(found["unknown"], json!(0.0));
    // A barrier, and calls of 2,000 ns and 1,000 ns in turn, with the computations.
    assert_eq!(found["ways"][1]["time_ns"], json!(2_000.0 + 500.0 + 1_500.0 + 100.0));
}

#[test]
fn several_ways_have_a_line_each() {
    let lines = |world: World| -> Vec<String> {
        let found = Structure::of_profile(&profile(&world.end()), false).to_text("run", 9, 200);
        let lines =
            found.lines().map(str::trim).skip_while(|line| !line.contains(" times through "));
        lines.map(str::to_owned).collect()
    };
    let branches = rank_with(90, |iteration| match iteration % 3 {
        0 => vec!["MPI_Allreduce at main (m.c:2)".into()],
        _ => vec!["MPI_Bcast at main (m.c:3)".into(); 2],
    });
    let expected = [
        "90 times through MPI_Barrier at main (m.c:1), of 5.43 us each",
        "66.7%, of 6.10 us each: MPI_Barrier (m.c:1), MPI_Bcast (m.c:3) x2",
        "33.3%, of 4.10 us each: MPI_Barrier (m.c:1), MPI_Allreduce (m.c:2)",
    ];
    assert_eq!(lines(branches), expected);
    let combined = rank_with(60, |iteration| {
        let line = |line: u64| format!("MPI_Allreduce at main (m.c:{line})");
        vec![line(2 + iteration % 2), line(4), line(5 + iteration % 3)]
    });
    let only = "60 times through MPI_Barrier at main (m.c:1), of 8.10 us each";
    assert_eq!(lines(combined), [only], "nothing is said of ways that are not known");
}

#[test]
fn combinations_of_branches_are_not_guessed() {
    let found = iterations_of(rank_with(60, |iteration| {
        let line = |line: u64| format!("MPI_Allreduce at main (m.c:{line})");
        vec![line(2 + iteration % 2), line(4), line(5 + iteration % 3)]
    }));
    assert_eq!((&found["count"], &found["unknown"]), (&json!(60.0), &json!(60.0)));
    assert_eq!(found["ways"], json!([]));
}

#[test]
fn of_many_ways_the_rarest_are_one_entry() {
    let of = |iterations| {
        iterations_of(rank_with(iterations, |iteration| {
            // Way 0 each second time, then way 1 each fourth time, and so on.
            let way = (iteration + 1).trailing_zeros().min(19);
            vec![format!("MPI_Allreduce at main (m.c:{})", 10 + way)]
        }))
    };
    let found = of(1 << 16);
    let counts: Vec<f64> = ways(&found).iter().map(|(count, _)| *count).collect();
    assert_eq!(counts, (8..16).rev().map(|bit| f64::from(1 << bit)).collect::<Vec<_>>());
    let others = &found["others"];
    assert_eq!((&others["ways"], &others["count"]), (&json!(9), &json!(256.0)));
    assert_eq!(found["unknown"], json!(0.0));
}

/// Returns the loops with what is said of their iterations: how many, and from which call on.
fn counts(world: World) -> Vec<(String, f64, String)> {
    fn add(phases: &[Value], found: &mut Vec<(String, f64, String)>) {
        for phase in phases {
            if phase["kind"] == "loop" {
                let iterations = &phase["classes"][0]["iterations"];
                let count = iterations["count"].as_f64().expect("a number");
                let of = iterations["of"].as_str().unwrap_or("certain").to_owned();
                found.push((phase["name"].as_str().expect("a name").to_owned(), count, of));
            }
            add(phase["inner"].as_array().expect("a list"), found);
        }
    }
    let mut found = Vec::new();
    add(&phases(world), &mut found);
    found
}

#[test]
fn an_exchange_with_three_neighbours_is_one_iteration() {
    let mut world = World::new(4, "halo");
    for step in 0..20 {
        for rank in 0..4 {
            world.call(rank, "MPI_Wtime at main (h.c:3)", 50);
            world.compute(rank, 1_000);
        }
        let mut requests = Vec::new();
        for neighbour in 1..4 {
            for rank in 0..4 {
                requests.push((rank, world.call(rank, "MPI_Irecv at exchange (h.c:10)", 100)));
                world.send(rank, (rank + neighbour) % 4, "MPI_Isend at exchange (h.c:11)", 64);
            }
        }
        for (rank, request) in requests.into_iter().take(4) {
            world.wait_for(rank, request, (rank + 3) % 4, "MPI_Waitall at exchange (h.c:12)");
        }
        if step % 5 == 4 {
            world.meet("MPI_Barrier at main (h.c:5)", EdgeKind::Barrier);
        }
    }
    let waitall = "MPI_Waitall at exchange (h.c:12)";
    let send = "MPI_Irecv at exchange (h.c:10)";
    let expected = [
        (format!("loop from {waitall}"), 20.0, format!("halo<{waitall}")),
        (format!("loop from {send}"), 60.0, format!("halo<{send}")),
    ];
    assert_eq!(counts(world), expected);
}

#[test]
fn calls_that_do_not_communicate_begin_no_loop() {
    let mut world = World::new(2, "main");
    for _ in 0..9 {
        for rank in 0..2 {
            world.call(rank, "MPI_Comm_rank at main (m.c:2)", 50);
            world.compute(rank, 500);
        }
        world.meet("MPI_Allreduce at main (m.c:3)", EdgeKind::AllToAll);
    }
    for rank in 0..2 {
        for _ in 0..7 {
            world.call(rank, "MPI_Wtime at main (m.c:6)", 50);
            world.call(rank, "MPI_Comm_size at main (m.c:7)", 50);
        }
    }
    let allreduce = "MPI_Allreduce at main (m.c:3)";
    let expected = [(format!("loop from {allreduce}"), 9.0, format!("main<{allreduce}"))];
    assert_eq!(counts(world), expected);
}

#[test]
fn a_loop_is_seen_although_its_first_call_is_also_made_elsewhere() {
    let mut world = World::new(2, "main");
    for _ in 0..10 {
        world.meet("MPI_Barrier at check (m.c:2)", EdgeKind::Barrier);
        world.broadcast(0, "MPI_Bcast at set_up (m.c:4)", 8);
    }
    for _ in 0..4 {
        world.meet("MPI_Barrier at check (m.c:2)", EdgeKind::Barrier);
        world.meet("MPI_Allreduce at cycle (m.c:9)", EdgeKind::AllToAll);
    }
    let found = counts(world);
    assert!(found.iter().any(|(_, count, _)| *count == 14.0 || *count == 4.0), "{found:?}");
}

#[test]
fn a_phase_computes_as_long_as_its_iterations() {
    // A second of set-up is no part of any iteration.
    let mut before = World::new(1, "main");
    before.call(0, "MPI_Bcast at main (m.c:8)", 100);
    before.compute(0, 1_000_000_000);
    for _ in 0..10 {
        before.call(0, "MPI_Barrier at main (m.c:1)", 2_000);
        before.compute(0, 500);
    }
    let phases = phases(before);
    let class = phases.iter().find(|phase| phase["kind"] == "loop").expect("a loop");
    let class = &class["classes"][0];
    assert_eq!(class["computing_before_ns"], json!(1e9));
    assert_eq!(class["computing_ns"], json!(9.0 * 500.0));
    assert_eq!(class["iterations"]["count"], json!(10.0));
}
