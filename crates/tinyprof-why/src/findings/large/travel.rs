//! The time that data travels in some calls, and the ranks that have far more of it than others.

use std::collections::BTreeMap;

use tinyprof_format::model::{CallpathIndex, Traffic};
use tinyprof_messages::graph::RankSet;

use super::super::Facts;
use super::super::messages::{in_call_ns, kept_and_least_ns};
use crate::blame::{At, Blamed};
use crate::facts::activities::Doing;
use crate::facts::calls::Call;
use crate::facts::run::Run;
use crate::finding::Link;
use crate::phrases::{if_many, ns, ranks};
use crate::place::Place;

/// A message from this size on takes as long as its bytes.
pub(super) const LARGE_BYTES: f64 = 65_536.0;

/// The part of what data takes from which on it is said that others wait meanwhile.
const MEANWHILE_PART: f64 = 0.1;

/// Of how many times as much data as each other one a rank has far more.
const FAR_MORE: f64 = 4.0;

/// Ranks that move far more data than the others, and how much of it, on average.
#[derive(Clone, Debug)]
pub(super) struct Heavy {
    pub(super) ranks: RankSet,
    pub(super) here: Traffic,
    pub(super) others: Traffic,
    /// The bytes of each of them, and of each other one.
    pub(super) here_bytes: f64,
    pub(super) others_bytes: f64,
}

impl Heavy {
    /// Returns the ranks that have far more than each other one of `among`, if these are most.
    pub(super) fn of(by: &BTreeMap<u32, Traffic>, among: u64) -> Option<Self> {
        let most = crate::ns(by.values().map(|traffic| traffic.bytes).max()?.into());
        let is_heavy = |traffic: &Traffic| crate::ns(traffic.bytes.into()) >= most / FAR_MORE;
        let (mut ranks, mut here, mut others) =
            (RankSet::default(), Traffic::default(), Traffic::default());
        for (rank, traffic) in by {
            if is_heavy(traffic) {
                ranks.insert(*rank);
                here.absorb(*traffic);
            } else {
                others.absorb(*traffic);
            }
        }
        let each = |bytes: u64, of: u64| crate::ns(bytes.into()) / crate::ns(of.max(1).into());
        let (count, rest) = (ranks.len(), among.saturating_sub(ranks.len()));
        let (here_bytes, others_bytes) = (each(here.bytes, count), each(others.bytes, rest));
        (most > 0.0 && 2 * count <= among).then_some(Self {
            ranks,
            here,
            others,
            here_bytes,
            others_bytes,
        })
    }
}

/// The reason in a link for ranks that wait while data travels elsewhere.
pub(crate) const BEHIND: &str = "waits meanwhile for those ranks";

/// The time that data takes in some calls.
pub(super) struct Travel {
    /// The time for which ranks had a processor for certain, in ns, and its words.
    pub(super) certain_ns: f64,
    pub(super) text: String,
    /// The waiting of others for ranks that are in these calls.
    pub(super) behind: Blamed,
    pub(super) chain: Vec<Link>,
}

impl Travel {
    /// Returns what data takes in these calls, the longest first, if it is large.
    pub(super) fn of(facts: &Facts<'_>, costs: &[(CallpathIndex, f64)]) -> Option<Self> {
        /// The part of the time from which on what is certain is nearly all.
        const NEARLY_ALL: f64 = 0.8;
        let run = facts.run;
        let (first, _) = *costs.first()?;
        let certain_ns = certain_ns(facts, costs);
        let mut behind = Blamed::default();
        for (index, _) in costs {
            facts.blame.behind_calls.get(index).into_iter().for_each(|of| behind.absorb(of));
        }
        // As far as those that are in these calls had a processor.
        let all_ns: f64 = costs.iter().map(|(_, ns)| ns).sum();
        let part = if all_ns > 0.0 { certain_ns / all_ns } else { 0.0 };
        behind.at.values_mut().for_each(|share| share.ns *= part);
        if !run.has_messages() || !facts.is_large(certain_ns + behind.ns()) {
            return None;
        }
        let at_least = if part < NEARLY_ALL { "at least " } else { "" };
        let why = "time in the call after those had come that it waits for".to_owned();
        let place = Some(Place::of(&run.callpaths, first));
        let mut chain = vec![Link { ranks: visitors(run, first), place, ns: certain_ns, why }];
        if let Some((at, _)) = behind.longest().filter(|_| behind.ns() > 0.0) {
            let place = at.callpath.map(|at| Place::of(&run.callpaths, at));
            let (ranks, ns, why) = (behind.ranks(), behind.ns(), BEHIND.to_owned());
            chain.push(Link { ranks, place, ns, why });
        }
        let text = format!("{at_least}{}", ns(certain_ns));
        Some(Self { certain_ns, text, behind, chain })
    }

    pub(super) fn sum_ns(&self) -> f64 {
        self.certain_ns + self.behind.ns()
    }

    /// Returns `; ranks 1-2 wait 27 ms meanwhile in MPI_Barrier (halo.c:8)`.
    pub(super) fn meanwhile(&self, run: &Run, beside: &Place) -> String {
        let Some((At { callpath: Some(at), .. }, _)) = self.behind.longest() else {
            return String::new();
        };
        if self.behind.ns() < MEANWHILE_PART * self.sum_ns() {
            return String::new();
        }
        let who = self.behind.ranks();
        format!(
            "; {} {} {} for that in {}",
            ranks(&who),
            if_many(&who, "waits", "wait"),
            ns(self.behind.ns()),
            Place::of(&run.callpaths, at).short_name(beside)
        )
    }
}

/// Returns the time of all ranks in these calls that their data takes for certain, in ns: for which
/// they have had a processor, or as often as the shortest visit. Where ranks certainly had none for
/// all of that time, start-up apart, the others have waited for them there, in each visit perhaps:
/// only what is certain by both is.
fn certain_ns(facts: &Facts<'_>, costs: &[(CallpathIndex, f64)]) -> f64 {
    let run = facts.run;
    let all_ns: f64 = costs.iter().map(|(_, ns)| ns).sum();
    let lost = run.no_processor_ns.iter().map(|[least_ns, _]| crate::ns((*least_ns).into()));
    let choose = if lost.sum::<f64>() < all_ns { f64::max } else { f64::min };
    kept_and_least_ns(facts, costs)
        .into_iter()
        .map(|(kept_ns, least_ns)| choose(kept_ns, least_ns))
        .sum()
}

/// Returns the time of all ranks in each call of a kind that may wait, without waiting, the longest
/// first.
pub(super) fn costs(facts: &Facts<'_>, is_in: &dyn Fn(&Call) -> bool) -> Vec<(CallpathIndex, f64)> {
    let calls = facts.run.calls.iter().filter(|(_, call)| call.may_wait() && is_in(call));
    let mut costs: Vec<(CallpathIndex, f64)> =
        calls.map(|(index, _)| (*index, in_call_ns(facts, *index))).collect();
    costs.sort_by(|a, b| b.1.total_cmp(&a.1));
    costs
}

pub(super) fn visitors(run: &Run, at: CallpathIndex) -> RankSet {
    let with = (0..).zip(run.may_wait.of(Doing::In(at)).unwrap_or_default());
    with.filter(|(_, visits)| visits.ns > 0).map(|(rank, _)| rank).collect()
}
