//! Phases and classes of programs whose structure is known.

use serde_json::{Value, json};
use tinyprof_format::model::{EdgeKind, RegionKind};
use tinyprof_structure::Structure;

use crate::fixture::profile;
use crate::programs::{WORK_NS, master_and_workers, nested, wave, wave_send, wave_with_regions};
use crate::world::World;

fn structure(world: World, with_times: bool) -> Value {
    Structure::of_profile(&profile(&world.end()), with_times).to_json("run")
}

/// The phases, each with its classes: `loop: 0 | 1-6 | 7`.
fn lines(phases: &Value) -> Vec<String> {
    let line = |phase: &Value| {
        let classes = phase["classes"].as_array().expect("a list").iter();
        let classes: Vec<&str> = classes.map(|c| c["ranks"].as_str().expect("text")).collect();
        format!("{}: {}", phase["kind"].as_str().expect("text"), classes.join(" | "))
    };
    phases.as_array().expect("a list").iter().map(line).collect()
}

fn peers(phase: &Value) -> Vec<(&Value, &Value)> {
    let classes = phase["classes"].as_array().expect("a list");
    classes.iter().map(|class| (&class["peers"], &class["peer_ranks"])).collect()
}

#[test]
fn a_wave_without_regions_has_three_phases() {
    for ranks in [4, 8] {
        for with_times in [true, false] {
            let found = structure(wave_send(ranks, 50, None), with_times);
            let last = ranks - 1;
            let straight = format!("straight: 0 | 1-{last}");
            let within = format!("loop: 0 | 1-{} | {last}", last - 1);
            assert_eq!(lines(&found["phases"]), [straight.as_str(), &within, &straight], "{ranks}");
            let within = &found["phases"][1];
            let expected = [json!([1]), json!([-1, 1]), json!([-1])];
            assert_eq!(
                peers(within),
                expected.iter().map(|peers| (peers, &Value::Null)).collect::<Vec<_>>()
            );
            assert_eq!(peers(&found["phases"][2])[1], (&Value::Null, &json!("0")));
            assert_eq!(within["inner"], json!([]));
            let differs = &within["classes"][0]["differs"];
            assert_eq!(differs["from"], format!("1-{}", last - 1));
            assert_eq!(differs["parts"][0]["what"], "missing here");
        }
    }
}

#[test]
fn lanes_are_the_ranks_that_are_together_in_every_phase() {
    let structure = Structure::of_profile(&profile(&wave_send(8, 50, None).end()), true);
    let found = structure.lanes_json();
    let lanes = json!([
        { "ranks": "0", "size": 1 },
        { "ranks": "1-6", "size": 6 },
        { "ranks": "7", "size": 1 },
    ]);
    assert_eq!((&found["lanes"], &found["ranks_omitted"]), (&lanes, &json!(0)));
    let of_phase = |at: usize| {
        let classes = found["phases"][at]["classes"].as_array().expect("a list").iter();
        classes.map(|class| class["lanes"].clone()).collect::<Value>()
    };
    assert_eq!(of_phase(0), json!([[0], [1, 2]]));
    assert_eq!(of_phase(1), json!([[0], [1], [2]]));
    let calls = found["phases"][1]["classes"][1]["calls"].as_array().expect("a list");
    let functions: Vec<_> = calls.iter().map(|call| &call["function"]).collect();
    assert_eq!(functions, ["MPI_Isend", "MPI_Isend", "MPI_Recv", "MPI_Recv", "MPI_Wait"]);
    // The interior sends to itself, and to both ends, 50 times a rank.
    let (isend, recv) = (&calls[0]["node"], &calls[3]["node"]);
    let messages = found["messages"].as_array().expect("a list").iter();
    let of = |message: &&Value| message["from_node"] == *isend && message["to_node"] == *recv;
    let mut counts: Vec<_> = messages
        .filter(of)
        .map(|m| (m["from"].clone(), m["to"].clone(), m["count"].clone()))
        .collect();
    counts.sort_by_key(|(from, to, _)| (from.as_u64(), to.as_u64()));
    let from_right = [(1, 0, 50), (1, 1, 250), (2, 1, 50)];
    let from_right = from_right.map(|(from, to, n)| (json!(from), json!(to), json!(n)));
    assert_eq!(counts, from_right[..].to_vec());
}

#[test]
fn nothing_recorded_has_no_lanes() {
    let empty = profile(&[tinyprof_format::model::EventMap::default()]);
    assert_eq!(Structure::of_profile(&empty, true).lanes_json(), Value::Null);
}

/// Writes profiles for `scripts/browser.sh`: of three classes, and of thirty.
#[test]
#[ignore = "writes the profiles that scripts/browser.sh makes pages of, into TINYPROF_PAGES"]
fn profiles_with_structure() {
    let folder = std::env::var_os("TINYPROF_PAGES").expect("TINYPROF_PAGES is set");
    let thirty = wave(30, 50, |rank| rank as u64 * WORK_NS / 10);
    for (name, world) in [("wave", wave_send(8, 50, None)), ("uneven", thirty)] {
        let path = std::path::Path::new(&folder).join(name);
        let written = tinyprof_format::file::ProfileWriter::new().write(&path, &world.end());
        written.expect("it is written");
    }
}

