//! Tests of the six steps against the definition of the transform, on ranks that are threads.

use super::*;
use crate::exchange::memory::on_ranks;

/// Returns points without a pattern, from a linear congruential generator: equal each time.
fn noise(size: usize) -> Vec<Complex64> {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1_u32 << 24) - 0.5
    };
    (0..size).map(|_| Complex64::new(next(), next())).collect()
}

/// Computes the transform by its definition, in quadratic time.
fn naive(data: &[Complex64]) -> Vec<Complex64> {
    let size = data.len();
    let factor = |turns: usize| Complex64::from_polar(1.0, -TAU * real(turns % size) / real(size));
    let frequency = |k: usize| data.iter().enumerate().map(|(j, x)| x * factor(j * k)).sum();
    (0..size).map(frequency).collect()
}

fn transformed(ranks: usize, data: &[Complex64], direction: Direction) -> Vec<Complex64> {
    let layout = Layout::new(data.len(), ranks).unwrap();
    let mut data = data.to_vec();
    on_ranks(ranks, &mut data, |rank, world, share| {
        SixStep::plan(layout, rank, direction).transform(world, share);
    });
    data
}

#[track_caller]
fn assert_near(computed: &[Complex64], expected: &[Complex64], what: &str) {
    assert_eq!(computed.len(), expected.len());
    let scale = expected.iter().map(|value| value.norm()).fold(f64::MIN_POSITIVE, f64::max);
    for (place, (a, b)) in computed.iter().zip(expected).enumerate() {
        assert!((a - b).norm() <= 1e-12 * scale, "{what}: {a} is not {b} at {place}");
    }
}

#[test]
fn a_transform_over_ranks_is_the_transform_by_its_definition() {
    for ranks in 1..=4 {
        // Squares, primes, powers of two, odd composites; n1 = n2 and n1 < n2.
        for rest in [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 21, 25, 32, 37] {
            let input = noise(ranks * ranks * rest);
            let what = format!("{} points over {ranks} ranks", input.len());
            assert_near(&transformed(ranks, &input, Direction::Forward), &naive(&input), &what);
        }
    }
}

#[test]
fn the_inverse_undoes_the_transform() {
    for ranks in [1, 2, 3, 4, 7] {
        for rest in [1, 3, 8, 64, 125] {
            let input = noise(ranks * ranks * rest);
            let there = transformed(ranks, &input, Direction::Forward);
            assert_near(&transformed(ranks, &there, Direction::Inverse), &input, "there and back");
        }
    }
}

#[test]
fn a_plan_can_be_used_again() {
    let (layout, input) = (Layout::new(36, 3).unwrap(), noise(36));
    let mut data = input.clone();
    on_ranks(3, &mut data, |rank, world, share| {
        let mut fft = SixStep::plan(layout, rank, Direction::Forward);
        let own = share.to_vec();
        fft.transform(world, share);
        share.copy_from_slice(&own);
        fft.transform(world, share);
    });
    assert_near(&data, &naive(&input), "second run");
}

#[test]
fn the_twiddles_of_the_ranks_are_one_table() {
    let layout = Layout::new(9 * 6, 3).unwrap();
    let joined: Vec<_> =
        (0..3).flat_map(|rank| twiddles(layout, rank, Direction::Forward)).collect();
    let matrix = layout.matrix();
    for j2 in 0..matrix.columns {
        for k1 in 0..matrix.rows {
            let expected = Complex64::from_polar(1.0, -TAU * real(j2 * k1) / 54.0);
            assert!((joined[j2 * matrix.rows + k1] - expected).norm() < 1e-15);
        }
    }
}
