//! The waiting of a run by Scalasca's definitions, from what the engine knows of all ranks.

use crate::trace::{Fact, Partner, Run, Sort};

/// Returns the time that each rank has waited.
///
/// Late sender, and late receiver: until the partner has entered its call, or posted its receive.
/// Collectives: until the last rank has entered that this one needs. A call that completes several
/// has waited for the last of them. Tests wait for nobody. A blocking probe waits as a receive.
pub(crate) fn of_ranks(run: &Run) -> Vec<u64> {
    let mut waited = vec![0; run.ended_ns.len()];
    for record in &run.records {
        if let Fact::Left { sort: Sort::Waits, entered_ns, partners } = &record.fact {
            let came = partners.iter().filter_map(|partner| came_ns(run, record.rank, *partner));
            let last = came.max().unwrap_or(0).min(record.at_ns);
            waited[record.rank] += last.saturating_sub(*entered_ns);
        }
    }
    waited
}

/// Returns when a partner came, if `rank` waits for anyone.
fn came_ns(run: &Run, rank: usize, partner: Partner) -> Option<u64> {
    match partner {
        Partner::Message { message, .. } => Some(run.messages[message].sent_ns),
        Partner::Answer { message, .. } => run.messages[message].receiver.map(|r| run.posted_ns[r]),
        Partner::Collective { instance, .. } => {
            let (kind, root, entries) = &run.collectives[instance];
            let needed = (0..entries.len()).filter(|&other| kind.needs(rank, other, *root));
            needed.filter_map(|other| entries[other]).max()
        }
    }
}
