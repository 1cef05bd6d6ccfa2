//! The MPI calls of which it is not known for whom they wait. They can hide any delay, so reports
//! say how much of the time is in them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use tinyprof_format::model::{CallpathIndex, RankFacts};

use crate::facts::totals::Totals;
use crate::facts::totals::transfers::mpi_callpaths;
use crate::facts::usage::Activity;

/// The rule by which level `messages` follows calls of an MPI function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// The call waits for no other rank.
    Local,
    /// The waiting of senders, which their receivers know: if any message was followed.
    Sends,
    /// The waiting of receives and completions: of as many as messages were followed there.
    Messages,
    /// Tests in loops, whose waiting is never known.
    Polls,
    /// All other calls that may wait: if any of the function was followed.
    Others,
}

/// The functions of point-to-point messages.
const MESSAGES: [(Rule, &[&str]); 3] = [
    (Rule::Sends, &["Send", "Ssend", "Rsend"]),
    (
        Rule::Messages,
        &[
            "Recv",
            "Mrecv",
            "Probe",
            "Mprobe",
            "Sendrecv",
            "Sendrecv_replace",
            "Wait",
            "Waitany",
            "Waitsome",
            "Waitall",
        ],
    ),
    (
        Rule::Polls,
        &[
            "Iprobe",
            "Improbe",
            "Test",
            "Testany",
            "Testsome",
            "Testall",
            "Request_get_status",
            "Request_get_status_all",
            "Request_get_status_any",
            "Request_get_status_some",
            "Win_test",
            "Parrived",
        ],
    ),
];

/// The other functions that may wait for other ranks, or the beginnings of their names if these end
/// in `*`.
const OTHERS: [&str; 47] = [
    "Barrier",
    "Bcast",
    "Scatter",
    "Scatterv",
    "Gather",
    "Gatherv",
    "Reduce",
    "Allgather",
    "Allgatherv",
    "Alltoall",
    "Alltoallv",
    "Alltoallw",
    "Allreduce",
    "Reduce_scatter",
    "Reduce_scatter_block",
    "Scan",
    "Exscan",
    "Neighbor_*",
    "Cart_create",
    "Cart_sub",
    "Graph_create",
    "Dist_graph_create*",
    "Comm_create*",
    "Comm_dup*",
    "Comm_split*",
    "Comm_free",
    "Comm_disconnect",
    "Comm_accept",
    "Comm_connect",
    "Comm_join",
    "Comm_spawn*",
    "Intercomm_*",
    "Session_init",
    "Session_finalize",
    "Finalize",
    "Win_allocate*",
    "Win_create",
    "Win_create_dynamic",
    "Win_free",
    "Win_fence",
    "Win_start",
    "Win_complete",
    "Win_post",
    "Win_wait",
    "Win_lock*",
    "Win_unlock*",
    "Win_flush*",
];

/// Input and output on files may wait for other ranks, too.
const FILES: &str = "File_";

/// The functions that begin like one of these and wait for nobody.
const LOCAL: [&str; 14] = [
    "Comm_create_errhandler",
    "Comm_create_keyval",
    "Comm_free_keyval",
    "File_call_errhandler",
    "File_create_errhandler",
    "File_get_amode",
    "File_get_atomicity",
    "File_get_byte_offset",
    "File_get_errhandler",
    "File_get_group",
    "File_get_info",
    "File_get_position",
    "File_get_view",
    "File_set_errhandler",
];

impl Rule {
    /// Returns the rule for a function, by its name in C.
    fn of(function: &str) -> Self {
        let name = function.strip_prefix("MPI_").unwrap_or(function);
        let name = name.strip_suffix("_c").unwrap_or(name);
        let is_in = |names: &[&str]| names.contains(&name);
        if let Some((rule, _)) = MESSAGES.iter().find(|(_, names)| is_in(names)) {
            return *rule;
        }
        let begins = |pattern: &&str| match pattern.strip_suffix('*') {
            Some(begin) => name.starts_with(begin),
            None => name == *pattern,
        };
        let may_wait = name.starts_with(FILES) || OTHERS.iter().any(begins);
        if may_wait && !is_in(&LOCAL) { Self::Others } else { Self::Local }
    }
}

/// The time of a rank in MPI calls, and the part of it that is not followed, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnfollowedOfRank {
    /// The time in MPI calls, without start-up.
    pub mpi_ns: u64,
    /// The time in those that may wait for other ranks, of which it is not known whether they did.
    pub unfollowed_ns: u64,
}

/// The time in MPI calls of which it is not known for whom they wait.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unfollowed {
    /// The times of each rank.
    pub ranks: Vec<UnfollowedOfRank>,
    /// The time that is not followed by function, of all ranks together, the greatest first, in ns.
    pub functions: Vec<(String, u128)>,
    /// True if the order of calls was recorded, or any message followed: at level `messages`.
    pub are_recorded: bool,
}

