//! A single visit that takes much longer than all others: a first iteration, most often.

use tinyprof_messages::delay::Visits;
use tinyprof_messages::graph::RankSet;
use tinyprof_report::Certainty;

use super::oversubscribed::ADVICE;
use super::{FINDING_PART, Facts, processor};
use crate::facts::activities::Doing;
use crate::facts::run::Run;
use crate::finding::{Finding, Kind, Link};
use crate::phrases::{if_many, ns, ranks as of_ranks};
use crate::place::Place;

/// The least visits of a rank.
const VISITS_MIN: u64 = 5;
/// How much longer than the mean of the others it is.
const TIMES: f64 = 4.0;

/// By what factor the mean of the other visits is above the shortest if some may be
/// long.
const ABOVE_SHORTEST: f64 = 1.5;
/// The part of the square of what a visit takes longer by which the others may differ.
const SCATTER_PART: f64 = 0.25;
/// The least part of the run that a visit takes longer that most ranks have: nobody waits for it,
/// and a longer run has no more of it.
const COMMON_PART: f64 = 0.1;

/// Adds the finding about the longest such visit. Where others wait for the rank because of what it
/// does there, the two are one finding: that of the visit, if it is most of what the rank does
/// longer. A rank that had no processor for as long is not blamed for it.
pub(super) fn add_one_slow_visit(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some(mut slow) = one_slow_visit(facts) else { return };
    let (ranks, place) = (slow.ranks.clone(), slow.place.clone());
    if is_common(facts, &slow) {
        let run_ns = facts.run.a_rank_ns(facts.run.total_ns());
        if slow.lost_ns < COMMON_PART * run_ns {
            return;
        }
        slow.sentence.push_str("; most other ranks take as long there");
    }
    let is_same = |one: &Finding| one.ranks == ranks && one.place == place;
    tell_of_lost_processor(facts, &mut slow);
    let Some(at) = found.iter().position(is_same) else { return found.push(slow) };
    // Where the rank may have lost its processor in it, the visit is no better cause.
    if slow.kind == Kind::Oversubscription || slow.lost_ns < 0.5 * found[at].lost_ns {
        return;
    }
    let late = found.remove(at);
    // They wait for as long as that visit takes longer, and for the rest because of the others.
    let waiting = &late.waiting_ranks;
    let of_place =
        late.waits_at.as_ref().map_or_else(String::new, |at| format!(" in {}", at.name()));
    slow.sentence = format!(
        "{}; {} {} up to {} for it{of_place}",
        slow.sentence,
        of_ranks(waiting),
        if_many(waiting, "waits", "wait each"),
        ns(slow.lost_ns),
    );
    (slow.waits_at, slow.waiting_ranks) = (late.waits_at, late.waiting_ranks);
    found.push(slow);
}

/// Blames no rank that may have had no processor for half of what the visit took longer, or more.
fn tell_of_lost_processor(facts: &Facts<'_>, slow: &mut Finding) {
    let (run, lost_by) = (facts.run, |rank| processor::most_lost_ns(facts.run, rank));
    let lost_ns = slow.ranks.iter().map(lost_by).fold(0.0, f64::max);
    let is_lost = slow.ranks.iter().any(|rank| processor::is_lost(run, rank, slow.lost_ns));
    if is_lost && !is_common(facts, slow) {
        slow.kind = Kind::Oversubscription;
        slow.certainty = Certainty::AtMost;
        slow.sentence = format!(
            "{}, but the rank was ready to run without a processor for up to {}",
            slow.sentence,
            ns(lost_ns)
        );
        ADVICE.clone_into(&mut slow.advice);
    }
}

/// Returns whether at least half of the other ranks have taken as much longer there, with a
/// processor, or all of them: that is the program, and no chance.
fn is_common(facts: &Facts<'_>, slow: &Finding) -> bool {
    let at = slow.chain.first().and_then(|link| link.place.as_ref());
    let at = at.map(|place| Doing::Before(place.index));
    let Some(of_ranks) = at.and_then(|doing| facts.run.activities.of(doing)) else { return false };
    let most_ns = of_ranks.iter().map(|visits| visits.ns).max().unwrap_or(0);
    let least_ns = crate::ns(most_ns.into()) - 0.5 * slow.lost_ns;
    let others = (0_u32..)
        .zip(of_ranks)
        .filter(|(rank, visits)| visits.count > 0 && !slow.ranks.contains(*rank));
    let is_as_slow = |visits: &Visits| crate::ns(visits.ns.into()) >= least_ns;
    let (mut all, mut as_slow, mut certain) = (0, 0, 0);
    for (rank, visits) in others {
        let is_lost = processor::is_lost(facts.run, rank, slow.lost_ns);
        all += 1;
        as_slow += usize::from(is_as_slow(visits));
        certain += usize::from(is_as_slow(visits) && !is_lost);
    }
    all > 0 && (2 * certain >= all || as_slow == all)
}

