//! A rank's part of the line, at the last two moments.
//!
//! The line has fixed ends, and begins as half a sine at rest. With steps in which a wave travels
//! from one point to the next, the explicit scheme has no error but that of rounding:
//! u(x, t) = sin(pi x) cos(pi t), at every point and step.

use std::f64::consts::PI;

use mpi::point_to_point as p2p;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use tinyprof::profile;

/// A rank's part of the line, with a point of each neighbour at its ends.
#[derive(Debug)]
pub(crate) struct Line {
    now: Vec<f64>,
    before: Vec<f64>,
    /// The number of its first point, and the number of steps from end to end of the line.
    first: u32,
    intervals: u32,
    height: f64,
    rank: i32,
    ranks: i32,
}

impl Line {
    /// Returns the part of a rank at time 0, in rest, of a wave of this height.
    pub(crate) fn new(points: u32, height: f64, rank: i32, ranks: i32) -> Self {
        let first = points * rank.cast_unsigned();
        let intervals = points * ranks.cast_unsigned() + 1;
        let at = |point: u32| height * (PI * f64::from(point) / f64::from(intervals)).sin();
        let now: Vec<f64> = (first..first + points + 2).map(at).collect();
        // In rest, the step before is the step after.
        let after = |point: usize| 0.5 * (now[point - 1] + now[point + 1]);
        let mut before = vec![0.0; now.len()];
        (1..now.len() - 1).for_each(|point| before[point] = after(point));
        Self { now, before, first, intervals, height, rank, ranks }
    }

    /// Gives the neighbours the points that they need, and takes theirs. Collective.
    #[profile]
    pub(crate) fn exchange(&mut self, world: &SimpleCommunicator) {
        let last = self.now.len() - 1;
        for (to, mine, theirs) in [(self.rank + 1, last - 1, 0), (self.rank - 1, 1, last)] {
            // What goes to one side comes from the other.
            let from = self.rank * 2 - to;
            let to = (0..self.ranks).contains(&to).then(|| world.process_at_rank(to));
            let from = (0..self.ranks).contains(&from).then(|| world.process_at_rank(from));
            let sent = [self.now[mine]];
            match (to, from) {
                (Some(to), Some(from)) => {
                    let place = &mut self.now[theirs];
                    p2p::send_receive_into(&sent, &to, place, &from);
                }
                (Some(to), None) => to.send(&sent),
                (None, Some(from)) => {
                    from.receive_into(&mut self.now[theirs]);
                }
                (None, None) => {}
            }
        }
    }

    /// Makes a step of time, `times` times: only the last one counts.
    #[profile]
    pub(crate) fn update(&mut self, times: u32) {
        let last = self.now.len() - 1;
        let mut after = std::mem::take(&mut self.before);
        let before = after.clone();
        for _ in 0..times {
            for point in 1..last {
                after[point] = self.now[point - 1] + self.now[point + 1] - before[point];
            }
            std::hint::black_box(&mut after);
        }
        self.before = std::mem::replace(&mut self.now, after);
        // The ends of the line stay at rest; neighbours tell all other ends.
        (self.now[0], self.now[last]) = (0.0, 0.0);
    }

    /// Returns the largest error of this rank after this many steps.
    pub(crate) fn error(&self, steps: u32) -> f64 {
        let last = self.now.len() - 1;
        let angle = |number: u32| PI * f64::from(number) / f64::from(self.intervals);
        let time = self.height * angle(steps).cos();
        let numbered = (self.first..).zip(&self.now).skip(1).take(last - 1);
        numbered.map(|(point, u)| (u - angle(point).sin() * time).abs()).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_alone_has_the_exact_solution() {
        let mut line = Line::new(500, 1.5, 0, 1);
        assert!(line.error(0) < 1e-12);
        for step in 1..=1_200 {
            line.update(1);
            assert!(line.error(step) < 1e-9, "step {step}: {}", line.error(step));
        }
    }
}
