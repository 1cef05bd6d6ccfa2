//! `annotated.rs` without its regions.

#![deny(warnings)]

/// Sums squares, without a region.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn function(values: &[f64]) -> f64 {
    values.iter().map(|x| x * x).sum()
}

/// Combines values, without scopes.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn scopes(values: &mut [u64], n: u64) -> Option<u64> {
    values.reverse();
    if n == 3 {
        return None;
    }
    Some(values.iter().sum::<u64>() ^ n)
}

/// Counts steps in loops, without regions.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn loops(mut n: u64) -> Result<u64, u64> {
    let mut steps = 0;
    let last = 'steps: loop {
        if n == 1 {
            break 'steps n;
        }
        if n > 1 << 40 {
            return Err(n);
        }
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
        steps += 1;
    };
    for i in 0..last {
        if i % 3 == 0 {
            continue;
        }
        steps ^= i.rotate_left(3);
    }
    Ok(steps)
}

/// Combines values, without metrics.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn metrics(values: &[u64], n: u64) -> u64 {
    let mut sum = n;
    for value in values {
        sum = sum.rotate_left(3) ^ value;
    }
    sum
}

/// Polls an asynchronous function.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn polled(values: &[u64], n: u64) -> u64 {
    async fn weighted(values: &[u64], n: u64) -> Option<u64> {
        let first = std::future::ready(values.first()).await?;
        Some(values.iter().fold(*first, |sum, x| sum.rotate_left(5) ^ (x * n)))
    }
    let mut future = std::pin::pin!(weighted(values, n));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match future.as_mut().poll(&mut context) {
        std::task::Poll::Ready(sum) => sum.unwrap_or(n),
        std::task::Poll::Pending => 0,
    }
}

fn main() {
    let n = std::env::args().count() as u64;
    let mut values = [n, 2, 3];
    std::process::exit(i32::from(
        function(&[n as f64, 2.0]) < 0.0
            || scopes(&mut values, n).is_none()
            || loops(n + 26).is_err()
            || metrics(&values, n) == polled(&values, n),
    ));
}
