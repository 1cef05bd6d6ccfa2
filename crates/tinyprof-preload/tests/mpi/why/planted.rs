//! The faults that are planted, and what is right to say of each.

/// A fault, and what the first finding has to say of it.
pub(super) struct Fault {
    pub(super) name: &'static str,
    /// The number of ranks.
    pub(super) size: usize,
    /// The steps of the program.
    pub(super) steps: &'static str,
    /// The kinds that are right.
    pub(super) kinds: &'static [&'static str],
    /// The ranks that are the cause, at level `messages`.
    pub(super) ranks: &'static str,
    /// The same at level `calls`, where that can be known.
    pub(super) ranks_of_calls: Option<&'static str>,
    /// True if ranks need processors: they do not sleep in place of computing.
    pub(super) moves_data: bool,
}

const fn fault(name: &'static str, kinds: &'static [&'static str], ranks: &'static str) -> Fault {
    let (size, steps, ranks_of_calls) = (4, "10", Some(ranks));
    Fault { name, size, steps, kinds, ranks, ranks_of_calls, moves_data: false }
}

/// Rank 1 of three has far more data than the others, which sums of times do not tell.
const fn moved(name: &'static str, kinds: &'static [&'static str]) -> Fault {
    Fault { size: 3, steps: "20", moves_data: true, ..fault(name, kinds, "1").of_messages() }
}

impl Fault {
    /// Without level `messages`, this fault cannot be known.
    const fn of_messages(self) -> Self {
        Self { ranks_of_calls: None, ..self }
    }
}

pub(super) const FAULTS: &[Fault] = &[
    fault("late_sender", &["late_sender"], "3"),
    fault("two_callpaths", &["late_to_collective"], "2"),
    fault("chain", &["late_sender"], "0"),
    fault("slow_rank", &["slow_rank"], "1"),
    fault("late_to_barrier", &["late_to_collective"], "2"),
    fault("wavefront", &["serialisation"], "*").of_messages(),
    fault("saturated", &["master_saturated"], "0"),
    fault("starving", &["master_starving"], "1-3").of_messages(),
    fault("late_root", &["late_root"], "0"),
    fault("early_root", &["late_to_collective"], "2"),
    fault("late_receiver", &["late_receiver"], "1").of_messages(),
    fault("absent_receiver", &["late_receiver"], "1").of_messages(),
    fault("serial_io", &["serial_io"], "0"),
    fault("posix_io", &["late_to_collective"], "0"),
    Fault { steps: "2", ..fault("small_messages", &["small_messages"], "*") },
    fault("no_overlap", &["no_overlap", "bandwidth"], "*").of_messages(),
    // What makes them test comes first, where it is known.
    fault("polling", &["late_sender", "polling"], "3"),
    fault("wrong_order", &["wrong_order", "late_to_collective"], "0").of_messages(),
    fault("redundant_barrier", &["redundant_barrier"], "*").of_messages(),
    fault("turns", &["turns_to_be_late"], "*").of_messages(),
    fault("growth", &["late_to_collective"], "2"),
    fault("noise", &["late_to_collective"], "1"),
    fault("first_iteration", &["one_slow_visit"], "*").of_messages(),
    fault("half", &["late_to_collective"], "2-3"),
    fault("more_visits", &["late_to_collective"], "3"),
    fault("locks", &["lock_contention"], "*").of_messages(),
    fault("shift", &["late_sender", "late_receiver"], "2"),
    fault("at_the_end", &["late_to_collective"], "3"),
    fault("both_late", &["late_sender", "late_to_collective"], "1-2"),
    fault("last_result", &["late_sender"], "3"),
    fault("one_activity", &["late_to_collective"], "3"),
    fault("fortran_reduced", &["late_to_collective"], "3"),
    fault("fortran_root", &["late_root"], "0"),
    fault("python_reduced", &["late_to_collective"], "1"),
    fault("python_sender", &["late_sender"], "2"),
    fault("rust_growth", &["late_to_collective"], "1"),
    fault("rust_sender", &["late_sender"], "0"),
    fault("rust_threads", &["late_to_collective"], "1"),
    fault("rust_mutex", &["late_to_collective"], "2"),
    fault("rust_rayon", &["late_to_collective"], "1"),
    fault("slow_host", &["late_to_collective"], "1,3"),
    Fault { steps: "40", ..fault("oversubscribed", &["oversubscription"], "*") },
    Fault { steps: "20", ..fault("memory_bound", &["late_to_collective"], "2") },
    fault("busy_master", &["master_saturated"], "0"),
    fault("busy_receiver", &["master_saturated"], "0"),
    fault("shared_place", &["late_sender"], "1,3"),
    fault("persistent", &["late_sender", "late_receiver"], "2"),
    fault("persistent_single", &["late_sender", "late_receiver"], "2"),
    fault("behind_receiver", &["late_sender"], "2").of_messages(),
    Fault { size: 6, ..fault("spread", &["many_causes", "turns_to_be_late"], "*").of_messages() },
    Fault { size: 6, ..fault("sides", &["late_receiver", "late_sender"], "3").of_messages() },
    fault("token", &["late_sender"], "2").of_messages(),
    fault("tree", &["late_sender"], "3"),
    fault("rows", &["late_to_collective"], "1"),
    fault("begun_late", &["late_to_collective"], "1"),
    fault("probing", &["late_sender"], "2"),
    fault("two_ranks", &["late_to_collective"], "0").of_messages(),
    fault("packer", &["late_sender"], "0"),
    fault("dumps", &["late_sender"], "1"),
    fault("serial_root", &["late_root"], "0"),
    fault("stages", &["late_sender", "late_receiver"], "1"),
    fault("behind_waits", &["late_receiver", "late_sender"], "2"),
    fault("tested", &["late_sender", "polling"], "2").of_messages(),
    fault("handed_out", &["turns_to_be_late"], "*").of_messages(),
    Fault { steps: "20", ..fault("tenth", &["late_to_collective"], "3") },
    fault("scanned", &["late_to_collective"], "1"),
    fault("halfway", &["late_to_collective", "turns_to_be_late"], "1,3"),
    fault("two_callers", &["late_to_collective"], "2"),
    fault("pieces", &["late_to_collective", "late_sender"], "2"),
    fault("napping", &["late_sender"], "2").of_messages(),
    fault("noticed_late", &["late_to_collective"], "1"),
    moved("much_to_all", &["bandwidth"]),
    moved("much_for_root", &["bandwidth"]),
    moved("much_from_root", &["bandwidth"]),
    moved("much_sent", &["no_overlap", "bandwidth"]),
    fault("read_first", &["late_to_collective"], "2"),
];

/// The faults that are in `faults.c`.
pub(super) const FURTHER: &[&str] = &[
    "busy_master",
    "busy_receiver",
    "shared_place",
    "persistent",
    "persistent_single",
    "behind_receiver",
    "spread",
    "sides",
    "token",
    "tree",
    "rows",
    "begun_late",
    "probing",
    "two_ranks",
    "packer",
    "dumps",
    "serial_root",
    "stages",
    "behind_waits",
    "tested",
    "handed_out",
    "tenth",
    "scanned",
    "halves",
    "halfway",
    "two_callers",
    "pieces",
    "napping",
    "noticed_late",
    "checkpoints",
];

/// The faults that are in `moved.c`.
pub(super) const MOVED: &[&str] =
    &["much_to_all", "much_for_root", "much_from_root", "much_sent", "read_first"];

pub(super) const HEALTHY: &[&str] = &[
    "ring",
    "reduced",
    "alone",
    "stencil",
    "broadcast",
    "all_to_all",
    "exchanged",
    "gathered",
    "rare",
    "overlapped",
    "healthy_hosts",
    "fortran_healthy",
    "halves",
    "checkpoints",
    "python_healthy",
    "rust_healthy",
];

/// Words of advice, and the kinds of faults for which they are no contradiction.
pub(super) const ADVICE: &[(&str, &[&str])] = &[
    ("larger messages", &["small_messages"]),
    ("Combine", &["small_messages"]),
    ("MPI_Waitany", &["wrong_order", "polling"]),
    ("Leave", &["redundant_barrier"]),
    ("Compute what does not need", &["no_overlap", "bandwidth"]),
    ("let it travel", &["no_overlap", "bandwidth"]),
    ("in place of testing", &["polling"]),
    ("all ranks read or write", &["serial_io"]),
    ("hand out larger pieces", &["master_saturated", "late_sender"]),
    ("MPI_Ibcast", &["late_root"]),
];
