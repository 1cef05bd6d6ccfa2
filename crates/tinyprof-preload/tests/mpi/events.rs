//! Single messages among events: both ends of each are there, and belong together.

use std::collections::BTreeMap;
use std::path::Path;

use tinyprof_format::model::{CallpathId, MessageEvent, Profile, RankEvents};

use crate::support::{compile, library, profiled_with};
use crate::truth::payloads::{Counts, RANKS, SITES, bytes_of, received};

/// Identifies a message: sender, receiver, communicator, tag and number.
type Key = (usize, usize, u32, i32, u64);

/// The ends of a message: the time on the clock of the host, and the size.
#[derive(Debug, Default)]
struct Ends {
    sent: Vec<(u64, u64)>,
    received: Vec<(u64, u64)>,
}

fn profiled(ranks: usize, program: &Path, arguments: &[&Path], directory: &Path) -> Profile {
    let variables = [
        ("LD_PRELOAD", library().into_os_string()),
        ("TINYPROF_EVENTS", "window".into()),
        ("TINYPROF_EVENTS_MEMORY", "32MiB".into()),
    ];
    profiled_with(&variables, program, arguments, ranks, directory, "messages")
}

fn each_rank(profile: &Profile) -> impl Iterator<Item = (usize, &RankEvents)> {
    let ranks = profile.ranks.iter().enumerate();
    ranks.filter_map(|(rank, facts)| Some((rank, facts.events.as_deref()?)))
}

/// Returns the ends of all messages, each of which must be within a visit of its call.
fn ends(profile: &Profile) -> BTreeMap<Key, Ends> {
    let mut ends: BTreeMap<Key, Ends> = BTreeMap::new();
    for (rank, events) in each_rank(profile) {
        for thread in &events.threads {
            assert_eq!((thread.lost(), thread.messages_lost()), (0, 0), "memory suffices");
            let mut visits: BTreeMap<CallpathId, Vec<(u64, u64)>> = BTreeMap::new();
            for visit in &thread.visits {
                visits.entry(visit.callpath).or_default().push((visit.begin_ns, visit.end_ns()));
            }
            for MessageEvent { callpath, at_ns, end } in &thread.messages {
                let of_call = &visits[callpath];
                let at = of_call.partition_point(|(begin_ns, _)| begin_ns <= at_ns);
                assert!(at > 0 && *at_ns <= of_call[at - 1].1, "rank {rank} at {at_ns}: {end:?}");
                let partner = isize::try_from(end.partner).expect("few ranks");
                let partner = rank.checked_add_signed(partner).expect("a rank");
                let (from, to) = if end.is_receive { (partner, rank) } else { (rank, partner) };
                let key = (from, to, end.communicator, end.tag, end.number);
                let Ends { sent, received } = ends.entry(key).or_default();
                let to = if end.is_receive { received } else { sent };
                to.push((events.origin_ns + at_ns, end.bytes));
            }
        }
    }
    ends
}

#[test]
fn both_ends_of_each_message_are_a_pair() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let program = compile("payload.c", directory.path());
    let arguments = [Path::new("1"), Path::new("6"), directory.path()];
    let profile = profiled(RANKS, &program, &arguments, directory.path());
    let mut found = Counts::new();
    let mut unknown = 0;
    for (key, Ends { sent, received }) in ends(&profile) {
        let (from, to, ..) = key;
        assert!(sent.len() == 1 && received.len() <= 1, "{key:?}: {sent:?} {received:?}");
        let [(sent_ns, bytes)] = sent[..] else { unreachable!("just checked") };
        let Some(&(received_ns, received_bytes)) = received.first() else {
            unknown += 1;
            continue;
        };
        assert!(sent_ns <= received_ns, "{key:?}: {sent_ns} {received_ns}");
        assert!(bytes == received_bytes, "{key:?}: {bytes} {received_bytes}");
        let site = (0..SITES).find(|site| bytes_of(*site) == bytes).expect("a size of the program");
        *found.entry((to, from, site)).or_default() += 1;
    }
    let truth = received(directory.path());
    let all: u64 = truth.values().sum();
    let clocks = profile.ranks.iter().map(|rank| rank.clock);
    let unclear: u64 = clocks.map(|c| c.companions_unclear + c.companions_missing).sum();
    assert_eq!(found.values().sum::<u64>() + unknown, all, "each message has its ends");
    assert_eq!(unknown, unclear, "an end without the other one is counted");
    for (key, count) in &found {
        assert!(truth[key] >= *count, "receiver, sender and site {key:?}: {count}");
    }
    assert!(all > 500, "{all} messages");
}

#[test]
fn a_message_that_mpi_refuses_to_send_has_no_end() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let program = compile("refused.c", directory.path());
    let profile = profiled(2, &program, &[], directory.path());
    let ends = ends(&profile);
    assert!(ends.values().all(|ends| (ends.sent.len(), ends.received.len()) == (1, 1)), "{ends:?}");
    assert_eq!(ends.len(), 150);
}

#[test]
fn threads_keep_the_ends_of_their_own_messages() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let program = compile("matching.c", directory.path());
    let arguments = [Path::new("50"), Path::new("4")];
    let profile = profiled(2, &program, &arguments, directory.path());
    let ends = ends(&profile);
    assert!(ends.values().all(|ends| (ends.sent.len(), ends.received.len()) == (1, 1)), "{ends:?}");
    assert_eq!(ends.len(), 50 * 2 * 4);
}
