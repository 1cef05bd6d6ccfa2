//! The means of the times of ranks that are alike.

use crate::model::Edge;

/// The part of a time by which it may change.
const SHARE: u64 = 50;
/// The part by which the shortest and the longest time may change: they vary more by chance.
const SHARE_OF_EXTREME: u64 = 8;
/// The part of a rank's time in the run by which its edges may change besides.
const SHARE_OF_RUN: u64 = 128;
/// By how much a time may change besides for each instance, in ns.
const EACH_NS: u64 = 2_000;
/// The most classes of a time. Ranks that are in none keep their own.
const CLASSES_MAX: usize = 4;
/// Greater times are those of a damaged record.
const SANE_NS: u64 = 1 << 53;

/// The times of which a mean says all, in ns.
const TIMES: [fn(&mut Edge) -> &mut u64; 4] = [
    |edge| &mut edge.sum_ns,
    |edge| &mut edge.transfer_ns,
    |edge| &mut edge.wrong_order_ns,
    |edge| &mut edge.late_receiver_ns,
];

/// By how much the times of a rank may change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// The most for one time, in ns.
    each_ns: u64,
    /// The rest that all of its edges share, in ns.
    left_ns: u64,
}

impl Room {
    /// Returns the room of a rank that was measured for `duration_ns`.
    pub(super) const fn of(duration_ns: u64) -> Self {
        let ns = duration_ns / SHARE_OF_RUN;
        Self { each_ns: ns, left_ns: ns }
    }
}

/// Joins edges of one key and count, each with the position of its rank in `rooms`. `waits` is true
/// if their times are waiting.
pub(super) fn join(edges: &mut [(usize, Edge)], waits: bool, rooms: &mut [Room]) {
    if edges.len() < 2 || !edges.iter().all(|(_, edge)| is_sane(edge)) {
        return;
    }
    let room_ns = edges.iter().map(|&(rank, _)| rooms[rank].each_ns).min().unwrap_or(0);
    let room_ns = room_ns.min(edges[0].1.count.saturating_mul(EACH_NS));
    // Before the sums change.
    let deviations: Vec<i64> = edges.iter().map(|(_, edge)| deviation_ns(edge)).collect();
    let without = |edge: &Edge| if waits { signed(edge.sum_ns) } else { 0 };
    let by_measuring = edges.iter().map(|(_, edge)| signed(edge.compensated_ns) - without(edge));
    let mut by_measuring: Vec<i64> = by_measuring.collect();

    for field in TIMES {
        let mut times: Vec<i64> = edges.iter_mut().map(|(_, edge)| signed(*field(edge))).collect();
        means(&mut times, room_ns, edges, rooms);
        edges.iter_mut().zip(times).for_each(|((_, edge), ns)| *field(edge) = unsigned(ns));
    }
    means(&mut by_measuring, room_ns, edges, rooms);
    for ((_, edge), ns) in edges.iter_mut().zip(by_measuring) {
        edge.compensated_ns = unsigned(without(edge) + ns);
    }
    extremes(edges);
    spread(edges, deviations, room_ns);
}

/// Replaces times by the means of their classes, as far as the rooms of their ranks allow it.
fn means(times: &mut [i64], room_ns: u64, edges: &[(usize, Edge)], rooms: &mut [Room]) {
    for mut class in classes(times, SHARE, room_ns) {
        let before = mean(times, &class);
        class.retain(|&at| excess_ns(times[at], before) <= rooms[edges[at].0].left_ns);
        let mean = mean(times, &class);
        for at in class {
            let left_ns = &mut rooms[edges[at].0].left_ns;
            *left_ns = left_ns.saturating_sub(excess_ns(times[at], mean));
            times[at] = mean;
        }
    }
}

/// Replaces the shortest and longest times by those of their classes.
fn extremes(edges: &mut [(usize, Edge)]) {
    let mut shortest: Vec<i64> = edges.iter().map(|(_, edge)| signed(edge.min_ns)).collect();
    let mut longest: Vec<i64> = edges.iter().map(|(_, edge)| signed(edge.max_ns)).collect();
    for class in classes(&shortest, SHARE_OF_EXTREME, EACH_NS) {
        let least = class.iter().map(|&at| shortest[at]).min().unwrap_or(0);
        class.into_iter().for_each(|at| shortest[at] = least);
    }
    for class in classes(&longest, SHARE_OF_EXTREME, EACH_NS) {
        let greatest = class.iter().map(|&at| longest[at]).max().unwrap_or(0);
        class.into_iter().for_each(|at| longest[at] = greatest);
    }
    for ((_, edge), (min_ns, max_ns)) in edges.iter_mut().zip(shortest.into_iter().zip(longest)) {
        // The mean of the class may be beyond the times of a rank that are all equal.
        let count = edge.count.max(1);
        edge.min_ns = unsigned(min_ns).min(edge.sum_ns / count);
        edge.max_ns = unsigned(max_ns).max(edge.sum_ns.div_ceil(count));
    }
}

