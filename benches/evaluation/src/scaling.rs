//! Figures 7 and 8: the cost of profiling for more ranks, and for longer runs.

use crate::application::{RunRow, Variant, Work};
use crate::context::Context;

/// Numbers of ranks, up to as many as the machine can run on shared processors.
const RANKS: [u32; 5] = [1, 2, 4, 8, 16];

/// The paper's numbers of iterations.
const ITERATIONS: [u64; 5] = [10, 20, 30, 40, 50];

/// Measures weak scaling: equal work per rank.
pub(crate) fn weak(context: &Context) -> Result<Vec<RunRow>, String> {
    let (points, edges) = (context.size(1 << 17, 1 << 10), context.size(25_000, 100));
    on_all_ranks(context, |ranks| {
        [
            Work::fft("FFT", 20, points * u64::from(ranks)),
            Work::tc("TC", 2, edges * u64::from(ranks)),
        ]
        .into()
    })
}

/// Measures strong scaling: equal work in total.
pub(crate) fn strong(context: &Context) -> Result<Vec<RunRow>, String> {
    let (points, edges) = (context.size(1 << 19, 1 << 12), context.size(100_000, 400));
    on_all_ranks(context, |_| [Work::fft("FFT", 20, points), Work::tc("TC", 2, edges)].into())
}

/// Measures the transform for each number of iterations and of ranks.
pub(crate) fn iterations(context: &Context) -> Result<Vec<RunRow>, String> {
    let points = context.size(1 << 18, 1 << 12);
    on_all_ranks(context, |_| ITERATIONS.map(|runs| Work::fft("FFT", runs, points)).into())
}

/// Measures repetition by repetition, so that drift affects all cases alike.
fn on_all_ranks(
    context: &Context,
    works: impl Fn(u32) -> Vec<Work>,
) -> Result<Vec<RunRow>, String> {
    let visit_ps = context.visit_ps();
    // Half the repetitions of pairs: these are not differences of large numbers.
    let repetitions = (context.repetitions / 2).max(1);
    let mut rows = Vec::new();
    for repetition in 0..repetitions {
        context.say_step(repetition, repetitions);
        for ranks in RANKS {
            for work in works(ranks) {
                rows.push(context.programs.run(&work, ranks, Variant::On, repetition, visit_ps)?);
            }
        }
    }
    Ok(rows)
}
