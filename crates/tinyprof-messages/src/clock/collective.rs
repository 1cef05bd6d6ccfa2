//! Collective operations, along the way that explains most of what was seen.

use super::join::Chains;
use super::{Clock, Wait};
use crate::companion::UNSURE;
use crate::meeting::Meeting;
use crate::time::{Call, Post, duration, signed};
use crate::ways::{CANDIDATES, Hinted, Hints, Near, Place, Seen, Told, Ways};

/// The weight of this call beside an earlier one, when its way is guessed.
const NOW: u64 = 4;
/// The least penalty of an impossible way, in ns; the whole call, if that is longer.
const IMPOSSIBLE_NS: u64 = 10_000;
/// A way is plausible if its penalty is at most twice that of the best one, and this much more, in
/// ns.
const PLAUSIBLE_NS: u64 = 1_000;

/// The words of a member of a collective operation, with its number: `None` if it has not entered.
pub type Member = (u32, Option<(Meeting, Hints)>);

/// One of the ways that were not compared with a call may have been taken. Nothing has changed: it
/// has to be compared with [all](Near::all).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unclear;

/// A way of an operation, and what it says of a call.
#[derive(Clone, Copy, Debug, Default)]
struct Candidate {
    /// The number of the way.
    at: usize,
    seen: Seen,
    /// What the other members report of this way.
    hinted: Hinted,
    /// Somebody has not entered whom the rank would have waited for.
    is_impossible: bool,
    /// When the last has entered of those whom the rank would have waited for.
    last_ns: Option<i64>,
    /// The longest time of a message for which they have entered early enough.
    room_ns: i64,
    /// The time of a message, in ns.
    hop_ns: i64,
    /// Those whom the rank would have waited for, with the times when it heard of them.
    partners: Option<Meeting>,
    /// The time of the call from then on.
    rest_ns: i64,
    told: Told,
}

impl Clock {
    /// Applies a collective operation, which the rank has begun as `post` says, and completed by
    /// this call. `near` are the [ways](Ways::near) that it is compared with, `members` those of
    /// the other ranks that [these need](Near::needs), on this rank's clock. Returns the waiting
    /// for the members that the operation's definition names, and the last of them, if any:
    ///
    /// | operation | those that are waited for |
    /// |---|---|
    /// | barrier, allreduce, alltoall, allgather, reduce-scatter | all ranks |
    /// | broadcast, scatter: everyone but the root | the root |
    /// | reduce, gather: the root | all ranks |
    /// | scan | all ranks up to this one |
    ///
    /// The rank is delayed along the way that explains most of this call and earlier ones. If
    /// several may have been it, the uncertainty covers all of them.
    ///
    /// # Errors
    /// [`Unclear`] if `near` are not all ways, and another one may have been taken.
    #[inline]
    pub fn meet_along(
        &mut self,
        call: Call,
        post: Post,
        place: Place,
        near: Near,
        members: impl Iterator<Item = Member> + Clone,
        ways: &mut Ways,
    ) -> Result<Option<(Wait, u32)>, Unclear> {
        let own = (place.rank, Some((self.posted(post), Hints::default())));
        // Most often there is one way: to clear the place of seven takes longer than the rest.
        if near.count() == 1 {
            let mut one = [Candidate::default()];
            self.compare(call, place, near, &mut one, (own, members), ways)
        } else {
            let mut several = [Candidate::default(); CANDIDATES];
            let several = &mut several[..near.count()];
            self.compare(call, place, near, several, (own, members), ways)
        }
    }