/// Replaces the sums of squares, from the deviations of the times before they were joined.
fn spread(edges: &mut [(usize, Edge)], mut deviations: Vec<i64>, room_ns: u64) {
    let squares: Vec<f64> = deviations.iter().map(|&ns| square(ns)).collect();
    for class in classes(&deviations, SHARE, room_ns) {
        let sum: f64 = class.iter().map(|&at| squares[at]).sum();
        let of_class = root(sum / float(class.len()));
        class.into_iter().for_each(|at| deviations[at] = of_class);
    }
    for ((_, edge), deviation) in edges.iter_mut().zip(deviations) {
        edge.sum_squares_ns2 = of_equals(edge) + square(deviation);
    }
}

/// Returns the positions of times that are alike, of the largest class first. Times of 0 are in no
/// class: that there was nothing is a fact of its own.
fn classes(times: &[i64], share: u64, room_ns: u64) -> Vec<Vec<usize>> {
    let mut rest: Vec<usize> = (0..times.len()).filter(|&at| times[at] != 0).collect();
    rest.sort_by_key(|&at| times[at]);
    let mut classes = Vec::new();
    while classes.len() < CLASSES_MAX {
        let (start, end) = widest(times, &rest, (share, room_ns));
        if end - start < 2 {
            break;
        }
        classes.push(rest.drain(start..end).collect());
    }
    classes
}

/// Returns the range of `sorted` with the most times that are alike.
fn widest(times: &[i64], sorted: &[usize], room: (u64, u64)) -> (usize, usize) {
    let mut widest = (0, 0);
    let mut start = 0;
    for end in 1..=sorted.len() {
        let greatest = times[sorted[end - 1]];
        while !is_near(times[sorted[start]], greatest, room) {
            start += 1;
        }
        if end - start > widest.1 - widest.0 {
            widest = (start, end);
        }
    }
    widest
}

/// Returns true if any number from `least` to `greatest` may stand for both, which have one sign.
fn is_near(least: i64, greatest: i64, (share, room_ns): (u64, u64)) -> bool {
    let share = least.unsigned_abs().min(greatest.unsigned_abs()) / share;
    (least < 0) == (greatest < 0) && greatest.abs_diff(least) <= share + room_ns
}

/// Returns by how much a change exceeds the share of the time itself.
fn excess_ns(time: i64, mean: i64) -> u64 {
    time.abs_diff(mean).saturating_sub(time.unsigned_abs() / SHARE)
}

fn mean(times: &[i64], class: &[usize]) -> i64 {
    let sum: i128 = class.iter().map(|&at| i128::from(times[at])).sum();
    let count = class.len().max(1) as i128;
    // Rounded to the nearest, so that the sum of the class stays what it is.
    i64::try_from((2 * sum + count).div_euclid(2 * count)).unwrap_or(0)
}

fn is_sane(edge: &Edge) -> bool {
    let times = [
        edge.sum_ns,
        edge.min_ns,
        edge.max_ns,
        edge.compensated_ns,
        edge.transfer_ns,
        edge.wrong_order_ns,
        edge.late_receiver_ns,
    ];
    times.iter().all(|&ns| ns < SANE_NS) && edge.sum_squares_ns2.is_finite()
}

/// Returns the root of what equal times do not explain of the sum of squares.
fn deviation_ns(edge: &Edge) -> i64 {
    root((edge.sum_squares_ns2 - of_equals(edge)).max(0.0))
}

#[expect(clippy::cast_precision_loss, reason = "squares are statistics: 53 bits are plenty")]
fn of_equals(edge: &Edge) -> f64 {
    edge.sum_ns as f64 * (edge.sum_ns as f64 / edge.count.max(1) as f64)
}

#[expect(clippy::cast_possible_truncation, reason = "what does not fit becomes the largest")]
fn root(number: f64) -> i64 {
    number.sqrt().round() as i64
}

#[expect(clippy::cast_precision_loss, reason = "squares are statistics: 53 bits are plenty")]
fn square(number: i64) -> f64 {
    number as f64 * number as f64
}

#[expect(clippy::cast_precision_loss, reason = "there are fewer ranks")]
fn float(count: usize) -> f64 {
    count as f64
}

/// Returns a time below [`SANE_NS`] as a signed number.
fn signed(ns: u64) -> i64 {
    ns.cast_signed()
}

fn unsigned(ns: i64) -> u64 {
    ns.max(0).cast_unsigned()
}
