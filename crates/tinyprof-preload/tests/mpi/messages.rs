//! Level `messages`: who waits for whom is what the programs make it, and no companion belongs to
//! another message.

use std::ffi::OsString;
use std::path::Path;

use tempfile::TempDir;
use tinyprof_format::model::{Edge, EdgeKey, EdgeKind, MessageKind, Profile};

use crate::support::{compile, compile_with, library, mpicc, mpiexec, profiled, profiled_with};
use crate::why::{ATTEMPTS, CROWDED_PART, crowding};

/// The extra time of those that the others wait for, and how often.
const EXTRA_US: u64 = 20_000;
const REPETITIONS: u64 = 5;
/// Half of it all: a rank that waits may come late, where it has no processor.
const LEAST_NS: u64 = REPETITIONS * EXTRA_US * 1_000 / 2;

/// How companions get from one rank to another.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    /// In memory that the ranks share.
    Lanes,
    /// By messages of MPI, as the system lets no memory be shared.
    Mail,
    /// By messages between two hosts, the even ranks and the odd ones, whose clocks differ by
    /// 1,000 s.
    Hosts,
}

impl Way {
    const ALL: [Self; 3] = [Self::Lanes, Self::Mail, Self::Hosts];

    /// Returns the libraries to be loaded before a program, each behind a colon.
    pub(crate) fn preload(self, directory: &TempDir) -> String {
        let profiler = library().display().to_string();
        let behind = match self {
            Self::Lanes => return profiler,
            Self::Mail => "apart.c",
            Self::Hosts => "hosts.c",
        };
        let built = directory.path().join("libbehind.so");
        compile_with(&mpicc(), &["-shared", "-fPIC", "-ldl"], behind, &built);
        format!("{profiler}:{}", built.display())
    }
}

/// Runs a program with companions that go this way.
pub(crate) fn run(
    way: Way,
    program: &Path,
    arguments: &[&str],
    ranks: usize,
    directory: &TempDir,
) -> Profile {
    run_with(Vec::new(), way, program, arguments, ranks, directory)
}

/// Runs a program with further variables.
pub(crate) fn run_with(
    mut variables: Vec<(&str, OsString)>,
    way: Way,
    program: &Path,
    arguments: &[&str],
    ranks: usize,
    directory: &TempDir,
) -> Profile {
    let arguments: Vec<&Path> = arguments.iter().map(Path::new).collect();
    variables.push(("LD_PRELOAD", way.preload(directory).into()));
    if matches!(way, Way::Hosts) {
        variables.push(("TINYPROF_WORLD", "all".into()));
    }
    profiled_with(&variables, program, &arguments, ranks, directory.path(), "messages")
}

/// Returns all edges with the callpath and the rank that they lead to.
pub(crate) fn edges(profile: &Profile) -> impl Iterator<Item = (&str, usize, &EdgeKey, &Edge)> {
    profile.callpaths.iter().flat_map(|(index, callpath)| {
        let ranks = profile.values[index.row()].iter().enumerate();
        ranks.flat_map(move |(rank, values)| {
            let name = callpath.region.name.as_str();
            values.edges.iter().map(move |(key, edge)| (name, rank, key, edge))
        })
    })
}

/// Returns the waiting of a rank in a function, by the rank that it waits for, in ns.
fn waiting_ns(profile: &Profile, kind: EdgeKind, rank: usize, for_rank: usize) -> u64 {
    let offset =
        i32::try_from(for_rank).expect("few ranks") - i32::try_from(rank).expect("few ranks");
    let of = edges(profile)
        .filter(|(_, at, key, _)| *at == rank && key.kind == kind && key.partner == offset);
    of.map(|(.., edge)| edge.sum_ns).sum()
}

/// Runs a pattern of `waiting.c`.
fn waited(way: Way, pattern: &str, ranks: usize) -> Profile {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let program = compile("waiting.c", directory.path());
    let (repetitions, extra_us) = (REPETITIONS.to_string(), EXTRA_US.to_string());
    run(way, &program, &[pattern, &repetitions, &extra_us], ranks, &directory)
}

