//! The regions of a trace: their numbers, and the states of Paraver that a thread in them has.

use std::collections::{BTreeMap, HashMap};

use tinyprof_format::model::{CallpathId, CallpathTable};
use tinyprof_report::MpiCall;

/// The states, by number, as Paraver's own traces have them.
pub(super) const STATES: [&str; 17] = [
    "Idle",
    "Running",
    "Not created",
    "Waiting a message",
    "Blocking Send",
    "Synchronization",
    "Test/Probe",
    "Scheduling and Fork/Join",
    "Wait/WaitAll",
    "Blocked",
    "Immediate Send",
    "Immediate Receive",
    "I/O",
    "Group Communication",
    "Tracing Disabled",
    "Others",
    "Send Receive",
];
pub(super) const RUNNING: u64 = 1;
const OTHERS: u64 = 15;

/// The numbers that stand for a callpath in records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RegionNumbers {
    pub(super) number: u64,
    pub(super) function: Option<u64>,
    pub(super) state: u64,
}

/// The regions and functions of a profile, numbered from 1 on.
#[derive(Debug)]
pub(super) struct Regions {
    of_callpaths: HashMap<CallpathId, RegionNumbers>,
    pub(super) names: BTreeMap<u64, String>,
    pub(super) functions: BTreeMap<u64, String>,
}

impl Regions {
    pub(super) fn of(table: &CallpathTable) -> Self {
        let (mut numbers, mut functions) = (HashMap::new(), HashMap::new());
        let mut of_callpaths = HashMap::new();
        for row in table.rows() {
            let next = numbers.len() as u64 + 1;
            let number = *numbers.entry(row.region.name.clone()).or_insert(next);
            let call = MpiCall::of_region(&row.region).map(|call| call.function);
            let function = call.map(|call| {
                let next = functions.len() as u64 + 1;
                *functions.entry(call.to_owned()).or_insert(next)
            });
            let state = call.map_or(RUNNING, state_of_call);
            of_callpaths.insert(row.id, RegionNumbers { number, function, state });
        }
        let turned = |names: HashMap<String, u64>| names.into_iter().map(|(name, n)| (n, name));
        let (names, functions) = (turned(numbers).collect(), turned(functions).collect());
        Self { of_callpaths, names, functions }
    }

    pub(super) fn of_callpath(&self, callpath: CallpathId) -> Option<RegionNumbers> {
        self.of_callpaths.get(&callpath).copied()
    }
}

fn state_of_call(function: &str) -> u64 {
    let name = function.trim_start_matches("MPI_").to_lowercase();
    let starts = |names: &[&str]| names.iter().any(|start| name.starts_with(start));
    let state = if starts(&["sendrecv"]) {
        "Send Receive"
    } else if starts(&["isend", "ibsend", "issend", "irsend", "start"]) {
        "Immediate Send"
    } else if starts(&["irecv", "imrecv"]) {
        "Immediate Receive"
    } else if starts(&["send", "bsend", "ssend", "rsend"]) && !name.contains("_init") {
        "Blocking Send"
    } else if starts(&["recv", "mrecv"]) && !name.contains("_init") {
        "Waiting a message"
    } else if starts(&["test", "probe", "iprobe", "improbe", "mprobe"]) {
        "Test/Probe"
    } else if starts(&["wait"]) {
        "Wait/WaitAll"
    } else if starts(&["barrier", "win_fence", "win_lock", "win_unlock", "win_flush"]) {
        "Synchronization"
    } else if starts(&["file_"]) {
        "I/O"
    } else if starts(&["bcast", "reduce", "allreduce", "gather", "allgather", "scatter"])
        || starts(&["alltoall", "scan", "exscan", "neighbor_"])
    {
        "Group Communication"
    } else {
        return OTHERS;
    };
    STATES.iter().position(|&known| known == state).map_or(OTHERS, |at| at as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_has_the_state_of_its_kind() {
        let check = |function, expected: &str| {
            let state = usize::try_from(state_of_call(function)).unwrap();
            assert_eq!(STATES[state], expected, "{function}");
        };
        check("MPI_Send", "Blocking Send");
        check("MPI_Send_init", "Others");
        check("MPI_Isend", "Immediate Send");
        check("MPI_Sendrecv_replace", "Send Receive");
        check("MPI_Recv", "Waiting a message");
        check("MPI_Waitall", "Wait/WaitAll");
        check("MPI_Barrier", "Synchronization");
        check("MPI_Allreduce", "Group Communication");
        check("MPI_File_write_at_all", "I/O");
        check("MPI_Comm_rank", "Others");
    }
}
