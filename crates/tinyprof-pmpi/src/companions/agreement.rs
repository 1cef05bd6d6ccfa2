//! The agreement of all ranks on level `messages`, when MPI has begun.

use tinyprof::__calls::{ClockRate, Recorder, clock_rate};
use tinyprof_messages::drift::Drift;

use super::carrier::Carrier;
use super::common_clock::{self, NANOSECONDS, factor, set_factor};
use super::group::maxima;
use super::hosts::host;
use super::{distance, ends};
use super::{state, threads, twin};
use crate::library::{Mpi, mpi};

/// A rank's wish.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// To observe messages.
    pub messages: bool,
    /// To keep their order at receives from any source, as an experiment.
    pub order: bool,
}

/// The level on which the ranks have agreed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Agreed {
    /// No rank asks for messages.
    Calls,
    /// All ranks do.
    Messages {
        /// True if all ranks asked for the order of messages to be kept, and it cannot be.
        is_without_order: bool,
    },
    /// Some ranks do: calls are recorded.
    Differing,
    /// MPI has returned an error.
    Failed,
}

/// The words that the ranks combine by their maxima. The complement's maximum is the minimum's
/// complement.
///
/// All that decides about a collective operation is taken from the maxima, and never from a rank's
/// own words: ranks may differ in every setting.
const WORDS: usize = 10;

/// As [`agree_on_messages`](crate::agree_on_messages). `plain_call` measures the overhead
/// of a call that transfers no data, in 1/1,024 ticks.
pub(crate) fn agree_on_messages(wish: Wish, plain_call: fn(&Mpi, Recorder) -> u64) -> Agreed {
    let mpi = mpi();
    // Without a wish nothing is measured.
    let rate = wish.messages.then(clock_rate);
    let Some(all) = maxima(mpi, mpi.abi.world, &words(mpi, wish, rate.as_ref())) else {
        return Agreed::Failed;
    };
    let [
        most,
        least,
        host,
        other_host,
        without_counter,
        with_counter,
        factor,
        without_order,
        with_threads,
        last,
    ] = all;
    match (most, !least) {
        (0, _) => return Agreed::Calls,
        (_, 0) => return Agreed::Differing,
        _ => {}
    }
    let Some(rate) = rate else { return Agreed::Differing };
    let are_several = host != !other_host;
    let are_mixed = without_counter != 0 && with_counter != 0;
    // Ranks of one host that read the same clock have the same factor. Others have their own, and
    // go by `CLOCK_MONOTONIC`.
    set_factor(if are_several || are_mixed { factor_of(&rate) } else { factor });
    if are_mixed
        && !are_several
        && let Some(recorder) = Recorder::make()
    {
        common_clock::go_by_monotonic(recorder, Drift::default());
    }
    let carrier = if are_several { None } else { Some(Carrier::on_one_host(mpi)) };
    twin::make_of_world(mpi);
    let carrier = carrier.or_else(|| {
        let distance = distance::begin(mpi)?;
        Some(Carrier::on_several_hosts(mpi, distance.first))
    });
    let Some(carrier) = carrier else { return Agreed::Failed };
    // Who keeps a message back for one thread would keep the others from sending.
    let may_keep = without_order == 0 && with_threads == 0;
    let order = if may_keep { carrier.order() } else { None };
    let is_without_order = without_order == 0 && order.is_none();
    state::begin(mpi, &rate, (carrier, order), plain_call);
    if let Some(recorder) = Recorder::current().filter(|_| !are_several) {
        ends::has_waited(mpi, recorder, last);
    }
    Agreed::Messages { is_without_order }
}

fn factor_of(rate: &ClockRate) -> u64 {
    if rate.is_counter { factor(rate.ns_per_tick) } else { NANOSECONDS }
}

fn words(mpi: &Mpi, wish: Wish, rate: Option<&ClockRate>) -> [u64; WORDS] {
    let wants = u64::from(rate.is_some());
    let host = host();
    let is_counter = rate.is_some_and(|rate| rate.is_counter);
    let [with_counter, without_counter] = [is_counter, !is_counter].map(u64::from);
    let factor = rate.map_or(NANOSECONDS, factor_of);
    let without_order = u64::from(!wish.order);
    let with_threads = u64::from(threads::may_be_multiple(mpi));
    let last = if rate.is_some() { ends::word(mpi) } else { 0 };
    [
        wants,
        !wants,
        host,
        !host,
        without_counter,
        with_counter,
        factor,
        without_order,
        with_threads,
        last,
    ]
}
