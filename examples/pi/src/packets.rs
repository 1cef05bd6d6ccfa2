//! Packets of work: a master has them, and gives one to any worker who asks.

use mpi::Tag;
use mpi::point_to_point::Status;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use tinyprof::profile;

use crate::arguments::{Arguments, Draw};
use crate::points::{count_below, draw};

const MASTER: i32 = 0;

/// A message to a worker: numbers that were drawn, the number of the first point to draw, or that
/// the round is over. To the master: the request of a worker.
const POINTS: Tag = 1;
const FIRST: Tag = 2;
const END: Tag = 3;
const REQUEST: Tag = 4;

/// Does all packets of a round, and returns how many points of this rank lie below the curve.
/// Collective; a rank alone does all by itself.
#[profile]
pub(crate) fn round(world: &SimpleCommunicator, arguments: Arguments, round: u64) -> u64 {
    let packets = round * arguments.packets..(round + 1) * arguments.packets;
    let count = |points: Vec<[f64; 2]>| count_below(&points, arguments.regions);
    let firsts = packets.map(|packet| packet * arguments.points);
    if world.size() == 1 {
        return firsts.map(|first| count(draw(first..first + arguments.points))).sum();
    }
    if world.rank() == MASTER {
        firsts.for_each(|first| give(world, arguments, first));
        (1..world.size()).for_each(|_| {
            let worker = next_request(world);
            world.process_at_rank(worker).send_with_tag(&[0_u8; 0], END);
        });
        return 0;
    }
    std::iter::from_fn(|| take(world, arguments)).map(count).sum()
}

/// Gives a packet to the first worker who asks.
fn give(world: &SimpleCommunicator, arguments: Arguments, first: u64) {
    match arguments.draw {
        Draw::Master => {
            let points = draw(first..first + arguments.points);
            let worker = next_request(world);
            world.process_at_rank(worker).send_with_tag(points.as_flattened(), POINTS);
        }
        Draw::Workers => {
            let worker = next_request(world);
            world.process_at_rank(worker).send_with_tag(&first, FIRST);
        }
    }
}

/// Waits until any worker asks for work, and returns its rank.
#[profile]
fn next_request(world: &SimpleCommunicator) -> i32 {
    let mut nothing = [0_u8; 0];
    let status: Status = world.any_process().receive_into_with_tag(&mut nothing[..], REQUEST);
    status.source_rank()
}

/// Asks for work, and returns the points of a packet; nothing once the round is over.
fn take(world: &SimpleCommunicator, arguments: Arguments) -> Option<Vec<[f64; 2]>> {
    let master = world.process_at_rank(MASTER);
    master.send_with_tag(&[0_u8; 0], REQUEST);
    match master.probe().tag() {
        POINTS => {
            let mut points =
                vec![[0.0; 2]; usize::try_from(arguments.points).expect("at most 2^24")];
            master.receive_into_with_tag(points.as_flattened_mut(), POINTS);
            Some(points)
        }
        FIRST => {
            let (first, _) = master.receive_with_tag::<u64>(FIRST);
            Some(draw(first..first + arguments.points))
        }
        _ => {
            master.receive_into_with_tag(&mut [0_u8; 0][..], END);
            None
        }
    }
}
