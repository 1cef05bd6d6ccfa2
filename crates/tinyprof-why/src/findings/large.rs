//! Large messages, and operations that move much data: what they take after all sides are there.

mod messages;
mod operations;

use std::collections::BTreeMap;

use tinyprof_format::model::{CallpathIndex, Traffic};
use tinyprof_messages::graph::RankSet;

use super::Facts;
use super::messages::{in_call_ns, with_processor_ns};
use crate::blame::{At, Blamed};
use crate::facts::activities::Doing;
use crate::facts::calls::Call;
use crate::facts::run::Run;
use crate::finding::{Finding, Link};
use crate::phrases::{if_many, ns, ranks};
use crate::place::Place;

/// A message from this size on takes as long as its bytes.
const LARGE_BYTES: f64 = 65_536.0;

/// The part of what data takes from which on it is said that others wait meanwhile.
const MEANWHILE_PART: f64 = 0.1;

/// Of how many times as much data as each other one a rank has far more.
const FAR_MORE: f64 = 4.0;

/// Ranks that move far more data than the others, and how much of it, on average.
#[derive(Clone, Debug)]
struct Heavy {
    ranks: RankSet,
    here: Traffic,
    /// The bytes of each of them, and of each other one.
    here_bytes: f64,
    others_bytes: f64,
}

impl Heavy {
    /// Returns the ranks that have far more than each other one of `among`, if these are most.
    fn of(by: &BTreeMap<u32, Traffic>, among: u64) -> Option<Self> {
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
        (most > 0.0 && 2 * count <= among).then_some(Self { ranks, here, here_bytes, others_bytes })
    }
}

/// What a link says of ranks that wait while data travels elsewhere.
pub(crate) const BEHIND: &str = "waits meanwhile for those ranks";

/// Returns the findings about large messages, and about the operation that moves data the longest,
/// and the waiting of others that they explain.
pub(super) fn large(facts: &Facts<'_>, told: &[Finding]) -> (Vec<Finding>, Blamed) {
    let (mut found, mut explained) = (Vec::new(), Blamed::default());
    for (finding, behind) in
        messages::found(facts, told).into_iter().chain(operations::found(facts))
    {
        found.push(finding);
        explained.absorb(&behind);
    }
    (found, explained)
}

/// The time that data takes in some calls.
struct Travel {
    /// The time for which ranks had a processor for certain, in ns, and its words.
    certain_ns: f64,
    text: String,
    /// The waiting of others for ranks that are in these calls.
    behind: Blamed,
    chain: Vec<Link>,
}