/// Runs a pattern on four ranks, with either way of companions, and checks that each of `waiting`
/// waits for its partner, and nobody for anyone else: by edges of this kind, which the patterns
/// have besides barriers. A rank that had no processor comes late itself, and waits less.
fn check(pattern: &str, kind: EdgeKind, waiting: &[(usize, usize)]) {
    for way in Way::ALL {
        for attempt in 1.. {
            let profile = waited(way, pattern, 4);
            let Some(wrong) = wrong(&profile, kind, waiting) else { break };
            let of_time = crowding(&profile);
            let says = format!("{pattern}, {way:?}: {wrong}; no processor {of_time:.3}");
            assert!(of_time >= CROWDED_PART && attempt < ATTEMPTS, "{says}");
        }
    }
}

/// Returns the first wait that is too short or too long.
fn wrong(profile: &Profile, kind: EdgeKind, waiting: &[(usize, usize)]) -> Option<String> {
    let pairs = (0..4).flat_map(|rank| (0..4).map(move |other| (rank, other)));
    pairs.into_iter().find_map(|(rank, for_rank)| {
        let ns = waiting_ns(profile, kind, rank, for_rank);
        let is_wrong = match waiting.contains(&(rank, for_rank)) {
            true => ns < LEAST_NS,
            false => kind != EdgeKind::Barrier && ns >= LEAST_NS,
        };
        is_wrong.then(|| format!("{rank} for {for_rank}: {ns} ns"))
    })
}

#[test]
fn receives_wait_for_late_senders() {
    check("late_sender", EdgeKind::Message, &[(1, 0), (3, 2)]);
    check("late_sender_wait", EdgeKind::Message, &[(1, 0), (3, 2)]);
}

#[test]
fn all_wait_for_the_last_at_a_barrier_and_where_all_need_all() {
    check("barrier", EdgeKind::Barrier, &[(0, 3), (1, 3), (2, 3)]);
    check("alltoall", EdgeKind::AllToAll, &[(0, 3), (1, 3), (2, 3)]);
}

#[test]
fn all_wait_for_a_late_root() {
    check("bcast", EdgeKind::FromRoot, &[(1, 0), (2, 0), (3, 0)]);
    check("scatter", EdgeKind::FromRoot, &[(1, 0), (2, 0), (3, 0)]);
    check("scan", EdgeKind::Scan, &[(1, 0), (2, 0), (3, 0)]);
}

#[test]
fn a_root_waits_for_the_last_rank() {
    for (pattern, way) in [("reduce", Way::Lanes), ("reduce", Way::Mail), ("gather", Way::Lanes)] {
        let profile = waited(way, pattern, 4);
        let of_root: u64 = (1..4).map(|last| waiting_ns(&profile, EdgeKind::ToRoot, 0, last)).sum();
        assert!(of_root >= LEAST_NS, "{pattern}: {of_root} ns");
        let others =
            edges(&profile).filter(|(_, rank, key, _)| *rank > 0 && key.kind == EdgeKind::ToRoot);
        assert_eq!(others.count(), 0, "{pattern}: only the root waits");
    }
}

#[test]
fn senders_are_blocked_by_late_receivers() {
    for pattern in ["late_receiver", "late_receiver_large"] {
        let profile = waited(Way::Lanes, pattern, 2);
        let of = |rank, kind| {
            edges(&profile).find(move |(_, at, key, _)| *at == rank && key.kind == kind)
        };
        let (name, ..) = of(0, EdgeKind::Receiver).expect("answers");
        assert!(name.contains("end at"), "{name}");
        assert!(waiting_ns(&profile, EdgeKind::Receiver, 0, 1) >= LEAST_NS, "{pattern}");
        let (name, .., edge) = of(1, EdgeKind::Message).expect("messages");
        assert!(name.starts_with("MPI_Recv"), "{name}");
        assert!(edge.sum_ns < LEAST_NS, "{pattern}: {edge:?}");
    }
}

#[test]
fn a_sender_learns_by_how_much_its_receiver_was_delayed() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let program = compile("waiting.c", directory.path());
    // Once, as the next barrier would tell it, too.
    let profile = run(Way::Lanes, &program, &["measured_receiver", "1", "0"], 2, &directory);
    let [sender, receiver] = [0, 1].map(|rank| profile.ranks[rank].clock);
    assert!(sender.own_intrusion_ns < receiver.own_intrusion_ns / 4, "{sender:?} {receiver:?}");
    assert!(sender.intrusion_ns > receiver.intrusion_ns / 2, "{sender:?} {receiver:?}");
}

