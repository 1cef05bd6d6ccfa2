//! Samples of the program's code, where the user asks for them and the system allows them.

use tinyprof_format::model::SAMPLES_PERIOD;

use super::launcher;
use super::message::warn;
use super::session::session;
use crate::record::install_sampling;
use crate::sys::{NotSampled, SampleRing};

/// The nanoseconds of a second.
const SECOND_NS: u64 = 1_000_000_000;

/// Makes threads be sampled from their first region on, `per_second` times in each second of their
/// processor time.
pub(super) fn begin(per_second: u32) {
    if session().config.budget.is_some() {
        // Visits that a budget does not time would not tell the region of a sample.
        if launcher::speaks_for_all() {
            warn("TINYPROF_SAMPLE is ignored: samples and TINYPROF_BUDGET exclude each other");
        }
        return;
    }
    let period_ns = SECOND_NS / u64::from(per_second.max(1));
    let refused: Option<NotSampled> = SampleRing::of_this_thread(period_ns).err();
    if let Some(why) = refused
        && launcher::speaks_for_all()
    {
        warn(format_args!("TINYPROF_SAMPLE is ignored: {why}"));
    }
    // Once in a process.
    let period: &'static str = Box::leak(period_ns.to_string().into_boxed_str());
    let constants = Box::leak(Box::new([(SAMPLES_PERIOD, period)]));
    install_sampling(period_ns, constants, refused.is_none());
}
