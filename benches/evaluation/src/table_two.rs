//! Table II: applications with and without profiling, in turn.

use crate::application::{RunRow, Variant, Work};
use crate::context::Context;

/// The paper's checkpoint interval.
const INTERVAL_S: u32 = 2;

/// Measures the FFT under the paper's name, at a size that keeps two processors busy for some
/// seconds.
pub(crate) fn fft_20(context: &Context) -> Result<Vec<RunRow>, String> {
    let points = context.size(1 << 22, 1 << 12);
    in_turn(context, &Work::fft("FFT-20", 20, points), &[Variant::Off, Variant::On])
}

pub(crate) fn fft_3000(context: &Context) -> Result<Vec<RunRow>, String> {
    let (runs, points) = (context.size(3000, 30), context.size(1 << 16, 1 << 8));
    in_turn(context, &Work::fft("FFT-3000", runs, points), &[Variant::Off, Variant::On])
}

/// Measures the closure of a graph with as many edges as the paper's.
pub(crate) fn tc(context: &Context) -> Result<Vec<RunRow>, String> {
    let edges = context.size(412_148, 1000);
    let variants = [Variant::Off, Variant::On, Variant::Checkpoints(INTERVAL_S)];
    in_turn(context, &Work::tc("TC", context.size(6, 2), edges), &variants)
}

/// Measures one variant after the other, and in reverse order in the next repetition: drift, such
/// as a processor that grows warm, affects all alike.
fn in_turn(context: &Context, work: &Work, variants: &[Variant]) -> Result<Vec<RunRow>, String> {
    let visit_ps = context.visit_ps();
    let mut rows = Vec::new();
    for repetition in 0..context.repetitions {
        context.say_step(repetition, context.repetitions);
        let mut order = variants.to_vec();
        if repetition % 2 == 1 {
            order.reverse();
        }
        for variant in order {
            rows.push(context.programs.run(work, context.ranks, variant, repetition, visit_ps)?);
        }
    }
    Ok(rows)
}