#[test]
fn waiting_in_the_wrong_order_is_told() {
    let profile = waited(Way::Lanes, "wrong_order", 2);
    let messages: Vec<Edge> = edges(&profile)
        .filter(|(_, _, key, _)| key.kind == EdgeKind::Message)
        .map(|(.., edge)| *edge)
        .collect();
    let due_ns: u64 = messages.iter().map(|edge| edge.wrong_order_ns).sum();
    assert!(due_ns >= LEAST_NS, "{messages:?}");
    assert!(messages.iter().any(|edge| edge.wrong_order_ns == 0), "{messages:?}");
}

/// Checks that each edge from a call of `matching.c` has messages of that call's size: 8 bytes in
/// `send_0`, 16 in `send_1`, and so on. Returns how many messages have a known sender, and how
/// many were received.
fn check_matching(profile: &Profile) -> (u64, u64) {
    let (mut known, mut all) = (0, 0);
    for (name, _, key, edge) in edges(profile) {
        if !matches!(key.kind, EdgeKind::Message | EdgeKind::MessageToAny) {
            continue;
        }
        all += edge.count;
        if key.from == EdgeKey::UNKNOWN {
            continue;
        }
        known += edge.count;
        let sender = profile.callpaths.iter().find(|(_, callpath)| callpath.id == key.from);
        let sender = &sender.expect("the sender's callpath is in the profile").1.region.name;
        let tag = (0..4).find(|tag| sender.contains(&format!("send_{tag}")));
        let size = 8 * (1 + tag.unwrap_or_else(|| panic!("{sender} to {name}")));
        assert_eq!(edge.bytes, edge.count * size, "{sender} to {name}: {edge:?}");
    }
    (known, all)
}

#[test]
fn no_companion_belongs_to_another_message() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let program = compile("matching.c", directory.path());
    let windows = 300;
    for way in Way::ALL {
        let profile = run(way, &program, &[&windows.to_string()], 3, &directory);
        let (known, all) = check_matching(&profile);
        assert_eq!(all, windows * 3 * 2 * 4 * 2);
        let lost = profile.ranks.iter().map(|rank| rank.clock);
        let lost: u64 = lost.map(|clock| clock.companions_missing + clock.companions_unclear).sum();
        assert_eq!(all - known, lost, "what is not known is counted");
        assert!(lost * 100 < all, "{way:?}: {lost} of {all}");
    }
}

#[test]
fn a_message_too_long_for_its_buffer_does_not_shift_later_ones() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let program = compile("truncated.c", directory.path());
    for arguments in [&[][..], &["requests"]] {
        let profile = run(Way::Lanes, &program, arguments, 2, &directory);
        let received = edges(&profile).filter(|(_, _, key, _)| key.kind == EdgeKind::Message);
        let mut known = 0;
        for (name, _, key, edge) in received.filter(|(_, _, key, _)| key.from != EdgeKey::UNKNOWN) {
            let sender = profile.callpaths.iter().find(|(_, callpath)| callpath.id == key.from);
            let sender = &sender.expect("the sender's callpath is in the profile").1.region.name;
            let bytes = if sender.contains("of_16_bytes") { 16 } else { 32 };
            assert_eq!(edge.bytes, bytes * edge.count, "{sender} to {name}: {edge:?}");
            known += edge.count;
        }
        // Of a message that is too long, Open MPI tells the size, and MPICH how much was received.
        let clock = profile.ranks[0].clock;
        assert!([50, 100].contains(&known), "{arguments:?}: {known}");
        assert_eq!(known + clock.companions_unclear, 100, "{arguments:?}");
        assert_eq!(clock.companions_missing, 0, "{arguments:?}");
    }
}