    #[inline]
    fn compare(
        &mut self,
        call: Call,
        place: Place,
        near: Near,
        candidates: &mut [Candidate],
        (own, others): (Member, impl Iterator<Item = Member> + Clone),
        ways: &mut Ways,
    ) -> Result<Option<(Wait, u32)>, Unclear> {
        let hinted = near.is_look().then(|| listen(place, others.clone()));
        for (candidate, at) in candidates.iter_mut().zip(near.numbers()) {
            let hinted = hinted.map_or_else(|| ways.hinted(place, at), |hinted| hinted[at]);
            *candidate = Candidate { at, seen: ways.of(place, at), hinted, ..*candidate };
            let members = others.clone().chain(std::iter::once(own));
            candidate.look(call, place, members.clone());
            candidate.learn(call);
            candidate.hear(call, place, members);
        }
        let best = best(candidates);
        if !near.is_look() && best.is_none_or(|(ns, _)| plausible_ns(ns) >= ways.others_ns(place)) {
            return Err(Unclear);
        }
        let waited = self.waited(call, place, others);
        self.go_along(call, candidates, best);
        let possible = || candidates.iter().filter(|candidate| !candidate.is_impossible);
        let least_ns = possible().map(|candidate| candidate.rest_ns).min().unwrap_or(0);
        for candidate in &*candidates {
            let unlike_ns = if candidate.is_impossible {
                call.duration_ns().max(IMPOSSIBLE_NS)
            } else {
                duration(candidate.rest_ns - least_ns)
            };
            ways.note(place, candidate.at, Told { unlike_ns, ..candidate.told });
        }
        match &hinted {
            Some(hinted) => ways.looked(place, hinted),
            None => ways.compared(place),
        }
        Ok(waited)
    }

    /// Returns the waiting by the definition, and for whom.
    #[inline]
    fn waited(
        &mut self,
        call: Call,
        place: Place,
        members: impl Iterator<Item = Member>,
    ) -> Option<(Wait, u32)> {
        let Place { kind, rank, root, .. } = place;
        let needed = members.filter(|(other, _)| kind.waits_for(rank, *other, root));
        let needed = needed.filter_map(|(_, told)| Some(told?.0)).reduce(Meeting::combine)?;
        Some((self.wait(call, &needed), needed.last_rank))
    }

    /// Goes on along the best of the ways, with an uncertainty that covers all that are plausible.
    fn go_along(&mut self, call: Call, candidates: &[Candidate], best: Option<(u64, usize)>) {
        let Some((best_ns, best)) = best else {
            return self.doubt(call.duration_ns());
        };
        let best = &candidates[best];
        let before = *self;
        self.join_candidate(call, best);
        let mut unsure_ns = self.uncertainty_ns();
        for candidate in candidates {
            let is_like_best =
                candidate.rest_ns == best.rest_ns && candidate.partners == best.partners;
            let is_plausible =
                || candidate.against_ns().is_some_and(|ns| ns <= plausible_ns(best_ns));
            if !is_like_best && is_plausible() {
                let mut other = before;
                other.join_candidate(call, candidate);
                let apart_ns = other.intrusion_ns.abs_diff(self.intrusion_ns);
                unsure_ns = unsure_ns.max(apart_ns.saturating_add(other.uncertainty_ns()));
            }
        }
        self.unsure = self.unsure.max(unsure_ns.saturating_mul(UNSURE));
    }

    /// Goes on with the later of the rank's own chain and that of those it has waited for.
    #[inline]
    fn join_candidate(&mut self, call: Call, candidate: &Candidate) {
        let Some(partners) = &candidate.partners else { return };
        let rest_ns = candidate.rest_ns;
        let own_ns = self.virtual_ns(call.entered_ns) + rest_ns;
        let partners_ns = partners.arrived_virtual_ns + rest_ns;
        let unsure_ns = duration(rest_ns) / 2;
        self.go_on(call, partners, Chains { own_ns, partners_ns, unsure_ns });
    }
}

/// Returns what speaks against the best way, in ns, and its position.
#[inline]
fn best(candidates: &[Candidate]) -> Option<(u64, usize)> {
    let possible = candidates.iter().map(Candidate::against_ns).zip(0..);
    possible.filter_map(|(ns, position)| Some((ns?, position))).min()
}

/// Returns what may speak against a way, in ns, that is plausible beside the best one.
#[inline]
const fn plausible_ns(best_ns: u64) -> u64 {
    best_ns.saturating_mul(2).saturating_add(PLAUSIBLE_NS)
}

