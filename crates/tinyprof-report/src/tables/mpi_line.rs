//! The MPI calls of a run in one line: their share of the time, messages, and the costliest
//! functions.

use tinyprof_format::model::MessageKind;

use crate::facts::totals::transfers::Transfers;
use crate::report::Report;
use crate::words::names::{cut, shown};
use crate::words::units::{count_cell, data, percent_cell};

/// The number of functions that the line names.
const FUNCTIONS: usize = 3;

/// The maximum width of a function's name, in columns. MPI's longest is
/// `MPI_Dist_graph_neighbors_count`.
const NAME_COLUMNS: usize = 32;

/// Returns `mpi: 34.2% of the time; 12000 messages, 96.0 MB sent; MPI_Waitall 20.1%`, with the
/// costliest functions. None without MPI calls. Where only statistics over ranks are known, it has
/// no messages.
#[must_use]
pub fn mpi_line(report: &Report) -> Option<String> {
    let usage = report.mpi_usage()?;
    let share = |ns: u128| percent_cell(report.base.share(ns));
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