#[test]
fn a_message_that_mpi_refuses_to_send_does_not_shift_later_ones() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let program = compile("refused.c", directory.path());
    let profile = run(Way::Lanes, &program, &[], 2, &directory);
    let received = edges(&profile).filter(|(_, _, key, _)| key.kind == EdgeKind::Message);
    let mut known = 0;
    for (name, _, key, edge) in received {
        let sender = profile.callpaths.iter().find(|(_, callpath)| callpath.id == key.from);
        let sender = &sender.expect("the sender's callpath is in the profile").1.region.name;
        let bytes = match () {
            () if sender.contains("at ask (") => 8,
            () if sender.contains("of_16_bytes") => 16,
            () => 32,
        };
        let is_refused = ["at refused (", "at answer ("].iter().any(|name| sender.contains(name));
        assert!(!is_refused, "{sender} to {name}: {edge:?}");
        assert_eq!(edge.bytes, bytes * edge.count, "{sender} to {name}: {edge:?}");
        known += edge.count;
    }
    for clock in profile.ranks.iter().map(|rank| rank.clock) {
        let lost = (clock.companions_missing, clock.companions_unclear, clock.companions_left);
        assert_eq!((known, lost), (150, (0, 0, 0)));
    }
}

#[test]
fn messages_of_threads_with_tags_of_their_own_are_all_known() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let program = compile("matching.c", directory.path());
    let profile = run(Way::Lanes, &program, &["50", "4"], 2, &directory);
    check_matching(&profile);
    let lost = profile.ranks.iter().map(|rank| rank.clock);
    let lost: u64 = lost.map(|clock| clock.companions_missing + clock.companions_unclear).sum();
    let received = profile.values.iter().flatten().flat_map(|values| &values.messages);
    let received = received.filter(|(key, _)| key.kind == MessageKind::MessageIn);
    let received: u64 = received.map(|(_, traffic)| traffic.count).sum();
    assert_eq!((received, lost), (50 * 2 * 4, 0));
}

#[test]
fn flow_edges_are_as_many_as_calls() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let program = compile("waiting.c", directory.path());
    let profile = run(Way::Lanes, &program, &["barrier", "7", "10"], 2, &directory);
    for rank in 0..2 {
        let flows = edges(&profile)
            .filter(|(_, at, key, _)| *at == rank && key.kind == EdgeKind::Flow)
            .map(|(.., edge)| edge.count);
        let calls = profile.callpaths.iter().filter(|(_, callpath)| {
            let name = &callpath.region.name;
            name.starts_with("MPI_") && !name.starts_with("MPI_Init")
        });
        let calls = calls.map(|(index, _)| profile.values[index.row()][rank].visits());
        assert_eq!(flows.sum::<u64>(), calls.sum::<u64>());
    }
}

#[test]
fn messages_that_wait_take_no_more_memory_than_at_level_calls() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let program = compile("unreceived.c", directory.path());
    let peak = |profile: &Profile| {
        profile.ranks.iter().map(|rank| rank.peak_memory_bytes).max().expect("two ranks")
    };
    let at_calls = peak(&profiled(&program, &[], 2, directory.path(), "calls"));
    for way in Way::ALL {
        let at_messages = peak(&run(way, &program, &[], 2, &directory));
        assert!(at_messages < at_calls + (64 << 20), "{way:?}: {at_messages}, {at_calls} before");
    }
}

#[test]
fn the_clocks_of_two_hosts_are_compared() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let program = compile("waiting.c", directory.path());
    for (way, is_known) in [(Way::Hosts, false), (Way::Lanes, true)] {
        let profile = run(way, &program, &["barrier", "7", "10"], 2, &directory);
        let most_ns = profile.ranks.iter().map(|rank| rank.clock.offset_uncertainty_ns).max();
        let most_ns = most_ns.expect("two ranks");
        assert_eq!(most_ns == 0, is_known, "{way:?}");
        assert!(most_ns < 5_000_000, "{way:?}: {most_ns} ns");
    }
}