/// Returns the finding about the longest such visit.
fn one_slow_visit(facts: &Facts<'_>) -> Option<Finding> {
    let run = facts.run;
    let found = run.activities.iter().filter_map(|(doing, of_ranks)| {
        let Doing::Before(_) = doing else { return None };
        let longest_ns = crate::ns(run.activities.longest_ns(doing).into());
        // The rank with the most has the longest visit.
        let (rank, visits) = (0_u32..).zip(of_ranks).max_by_key(|(_, visits)| visits.ns)?;
        if visits.count < VISITS_MIN {
            return None;
        }
        let others_ns = (crate::ns(visits.ns.into()) - longest_ns).max(0.0)
            / crate::ns(u128::from(visits.count) - 1);
        let lost_ns = longest_ns - others_ns;
        if is_one_of_several(run, doing, (rank, visits.count), lost_ns, others_ns) {
            return None;
        }
        (longest_ns >= TIMES * others_ns).then_some((doing, rank, longest_ns, others_ns, lost_ns))
    });
    let (doing, rank, longest_ns, others_ns, lost_ns) = found.max_by(|a, b| a.4.total_cmp(&b.4))?;
    if lost_ns < FINDING_PART * run.a_rank_ns(run.total_ns()) {
        return None;
    }
    let place = run.place(doing);
    let all: RankSet = std::iter::once(rank).collect();
    let sentence = format!(
        "One visit of the computation before {} takes {} on rank {rank}, the others {} on average",
        place.name(),
        ns(longest_ns),
        ns(others_ns)
    );
    let why = "a single visit".to_owned();
    let at = Some(Place::of(&run.callpaths, doing.callpath()));
    let link = Link { ranks: all.clone(), place: at, ns: lost_ns, why };
    let advice =
        "It happens once: a longer run loses no more by it. If it is the first one, leave \
                  it out of comparisons, or do before the loop what only it has to do; otherwise \
                  begin with it, or divide it."
            .to_owned();
    Some(Finding {
        certainty: Certainty::Measured,
        ranks: all,
        place: Some(place),
        chain: vec![link],
        ..Finding::new(Kind::OneSlowVisit, lost_ns, sentence, advice)
    })
}

/// Returns whether the other visits hide further long ones: they differ as if one of them took half
/// as much longer; or their mean is well above the shortest, and what they take longer together is
/// as much as for one that takes half as long.
fn is_one_of_several(
    run: &Run,
    doing: Doing,
    (rank, count): (u32, u64),
    lost_ns: f64,
    others_ns: f64,
) -> bool {
    let count = crate::ns(count.into());
    if run.activities.scatter_ns2(doing, rank) >= SCATTER_PART * lost_ns * lost_ns {
        return true;
    }
    let shortest_ns = crate::ns(run.activities.least_ns(doing, rank).into()) / count;
    let longer_ns = (others_ns - shortest_ns) * (count - 1.0);
    shortest_ns > 0.0 && others_ns >= ABOVE_SHORTEST * shortest_ns && longer_ns >= 0.5 * lost_ns
}

#[cfg(test)]
mod tests {
    use tinyprof_format::model::CallpathIndex;
    use tinyprof_format::text::read_text;
    use tinyprof_report::Totals;

    use super::*;
    use crate::blame::Blame;
    use crate::facts::run::RunBuilder;
    use crate::findings::oversubscribed::oversubscribed;

    /// Returns what is found of two ranks of 1 s, of which rank 1 has a visit of 0.5 s, and had no
    /// processor for this long.
    fn found(no_processor_ns: [u64; 2]) -> Vec<&'static str> {
        found_of([10_000_000, 500_000_000], no_processor_ns)
    }

    /// The same, where the ranks have visits of these lengths.
    fn found_of(longest_ns: [u64; 2], no_processor_ns: [u64; 2]) -> Vec<&'static str> {
        let text = "id,parent,tag,is_loop,times\nmain,null,null,0,0.1|0.1\n";
        let profile = read_text(text.as_bytes()).expect("it is right").profile;
        let totals = Totals::of_profile(&profile);
        let mut run = RunBuilder::new(&profile.callpaths, 2).finish(&totals);
        run.rank_ns = vec![1_000_000_000; 2];
        run.no_processor_ns = vec![[0; 2], no_processor_ns];
        let doing = Doing::Before(CallpathIndex::new(0));
        for (rank, longest_ns) in longest_ns.into_iter().enumerate() {
            let visits = Visits { count: 10, ns: 90_000_000 + longest_ns };
            run.activities.add(doing, rank, visits, longest_ns);
        }
        let facts = Facts { run: &run, blame: &Blame::default() };
        let mut found = Vec::new();
        add_one_slow_visit(&facts, &mut found);
        found.extend(oversubscribed(&facts, &found));
        found.iter().map(|one| one.kind.word()).collect()
    }

    #[test]
    fn a_rank_is_not_blamed_for_a_visit_in_which_it_had_no_processor() {
        assert_eq!(found([0; 2]), ["one_slow_visit"]);
        assert_eq!(found([50_000_000; 2]), ["one_slow_visit"], "a small part of it");
        assert_eq!(found([0, 400_000_000]), ["oversubscription"]);
        let of_both = found_of([490_000_000, 500_000_000], [0, 400_000_000]);
        assert_eq!(of_both, ["one_slow_visit"], "all ranks take that long");
    }

    #[test]
    fn ranks_without_a_processor_are_told_once() {
        assert_eq!(found([150_000_000; 2]), ["one_slow_visit", "oversubscription"]);
        assert_eq!(found([400_000_000; 2]), ["oversubscription"]);
    }
}