impl Travel {
    /// Returns what data takes in these calls, the longest first, if it is large.
    fn of(facts: &Facts<'_>, costs: &[(CallpathIndex, f64)]) -> Option<Self> {
        /// The part of the time from which on what is certain is nearly all.
        const NEARLY_ALL: f64 = 0.8;
        let run = facts.run;
        let (first, _) = *costs.first()?;
        let certain_ns = with_processor_ns(facts, costs);
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

    fn sum_ns(&self) -> f64 {
        self.certain_ns + self.behind.ns()
    }

    /// Returns `; ranks 1-2 wait 27 ms meanwhile in MPI_Barrier (halo.c:8)`.
    fn meanwhile(&self, run: &Run, beside: &Place) -> String {
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

/// Returns the time of all ranks in each call of a kind that may wait, without waiting, the longest
/// first.
fn costs(facts: &Facts<'_>, is_in: &dyn Fn(&Call) -> bool) -> Vec<(CallpathIndex, f64)> {
    let calls = facts.run.calls.iter().filter(|(_, call)| call.may_wait() && is_in(call));
    let mut costs: Vec<(CallpathIndex, f64)> =
        calls.map(|(index, _)| (*index, in_call_ns(facts, *index))).collect();
    costs.sort_by(|a, b| b.1.total_cmp(&a.1));
    costs
}

fn visitors(run: &Run, at: CallpathIndex) -> RankSet {
    let with = (0..).zip(run.may_wait.of(Doing::In(at)).unwrap_or_default());
    with.filter(|(_, visits)| visits.ns > 0).map(|(rank, _)| rank).collect()
}

#[cfg(test)]
mod tests {
    use tinyprof_format::text::read_text;
    use tinyprof_messages::delay::Visits;
    use tinyprof_report::Totals;

    use super::*;
    use crate::blame::Blame;
    use crate::facts::run::RunBuilder;
    use crate::finding::Kind;

    /// Returns a run of ranks of 1 s, which are in a call of this function for 0.2 s each.
    fn run_of(function: &str, ranks: usize) -> (Run, CallpathIndex) {
        let times = vec!["0.1"; ranks].join("|");
        let text = format!("id,parent,tag,is_loop,times\n{function},null,COMM,0,{times}\n");
        let profile = read_text(text.as_bytes()).expect("it is right").profile;
        let totals = Totals::of_profile(&profile);
        let mut run = RunBuilder::new(&profile.callpaths, ranks).finish(&totals);
        let index = CallpathIndex::new(0);
        run.rank_ns = vec![1_000_000_000; ranks];
        run.waits.are_recorded = true;
        run.calls.entry(index).or_default().function = function.to_owned();
        for rank in 0..ranks {
            let visits = Visits { count: 10, ns: 200_000_000 };
            run.in_calls.add(Doing::In(index), rank, visits, 0);
            run.may_wait.add(Doing::In(index), rank, visits, 0);
        }
        (run, index)
    }

    fn found_in(run: &Run) -> Option<Finding> {
        large(&Facts { run, blame: &Blame::default() }, &[]).0.pop()
    }

    /// Returns what is found of two ranks, which complete large messages, and had no processor for
    /// so long.
    fn found(no_processor_ns: [u64; 2]) -> Option<Kind> {
        let (mut run, index) = run_of("MPI_Waitall", 2);
        run.no_processor_ns = vec![no_processor_ns; 2];
        run.calls.entry(index).or_default().sent = Traffic { count: 20, bytes: 20 << 20 };
        found_in(&run).map(|one| one.kind)
    }

    #[test]
    fn a_rank_without_a_processor_moves_no_data() {
        assert_eq!(found([0; 2]), Some(Kind::Bandwidth));
        assert_eq!(found([20_000_000; 2]), Some(Kind::Bandwidth), "most of it remains");
        // It may have been in the call.
        assert_eq!(found([0, 190_000_000]), None);
    }

    /// Returns the ranks that are named, and the sentence, where ranks put these bytes into ten
    /// operations, and get those.
    fn moved(function: &str, put: &[u64], got: &[u64]) -> Option<(String, String)> {
        let (mut run, index) = run_of(function, put.len());
        let by = |bytes: &[u64]| {
            let traffic = |bytes: &u64| Traffic { count: 10, bytes: 10 * bytes };
            (0..).zip(bytes.iter().map(traffic)).collect()
        };
        let call = run.calls.entry(index).or_default();
        (call.put_by, call.got_by) = (by(put), by(got));
        found_in(&run).map(|one| (one.ranks.to_string(), one.sentence))
    }

    #[test]
    fn the_rank_with_far_more_data_is_named() {
        const MB: u64 = 1_000_000;
        let (ranks, sentence) =
            moved("MPI_Alltoallv", &[100, 9 * MB, 100], &[3 * MB, 100, 3 * MB]).expect("large");
        assert_eq!(ranks, "1");
        assert_eq!(
            sentence,
            "Rank 1 puts 9 MB each time into MPI_Alltoallv, the others 100 B; moving it takes 600 ms \
             of all ranks, without waiting for late ones"
        );
        let named = |function, put: &[u64], got: &[u64]| {
            moved(function, put, got).map_or_else(String::new, |(ranks, _)| ranks)
        };
        assert_eq!(named("MPI_Alltoallv", &[3 * MB; 4], &[12 * MB, 0, 0, 0]), "0");
        assert_eq!(named("MPI_Allgatherv", &[10, 10, MB], &[MB; 3]), "2");
        // That the root has all of it is what the operation is for.
        assert_eq!(named("MPI_Gather", &[MB; 4], &[4 * MB, 0, 0, 0]), "0-3");
        assert_eq!(named("MPI_Scatterv", &[MB, 0, 0, 0], &[10, 10, 10, MB]), "3");
        assert_eq!(named("MPI_Bcast", &[MB, 0, 0, 0], &[0, MB, MB, MB]), "0");
        let (mut run, index) = run_of("MPI_File_write_at_all", 4);
        let traffic = |rank| Traffic { count: 10, bytes: if rank == 1 { 10 * MB } else { 10 } };
        run.calls.entry(index).or_default().files_by =
            (0..4).map(|rank| (rank, traffic(rank))).collect();
        let found = found_in(&run).expect("large");
        assert_eq!((found.ranks.to_string().as_str(), found.kind), ("1", Kind::SerialIo));
        assert_eq!(named("MPI_Alltoall", &[100_000; 4], &[100_000; 4]), "", "pieces are small");
    }

    #[test]
    fn the_rank_that_sends_far_more_is_named() {
        let (mut run, index) = run_of("MPI_Waitall", 3);
        let call = run.calls.entry(index).or_default();
        for (rank, bytes) in [(0, 100), (1, 1 << 20), (2, 100)] {
            let sent = Traffic { count: 100, bytes: 100 * bytes };
            call.sent.absorb(sent);
            call.sent_by.insert(rank, sent);
        }
        let found = found_in(&run).expect("it is large");
        assert_eq!((found.ranks.to_string().as_str(), found.kind), ("1", Kind::Bandwidth));
        assert!(
            found.sentence.starts_with("Rank 1 sends 105 MB in messages of 1.05 MB on average")
        );
    }
}