/// The clock of the odd ranks loses 30 ms a second, and rank 1 comes 40 ms late each time: without
/// a correction half of the waiting would be missing. How long it was, the ranks have stamped
/// themselves, so that it does not matter who lost its processor meanwhile.
#[test]
fn clocks_that_drift_apart_are_corrected_while_the_program_runs() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let program = compile("waiting.c", directory.path());
    let uptime = std::fs::read_to_string("/proc/uptime").expect("the system tells it");
    let since = uptime.split('.').next().expect("seconds").to_owned();
    let stamps = directory.path().as_os_str().to_owned();
    let variables = vec![
        ("HOSTS_DRIFT_PPM", "-30000".into()),
        ("HOSTS_SINCE_S", since.into()),
        ("STAMPS", stamps),
    ];
    let arguments = ["barrier", "40", "40000"];
    let profile = run_with(variables, Way::Hosts, &program, &arguments, 2, &directory);
    let said_ns = waiting_ns(&profile, EdgeKind::Barrier, 0, 1);
    let spans = [0, 1].map(|rank| stamped(directory.path(), rank));
    assert_eq!(spans.each_ref().map(Vec::len), [80; 2]);
    let waited = |((entered, left), (last, _)): (&(u64, u64), &(u64, u64))| {
        (*last).min(*left).saturating_sub(*entered)
    };
    let waited_ns: u64 = spans[0].iter().zip(&spans[1]).map(waited).sum();
    let clock = profile.ranks[1].clock;
    let unsure_ns = waited_ns / 10 + spans[0].len() as u64 * clock.offset_uncertainty_ns;
    let apart_ns = said_ns.abs_diff(waited_ns);
    assert!(apart_ns < unsure_ns, "{said_ns}, stamped {waited_ns} ns, {clock:?}");
    let run_ns = spans[0].last().map_or(0, |(_, left)| left - spans[0][0].0);
    assert!(clock.offset_uncertainty_ns < run_ns * 3 / 100 / 2, "{clock:?}, {run_ns} ns");
    assert!(clock.uncertainty_ns >= clock.offset_uncertainty_ns, "{clock:?}");
}

/// Returns when a rank of `waiting.c` entered and left each barrier.
fn stamped(directory: &Path, rank: u32) -> Vec<(u64, u64)> {
    let text = std::fs::read_to_string(directory.join(format!("stamps-{rank}")));
    let text = text.expect("each rank has written its stamps");
    let number = |word: &str| word.parse().expect("a time in ns");
    let span =
        |line: &str| line.split_once(' ').map(|(enter, leave)| (number(enter), number(leave)));
    text.lines().map(|line| span(line).expect("two times")).collect()
}

#[test]
fn only_companions_by_mail_are_sent_beside_the_program() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let program = compile("matching.c", directory.path());
    let counter = directory.path().join("libsent.so");
    compile_with(&mpicc(), &["-shared", "-fPIC", "-ldl"], "sent.c", &counter);
    let levels = [
        ("off", Way::Lanes),
        ("calls", Way::Lanes),
        ("messages", Way::Lanes),
        ("messages", Way::Mail),
    ];
    let counted = levels.map(|(level, way)| {
        let mut command = mpiexec(2);
        let preload = format!("{}:{}", way.preload(&directory), counter.display());
        command.env("TINYPROF_MPI", level).env("LD_PRELOAD", preload);
        command.env("TINYPROF_OUT", directory.path().join("p")).env("SENT", directory.path());
        let output = command.arg(&program).arg("10").output().expect("mpiexec starts");
        assert!(output.status.success(), "{output:?}");
        let [sends, collectives] = [0, 1].map(|number| {
            let of = |rank| {
                let name = directory.path().join(format!("sent-{rank}"));
                let text = std::fs::read_to_string(name).expect("each rank has written it");
                let mut numbers = text.split_whitespace();
                numbers.nth(number).and_then(|word| word.parse::<u64>().ok()).expect("two numbers")
            };
            of(0) + of(1)
        });
        (sends, collectives)
    });
    let [off, calls, lanes, mail] = counted;
    // Of the flush at the end, a rank sends its data, and of the program 80 messages.
    for (sends, _) in [off, calls, lanes] {
        assert!(sends - 160 < 20, "{counted:?}");
    }
    assert!(mail.0 >= 2 * 160, "{counted:?}: a companion for each message");
    assert_eq!(calls.1, off.1, "as many collective operations");
    assert!(lanes.1 - calls.1 < 20, "{counted:?}: those that share memory, and the twin");
}
