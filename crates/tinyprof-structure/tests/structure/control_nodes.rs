//! The control nodes of loops in a drawn graph.

use tinyprof_structure::{Drawing, DrawnKind, DrawnRanks, Structure};

use crate::fixture::profile;
use crate::programs::{master_and_workers, nested, wave_send, wave_with_regions};
use crate::world::World;

fn drawn(world: World) -> Drawing {
    Structure::of_profile(&profile(&world.end()), false).drawing(&DrawnRanks::All)
}

/// The position of the only loop whose name contains `name`.
fn loop_of(drawing: &Drawing, name: &str) -> usize {
    let nodes = drawing.nodes.iter().enumerate();
    let mut found =
        nodes.filter(|(_, node)| node.kind == DrawnKind::Loop && node.path.contains(name));
    let (at, _) = found.next().unwrap_or_else(|| panic!("no loop {name}: {:#?}", drawing.nodes));
    assert!(found.next().is_none(), "{name} is the name of several loops");
    at
}

/// The sum of the counts of all flow edges that `is_counted` says, by their ends.
fn flow(drawing: &Drawing, is_counted: impl Fn(usize, usize) -> bool) -> u64 {
    let edges = drawing.edges.iter().filter(|edge| edge.kind == "flow");
    edges.filter(|edge| is_counted(edge.from, edge.to)).map(|edge| edge.times.count).sum()
}

/// Checks what every drawing keeps: a node is left as often as it is entered, but where ranks end.
fn check(drawing: &Drawing, ranks: u64) {
    for (at, node) in drawing.nodes.iter().enumerate() {
        let (into, out_of) = (flow(drawing, |_, to| to == at), flow(drawing, |from, _| from == at));
        match node.kind {
            DrawnKind::Begin => assert_eq!((into, out_of), (0, ranks)),
            DrawnKind::Loop => assert!(into == node.times.count && out_of == into, "{node:?}"),
            _ => assert!(into == node.times.count && into <= out_of + ranks, "{node:?}"),
        }
        let around = drawing.nodes.iter().any(|other| {
            other.kind == DrawnKind::Loop && other.path == node.in_loop && !other.phase.is_empty()
        });
        assert_eq!(around, !node.in_loop.is_empty(), "{node:?}");
    }
}

#[test]
fn iterations_begin_at_the_node_of_their_loop() {
    for world in [wave_send(8, 50, None), wave_with_regions(8, 50)] {
        let drawing = drawn(world);
        check(&drawing, 8);
        let at = loop_of(&drawing, "");
        let node = &drawing.nodes[at];
        assert_eq!((node.times.count, node.ranks.to_string().as_str()), (8 * 50, "0-7"));
        assert_eq!((node.phase.as_str(), node.in_loop.as_str()), ("2", ""));
        let members = drawing.nodes.iter().filter(|other| other.in_loop == node.path);
        let in_calls_ns: u64 = members.map(|member| member.times.sum).sum();
        assert!(
            node.times.sum > in_calls_ns && in_calls_ns > 0,
            "with the computation between them"
        );
        // Each rank enters it once, and returns 49 times.
        let is_inside = |at: usize| drawing.nodes[at].in_loop == node.path;
        assert_eq!(flow(&drawing, |from, to| to == at && !is_inside(from)), 8);
        assert_eq!(flow(&drawing, |from, to| to == at && is_inside(from)), 8 * 49);
    }
}

#[test]
fn a_loop_in_a_loop_is_entered_from_it() {
    let drawing = drawn(nested(4));
    check(&drawing, 4);
    let inner = loop_of(&drawing, "MPI_Allreduce");
    let around = &drawing.nodes[inner].in_loop;
    let outer = loop_of(&drawing, around);
    assert!(drawing.nodes[outer].times.count < drawing.nodes[inner].times.count);
    assert!(drawing.nodes[outer].times.sum > drawing.nodes[inner].times.sum);
}

#[test]
fn ranks_that_run_different_code_are_in_one_loop() {
    let drawing = drawn(master_and_workers(5));
    check(&drawing, 5);
    let node = &drawing.nodes[loop_of(&drawing, "")];
    assert_eq!(node.ranks.to_string(), "0-4");
}
