//! A worker: it gets a section of the line in each step, and answers where that is afterwards.

use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use tinyprof::profile;

use crate::arguments::Arguments;
use crate::line::{Point, spread};
use crate::master::parts;
use crate::messages::{Form, MASTER, receive, send};

/// Works on all steps, while the master is in [`lead`](crate::master::lead).
#[profile]
pub(crate) fn work(world: &SimpleCommunicator, arguments: &Arguments) {
    let form = Form::of(arguments);
    let workers = world.size().cast_unsigned() as usize - 1;
    let mine = parts(arguments.points as usize, workers);
    let count = mine[world.rank().cast_unsigned() as usize - 1].len();
    let mut section: Vec<Point> = vec![[0.0; 2]; count + 2];
    for _ in 0..arguments.steps {
        let mut wind = 0.0;
        world.process_at_rank(MASTER).broadcast_into(&mut wind);
        receive(world, MASTER, &mut section, form);
        let moved = spread(&section, wind, arguments.fuel);
        send(world, MASTER, &moved, form);
    }
}
