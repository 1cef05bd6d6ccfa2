//! Programs whose graphs are known.

use crate::world::{ALLTOALL, FINALIZE, INIT, IRECV, ISEND, SEND, World};

/// The time of computations that all ranks have, in ns.
const WORK_NS: u64 = 100_000;

/// The wave equation in one dimension: paper 003, section 5.1. `slow` computes 5 % longer.
pub(crate) fn wave_send(ranks: usize, iterations: usize, slow: Option<usize>) -> World {
    let mut world = World::new(ranks);
    world.everyone_calls(INIT);
    world.broadcast(0);
    world.ranks().for_each(|rank| world.enter_loop(rank, 1));
    for _ in 0..iterations {
        world.ranks().for_each(|rank| world.iterate(rank));
        let mut requests = Vec::new();
        for rank in world.ranks() {
            let is_slow = slow == Some(rank);
            world.compute(rank, WORK_NS + if is_slow { WORK_NS / 20 } else { 0 });
            for to in [rank.wrapping_sub(1), rank + 1] {
                if to < ranks {
                    requests.push((rank, world.send(rank, to, ISEND)));
                }
            }
        }
        for rank in world.ranks() {
            for from in [rank.wrapping_sub(1), rank + 1] {
                if from < ranks {
                    world.receive(rank, from, false);
                }
            }
        }
        requests.into_iter().for_each(|(rank, request)| world.wait(rank, request));
    }
    world.ranks().for_each(|rank| world.leave_loop(rank));
    for rank in 1..ranks {
        world.send(rank, 0, SEND);
        world.receive(0, rank, false);
    }
    world.everyone_calls(FINALIZE);
    world
}

/// Each rank sends to the next, and the last to the first.
pub(crate) fn ring(ranks: usize) -> World {
    let mut world = World::new(ranks);
    world.ranks().for_each(|rank| world.enter_loop(rank, 1));
    for _ in 0..10 {
        for rank in world.ranks() {
            world.iterate(rank);
            world.compute(rank, WORK_NS);
            world.send(rank, (rank + 1) % ranks, SEND);
        }
        for rank in world.ranks() {
            world.receive(rank, (rank + ranks - 1) % ranks, false);
        }
    }
    world.ranks().for_each(|rank| world.leave_loop(rank));
    world
}

/// A grid of ranks, closed in both directions, of which each exchanges with four neighbours.
pub(crate) fn torus(width: usize) -> World {
    let mut world = World::new(width * width);
    let neighbours = |rank: usize| {
        let (row, column) = (rank / width, rank % width);
        let at = |row: usize, column: usize| (row % width) * width + column % width;
        [
            at(row, column + 1),
            at(row, column + width - 1),
            at(row + 1, column),
            at(row + width - 1, column),
        ]
    };
    for rank in world.ranks() {
        world.enter_loop(rank, 1);
    }
    for _ in 0..10 {
        for rank in world.ranks() {
            world.iterate(rank);
            world.compute(rank, WORK_NS);
            for to in neighbours(rank) {
                world.send(rank, to, ISEND);
            }
        }
        for rank in world.ranks() {
            for from in neighbours(rank) {
                world.receive(rank, from, false);
            }
        }
    }
    world.ranks().for_each(|rank| world.leave_loop(rank));
    world
}

/// The master takes requests as they come and answers them. Each worker gets as much.
pub(crate) fn master_and_workers(ranks: usize) -> World {
    let mut world = World::new(ranks);
    world.ranks().for_each(|rank| world.enter_loop(rank, 1));
    for round in 0..20 {
        // The order of the workers is another one in each round.
        for worker in (0..ranks - 1).map(|worker| 1 + (worker + round) % (ranks - 1)) {
            world.iterate(worker);
            world.send(worker, 0, SEND);
            world.iterate(0);
            world.receive(0, worker, true);
            world.send(0, worker, SEND);
            world.receive(worker, 0, false);
            world.compute(worker, WORK_NS);
        }
    }
    world.ranks().for_each(|rank| world.leave_loop(rank));
    world
}

/// A Fourier transformation: two transpositions in a loop.
pub(crate) fn all_to_all(ranks: usize) -> World {
    let mut world = World::new(ranks);
    for rank in world.ranks() {
        world.enter_loop(rank, 1);
        for _ in 0..10 {
            world.iterate(rank);
            for region in [2, 3] {
                world.enter(rank, region);
                world.compute(rank, WORK_NS);
                world.call(rank, ALLTOALL);
                world.leave(rank);
            }
        }
        world.leave_loop(rank);
    }
    world
}

/// A V cycle of this many levels, recursive: smooth, restrict, cycle, prolong, smooth.
pub(crate) fn multigrid(ranks: usize, levels: u32) -> World {
    let mut world = World::new(ranks);
    world.ranks().for_each(|rank| world.enter(rank, 10));
    cycle(&mut world, levels);
    world.ranks().for_each(|rank| world.leave(rank));
    world
}

fn cycle(world: &mut World, level: u32) {
    let [function, smooth, restrict, prolong] = [11, 12, 13, 14];
    world.ranks().for_each(|rank| world.enter(rank, function));
    exchange(world, smooth, level);
    if level > 1 {
        exchange(world, restrict, level);
        cycle(world, level - 1);
        exchange(world, prolong, level);
        exchange(world, smooth, level);
    }
    world.ranks().for_each(|rank| world.leave(rank));
}

/// An exchange with the neighbours in a ring, in a region.
fn exchange(world: &mut World, region: u64, level: u32) {
    let ranks = world.len();
    for rank in world.ranks() {
        world.enter(rank, region);
        world.compute(rank, WORK_NS * u64::from(level));
        world.send(rank, (rank + 1) % ranks, ISEND);
    }
    for rank in world.ranks() {
        let request = world.call(rank, IRECV);
        world.received(rank, request, (rank + ranks - 1) % ranks, false);
        world.wait(rank, request);
        world.leave(rank);
    }
}
