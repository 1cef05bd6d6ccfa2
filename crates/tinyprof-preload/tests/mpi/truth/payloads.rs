//! Random programs whose messages name their sender: no companion belongs to another message.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tinyprof_format::model::{EdgeKey, EdgeKind, Profile};

use crate::messages::{Way, edges};
use crate::support::{compile, profiled_with};

pub(crate) const RANKS: usize = 3;
/// The number of call sites that send.
pub(crate) const SITES: usize = 13;

/// The numbers of messages by receiver, sender and call site.
pub(crate) type Counts = BTreeMap<(usize, usize, usize), u64>;

/// What is known of the messages of some programs.
#[derive(Clone, Debug, Default)]
struct Known {
    received: u64,
    missing: u64,
    unclear: u64,
    /// Messages without a sender, by the call that received them.
    unknown: BTreeMap<String, u64>,
}

/// Returns the number of bytes that a call site of `payload.c` sends.
pub(crate) fn bytes_of(site: usize) -> u64 {
    16 << site
}

/// Reads what the ranks have received by their own account.
pub(crate) fn received(directory: &Path) -> Counts {
    let mut counts = Counts::new();
    for rank in 0..RANKS {
        let text = fs::read_to_string(directory.join(format!("received-{rank}")));
        for line in text.expect("each rank writes it").lines() {
            let numbers: Vec<usize> =
                line.split(' ').map(|word| word.parse().expect("a number")).collect();
            counts.insert((rank, numbers[0], numbers[1]), numbers[2] as u64);
        }
    }
    counts
}

/// Checks that each message that a profile knows a sender of is one that was received from there,
/// and that all others are counted. A probed message is one that is received afterwards.
fn check(profile: &Profile, truth: &Counts, known: &mut Known) {
    let (mut said, mut probed) = (Counts::new(), Counts::new());
    let mut unknown = 0;
    for (name, rank, key, edge) in edges(profile) {
        if !matches!(key.kind, EdgeKind::Message | EdgeKind::MessageToAny) {
            continue;
        }
        if key.from == EdgeKey::UNKNOWN {
            unknown += edge.count;
            *known.unknown.entry(name.to_owned()).or_default() += edge.count;
            continue;
        }
        let sender = profile.callpaths.iter().find(|(_, callpath)| callpath.id == key.from);
        let sender = &sender.expect("the sender's callpath is in the profile").1.region.name;
        let site = (0..SITES).find(|site| sender.contains(&format!("site_{site} ")));
        let site = site.unwrap_or_else(|| panic!("{sender} to {name}"));
        assert_eq!(edge.bytes, edge.count * bytes_of(site), "{sender} to {name}: {edge:?}");
        let from = i64::try_from(rank).expect("few ranks") + i64::from(key.partner);
        let from = usize::try_from(from).expect("a rank of the world");
        let is_probe = ["MPI_Probe", "MPI_Mprobe"].iter().any(|probe| name.starts_with(probe));
        let counts = if is_probe { &mut probed } else { &mut said };
        *counts.entry((rank, from, site)).or_default() += edge.count;
    }
    for (key, count) in said.iter().chain(&probed) {
        assert!(truth[key] >= *count, "receiver, sender and site {key:?}: {count}");
    }
    let clocks = profile.ranks.iter().map(|rank| rank.clock);
    let missing: u64 = clocks.clone().map(|clock| clock.companions_missing).sum();
    let unclear: u64 = clocks.map(|clock| clock.companions_unclear).sum();
    let received: u64 = truth.values().sum();
    assert_eq!(said.values().sum::<u64>() + unknown, received, "each message is in the profile");
    assert_eq!(unknown, missing + unclear, "what is not known is counted");
    known.received += received;
    known.missing += missing;
    known.unclear += unclear;
}

/// Runs the programs of some seeds, some of them in one job.
#[expect(clippy::print_stderr, reason = "which calls have messages without a sender is of use")]
fn run(ways: &[Way], jobs: u32, seeds_a_job: u32) {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let program = compile("payload.c", directory.path());
    for way in ways {
        let mut known = Known::default();
        for job in 0..jobs {
            let numbers = [(job * seeds_a_job + 1).to_string(), seeds_a_job.to_string()];
            let [first, seeds] = numbers.each_ref().map(Path::new);
            let arguments = [first, seeds, directory.path()];
            let variables = [("LD_PRELOAD", way.preload(&directory).into())];
            let profile = profiled_with(
                &variables,
                &program,
                &arguments,
                RANKS,
                directory.path(),
                "messages",
            );
            check(&profile, &received(directory.path()), &mut known);
        }
        eprintln!("{way:?}: {known:?}");
        assert_eq!(known.missing, 0, "{way:?}: {known:?}");
        assert!(known.unclear * 1_000 <= known.received, "{way:?}: {known:?}");
    }
}

#[test]
fn random_programs_have_no_wrong_match() {
    run(&[Way::Lanes], 1, 20);
}

#[test]
#[ignore = "takes minutes, see scripts/truth.sh"]
fn five_hundred_random_programs_have_no_wrong_match() {
    run(&[Way::Lanes], 25, 20);
}
