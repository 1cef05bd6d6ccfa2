//! The data that a killed program left in the files of its threads.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tinyprof_format::model::{EventMap, Losses, Traffic};
use tinyprof_format::segment::{Segment, recovered_map};
use tinyprof_segment::clock::Moment;

use crate::endings::check_untouched;
use crate::program::{Scratch, names, text};

const COUNTERS: usize = 4;

/// The bytes of each message of the test program.
const MESSAGE_BYTES: u64 = 100;

/// Returns the test program that counts its own events on this many threads, in the file
/// `counters`.
fn counting(place: &Scratch, threads: usize, executions: u64) -> Command {
    let counters = File::create(place.path().join("counters")).unwrap();
    counters.set_len((threads * COUNTERS * 8) as u64).unwrap();
    let mut command = place.command("test_killed");
    command.arg("counters").arg(threads.to_string()).arg(executions.to_string());
    command.env("TINYPROF_SEGMENT_DIR", "segments").env("TINYPROF_REPORT", "off");
    command
}

/// Returns the counts of each thread: executions, leaves, steps, messages.
fn counted(place: &Scratch) -> Vec<[u64; COUNTERS]> {
    let bytes = fs::read(place.path().join("counters")).unwrap();
    let words: Vec<u64> =
        bytes.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap())).collect();
    words.chunks_exact(COUNTERS).map(|words| words.try_into().unwrap()).collect()
}

/// Returns the data in a directory of segments of one process. Ticks count as nanoseconds.
pub(crate) fn recovered(directory: &Path) -> EventMap {
    let files: Vec<Vec<u8>> =
        names(directory).iter().map(|name| fs::read(directory.join(name)).unwrap()).collect();
    let segments: Vec<Segment<'_>> =
        files.iter().map(|bytes| Segment::parse(bytes).unwrap()).collect();
    recovered_map(&segments, Moment { ticks: 0, monotonic_ns: 0 })
}

