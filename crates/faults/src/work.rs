//! The regions of the programs under test: a tree in which each callpath has ten children, and a
//! loop.
//!
//! Nothing here allocates, so each allocation that fails is the profiler's.

use tinyprof::{profile, profile_loop, profile_scope};

use crate::numbering::child;
use crate::truth::Truth;

/// The number of iterations of the loop `step` below the root.
pub const STEPS: u64 = 4;

/// Visits and counts the root once, its loop, and each callpath of `levels` levels below it.
pub fn visit_all(truth: Truth, levels: u32) {
    let _counted = truth.visit(0);
    root(truth, levels);
}

#[profile(levels = levels)]
fn root(truth: Truth, levels: u32) {
    a(truth, 0, levels);
    profile_loop!(
        "step",
        mode = each,
        for step in 0..STEPS {
            std::hint::black_box(step);
        }
    );
}

/// Defines a function that visits its own ten regions, and calls `next` in each.
macro_rules! level {
    ($name:ident, $next:path: $($region:tt)*) => {
        fn $name(truth: Truth, parent: usize, levels: u32) {
            if levels == 0 {
                return;
            }
            let mut digits = 0..;
            $({
                let callpath = child(parent, digits.next().unwrap_or_default());
                let _counted = truth.visit(callpath);
                profile_scope!($region);
                $next(truth, callpath, levels - 1);
            })*
        }
    };
}
level!(a, b: "a0" "a1" "a2" "a3" "a4" "a5" "a6" "a7" "a8" "a9");
level!(b, c: "b0" "b1" "b2" "b3" "b4" "b5" "b6" "b7" "b8" "b9");
level!(c, d: "c0" "c1" "c2" "c3" "c4" "c5" "c6" "c7" "c8" "c9");
level!(d, e: "d0" "d1" "d2" "d3" "d4" "d5" "d6" "d7" "d8" "d9");
level!(e, f: "e0" "e1" "e2" "e3" "e4" "e5" "e6" "e7" "e8" "e9");
level!(f, nothing: "f0" "f1" "f2" "f3" "f4" "f5" "f6" "f7" "f8" "f9");

const fn nothing(_: Truth, _: usize, _: u32) {}
