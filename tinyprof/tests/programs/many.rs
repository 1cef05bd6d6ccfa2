//! Regions at scale. The argument selects the kind of program.
//!
//! `direct` and `mutual` recursion, 10,000 deep; `circles` of three regions; `deep`, 1,500 nested
//! regions; `callpaths`, more than one thread can hold; `fewer`, 111,111 of them. With `count` in
//! place of `callpaths` it writes no profile, which takes far longer than recording. Instead it
//! prints the number of callpaths, the visits of regular callpaths, those of `[other]`, and the
//! losses counted as visits in `[other]`.

#![expect(clippy::print_stdout, reason = "the test compares the numbers with what it knows")]

use std::process::ExitCode;

use tinyprof::collect::{snapshot, take_over};
use tinyprof::{profile, profile_scope};

const DEPTH: u32 = 10_000;

#[profile]
fn direct(depth: u32) {
    if depth > 1 {
        direct(depth - 1);
    }
}

#[profile]
fn even(depth: u32) {
    if depth > 1 {
        odd(depth - 1);
    }
}

#[profile]
fn odd(depth: u32) {
    if depth > 1 {
        even(depth - 1);
    }
}

/// A grammar: each level calls the next, and the last calls the first three times.
#[profile]
fn expression(depth: u32) {
    term(depth);
}

#[profile]
fn term(depth: u32) {
    factor(depth);
}

#[profile]
fn factor(depth: u32) {
    if depth == 0 {
        profile_scope!("leaf");
        return;
    }
    (0..3).for_each(|_| expression(depth - 1));
}

/// Recurses like a grammar: each level calls the next, and the last calls the first three times.
fn deep(level: u32) {
    /// Enters as many regions as there can be split ones, each inside the previous one.
    fn nested<const KIND: usize>(level: u32) {
        macro_rules! kinds {
            ($($kind:literal)*) => {
                match KIND {
                    $($kind => {
                        profile_scope!("deep", split = (level / 15).to_string());
                        deep(level + 1);
                    })*
                    _ => {}
                }
            };
        }
        kinds!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14);
    }
    if level < 1_500 {
        const KINDS: [fn(u32); 15] = [
            nested::<0>,
            nested::<1>,
            nested::<2>,
            nested::<3>,
            nested::<4>,
            nested::<5>,
            nested::<6>,
            nested::<7>,
            nested::<8>,
            nested::<9>,
            nested::<10>,
            nested::<11>,
            nested::<12>,
            nested::<13>,
            nested::<14>,
        ];
        KINDS[level as usize % 15](level);
    }
}

/// Selects one function per number, since a key cannot have that many values.
macro_rules! ten_regions {
    ($name:ident: $($region:tt)*) => {
        fn $name(inside: impl Fn()) {
            $({
                profile_scope!($region);
                inside();
            })*
        }
    };
}
ten_regions!(a: "a0" "a1" "a2" "a3" "a4" "a5" "a6" "a7" "a8" "a9");
ten_regions!(b: "b0" "b1" "b2" "b3" "b4" "b5" "b6" "b7" "b8" "b9");
ten_regions!(c: "c0" "c1" "c2" "c3" "c4" "c5" "c6" "c7" "c8" "c9");
ten_regions!(d: "d0" "d1" "d2" "d3" "d4" "d5" "d6" "d7" "d8" "d9");
ten_regions!(e: "e0" "e1" "e2" "e3" "e4" "e5" "e6" "e7" "e8" "e9");
ten_regions!(f: "f0" "f1" "f2" "f3" "f4" "f5" "f6" "f7" "f8" "f9");

#[profile]
fn callpaths() {
    a(|| b(|| c(|| d(|| e(|| f(|| ()))))));
}

#[profile]
fn fewer() {
    a(|| b(|| c(|| d(|| e(|| ())))));
}

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("direct") => direct(DEPTH),
        Some("mutual") => even(DEPTH),
        Some("record") => {
            assert!(
                take_over(tinyprof::collect::Ending::default),
                "nobody else writes the profile"
            );
            callpaths();
            let status = std::fs::read_to_string("/proc/self/status").expect("the system says it");
            print!("{status}");
        }
        Some("circles") => expression(7),
        Some("deep") => deep(0),
        Some("fewer") => fewer(),
        Some("count") => {
            assert!(
                take_over(tinyprof::collect::Ending::default),
                "nobody else writes the profile"
            );
            callpaths();
            count();
        }
        _ => callpaths(),
    }
    ExitCode::from(7)
}

fn count() {
    let map = snapshot();
    let (mut own, mut other) = (0, 0);
    for ((_, callpath), values) in map.callpaths.iter().zip(&map.values) {
        let visits = if callpath.region.name == "[other]" { &mut other } else { &mut own };
        *visits += values.visits();
    }
    println!("{} {own} {other} {}", map.callpaths.len(), map.facts.losses.visits_in_other);
}
