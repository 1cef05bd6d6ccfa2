//! The graphs of known programs.

use tinyprof_messages::graph::{
    Comparison, Direction, NodeKey, NodeKind, Part, Phase, Place, Tag, phases,
};

use crate::programs::{all_to_all, master_and_workers, multigrid, ring, torus, wave_send};
use crate::union::Union;
use crate::world::{FUNCTIONS, SEND, World};

fn comparison(tags: &[Tag]) -> Comparison {
    Comparison::new(u32::try_from(tags.len()).expect("ranks"))
}

fn all_phases(tags: &[Tag]) -> Vec<Phase> {
    phases(tags, &comparison(tags))
}

/// The phases, each with its classes: `loop 0 | 1-6 | 7`.
fn check(phases: &[Phase], expected: &[&str]) {
    let found: Vec<String> = phases.iter().map(line).collect();
    assert_eq!(found, expected);
}

fn line(phase: &Phase) -> String {
    let place = match phase.section.places.last() {
        Some(Place::Loop(_)) => "loop",
        Some(Place::Straight(_)) => "straight",
        None => "all",
    };
    let classes: Vec<String> = phase.classes.iter().map(|class| class.ranks.to_string()).collect();
    format!("{place}: {}", classes.join(" | "))
}

fn name(key: NodeKey) -> String {
    match key.kind {
        NodeKind::Call(function) => FUNCTIONS[usize::from(function)].to_owned(),
        other => format!("{other:?}"),
    }
}

/// The graph of a rank: `Send -> Recv x10`, then `Send out +1 x10`.
fn graph(tag: &Tag) -> Vec<String> {
    let mut flows: Vec<_> = tag.flows.iter().collect();
    flows.sort_by_key(|((from, to), _)| (tag.nodes[from].order, tag.nodes[to].order));
    let flows = flows
        .into_iter()
        .map(|((from, to), flow)| format!("{} -> {} x{}", name(*from), name(*to), flow.count));
    let completions = tag
        .completions
        .iter()
        .map(|((from, to), times)| format!("{} => {} x{}", name(*from), name(*to), times.count));
    let messages = tag.messages.iter().map(|(edge, messages)| {
        let any = if edge.is_wildcard { " any" } else { "" };
        let sender = edge.sender.map_or(String::new(), |sender| format!(" of {}", name(sender)));
        let direction = format!("{:?}", edge.direction).to_lowercase();
        let count = messages.bytes.count;
        format!("{} {direction}{any} {:+}{sender} x{count}", name(edge.node), edge.offset)
    });
    flows.chain(completions).chain(messages).collect()
}

fn tags(world: World) -> Vec<Tag> {
    world.end()
}

#[test]
fn wave_send_has_three_phases_and_three_classes_in_its_loop() {
    for ranks in [4, 8] {
        let tags = tags(wave_send(ranks, 50, None));
        let last = ranks - 1;
        let phases = all_phases(&tags);
        let within = format!("loop: 0 | 1-{} | {last}", last - 1);
        let others = format!("straight: 0 | 1-{last}");
        check(&phases, &[&others, &within, &others]);
        let peers = |rank: usize| {
            let messages = tags[rank].messages.iter().filter(|(edge, messages)| {
                edge.direction == Direction::Out && messages.bytes.count == 50
            });
            messages.map(|(edge, _)| edge.offset).collect::<Vec<i32>>()
        };
        assert_eq!([peers(0), peers(1), peers(last)], [vec![1], vec![-1, 1], vec![-1]]);
    }
}

#[test]
fn a_slow_rank_is_a_class_of_its_own_and_its_computation_differs() {
    let tags = tags(wave_send(8, 50, Some(5)));
    let phases = all_phases(&tags);
    assert_eq!(line(&phases[1]), "loop: 0 | 1-4,6 | 5 | 7");
    let comparison = comparison(&tags);
    let section = &phases[1].section;
    let differences = comparison.differences(&tags[4], &tags[5], section);
    let Part::Flow(from, to) = differences[0].part else { panic!("{differences:?}") };
    assert_eq!((name(from), name(to)), ("LoopEntry".to_owned(), "Isend".to_owned()));
    assert_eq!(comparison.differences(&tags[4], &tags[6], section), []);
    // An edge of the string differs in structure.
    let edge = comparison.differences(&tags[0], &tags[1], section);
    assert!(edge[0].apart_ns == 0.0 && edge.len() > 1, "{edge:?}");
    // Where times do not count it is like its neighbours.
    let without = Comparison { with_times: false, ..comparison };
    let phases = tinyprof_messages::graph::phases(&tags, &without);
    assert_eq!(line(&phases[1]), "loop: 0 | 1-6 | 7");
}

#[test]
fn all_ranks_of_a_ring_are_alike() {
    let tags = tags(ring(6));
    check(&all_phases(&tags), &["loop: 0-5"]);
    let expected = [
        "Begin -> LoopEntry x1",
        "LoopEntry -> Send x10",
        "Send -> Recv x10",
        "Recv -> LoopEntry x9",
        "Recv -> LoopExit x1",
        "LoopExit -> End x1",
        "Send out +1 x10",
        "Recv in -1 of Send x10",
    ];
    assert_eq!(graph(&tags[2]), expected);
}