impl Unfollowed {
    /// Returns the times of a profile. If a recorder has kept the time that was not followed, it
    /// is that; otherwise it is counted here, by function, and for receives and completions in
    /// proportion to the messages that were followed.
    ///
    /// # Cost
    /// Linear in callpaths x ranks.
    #[must_use]
    pub fn of_totals(totals: &Totals) -> Self {
        let callpaths = totals.callpaths();
        let activities = Activity::of_callpaths(callpaths);
        let exclusive_ns = totals.exclusive_ns();
        let calls = || {
            mpi_callpaths(callpaths)
                .filter(|(index, _)| activities[index.row()] != Some(Activity::Setup))
        };
        let mut seen: BTreeMap<&str, bool> = BTreeMap::new();
        let mut is_any_message = false;
        for (index, function) in calls() {
            let is_seen = totals.followed(index).is_some();
            *seen.entry(function).or_default() |= is_seen;
            is_any_message |= is_seen && Rule::of(function) == Rule::Messages;
        }
        let is_probe = |function: &str| ["MPI_Probe", "MPI_Mprobe"].contains(&function);
        let mut probes = vec![0_u64; totals.ranks().len()];
        for (index, _) in calls().filter(|(_, function)| is_probe(function)) {
            for (rank, count) in probes.iter_mut().enumerate() {
                *count = count.saturating_add(messages_here(totals, index, rank));
            }
        }
        let mut ranks = vec![UnfollowedOfRank::default(); totals.ranks().len()];
        let mut functions: BTreeMap<&str, u128> = BTreeMap::new();
        for (index, function) in calls() {
            let rule = Rule::of(function);
            let sum_ns = functions.entry(function).or_default();
            for (rank, of_rank) in ranks.iter_mut().enumerate() {
                let ns = exclusive_ns[index.row()][rank];
                let unfollowed_ns = match rule {
                    Rule::Local => 0,
                    Rule::Sends if is_any_message => 0,
                    Rule::Others if seen[function] => 0,
                    Rule::Messages => {
                        let followed = messages_here(totals, index, rank);
                        let probed = if is_receive(function) { probes[rank] } else { 0 };
                        let visits = totals.visits(index, rank);
                        not_followed(ns, followed.saturating_add(probed), visits)
                    }
                    Rule::Sends | Rule::Polls | Rule::Others => ns,
                };
                of_rank.mpi_ns = of_rank.mpi_ns.saturating_add(ns);
                of_rank.unfollowed_ns = of_rank.unfollowed_ns.saturating_add(unfollowed_ns);
                *sum_ns = sum_ns.saturating_add(unfollowed_ns.into());
            }
        }
        // A recorder that keeps it says 1 at least.
        let kept = |facts: &RankFacts| facts.clock.unfollowed_ns;
        if totals.ranks().iter().any(|facts| kept(facts) > 0) {
            for (of_rank, facts) in ranks.iter_mut().zip(totals.ranks()) {
                of_rank.unfollowed_ns = kept(facts).saturating_sub(1).min(of_rank.mpi_ns);
            }
            if ranks.iter().all(|of_rank| of_rank.unfollowed_ns == 0) {
                functions.clear();
            }
        }
        let known = functions.into_iter().filter(|(_, ns)| *ns > 0);
        let mut functions: Vec<_> = known.map(|(name, ns)| (name.to_owned(), ns)).collect();
        functions.sort_by_key(|(_, ns)| Reverse(*ns));
        Self { ranks, functions, are_recorded: totals.are_edges_recorded() }
    }

    /// Returns the time of all ranks in MPI calls, in ns.
    #[must_use]
    pub fn mpi_ns(&self) -> u128 {
        self.ranks.iter().map(|rank| u128::from(rank.mpi_ns)).sum()
    }

    /// Returns the time of all ranks in calls that are not followed, in ns.
    #[must_use]
    pub fn ns(&self) -> u128 {
        self.ranks.iter().map(|rank| u128::from(rank.unfollowed_ns)).sum()
    }
}

/// Returns whether a message that was probed for, and was followed there, is received by this
/// function.
fn is_receive(function: &str) -> bool {
    ["MPI_Recv", "MPI_Mrecv", "MPI_Recv_c", "MPI_Mrecv_c"].contains(&function)
}

fn messages_here(totals: &Totals, index: CallpathIndex, rank: usize) -> u64 {
    totals.followed(index).map_or(0, |counts| counts[rank])
}

/// Returns the part of a time in which a number of visits was followed.
fn not_followed(ns: u64, followed: u64, visits: u64) -> u64 {
    let visits = visits.max(followed).max(1);
    let part = u128::from(ns) * u128::from(visits - followed) / u128::from(visits);
    u64::try_from(part).unwrap_or(ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_has_one_rule() {
        let check = |function: &str, expected: Rule| {
            assert_eq!(Rule::of(function), expected, "{function}");
        };
        check("MPI_Recv_c", Rule::Messages);
        check("MPI_Send", Rule::Sends);
        check("MPI_Allreduce_c", Rule::Others);
        check("MPI_Iallreduce", Rule::Local);
        check("MPI_Probe", Rule::Messages);
        check("MPI_Testall", Rule::Polls);
        check("MPI_Neighbor_alltoall", Rule::Others);
        check("MPI_Comm_create_group", Rule::Others);
        check("MPI_Comm_create_keyval", Rule::Local);
        check("MPI_File_write_all", Rule::Others);
        check("MPI_Comm_rank", Rule::Local);
        check("MPI_Win_create_keyval", Rule::Local);
    }
}
