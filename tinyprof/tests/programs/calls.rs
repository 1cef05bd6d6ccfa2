//! Every way to call a region, with counts that a test knows.

use std::num::ParseIntError;

use tinyprof::{profile, profile_loop, profile_scope};

#[profile]
fn run(number: u64) {
    recursive(3);
    even(number % 4);
    drop(fails("seven"));
    drop(fails("7"));
    generic(1_u8);
    generic("text");
    let solver = Solver { steps: number };
    solver.solve();
    let panicked = std::panic::catch_unwind(|| panics(number));
    assert!(panicked.is_err());
    after_the_panic();
}

/// Calls itself: one callpath.
#[profile]
fn recursive(depth: u32) {
    if depth > 0 {
        recursive(depth - 1);
        leaf();
    }
}

#[profile]
fn leaf() {}

/// Calls itself through another function: a callpath for each depth.
#[profile]
fn even(n: u64) -> bool {
    n == 0 || odd(n - 1)
}

#[profile]
fn odd(n: u64) -> bool {
    n != 0 && even(n - 1)
}

#[profile]
fn fails(text: &str) -> Result<u32, ParseIntError> {
    let number = text.parse()?;
    profile_scope!("parsed");
    Ok(number)
}

#[profile]
fn generic<T>(value: T) -> T {
    value
}

struct Solver {
    steps: u64,
}

impl Solver {
    #[profile(name = "Solver::solve")]
    fn solve(&self) {
        profile_loop!(
            "step",
            mode = each,
            for step in 0..self.steps {
                // Later steps take longer, so that a test can see their order.
                busy(step * 50_000);
            }
        );
        profile_loop!(
            "check",
            mode = total,
            for _ in 0..3 {
                leaf();
            }
        );
        profile_loop!(
            "find",
            mode = each,
            loop {
                leaf();
                if self.steps > 0 {
                    break;
                }
            }
        );
        profile_loop!("never", mode = each, for _ in self.steps..self.steps {});
    }
}

fn busy(rounds: u64) {
    (0..rounds).for_each(|round| {
        std::hint::black_box(round);
    });
}

#[profile]
fn panics(number: u64) {
    profile_scope!("inside");
    // Without printing the message of a panic.
    std::panic::resume_unwind(Box::new(number));
}

#[profile]
fn after_the_panic() {}

fn main() {
    (1..=20).for_each(run);
}
