//! Why the ranks of several hosts wait, from the measurements that their agents send now and then.

use std::collections::BTreeMap;
use std::thread::{self, JoinHandle};

use tinyprof_picture::frame::Measurements;
use tinyprof_why::Why;

use super::agents::unpacked;
use super::joined;
use super::sample::Sample;

/// The most hosts of which measurements are sent: one process reads all of them.
pub(super) const HOSTS_MAX: usize = 64;

/// The measurements of a job by host, and what follows from them.
#[derive(Debug, Default)]
pub(super) struct Whole {
    by_host: BTreeMap<String, Vec<u8>>,
    /// `true` if some came after those that the answer is from.
    has_new: bool,
    why: Option<Why>,
    /// The next answer, which a thread looks for: an old one is shown meanwhile.
    next: Option<JoinHandle<Option<Why>>>,
}

impl Whole {
    /// Takes what hosts have sent.
    pub(super) fn add(&mut self, sent: Vec<Measurements>) {
        for Measurements { host, profile } in sent {
            self.by_host.insert(host, profile);
            self.has_new = true;
        }
    }

    /// Returns the number of hosts that have sent any.
    pub(super) fn hosts(&self) -> usize {
        self.by_host.len()
    }

    /// Returns why the ranks of these hosts wait; none if they are not all of a job. The first
    /// answer is waited for.
    pub(super) fn why(&mut self) -> Option<Why> {
        let is_first = self.why.is_none();
        if self.has_new && self.next.is_none() {
            let profiles: Vec<Vec<u8>> = self.by_host.values().cloned().collect();
            self.next = Some(thread::spawn(move || why_of(&profiles)));
            self.has_new = false;
        }
        if let Some(next) = self.next.take_if(|next| is_first || next.is_finished()) {
            self.why = next.join().ok().flatten();
        }
        self.why.clone()
    }
}

/// Returns why ranks wait whose measurements are in these packed profiles; none if one is damaged,
/// or a rank is in none of them.
fn why_of(profiles: &[Vec<u8>]) -> Option<Why> {
    let mut ranks = Vec::new();
    for profile in profiles {
        joined::add_ranks(&unpacked(profile).ok()?, &mut ranks);
    }
    let is_whole = joined::count(&ranks) == ranks.len();
    Sample::of_ranks(&ranks).why.filter(|_| is_whole)
}

#[cfg(test)]
mod tests {
    use tinyprof_format::model::{EventMap, RunMetadata};

    use super::super::example::waiting_ranks;
    use super::super::profile::{Name, write};
    use super::super::told::Told;
    use super::*;

    /// Returns what a host sends that knows one of two ranks.
    fn measured(rank: usize) -> Measurements {
        let mut ranks = waiting_ranks();
        ranks[1 - rank] = EventMap::default();
        let place = tempfile::tempdir().expect("a directory");
        let name = Name { chosen: None, directory: place.path(), ending: "" };
        let profile = write(RunMetadata::default(), &ranks, None, "late.tprof", name);
        let told = Told::of_profile(profile.expect("it is written"));
        Measurements { host: format!("n{rank}"), profile: told.packed().expect("files") }
    }

    #[test]
    fn a_rank_waits_for_one_of_another_host() {
        let mut whole = Whole::default();
        whole.add(vec![measured(1)]);
        assert!(whole.why().is_none(), "a rank is in none of them");
        whole.add(vec![measured(0)]);
        assert_eq!(whole.hosts(), 2);
        let verdict = whole.why().expect("all are there").verdict();
        assert!(verdict.starts_with("Rank 0 ") && verdict.contains("MPI_Recv"), "{verdict}");
        // One that lies costs the answer, and nothing else.
        assert!(why_of(&[measured(0).profile, vec![1; 9]]).is_none());
    }
}
