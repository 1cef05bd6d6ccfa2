//! The line of the fire: a closed curve, each point of which goes on by the rule of Richards
//! (1990), in which the fire would spread from each point as an ellipse.
//!
//! With the wind along y, ellipses with the half axes A across and B along the wind, and C the
//! speed of their centres, a line x(s, t), y(s, t) moves by
//!
//! ```text
//! x_t = A^2 y_s / d,   y_t = C - B^2 x_s / d,   d = sqrt(B^2 x_s^2 + A^2 y_s^2)
//! ```
//!
//! A fire that begins as an ellipse remains one: x = A T cos s, y = C t + B T sin s, where T is t
//! and the time since it began. Central differences do not change directions, so that Euler's steps
//! meet it at every point, but for rounding.

use std::f64::consts::TAU;

use tinyprof::profile;

/// The half axes of the ellipse of a unit of time.
const ACROSS: f64 = 0.5;
const ALONG: f64 = 1.0;

/// The age of the fire when the run begins, and the length of a step.
const AGE: f64 = 1.0;
pub(crate) const STEP: f64 = 0.01;

/// A point of the line: x, across the wind, and y.
pub(crate) type Point = [f64; 2];

/// Returns the line of a fire of this age above the first one, where the wind has this speed.
pub(crate) fn exact(points: usize, time: f64, wind: f64) -> Vec<Point> {
    let angle = |point: usize| TAU * number(point) / number(points);
    let (across, along) = (ACROSS * (AGE + time), ALONG * (AGE + time));
    let at = |s: f64| [across * s.cos(), wind * time + along * s.sin()];
    (0..points).map(|point| at(angle(point))).collect()
}

fn number(count: usize) -> f64 {
    f64::from(u32::try_from(count).expect("of a u32"))
}

/// Returns where a section is after a step. Its first and last points are those of the neighbours,
/// and are left out. The fuel at a point is asked for this many times, at the head of the fire,
/// where it goes with the wind, four times as often.
#[profile]
pub(crate) fn spread(section: &[Point], wind: f64, fuel: u32) -> Vec<Point> {
    let moved = section.windows(3).map(|points| {
        let [x_s, y_s] = [points[2][0] - points[0][0], points[2][1] - points[0][1]];
        let length = f64::hypot(ALONG * x_s, ACROSS * y_s);
        let speed = [ACROSS * ACROSS * y_s / length, wind - ALONG * ALONG * x_s / length];
        let is_head = speed[1] > wind + 0.7 * ALONG;
        let evaluations = if is_head { 4 * fuel } else { fuel };
        let rate =
            (0..evaluations).map(|_| fuel_at(points[1])).sum::<f64>() / f64::from(evaluations);
        [points[1][0] + STEP * rate * speed[0], points[1][1] + STEP * rate * speed[1]]
    });
    moved.collect()
}

/// Returns how quickly the fuel at a point burns: as quickly as everywhere, after all that a model
/// of vegetation and moisture would ask.
fn fuel_at(point: Point) -> f64 {
    let [x, y] = std::hint::black_box(point);
    let moisture = (x * x + y * y).sqrt().sin();
    moisture.mul_add(0.0, 1.0)
}

/// Returns the largest distance of a line from the exact one.
pub(crate) fn error(line: &[Point], time: f64, wind: f64) -> f64 {
    let exact = exact(line.len(), time, wind);
    let distances = line.iter().zip(&exact).map(|(a, b)| f64::hypot(a[0] - b[0], a[1] - b[1]));
    distances.fold(0.0, f64::max)
}

/// Returns this many points of a closed line from `first` on, with one beside them at each end.
pub(crate) fn section(line: &[Point], first: usize, count: usize) -> impl Iterator<Item = Point> {
    let points = line.len();
    (first + points - 1..first + points + count + 1).map(move |point| line[point % points])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fire_remains_an_ellipse() {
        let wind = 0.8;
        let mut line = exact(50, 0.0, wind);
        for _ in 0..100 {
            let whole: Vec<Point> = section(&line, 0, 50).collect();
            line = spread(&whole, wind, 2);
        }
        assert!(error(&line, 100.0 * STEP, wind) < 1e-10);
        assert!(error(&line, 101.0 * STEP, wind) > 1e-3);
    }

    #[test]
    fn sections_are_the_parts_of_the_whole() {
        let line = exact(10, 0.0, 1.0);
        let whole = spread(&section(&line, 0, 10).collect::<Vec<Point>>(), 1.0, 1);
        let parts = [(0, 4), (4, 6)].map(|(first, count)| {
            spread(&section(&line, first, count).collect::<Vec<Point>>(), 1.0, 1)
        });
        assert_eq!(parts.concat(), whole);
    }
}
