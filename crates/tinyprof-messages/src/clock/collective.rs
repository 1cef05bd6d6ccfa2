//! Collective operations, along the way that explains most of what was seen.

use super::join::Chains;
use super::{Clock, Wait};
use crate::companion::UNSURE;
use crate::meeting::Meeting;
use crate::time::{Call, Post, duration, signed};
use crate::ways::{CANDIDATES, Hints, Place, Seen, Told, Ways};

/// A call tells so many times as much of its own way as one before.
const NOW: u64 = 4;
/// A way that is not possible is unlike the true one by so much, in ns, or by all of the call.
const IMPOSSIBLE_NS: u64 = 10_000;
/// Ways that explain nearly as much as the best one are plausible: twice its rest, and so much
/// more, in ns.
const PLAUSIBLE_NS: u64 = 1_000;

/// The words of a member of a collective operation, with its number: `None` if it has not entered.
pub type Member = (u32, Option<(Meeting, Hints)>);

/// A way of an operation, and what it says of a call.
#[derive(Clone, Copy, Debug, Default)]
struct Candidate {
    /// Somebody has not entered whom the rank would have waited for.
    is_impossible: bool,
    /// When the last has entered of those whom the rank would have waited for.
    last_ns: Option<i64>,
    /// The longest time of a message for which they have entered early enough.
    room_ns: i64,
    /// What others say that this way does not explain, in ns.
    hinted_ns: u64,
    /// The shortest time of a message that others have seen, in ns; 0 if none has.
    hop_of_others_ns: u64,
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
    /// this call. `members` are the other ranks, on this rank's clock. Returns the waiting for
    /// those of which the definition says so, with the last of them, if there are any:
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
    pub fn meet_along(
        &mut self,
        call: Call,
        post: Post,
        place: Place,
        members: impl Iterator<Item = Member> + Clone,
        ways: &mut Ways,
    ) -> Option<(Wait, u32)> {
        let waited = self.waited(call, place, members.clone());
        let own = (place.rank, Some((self.posted(post), Hints::default())));
        let members = members.chain(std::iter::once(own));
        let seen = ways.of(place);
        let mut candidates = [Candidate::default(); CANDIDATES];
        let candidates = &mut candidates[..place.candidates()];
        look(candidates, call, place, members.clone());
        for (candidate, seen) in candidates.iter_mut().zip(&seen) {
            candidate.learn(call, seen);
        }
        for (rank, (member, _)) in members.filter_map(|(rank, told)| Some((rank, told?))) {
            for (candidate, hops) in candidates.iter_mut().zip(place.hops(rank)) {
                candidate.hear(&member, hops);
            }
        }
        candidates.iter_mut().for_each(|candidate| candidate.end(call));
        self.go_along(call, candidates, &seen);
        let possible = || candidates.iter().filter(|candidate| !candidate.is_impossible);
        let least_ns = possible().map(|candidate| candidate.rest_ns).min().unwrap_or(0);
        for (at, candidate) in candidates.iter().enumerate() {
            let unlike_ns = if candidate.is_impossible {
                call.duration_ns().max(IMPOSSIBLE_NS)
            } else {
                duration(candidate.rest_ns - least_ns)
            };
            ways.note(place, at, Told { unlike_ns, ..candidate.told });
        }
        waited
    }

    /// Returns the waiting by the definition, and for whom.
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
    fn go_along(&mut self, call: Call, candidates: &[Candidate], seen: &[Seen]) {
        let of = |(candidate, seen): (&Candidate, &Seen)| {
            (!candidate.is_impossible).then(|| candidate.unlike_ns(seen))
        };
        let unlike_ns = candidates.iter().zip(seen).map(of);
        let best = (0..).zip(unlike_ns.clone()).filter_map(|(at, ns)| Some((ns?, at))).min();
        let Some((best_ns, best)) = best else {
            return self.doubt(call.duration_ns());
        };
        let most_ns = best_ns.saturating_mul(2).saturating_add(PLAUSIBLE_NS);
        let before = *self;
        self.join_candidate(call, &candidates[best]);
        let mut unsure_ns = self.uncertainty_ns();
        for (candidate, ns) in candidates.iter().zip(unlike_ns) {
            let is_like_best = || {
                let best = &candidates[best];
                candidate.rest_ns == best.rest_ns && candidate.partners == best.partners
            };
            if ns.is_some_and(|ns| ns <= most_ns) && !is_like_best() {
                let mut other = before;
                other.join_candidate(call, candidate);
                let apart_ns = other.intrusion_ns.abs_diff(self.intrusion_ns);
                unsure_ns = unsure_ns.max(apart_ns.saturating_add(other.uncertainty_ns()));
            }
        }
        self.unsure = self.unsure.max(unsure_ns.saturating_mul(UNSURE));
    }

