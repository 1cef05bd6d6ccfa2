//! The MPI calls of a run in one line: their share of the time, messages, and the costliest
//! functions. Made from the statistics over ranks, so that the end of a run has it too.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::{Value, json};
use tinyprof_format::model::{CallpathIndex, MessageKind};

use super::json::integer;
use super::messages::mpi_callpaths;
use super::names::{cut, shown};
use super::units::{count_cell, data, percent_cell};
use super::{Activity, Report, Transfers};

/// The number of functions that the line names.
const FUNCTIONS: usize = 3;

/// The maximum width of a function's name, in columns. MPI's longest is
/// `MPI_Dist_graph_neighbors_count`.
const NAME_COLUMNS: usize = 32;

/// The MPI calls of a run, without those that set MPI up.
struct MpiUsage<'a> {
    calls: u64,
    time_ns: u128,
    transfers: Transfers,
    /// The time of each function, the greatest first.
    functions: Vec<(&'a str, u128)>,
}

impl Report {
    /// Returns `mpi: 34.2% of the time; 12000 messages, 96.0 MB sent; MPI_Waitall 20.1%`, with the
    /// costliest functions. None without MPI calls. `MPI_Init` is left out, as in the efficiency: a
    /// short run of a program would seem to communicate more than a long one. Where only statistics
    /// over ranks are known, it has no messages.
    pub(super) fn mpi_line(&self) -> Option<String> {
        let usage = self.mpi_usage()?;
        let share = |ns: u128| percent_cell(self.base.share(ns));
        let mut parts = vec![format!("mpi: {} of the time", share(usage.time_ns))];
        parts.extend(sent(&usage.transfers));
        parts.extend(files(&usage.transfers));
        let functions = usage.functions.iter().take(FUNCTIONS).filter(|(_, ns)| *ns > 0);
        let functions: Vec<String> = functions
            .map(|(name, ns)| format!("{} {}", cut(&shown(name), NAME_COLUMNS), share(*ns)))
            .collect();
        parts.extend((!functions.is_empty()).then(|| functions.join(", ")));
        Some(parts.join("; "))
    }

    /// Returns the MPI calls of the run as JSON; null without any.
    pub(super) fn mpi_json(&self) -> Value {
        let Some(usage) = self.mpi_usage() else { return Value::Null };
        let (out, into_rank) = (usage.transfers.out(), usage.transfers.into_rank());
        let messages = usage.transfers.of_kind(MessageKind::MessageOut);
        json!({
            "calls": usage.calls,
            "time_ns": integer(usage.time_ns),
            "share": self.base.share(usage.time_ns),
            "unfollowed_ns": self.unfollowed.as_ref().map(|all| integer(all.ns())),
            "messages": messages.count,
            "bytes_out": out.bytes,
            "bytes_in": into_rank.bytes,
            "functions": usage.functions.iter().map(|(name, ns)| json!({
                "name": name,
                "time_ns": integer(*ns),
                "share": self.base.share(*ns),
            })).collect::<Vec<_>>(),
        })
    }

    /// Returns the transfers at a callpath.
    pub(super) fn transfers_of(&self, callpath: CallpathIndex) -> Transfers {
        self.transfers.get(&callpath).copied().unwrap_or_default()
    }

    fn mpi_usage(&self) -> Option<MpiUsage<'_>> {
        let mut usage = MpiUsage {
            calls: 0,
            time_ns: 0,
            transfers: Transfers::default(),
            functions: Vec::new(),
        };
        let mut functions: BTreeMap<&str, u128> = BTreeMap::new();
        let activities = Activity::of_callpaths(&self.callpaths);
        let is_setup = |index: CallpathIndex| activities[index.row()] == Some(Activity::Setup);
        let mut is_used = false;
        for (index, function) in mpi_callpaths(&self.callpaths) {
            let row = self.statistics.row(index.row());
            let transfers = self.transfers_of(index);
            if row.ranks == 0 && transfers.is_empty() {
                continue;
            }
            is_used = true;
            if is_setup(index) {
                continue;
            }
            usage.calls = usage.calls.saturating_add(row.visits);
            usage.time_ns = usage.time_ns.saturating_add(row.exclusive.sum_ns);
            usage.transfers.absorb(&transfers);
            let sum_ns = functions.entry(function).or_default();
            *sum_ns = sum_ns.saturating_add(row.exclusive.sum_ns);
        }
        usage.functions = functions.into_iter().collect();
        usage.functions.sort_by_key(|(_, ns)| Reverse(*ns));
        is_used.then_some(usage)
    }
}

/// Returns `12000 messages, 96.0 MB sent`: messages between ranks, and the bytes that leave ranks
/// in messages, collective and one-sided operations. None without any.
fn sent(transfers: &Transfers) -> Option<String> {
    let messages = transfers.of_kind(MessageKind::MessageOut).count;
    let sent = transfers.sum(|kind| kind.is_out() && kind != MessageKind::FileOut);
    if sent.count == 0 {
        return None;
    }
    let messages = match messages {
        0 => String::new(),
        1 => "1 message, ".to_owned(),
        many => format!("{} messages, ", count_cell(many)),
    };
    Some(format!("{messages}{} sent", data(sent.bytes)))
}

/// Returns `files: 96.0 MB written, 0 B read`; none without any.
fn files(transfers: &Transfers) -> Option<String> {
    let written = transfers.of_kind(MessageKind::FileOut);
    let read = transfers.of_kind(MessageKind::FileIn);
    (written.count > 0 || read.count > 0)
        .then(|| format!("files: {} written, {} read", data(written.bytes), data(read.bytes)))
}
