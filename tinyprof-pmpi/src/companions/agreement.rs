//! The agreement of all ranks on level `messages`, when MPI has begun.

use std::fs;

use tinyprof::__calls::{ClockRate, clock_rate};

use super::common_clock::{NANOSECONDS, factor, set_factor};
use super::{state, twin};
use crate::library::{Mpi, mpi};

/// The level on which the ranks have agreed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Agreed {
    /// No rank asks for messages.
    Calls,
    /// All ranks do.
    Messages,
    /// Some ranks do: calls are recorded.
    Differing,
    /// All ranks do, but they run on several hosts, whose clocks are not known.
    SeveralHosts,
    /// MPI has returned an error.
    Failed,
}

/// The words that the ranks combine by their maxima. The complement's maximum is the minimum's
/// complement.
const WORDS: usize = 6;

/// Agrees with all ranks of the world on whether messages are observed, and begins to do so.
/// Collective over the world, right after MPI has begun; all ranks must be known to call it.
#[must_use]
pub fn agree_on_messages(wants: bool) -> Agreed {
    let mpi = mpi();
    // Without a wish nothing is measured.
    let rate = wants.then(clock_rate);
    let Some(all) = maxima(mpi, &words(rate.as_ref())) else { return Agreed::Failed };
    let [most, least, host, other_host, without_counter, factor] = all;
    match (most, !least) {
        (0, _) => return Agreed::Calls,
        (_, 0) => return Agreed::Differing,
        _ => {}
    }
    if host != !other_host {
        return Agreed::SeveralHosts;
    }
    let Some(rate) = rate else { return Agreed::Differing };
    if without_counter != 0 && rate.is_counter {
        // The clocks of the ranks differ: this cannot be, as the ranks are on one host.
        return Agreed::Differing;
    }
    set_factor(factor);
    twin::make(mpi, mpi.abi.world);
    state::begin(mpi, &rate);
    Agreed::Messages
}

fn words(rate: Option<&ClockRate>) -> [u64; WORDS] {
    let wants = u64::from(rate.is_some());
    let host = host();
    let is_counter = rate.is_some_and(|rate| rate.is_counter);
    let factor = match rate {
        Some(rate) if rate.is_counter => factor(rate.ns_per_tick),
        _ => NANOSECONDS,
    };
    [wants, !wants, host, !host, u64::from(!is_counter), factor]
}

fn maxima(mpi: &Mpi, own: &[u64; WORDS]) -> Option<[u64; WORDS]> {
    let mut all = [0; WORDS];
    let (from, to) = (own.as_ptr().cast(), all.as_mut_ptr().cast());
    let (word, max, world) = (mpi.abi.word, mpi.abi.max, mpi.abi.world);
    // SAFETY: MPI is initialised, and no operation of the program is under way on the world, as it
    // has not returned from initialising MPI; both arrays hold so many words.
    let code = unsafe { mpi.allreduce(from, to, 6, word, max, world) };
    (code == 0).then_some(all)
}

/// Returns a number that tells hosts apart: of the time at which this one was started.
fn host() -> u64 {
    let boot = fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    boot.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
