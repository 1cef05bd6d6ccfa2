//! Large messages, and operations that move much data: what they take after all sides are there.

mod messages;
mod operations;
mod travel;

use super::Facts;
use crate::blame::Blamed;
use crate::finding::Finding;

pub(crate) use travel::BEHIND;

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

#[cfg(test)]
mod tests {
    use tinyprof_format::model::{CallpathIndex, Traffic};
    use tinyprof_format::text::read_text;
    use tinyprof_messages::delay::Visits;
    use tinyprof_report::Totals;

    use super::*;
    use crate::blame::Blame;
    use crate::facts::activities::Doing;
    use crate::facts::run::{Run, RunBuilder};
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
        // The shortest visit, too, may have waited for a rank without a processor.
        let (mut run, index) = run_of("MPI_Waitall", 2);
        run.calls.entry(index).or_default().sent = Traffic { count: 20, bytes: 20 << 20 };
        for rank in 0..2 {
            run.in_calls.add_least(Doing::In(index), rank, 120_000_000);
        }
        let kind = |run: &Run| found_in(run).map(|one| one.kind);
        assert_eq!(kind(&run), Some(Kind::Bandwidth));
        run.no_processor_ns = vec![[199_000_000; 2]; 2];
        assert_eq!(kind(&run), Some(Kind::Bandwidth), "not for all of the time");
        run.no_processor_ns = vec![[200_000_000; 2]; 2];
        assert_eq!(kind(&run), None);
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
            "Rank 1 puts 9.00 MB each time into MPI_Alltoallv, the others 100 B; moving it takes 600 ms \
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