#[test]
fn a_slow_rank_is_a_class_of_its_own() {
    let found = structure(wave_send(8, 50, Some(5)), true);
    let within = &found["phases"][1];
    assert_eq!(lines(&found["phases"])[1], "loop: 0 | 1-4,6 | 5 | 7");
    let slow = &within["classes"][2]["differs"];
    assert_eq!(slow["from"], "1-4,6");
    let first = &slow["parts"][0];
    assert_eq!((&first["part"], &first["what"]), (&json!("computation"), &json!("time")));
    assert_eq!(first["callpath"], "wave<MPI_Isend at step (wave.c:30)");
    let ns = |side: &str| first[side]["ns"].as_u64().expect("a time");
    assert!(ns("here") - ns("there") > 900_000, "{first}");
    let text = first["text"].as_str().expect("text");
    assert!(text.starts_with("the computation before MPI_Isend at step (wave.c:30): "), "{text}");
    let found = structure(wave_send(8, 50, Some(5)), false);
    assert_eq!(lines(&found["phases"])[1], "loop: 0 | 1-6 | 7");
}

#[test]
fn a_loop_that_is_a_region_is_a_phase() {
    for iterations in [1, 10] {
        let found = structure(wave_with_regions(6, iterations), true);
        assert_eq!(
            lines(&found["phases"]),
            ["straight: 0 | 1-5", "loop: 0 | 1-4 | 5", "straight: 0-5"]
        );
        assert_eq!(found["phases"][1]["name"], "steps");
    }
}

#[test]
fn a_master_and_its_workers_are_in_one_loop() {
    let found = structure(master_and_workers(5), true);
    assert_eq!(lines(&found["phases"]), ["loop: 0 | 1-4"]);
    let calls = &found["phases"][0]["classes"][0]["calls"];
    assert_eq!((&calls[0]["from_any"], &calls[0]["calls"]), (&json!(true), &json!(80.0)));
}

#[test]
fn loops_in_loops_are_phases_in_phases() {
    let found = structure(nested(4), true);
    assert_eq!(lines(&found["phases"]), ["loop: 0-3"]);
    let inner = &found["phases"][0]["inner"];
    assert_eq!(lines(inner), ["straight: 0-3", "loop: 0-3"]);
    assert_eq!(inner[1]["name"], "loop from MPI_Allreduce at norm (s.c:20)");
}

#[test]
fn what_is_repeated_on_one_rank_alone_is_no_loop() {
    let mut world = World::new(4, "main");
    for step in 0..10 {
        world.send(0, 1, "MPI_Send at a (m.c:1)", step);
        world.call(0, "MPI_Probe at a (m.c:2)", 10);
    }
    for _ in 0..10 {
        world.receive(1, 0, "MPI_Recv at b (m.c:3)");
    }
    let found = structure(world, true);
    assert_eq!(lines(&found["phases"]), ["loop: 0 | 1"], "two ranks exchange messages in loops");
    let mut world = World::new(4, "main");
    for to in 1..4 {
        world.send(0, to, "MPI_Send at a (m.c:1)", 8);
        world.receive(to, 0, "MPI_Recv at b (m.c:3)");
    }
    let found = structure(world, true);
    assert_eq!(lines(&found["phases"]), ["straight: 0 | 1-3"]);
}

#[test]
fn recursion_folds() {
    let calls = |depth: usize| {
        let mut world = World::new(2, "main");
        for _ in 0..depth {
            world.ranks().for_each(|rank| world.enter(rank, "cycle", RegionKind::Function));
            world.meet("MPI_Barrier", EdgeKind::Barrier);
        }
        let found = structure(world, true);
        let phases = found["phases"].as_array().expect("a list").iter();
        let calls = phases.map(|phase| phase["classes"][0]["calls"].as_array().map_or(0, Vec::len));
        calls.sum::<usize>()
    };
    assert_eq!((calls(3), calls(20), calls(40)), (3, 5, 5));
}

#[test]
fn a_profile_without_edges_has_no_phases() {
    let map = World::new(2, "main").end();
    let structure = Structure::of_profile(&profile(&map), true);
    assert!(!structure.is_recorded() && structure.phases().is_empty());
    assert!(structure.to_text("run", 10, 80).ends_with("the order of calls was not recorded\n"));
}

#[test]
fn the_text_fits_its_width() {
    let structure = Structure::of_profile(&profile(&wave_send(8, 50, Some(5)).end()), true);
    for width in [40, 80, 120, 200] {
        let text = structure.to_text("wave", 10, width);
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(width.into()), "{width}: {text}");
    }
    insta::assert_snapshot!("structure_text", structure.to_text("wave", 4, 100));
}

#[test]
fn where_ranks_share_cpus_only_computation_is_compared() {
    let classes = |cpus: u32| {
        let mut world = World::new(4, "main");
        for _ in 0..20 {
            for from in [0, 2] {
                // Rank 3 goes on 1 ms after its message has come.
                world.send(from, from + 1, "MPI_Send at a (m.c:1)", 8);
                world.receive_late(from + 1, from, "MPI_Recv at b (m.c:2)", 500_000 * from as u64);
            }
        }
        let mut profile = profile(&world.end());
        (profile.manifest.metadata.cpus, profile.manifest.metadata.numhosts) = (cpus, 1);
        profile.manifest.ranks = 4;
        lines(&Structure::of_profile(&profile, true).to_json("run")["phases"])
    };
    assert_eq!(classes(4), ["loop: 0,2 | 1 | 3"]);
    assert_eq!(classes(2), ["loop: 0,2 | 1,3"]);
}