#[test]
fn a_torus_has_two_borders_where_rows_end() {
    let tags = tags(torus(4));
    check(&all_phases(&tags), &["loop: 0,4,8,12 | 1-2,5-6,9-10,13-14 | 3,7,11,15"]);
    let messages: Vec<String> = graph(&tags[5]).into_iter().filter(|l| l.contains("out")).collect();
    assert_eq!(
        messages,
        ["Isend out -4 x10", "Isend out -1 x10", "Isend out +1 x10", "Isend out +4 x10"]
    );
}

#[test]
fn a_master_and_its_workers_are_two_classes() {
    let tags = tags(master_and_workers(5));
    check(&all_phases(&tags), &["loop: 0 | 1-4"]);
    let expected = [
        "Begin -> LoopEntry x1",
        "LoopEntry -> Send x20",
        "Send -> Recv x20",
        "Recv -> LoopEntry x19",
        "Recv -> LoopExit x1",
        "LoopExit -> End x1",
        "Send out -3 x20",
        "Recv in -3 of Send x20",
    ];
    assert_eq!(graph(&tags[3]), expected);
    let master = graph(&tags[0]);
    assert!(master.contains(&"Recv in any +3 of Send x20".to_owned()), "{master:?}");
}

#[test]
fn peers_of_wildcards_are_chance() {
    // Ranks 2 and 3 get a message each from one of the others, in crossed order.
    let classes = |is_wildcard| {
        let mut world = World::new(4);
        for (from, to) in [(0, 2), (0, 2), (1, 3), (0, 3)] {
            world.send(from, to, SEND);
            world.receive(to, from, is_wildcard);
        }
        line(&all_phases(&tags(world))[0])
    };
    assert_eq!(classes(true), "straight: 0 | 1 | 2-3");
    assert_eq!(classes(false), "straight: 0 | 1 | 2 | 3");
}

#[test]
fn a_microsecond_a_visit_does_not_matter() {
    let classes = |more_ns| {
        let mut world = World::new(2);
        for rank in world.ranks() {
            for _ in 0..10 {
                world.compute(rank, 5_000 + if rank == 1 { more_ns } else { 0 });
                world.call(rank, SEND);
            }
        }
        line(&all_phases(&tags(world))[0])
    };
    assert_eq!(classes(1_000), "straight: 0-1", "20 %, but little");
    assert_eq!(classes(1_500), "straight: 0 | 1");
}

#[test]
fn what_chance_explains_does_not_matter() {
    // Rank 1 takes 20 % longer in all, which its visits explain if they differ as much.
    let classes = |visits: u64, jitter_ns: u64| {
        let mut world = World::new(2);
        for rank in world.ranks() {
            for visit in 0..visits {
                let more_ns = if rank == 1 { 200_000 } else { 0 };
                world.compute(rank, 1_000_000 + more_ns + (visit % 2) * jitter_ns);
                world.call(rank, SEND);
            }
        }
        line(&all_phases(&tags(world))[0])
    };
    assert_eq!(classes(10, 0), "straight: 0 | 1");
    assert_eq!(classes(10, 100_000), "straight: 0 | 1", "it is more than that");
    assert_eq!(classes(10, 2_000_000), "straight: 0-1");
    assert_eq!(classes(2, 0), "straight: 0-1", "two visits say nothing of chance");
}

#[test]
fn an_all_to_all_has_a_node_for_each_place_it_is_called_from() {
    let tags = tags(all_to_all(4));
    check(&all_phases(&tags), &["loop: 0-3"]);
    let expected = [
        "Begin -> LoopEntry x1",
        "LoopEntry -> Alltoall x10",
        "Alltoall -> Alltoall x10",
        "Alltoall -> LoopEntry x9",
        "Alltoall -> LoopExit x1",
        "LoopExit -> End x1",
    ];
    assert_eq!(graph(&tags[0]), expected);
}

#[test]
fn a_recursive_cycle_folds() {
    let nodes = |levels| tags(multigrid(4, levels))[0].nodes.len();
    // Twelve nodes for each of four levels, and of the folded ones.
    assert!(nodes(20) <= 60, "{}", nodes(20));
    assert_eq!(nodes(20), nodes(40));
    assert!(nodes(4) < nodes(20));
    let tags = tags(multigrid(4, 20));
    check(&all_phases(&tags), &["straight: 0-3"]);
    let depths = tags[0].nodes.values().filter(|node| !node.depths.is_empty());
    let deepest: Vec<u32> = depths.filter_map(|node| node.depths.keys().copied().max()).collect();
    assert!(deepest.iter().all(|depth| *depth >= 15), "{deepest:?}");
}

#[test]
fn nodes_without_room_are_one_and_counted() {
    let mut builder = crate::builder::Builder::new(0, 3, 0);
    for function in [0, 1, 2, 3, 1, 3] {
        builder.call(function, tinyprof_messages::time::Call { entered_ns: 0, left_ns: 5 });
    }
    let tag = builder.end(10);
    assert_eq!(tag.nodes[&NodeKey::OTHER].times.count, 3);
    assert_eq!((tag.lost, tag.nodes.len()), (3, 5), "begin, two calls, others, end");
}

#[test]
fn the_union_of_a_program_has_both_sides_of_each_message() {
    let mut union = Union::default();
    for tag in tags(wave_send(8, 50, None)) {
        union.add(&tag);
    }
    assert_eq!(union.ranks.to_string(), "0-7");
    for ((node, offset), sides) in union.sides() {
        assert_eq!(sides.sent, sides.received, "{} {offset}", name(node));
    }
    assert_eq!(union.sides().values().map(|sides| sides.sent).sum::<u64>(), 14 * 50 + 7);
}