pub(crate) fn visits(map: &EventMap, path: &str) -> u64 {
    let rows = map.callpaths.iter().filter(|(index, _)| map.callpaths.path(*index) == path);
    rows.map(|(index, _)| map.values[index.row()].visits()).sum()
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Kills the program as soon as its threads together have counted this many executions, after
/// spinning for a moment.
fn kill_after(place: &Scratch, mut child: Child, executions: u64, spins: u64) {
    let far_enough = |counted: &[[u64; COUNTERS]]| {
        let sum = counted.iter().map(|thread| thread[0]).sum::<u64>();
        sum >= executions && counted.iter().all(|thread| thread[0] > 0)
    };
    while !far_enough(&counted(place)) {
        assert!(child.try_wait().unwrap().is_none(), "it must not end by itself");
    }
    (0..spins).for_each(|_| std::hint::spin_loop());
    kill(child);
}

#[test]
fn killed_at_any_moment_it_leaves_all_but_the_last_visit_of_each_thread() {
    let (mut torn, mut folded) = (0, 0);
    for number in 0_u64..100 {
        let place = Scratch::new();
        let threads = 1 + usize::try_from(number % 2).unwrap();
        let random = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let child = counting(&place, threads, u64::MAX).stderr(Stdio::piped()).spawn().unwrap();
        // From the first executions to those that are folded, evenly over the orders of magnitude.
        kill_after(&place, child, random >> 40 >> (8 + number % 16), random % 5_000);
        let counted = counted(&place);
        let map = recovered(&place.path().join("segments"));
        torn += map.facts.losses.records_torn;
        let folds = map.values.iter().flat_map(|values| &values.executions);
        folded += folds.filter(|execution| execution.executions > 1).count();
        let told = |what: usize| counted.iter().map(|thread| thread[what]).sum::<u64>();
        let (slack, found) = (threads as u64, |path: &str| visits(&map, path));
        let check = |path: &str, least: u64, most: u64| {
            let found = found(path);
            assert!(
                (least..=most).contains(&found),
                "{number}: {path}: {found} of {least}..={most}: {map:?}"
            );
        };
        // An open visit counts, so there may be one more: the visit that was open or had just
        // ended.
        check("execution", told(0), told(0) + slack);
        check("execution<leaf", told(1), told(1) + slack);
        // A step counts itself before it ends.
        check("execution<step", told(2).saturating_sub(slack), told(2) + slack);
        let sent: Vec<Traffic> =
            map.values.iter().flat_map(|values| values.messages.values().copied()).collect();
        let messages: u64 = sent.iter().map(|traffic| traffic.count).sum();
        let least = told(3);
        assert!((least..=least + slack).contains(&messages), "{number}: {messages} of {least}");
        let bytes = sent.iter().map(|traffic| traffic.bytes).sum::<u64>();
        // The bytes of the last message of a torn record may be missing.
        let missing = MESSAGE_BYTES * map.facts.losses.records_torn;
        let expected = MESSAGE_BYTES * messages;
        assert!(
            (expected.saturating_sub(missing)..=expected).contains(&bytes),
            "{number}: {bytes}"
        );
        let partners = map.values.iter().flat_map(|values| values.messages.keys());
        assert!(
            partners.clone().count() <= 2 && partners.map(|key| key.partner.abs()).all(|p| p == 1)
        );
        check_edges(&map, least, slack);
        let losses = map.facts.losses;
        assert_eq!(
            (losses.records_unreadable, losses.segments_not_mapped),
            (0, 0),
            "{number}: {losses:?}"
        );
        assert!(losses.records_torn <= slack, "one change a thread: {losses:?}");
        assert_eq!(map.facts.threads as usize, threads);
    }
    println!("{torn} records were torn, {folded} summaries folded");
    assert!(folded > 0, "some runs were long enough");
}

/// Checks the edges and clocks of a program whose threads have counted `least` messages, each of
/// which is also an edge.
fn check_edges(map: &EventMap, least: u64, slack: u64) {
    for (values, callpath) in map.values.iter().zip(map.callpaths.rows()) {
        assert!(values.edges.keys().all(|key| key.from == callpath.id && key.partner.abs() == 1));
    }
    let edges = || map.values.iter().flat_map(|values| values.edges.values());
    let count: u64 = edges().map(|edge| edge.count).sum();
    assert!((least..=least + slack).contains(&count), "{count} of {least}");
    // The numbers of the last instance of a torn record may be missing.
    let transfer: u64 = edges().map(|edge| edge.transfer_ns).sum();
    let missing = 3 * MESSAGE_BYTES * map.facts.losses.records_torn;
    let expected = 3 * MESSAGE_BYTES * count;
    assert!((expected.saturating_sub(missing)..=expected).contains(&transfer), "{transfer}");
    // Each thread has stored the number of messages before its last or the one before that.
    let companions = map.facts.clock.companions;
    assert!((least.saturating_sub(2 * slack)..=least).contains(&companions), "{companions}");
}

#[test]
fn series_and_times_are_recovered() {
    let place = Scratch::new();
    let child = counting(&place, 1, u64::MAX).spawn().unwrap();
    kill_after(&place, child, 10_000, 0);
    let map = recovered(&place.path().join("segments"));
    let at = |path: &str| {
        map.callpaths.iter().find(|(i, _)| map.callpaths.path(*i) == path).unwrap().0.row()
    };
    let (root, step) = (&map.values[at("execution")], &map.values[at("execution<step")]);
    let in_series: u64 = step.series.iter().map(|bucket| u64::from(bucket.visits)).sum();
    // A visit is in the series before it is counted.
    let torn = map.facts.losses.records_torn;
    assert!((step.visits() - 2..=step.visits() + torn).contains(&in_series), "{torn} torn");
    assert!(root.inclusive_ns() > step.inclusive_ns() && step.inclusive_ns() > 0);
    let region = &map.callpaths.rows()[at("execution<step")].region;
    assert!(
        region.file.ends_with("killed.rs") && region.module == "test_killed" && region.line > 1
    );
}

#[test]
fn a_program_that_ends_leaves_no_file() {
    for how in ["", "exit", "panic", "no-region"] {
        let place = Scratch::new();
        let mut command = place.command("test_endings");
        command.arg(how).env("TINYPROF_SEGMENT_DIR", place.path().join("segments"));
        command.env("TINYPROF_OUT", "profile").output().unwrap();
        let left = place.path().join("segments");
        assert!(!left.exists() || names(&left).is_empty(), "{how}: {:?}", names(&left));
    }
    let place = Scratch::new();
    let mut command = place.command("test_endings");
    command.env("TINYPROF_SEGMENT_DIR", "segments").env("TINYPROF", "off").output().unwrap();
    assert!(place.names().is_empty());
}

#[test]
fn a_program_that_aborts_leaves_its_files_to_itself_alone() {
    let place = Scratch::new();
    counting(&place, 2, 5).arg("abort").output().unwrap();
    let directory = place.path().join("segments");
    // A thread that begins after another has ended continues in its file.
    assert!((1..=2).contains(&names(&directory).len()));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(&directory), 0o700);
    names(&directory).iter().for_each(|name| assert_eq!(mode(&directory.join(name)), 0o600));
    let map = recovered(&directory);
    assert_eq!(visits(&map, "execution"), 10);
    assert_eq!(map.facts.losses, Losses::default());
    let bytes = fs::read(directory.join(&names(&directory)[0])).unwrap();
    let description = Segment::parse(&bytes).unwrap().description();
    assert!(description.metadata.executable.ends_with("/test_killed"), "{description:?}");
    assert_eq!(description.metadata.cmdline[1..], ["counters", "2", "5", "abort"]);
    assert!(description.profile.contains("test_killed-"));
}

#[test]
fn a_process_whose_name_is_cut_inside_a_character_has_segments() {
    // The kernel keeps 15 bytes of the name; the last character has two.
    let place = Scratch::new();
    let script = "ln -s \"$0\" fourteen_bytes\u{e9}; exec ./fourteen_bytes\u{e9}";
    let mut command = place.shell(script, "test_endings");
    command.env("TINYPROF_OUT", "profile").env("TINYPROF_REPORT", "off");
    let output = command.output().unwrap();
    check_untouched(&output);
    assert_eq!(text(&output.stderr), "");
    assert_eq!(place.read("profile.tprof").manifest.losses, Losses::default());
}

#[test]
fn a_limit_on_file_sizes_is_no_signal_either() {
    let place = Scratch::new();
    let script = r#"ulimit -f 1; TINYPROF_SEGMENT_DIR=segments TINYPROF_OUT=/proc/x TINYPROF_REPORT=off exec "$0""#;
    check_untouched(&place.shell(script, "test_endings").output().unwrap());
    assert!(names(&place.path().join("segments")).is_empty());
}