    /// Goes on with the later of the rank's own chain and that of those it has waited for.
    fn join_candidate(&mut self, call: Call, candidate: &Candidate) {
        let Some(partners) = &candidate.partners else { return };
        let rest_ns = candidate.rest_ns;
        let own_ns = self.virtual_ns(call.entered_ns) + rest_ns;
        let partners_ns = partners.arrived_virtual_ns + rest_ns;
        let unsure_ns = duration(rest_ns) / 2;
        self.go_on(call, partners, Chains { own_ns, partners_ns, unsure_ns });
    }
}

/// Looks who has entered, and what the members say of the ways.
fn look(
    candidates: &mut [Candidate],
    call: Call,
    place: Place,
    members: impl Iterator<Item = Member>,
) {
    let left_ns = signed(call.left_ns);
    for (rank, told) in members {
        if let Some((_, hints)) = told {
            let unlike_ns = hints.unlike_ns();
            let best_ns = unlike_ns[..candidates.len()].iter().min().copied();
            for (candidate, ns) in candidates.iter_mut().zip(unlike_ns) {
                candidate.is_hinted(ns, hints.hop_ns(), Some(ns) == best_ns);
            }
        }
        let entered_ns = told.map(|(member, _)| member.last_ns).filter(|at| *at <= left_ns);
        for (candidate, hops) in candidates.iter_mut().zip(place.hops(rank)) {
            match entered_ns {
                _ if hops == 0 => {}
                None => candidate.is_impossible = true,
                Some(entered_ns) => {
                    let room_ns = (left_ns - entered_ns) / i64::from(hops);
                    let is_first = candidate.last_ns.is_none();
                    candidate.room_ns =
                        if is_first { room_ns } else { room_ns.min(candidate.room_ns) };
                    candidate.last_ns = candidate.last_ns.max(Some(entered_ns));
                }
            }
        }
    }
}

impl Candidate {
    /// Returns what this way does not explain, in ns, of this call and earlier ones.
    fn unlike_ns(&self, seen: &Seen) -> u64 {
        let now_ns = duration(self.rest_ns).saturating_mul(NOW);
        seen.unlike_ns.saturating_add(self.hinted_ns).saturating_add(now_ns)
    }

    /// Notes what another rank says of this way.
    fn is_hinted(&mut self, unlike_ns: u64, hop_ns: u64, is_best: bool) {
        self.hinted_ns = self.hinted_ns.saturating_add(unlike_ns);
        if is_best && hop_ns > 0 {
            let nearest_ns = self.hop_of_others_ns;
            self.hop_of_others_ns = if nearest_ns == 0 { hop_ns } else { nearest_ns.min(hop_ns) };
        }
    }

    /// Finds the time of a message: as the rank has seen it, or another one, or from this call.
    fn learn(&mut self, call: Call, seen: &Seen) {
        let own_ns = seen.hop_ns();
        self.hop_ns = signed(if own_ns == 0 { self.hop_of_others_ns } else { own_ns });
        let Some(last_ns) = self.last_ns.filter(|_| !self.is_impossible) else { return };
        // Then it is no upper limit alone.
        let has_waited = last_ns >= signed(call.entered_ns);
        self.told = Told { took_ns: duration(self.room_ns), has_waited, unlike_ns: 0 };
        if self.hop_ns == 0 {
            self.hop_ns = if has_waited { self.room_ns } else { signed(call.duration_ns()) };
        }
        self.hop_ns = self.hop_ns.min(self.room_ns);
    }

    /// Adds a member whose entry the rank has heard of by so many messages.
    fn hear(&mut self, member: &Meeting, hops: u32) {
        if hops > 0 {
            let heard = member.later(self.hop_ns.saturating_mul(i64::from(hops)));
            self.partners = Some(self.partners.map_or(heard, |all| all.combine(heard)));
        }
    }

    /// Ends the call.
    fn end(&mut self, call: Call) {
        let left_ns = signed(call.left_ns);
        let heard_ns = self.partners.map_or(i64::MIN, |partners| partners.arrived_ns);
        self.rest_ns = (left_ns - heard_ns.max(signed(call.entered_ns))).max(0);
    }
}
