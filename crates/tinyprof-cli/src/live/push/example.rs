//! Numbers for tests.

use tinyprof_picture::{Missing, Still};

use super::super::example::waiting;
use super::super::frame::Frame;
use super::super::sample::Sample;
use super::metric::{self, ALL, Number, Numbers};
use super::numbers::Counter;

/// Returns the numbers of two ranks that wait, with a host and a rank in trouble.
pub(super) fn numbers() -> Numbers {
    let mut sample = waiting();
    let picture = &mut sample.picture;
    picture.elapsed_ns = Some(83_500_000_000);
    picture.size = 3;
    picture.losses.visits_not_recorded = 7;
    let since_ns = 5_000_000_000;
    let host = "n1".to_owned();
    picture.still.add(Still { is_stopped: true, since_ns, rank: 1, host: host.clone() });
    picture.missing.add(Missing { host, why: "no answer for 7 s".to_owned() });
    let mut numbers = of(sample);
    numbers.moment_ns = 1_795_000_000_000_000_000;
    numbers.start_ns = numbers.moment_ns - 83_500_000_000;
    for (metric, points) in ALL.into_iter().zip(&mut numbers.points) {
        if metric == metric::START {
            points[0].number = Number::Time(numbers.start_ns.into());
        } else if metric == metric::PROCESSOR {
            points[0].number = Number::Time(12_345_678);
        }
    }
    numbers
}

/// Returns the numbers of a job as it is at first.
pub(super) fn of(sample: Sample) -> Numbers {
    let frame = Frame::new(sample, None);
    Counter::new(None, 50).numbers(&frame, false, Some("4711"), &[("otlp".to_owned(), 2)])
}
