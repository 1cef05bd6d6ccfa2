//! The master: it has the line, gives each worker a section, and joins what they answer.

use std::ops::Range;

use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use tinyprof::profile;

use crate::arguments::{Arguments, Remedy};
use crate::line::{Point, exact, section, spread};
use crate::messages::{Form, MASTER, receive, send};
use crate::weather::Weather;

/// Memory for sections, taken once or in each step.
#[derive(Debug, Default)]
struct Memory {
    sections: Vec<Vec<Point>>,
}

/// Spreads the fire over all steps, and returns its line. Workers are in
/// [`work`](crate::worker::work) meanwhile; a rank alone does all by itself.
#[profile]
pub(crate) fn lead(world: &SimpleCommunicator, arguments: &Arguments) -> Vec<Point> {
    let has = |remedy| arguments.remedy.contains(&remedy);
    let (overlaps, keeps_memory) = (has(Remedy::Overlap), has(Remedy::Memory));
    let form = Form::of(arguments);
    let mut weather = Weather::new(arguments.weather as usize);
    let mut line = exact(arguments.points as usize, 0.0, weather.wind());
    let workers: Vec<i32> = (1..world.size()).collect();
    let parts = parts(line.len(), workers.len().max(1));
    let mut memory = Memory::default();
    for _ in 0..arguments.steps {
        let mut wind = weather.wind();
        world.process_at_rank(MASTER).broadcast_into(&mut wind);
        if !keeps_memory {
            memory = Memory::default();
        }
        fill(&mut memory, &line, &parts);
        if workers.is_empty() {
            line = spread(&memory.sections[0], wind, arguments.fuel);
        }
        for (worker, points) in workers.iter().zip(&memory.sections) {
            send(world, *worker, points, form);
        }
        if overlaps {
            weather.compute();
        }
        for (worker, part) in workers.iter().zip(&parts) {
            receive(world, *worker, &mut line[part.clone()], form);
        }
        if !overlaps {
            weather.compute();
        }
    }
    line
}

/// Returns which points each worker has.
pub(crate) fn parts(points: usize, workers: usize) -> Vec<Range<usize>> {
    let first = |worker: usize| points * worker / workers;
    (0..workers).map(|worker| first(worker)..first(worker + 1)).collect()
}

/// Copies the sections of all workers out of the line.
#[profile]
fn fill(memory: &mut Memory, line: &[Point], parts: &[Range<usize>]) {
    memory.sections.resize(parts.len(), Vec::new());
    for (points, part) in memory.sections.iter_mut().zip(parts) {
        points.clear();
        points.extend(section(line, part.start, part.len()));
    }
}
