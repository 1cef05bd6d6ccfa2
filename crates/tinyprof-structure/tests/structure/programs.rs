//! Programs whose structure and waiting are known.

use tinyprof_format::model::{EdgeKind, RegionKind};

use crate::world::World;

/// The time of computations that all ranks have, in ns.
pub(crate) const WORK_NS: u64 = 100_000;

/// The 1-D wave without regions: call sites below one root. Rank `slow` computes 20 % longer.
pub(crate) fn wave_send(ranks: usize, iterations: u64, slow: Option<usize>) -> World {
    wave(ranks, iterations, |rank| if slow == Some(rank) { WORK_NS / 5 } else { 0 })
}

/// The same wave, with more computation on each rank, in ns.
pub(crate) fn wave(ranks: usize, iterations: u64, more_ns: impl Fn(usize) -> u64) -> World {
    let mut world = World::new(ranks, "wave");
    let each = world.ranks();
    for rank in each.clone() {
        world.compute(rank, 1_000 * rank as u64);
        world.call(rank, "MPI_Init at main (wave.c:8)", 1_000_000 + 70_000 * rank as u64);
    }
    for rank in 1..ranks {
        world.send(0, rank, "MPI_Send at main (wave.c:20)", 8_000);
    }
    for rank in 1..ranks {
        world.receive(rank, 0, "MPI_Recv at main (wave.c:22)");
    }
    for step in 0..iterations {
        let mut requests = Vec::new();
        for rank in each.clone() {
            // Iterations differ, but less than rank and rank.
            world.compute(rank, WORK_NS + more_ns(rank) + (step * 7 + rank as u64 * 3) % 5 * 100);
            for (to, line) in [(rank.wrapping_sub(1), 30), (rank + 1, 31)] {
                if to < ranks {
                    let name = format!("MPI_Isend at step (wave.c:{line})");
                    requests.push((rank, world.send(rank, to, &name, 8)));
                }
            }
        }
        for rank in each.clone() {
            for (from, line) in [(rank.wrapping_sub(1), 33), (rank + 1, 34)] {
                if from < ranks {
                    world.receive(rank, from, &format!("MPI_Recv at step (wave.c:{line})"));
                }
            }
        }
        for (rank, request) in requests {
            world.wait_for_send(rank, request, "MPI_Wait at step (wave.c:36)");
        }
    }
    for rank in 1..ranks {
        world.send(rank, 0, "MPI_Send at main (wave.c:40)", 8_000);
    }
    for rank in 1..ranks {
        world.receive(0, rank, "MPI_Recv at main (wave.c:42)");
    }
    world
}

/// The wave with regions: a loop that is one, and functions.
pub(crate) fn wave_with_regions(ranks: usize, iterations: u64) -> World {
    let mut world = World::new(ranks, "main");
    let each = world.ranks();
    world.broadcast(0, "MPI_Bcast", 64);
    for _ in 0..iterations {
        let mut requests = Vec::new();
        for rank in each.clone() {
            world.enter(rank, "steps", RegionKind::Loop);
            world.enter(rank, "exchange", RegionKind::Function);
            world.compute(rank, WORK_NS);
            for to in [rank.wrapping_sub(1), rank + 1] {
                if to < ranks {
                    requests.push((rank, world.send(rank, to, "MPI_Isend", 8)));
                }
            }
        }
        for rank in each.clone() {
            for from in [rank.wrapping_sub(1), rank + 1] {
                if from < ranks {
                    world.receive(rank, from, "MPI_Recv");
                }
            }
        }
        for (rank, request) in requests {
            world.wait_for_send(rank, request, "MPI_Wait");
        }
        for rank in each.clone() {
            world.leave(rank);
            world.leave(rank);
        }
    }
    world.meet("MPI_Barrier", EdgeKind::Barrier);
    world
}

/// A master that takes requests as they come, and workers, in loops of their own code.
pub(crate) fn master_and_workers(ranks: usize) -> World {
    let mut world = World::new(ranks, "farm");
    for round in 0..20 {
        for worker in (0..ranks - 1).map(|worker| 1 + (worker + round) % (ranks - 1)) {
            world.send(worker, 0, "MPI_Send at work (farm.c:50)", 16);
            world.receive_any(0, worker, "MPI_Recv at master (farm.c:20)");
            world.send(0, worker, "MPI_Send at master (farm.c:22)", 16);
            world.receive(worker, 0, "MPI_Recv at work (farm.c:52)");
            world.compute(worker, WORK_NS);
        }
    }
    world
}

/// A solver: steps with an exchange, and in each of them iterations with a reduction.
pub(crate) fn nested(ranks: usize) -> World {
    let mut world = World::new(ranks, "solver");
    for _ in 0..6 {
        for rank in world.ranks() {
            world.compute(rank, WORK_NS);
            world.send(rank, (rank + 1) % ranks, "MPI_Isend at exchange (s.c:10)", 64);
        }
        for rank in world.ranks() {
            let request = world.call(rank, "MPI_Irecv at exchange (s.c:11)", 100);
            let from = (rank + ranks - 1) % ranks;
            world.wait_for(rank, request, from, "MPI_Wait at exchange (s.c:12)");
        }
        for _ in 0..8 {
            for rank in world.ranks() {
                world.compute(rank, WORK_NS / 10);
            }
            world.meet("MPI_Allreduce at norm (s.c:20)", EdgeKind::AllToAll);
            world.meet("MPI_Barrier at norm (s.c:21)", EdgeKind::Barrier);
        }
    }
    world
}
