//! Every form of a region. `plain.rs` is the same program without them.

#![deny(warnings)]

use tinyprof::{profile, profile_loop, profile_scope, record};

const _: () = assert!(!tinyprof::collect::ENABLED);

/// Sums squares, in a function region with a name and a mode.
#[profile(name = "sum of squares", mode = each)]
#[unsafe(no_mangle)]
#[inline(never)]
pub fn function(values: &[f64]) -> f64 {
    values.iter().map(|x| x * x).sum()
}

/// Combines values in scopes, with an exit between them and a scope that begins inside another.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn scopes(values: &mut [u64], n: u64) -> Option<u64> {
    profile_scope!("reverse");
    values.reverse();
    if n == 3 {
        profile_scope!("odd", mode = each);
        return None;
    }
    let sum = tinyprof::scope!("sum", n = n, split = name_of(n));
    let all = values.iter().sum::<u64>() ^ n;
    drop(sum);
    Some(all)
}

/// Returns a name; called only by a key.
fn name_of(n: u64) -> String {
    format!("{n} values")
}

/// Counts steps in loops with a value, a label, and an exit from the function.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn loops(mut n: u64) -> Result<u64, u64> {
    let mut steps = 0;
    let last = profile_loop!("collatz", mode = total, 'steps: loop {
        if n == 1 {
            break 'steps n;
        }
        if n > 1 << 40 {
            return Err(n);
        }
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
        steps += 1;
    });
    profile_loop!("count", for i in 0..last {
        if i % 3 == 0 {
            continue;
        }
        steps ^= i.rotate_left(3);
    });
    Ok(steps)
}

/// Sorts values; called only by metrics.
fn expensive(values: &[u64]) -> Vec<u64> {
    let mut values = values.to_vec();
    values.sort_unstable();
    values
}

/// Combines values with metrics, whose values are not even computed.
#[profile(values = expensive(values).len())]
#[unsafe(no_mangle)]
#[inline(never)]
pub fn metrics(values: &[u64], n: u64) -> u64 {
    profile_scope!("scope", n = n, most = *values.iter().max().unwrap_or(&0));
    let mut sum = n;
    profile_loop!("fold", value = *value, for value in values {
        sum = sum.rotate_left(3) ^ value;
        record!(sum = sum, expensive = expensive(values).len());
    });
    sum
}

/// Polls an asynchronous function.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn polled(values: &[u64], n: u64) -> u64 {
    #[profile(n = n)]
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
