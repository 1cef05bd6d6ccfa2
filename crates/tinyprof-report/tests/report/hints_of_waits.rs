//! Hints on waiting, at profiles whose waiting is known.

use tinyprof_format::model::{EdgeKey, EdgeKind, PhaseTimes};
use tinyprof_report::{Finding, FindingKind, Report};

use crate::fixture::profile;
use crate::world::World;

const SEND: &str = "MPI_Send at a (w.c:1)";
const RECV: &str = "MPI_Recv at b (w.c:2)";

fn hints(world: World) -> Vec<Finding> {
    let mut profile = profile(&world.end());
    profile.manifest.flush = PhaseTimes::default();
    Report::of_profile(&profile).findings().to_vec()
}

fn find(world: World, kind: FindingKind) -> Option<Finding> {
    let found = hints(world).into_iter().find(|hint| hint.kind == kind);
    if let Some(hint) = &found {
        assert!(hint.words.advice.ends_with(".") && !hint.words.headline.is_empty(), "{hint:?}");
    }
    found
}

/// Ranks 1 and 3 wait so long for ranks 0 and 2, in 1 ms.
fn late(ns: u64) -> World {
    let mut world = World::new(4, "main");
    for rank in world.ranks() {
        world.compute(rank, 1_000_000 - if rank % 2 == 1 { ns } else { 0 });
    }
    for rank in [0, 2] {
        world.send(rank, rank + 1, SEND, 8);
        world.receive(rank + 1, rank, RECV);
    }
    world
}

#[test]
fn late_senders_are_named_with_both_callpaths() {
    let hint = find(late(200_000), FindingKind::LateSender).expect("a tenth of the time");
    assert_eq!(hint.words.headline, "Ranks 1,3 waited for late senders");
    let evidence = "In MPI_Recv at b (w.c:2) they wait 400 us, 10.0% of the time of all ranks, for ranks 0,2 \
                    in MPI_Send at a (w.c:1).";
    assert_eq!(hint.words.evidence, evidence);
    assert!((hint.lost_ns - 100_000.0).abs() < 1.0, "{hint:?}");
    assert_eq!(find(late(90_000), FindingKind::LateSender), None, "less than 5 %");
}

#[test]
fn a_rank_for_which_most_others_wait_is_a_bottleneck() {
    let mut world = World::new(4, "main");
    world.compute(0, 1_000_000);
    for to in 1..4 {
        world.send(0, to, SEND, 8);
        world.receive(to, 0, RECV);
    }
    let hint = find(world, FindingKind::RootBottleneck).expect("all wait for it");
    assert_eq!(hint.words.headline, "Rank 0 is a bottleneck: ranks 1-3 waited for it");
    assert_eq!(hint.rank(), Some(0));
    let mut world = World::new(4, "main");
    world.compute(2, 1_000_000);
    world.broadcast(2, "MPI_Bcast", 8);
    assert!(find(world, FindingKind::RootBottleneck).is_some());
}

#[test]
fn order_is_told_if_it_costs_enough() {
    let with_order = |ns: u64| {
        let mut world = late(400_000);
        world.send(0, 1, SEND, 8);
        let receive = world.receive(1, 0, RECV);
        world.edit(1, receive, |key: &EdgeKey, edge| {
            edge.wrong_order_ns = if key.kind == EdgeKind::Message { ns } else { 0 };
        });
        find(world, FindingKind::WrongOrder)
    };
    let hint = with_order(300_000).expect("more than 5 %");
    assert_eq!(hint.words.headline, "Rank 1 received in the wrong order");
    assert_eq!(with_order(100_000), None);
}

#[test]
fn a_barrier_right_before_an_allreduce_is_needless() {
    let run = |in_between: bool| {
        let mut world = World::new(4, "main");
        world.compute(3, 1_000_000);
        world.meet("MPI_Barrier at c (w.c:3)", EdgeKind::Barrier);
        if in_between {
            world.broadcast(0, "MPI_Bcast", 8);
        }
        world.meet("MPI_Allreduce at c (w.c:4)", EdgeKind::AllToAll);
        find(world, FindingKind::BarrierFirst)
    };
    let hint = run(false).expect("they follow each other");
    let headline = "MPI_Barrier at c (w.c:3) is right before MPI_Allreduce at c (w.c:4), which waits for all \
                    ranks itself";
    assert_eq!(hint.words.headline, headline);
    assert_eq!(run(true), None);
}
