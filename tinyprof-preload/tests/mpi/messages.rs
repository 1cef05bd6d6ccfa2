//! Level `messages`: who waits for whom is what the programs make it, and no companion belongs to
//! another message.

use std::path::Path;

use tempfile::TempDir;
use tinyprof_format::model::{Edge, EdgeKey, EdgeKind, MessageKind, Profile};

use crate::support::{compile, compile_with, library, mpicc, mpiexec, profiled};

/// The extra time of those that the others wait for, and how often.
const EXTRA_US: u64 = 20_000;
const REPETITIONS: u64 = 5;
/// Half of it all: a rank that waits may come late, where it has no processor.
const LEAST_NS: u64 = REPETITIONS * EXTRA_US * 1_000 / 2;

fn run(program: &Path, arguments: &[&str], ranks: usize, directory: &TempDir) -> Profile {
    let arguments: Vec<&Path> = arguments.iter().map(Path::new).collect();
    profiled(program, &arguments, ranks, directory.path(), "messages")
}

/// Returns all edges with the callpath and the rank that they lead to.
fn edges(profile: &Profile) -> impl Iterator<Item = (&str, usize, &EdgeKey, &Edge)> {
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
fn waited(pattern: &str, ranks: usize) -> Profile {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let program = compile("waiting.c", directory.path());
    let (repetitions, extra_us) = (REPETITIONS.to_string(), EXTRA_US.to_string());
    run(&program, &[pattern, &repetitions, &extra_us], ranks, &directory)
}

/// Runs a pattern on four ranks, and checks that each of `waiting` waits for its partner, and
/// nobody for anyone else: by edges of this kind, which the patterns have besides barriers.
fn check(pattern: &str, kind: EdgeKind, waiting: &[(usize, usize)]) {
    let profile = waited(pattern, 4);
    for rank in 0..4 {
        for for_rank in 0..4 {
            let ns = waiting_ns(&profile, kind, rank, for_rank);
            if waiting.contains(&(rank, for_rank)) {
                assert!(ns >= LEAST_NS, "{pattern}: {rank} for {for_rank}: {ns} ns");
            } else if kind != EdgeKind::Barrier {
                assert!(ns < LEAST_NS, "{pattern}: {rank} for {for_rank}: {ns} ns");
            }
        }
    }
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
    for pattern in ["reduce", "gather"] {
        let profile = waited(pattern, 4);
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
        let profile = waited(pattern, 2);
        let (name, _, _, edge) = edges(&profile)
            .find(|(_, rank, key, _)| *rank == 1 && key.kind == EdgeKind::Message)
            .expect("messages");
        assert!(name.starts_with("MPI_Recv"), "{name}");
        assert!(edge.late_receiver_ns >= LEAST_NS, "{pattern}: {edge:?}");
        assert!(edge.sum_ns < LEAST_NS, "{pattern}: {edge:?}");
    }
}

#[test]
fn waiting_in_the_wrong_order_is_told() {
    let profile = waited("wrong_order", 2);
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
    let profile = run(&program, &[&windows.to_string()], 3, &directory);
    let (known, all) = check_matching(&profile);
    assert_eq!(all, windows * 3 * 2 * 4 * 2);
    let clocks = profile.ranks.iter().map(|rank| rank.clock);
    let lost: u64 = clocks.map(|clock| clock.companions_missing + clock.companions_unclear).sum();
    assert_eq!(all - known, lost, "what is not known is counted");
    assert!(lost * 100 < all, "{lost} of {all}");
}

#[test]
fn messages_of_several_threads_are_unclear_and_never_wrong() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let program = compile("matching.c", directory.path());
    let profile = run(&program, &["50", "4"], 2, &directory);
    check_matching(&profile);
    let unclear: u64 = profile.ranks.iter().map(|rank| rank.clock.companions_unclear).sum();
    let received = profile.values.iter().flatten().flat_map(|values| &values.messages);
    let received = received.filter(|(key, _)| key.kind == MessageKind::MessageIn);
    let received: u64 = received.map(|(_, traffic)| traffic.count).sum();
    assert_eq!(received, 50 * 2 * 4);
    assert!(unclear > received / 2, "{unclear} of {received}");
}

#[test]
fn flow_edges_are_as_many_as_calls() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let program = compile("waiting.c", directory.path());
    let profile = run(&program, &["barrier", "7", "10"], 2, &directory);
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
    let peaks = ["calls", "messages"].map(|level| {
        let profile = profiled(&program, &[], 2, directory.path(), level);
        profile.ranks.iter().map(|rank| rank.peak_memory_bytes).max().expect("two ranks")
    });
    assert!(peaks[1] < peaks[0] + (64 << 20), "{peaks:?}");
}

#[test]
fn measuring_that_changes_the_order_of_messages_is_noticed() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let program = compile("race.c", directory.path());
    let inversions = ["skewed", "even"].map(|kind| {
        let profile = run(&program, &[kind], 3, &directory);
        let any = edges(&profile).filter(|(_, _, key, _)| key.kind == EdgeKind::MessageToAny);
        assert_eq!(any.map(|(.., edge)| edge.count).sum::<u64>(), 2 * 30);
        profile.ranks[0].clock.inversions
    });
    assert!(inversions[0] > 0, "{inversions:?}");
    assert_eq!(inversions[1], 0, "{inversions:?}");
}

#[test]
fn levels_off_and_calls_send_nothing_beside_the_program() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let program = compile("matching.c", directory.path());
    let counter = directory.path().join("libsent.so");
    compile_with(&mpicc(), &["-shared", "-fPIC", "-ldl"], "sent.c", &counter);
    let [off, calls, messages] = ["off", "calls", "messages"].map(|level| {
        let mut command = mpiexec(2);
        let preload = format!("{}:{}", library().display(), counter.display());
        command.env("TINYPROF_MPI", level).env("LD_PRELOAD", preload);
        command.env("TINYPROF_OUT", directory.path().join("p")).env("SENT", directory.path());
        let output = command.arg(&program).arg("10").output().expect("mpiexec starts");
        assert!(output.status.success(), "{output:?}");
        let counted = |rank| {
            let name = directory.path().join(format!("sent-{rank}"));
            let text = std::fs::read_to_string(name).expect("each rank has written it");
            let numbers = text.split_whitespace().map(|word| word.parse().expect("a number"));
            numbers.collect::<Vec<u64>>()
        };
        [counted(0), counted(1)]
    });
    // Of the flush at the end, a rank sends its data, and of the program 80 messages.
    let sent = |level: &[Vec<u64>; 2]| level[0][0] + level[1][0];
    assert!(sent(&calls) - 160 < 20, "{off:?} {calls:?}");
    assert!(sent(&off) - 160 < 20, "{off:?} {calls:?}");
    assert_eq!(calls[0][1], off[0][1], "as many collective operations");
    assert_eq!(calls[1][1], off[1][1], "as many collective operations");
    assert!(sent(&messages) >= 2 * 160, "{messages:?}: a companion for each message");
}