/// Returns what the members say of each way.
fn listen(place: Place, members: impl Iterator<Item = Member>) -> [Hinted; CANDIDATES] {
    let mut all = [Hinted::default(); CANDIDATES];
    for (_, hints) in members.filter_map(|(_, told)| told) {
        let unlike_ns = hints.unlike_ns();
        let best_ns = unlike_ns[..place.candidates()].iter().min().copied();
        for (hinted, ns) in all.iter_mut().zip(unlike_ns) {
            hinted.add(ns, if Some(ns) == best_ns { hints.hop_ns() } else { 0 });
        }
    }
    all
}

impl Hinted {
    /// Adds what another rank says: what the way does not explain, and the time of a message along
    /// it, 0 if unknown.
    fn add(&mut self, unlike_ns: u64, hop_ns: u64) {
        self.unlike_ns = self.unlike_ns.saturating_add(unlike_ns);
        if hop_ns > 0 {
            self.hop_ns = if self.hop_ns == 0 { hop_ns } else { self.hop_ns.min(hop_ns) };
        }
    }
}

impl Candidate {
    /// Returns what speaks against this way, in ns: what it does not explain of this call and
    /// earlier ones, here and elsewhere. `None` if it is impossible.
    #[inline]
    fn against_ns(&self) -> Option<u64> {
        let now_ns = duration(self.rest_ns).saturating_mul(NOW);
        let before_ns = self.seen.unlike_ns.saturating_add(self.hinted.unlike_ns);
        (!self.is_impossible).then_some(before_ns.saturating_add(now_ns))
    }

    /// Looks who has entered.
    #[inline]
    fn look(&mut self, call: Call, place: Place, members: impl Iterator<Item = Member>) {
        let left_ns = signed(call.left_ns);
        for (rank, told) in members {
            let hops = place.hops(self.at, rank);
            let entered_ns = told.map(|(member, _)| member.last_ns).filter(|at| *at <= left_ns);
            match entered_ns {
                _ if hops == 0 => {}
                None => self.is_impossible = true,
                Some(entered_ns) => {
                    let since_ns = left_ns - entered_ns;
                    let room_ns = if hops == 1 { since_ns } else { since_ns / i64::from(hops) };
                    let is_first = self.last_ns.is_none();
                    self.room_ns = if is_first { room_ns } else { room_ns.min(self.room_ns) };
                    self.last_ns = self.last_ns.max(Some(entered_ns));
                }
            }
        }
    }

    /// Finds the time of a message: as the rank has seen it, or another one, or from this call.
    #[inline]
    fn learn(&mut self, call: Call) {
        let own_ns = self.seen.hop_ns();
        self.hop_ns = signed(if own_ns == 0 { self.hinted.hop_ns } else { own_ns });
        let Some(last_ns) = self.last_ns.filter(|_| !self.is_impossible) else { return };
        // Then it is no upper limit alone.
        let has_waited = last_ns >= signed(call.entered_ns);
        self.told = Told { took_ns: duration(self.room_ns), has_waited, unlike_ns: 0 };
        if self.hop_ns == 0 {
            self.hop_ns = if has_waited { self.room_ns } else { signed(call.duration_ns()) };
        }
        self.hop_ns = self.hop_ns.min(self.room_ns);
    }

    /// Adds when the rank has heard of the entry of each, and since when there was no other.
    #[inline]
    fn hear(&mut self, call: Call, place: Place, members: impl Iterator<Item = Member>) {
        for (rank, (member, _)) in members.filter_map(|(rank, told)| Some((rank, told?))) {
            let hops = place.hops(self.at, rank);
            if hops > 0 {
                let heard = member.later(self.hop_ns.saturating_mul(i64::from(hops)));
                self.partners = Some(self.partners.map_or(heard, |all| all.combine(heard)));
            }
        }
        let heard_ns = self.partners.map_or(i64::MIN, |partners| partners.arrived_ns);
        self.rest_ns = (signed(call.left_ns) - heard_ns.max(signed(call.entered_ns))).max(0);
    }
}
