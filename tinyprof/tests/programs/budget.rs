//! Calls small functions so often that an overhead budget leaves no time for timing all of them.
//! With an argument, the program sets the budget itself.

use tinyprof::{profile, profile_loop};

#[profile]
fn small(value: u64) -> u64 {
    std::hint::black_box(value.wrapping_mul(3))
}

#[profile]
fn pair(value: u64) -> u64 {
    small(value) ^ small(!value)
}

#[profile]
fn all() {
    let mut sum = 0;
    profile_loop!(
        "step",
        mode = each,
        for step in 0..300_000 {
            sum ^= pair(step);
        }
    );
    std::hint::black_box(sum);
}

fn main() {
    if let Some(share) = std::env::args().nth(1).and_then(|text| text.parse().ok()) {
        tinyprof::Builder::new().budget(share).start().expect("the only settings");
    }
    all();
}
