//! An archive of known events, read by OTF2's own tool where it is installed.

use std::io::ErrorKind;
use std::process::Command;

use tinyprof_format::model::{RankEvents, VisitEvent};

use super::*;
use crate::export::perfetto::tests::{add_message, events, request};

/// Returns the lines of `otf2-print` about events: what, location, time, region. `None` if it is
/// not installed.
fn printed(archive: &Path) -> Option<Vec<[String; 4]>> {
    let run = Command::new("otf2-print").arg(archive.join("traces.otf2")).output();
    let output = match run {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            eprintln!("not compared, as otf2-print is not installed (Debian: otf2-tools)");
            return None;
        }
        output => output.unwrap(),
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let is_event = |line: &&str| {
        ["ENTER", "LEAVE", "MPI_SEND", "MPI_RECV"].iter().any(|what| line.starts_with(what))
    };
    let events = text.lines().filter(is_event);
    let fields = |line: &str| {
        let mut words = line.split_whitespace();
        let mut next = || words.next().unwrap_or_default().to_owned();
        let [what, location, time] = [next(), next(), next()];
        let rest = if what.starts_with("MPI") {
            line.split_whitespace().skip(3).collect::<Vec<_>>().join(" ")
        } else {
            line.split('"').nth(1).unwrap_or_default().to_owned()
        };
        [what, location, time, rest]
    };
    Some(events.map(fields).collect())
}

fn export(ranks: [Option<RankEvents>; 2], to: &Path) {
    Otf2.export_into(&request(ranks), to).unwrap();
}

#[test]
fn both_ends_of_every_visit_come_back() {
    let scratch = tempfile::tempdir().unwrap();
    export([Some(events(5_000, 0)), Some(events(7_000, 4))], scratch.path());
    let Some(found) = printed(scratch.path()) else { return };
    let own: Vec<[&str; 3]> = found
        .iter()
        .filter(|[_, location, ..]| location == "1")
        .map(|[what, _, time, region]| [what.as_str(), time, region])
        .collect();
    let expected = [
        ["ENTER", "2010", "main"],
        ["ENTER", "2020", "solve"],
        ["LEAVE", "2025", "solve"],
        ["ENTER", "2025", "solve"],
        ["LEAVE", "2100", "solve"],
        ["LEAVE", "2100", "main"],
    ];
    assert_eq!((own.as_slice(), found.len()), (&expected[..], 12));
}

#[test]
fn both_ends_of_a_message_come_back() {
    let scratch = tempfile::tempdir().unwrap();
    let mut ranks = [events(5_000, 0), events(5_000, 0)];
    add_message(&mut ranks);
    export(ranks.map(Some), scratch.path());
    let Some(found) = printed(scratch.path()) else { return };
    let messages: Vec<String> =
        found.iter().filter(|[what, ..]| what.starts_with("MPI")).map(|of| of.join(" ")).collect();
    insta::assert_debug_snapshot!(messages);
}

#[test]
fn a_message_to_a_rank_without_events_is_there() {
    let scratch = tempfile::tempdir().unwrap();
    let mut ranks = [events(5_000, 0), events(5_000, 0)];
    add_message(&mut ranks);
    let [sender, _] = ranks;
    export([Some(sender), None], scratch.path());
    let Some(found) = printed(scratch.path()) else { return };
    assert_eq!(found.iter().filter(|[what, ..]| what == "MPI_SEND").count(), 1);
}

#[test]
fn a_rank_whose_first_thread_kept_no_events_is_one_process() {
    let scratch = tempfile::tempdir().unwrap();
    let mut second = events(5_000, 0);
    second.threads[0].thread = 1;
    export([Some(second), None], scratch.path());
    let Some(found) = printed(scratch.path()) else { return };
    assert_eq!(found.len(), 6);
    let archive = scratch.path().join("traces.otf2");
    let output = Command::new("otf2-print").arg("-G").arg(archive).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let processes = text.lines().filter(|line| line.starts_with("LOCATION_GROUP ")).count();
    assert_eq!(processes, 2, "{text}");
}

#[test]
fn an_archive_of_several_chunks_is_complete() {
    let scratch = tempfile::tempdir().unwrap();
    let mut many = events(1, 0);
    let solve = many.threads[0].visits[1];
    let visits = (0..120_000).map(|at| VisitEvent { begin_ns: 10 * at, duration_ns: 7, ..solve });
    many.threads[0].visits = visits.collect();
    export([Some(many), None], scratch.path());
    let file = fs::metadata(scratch.path().join("traces/0.evt")).unwrap();
    assert!(file.len() > 2 * CHUNK_BYTES as u64, "{}", file.len());
    let Some(found) = printed(scratch.path()) else { return };
    let times = found.iter().map(|[_, _, time, _]| time.parse::<u64>().unwrap());
    let expected = (0..120_000_u64).flat_map(|at| [10 * at, 10 * at + 7]);
    assert!(times.eq(expected));
}

#[test]
fn what_is_missing_is_said_of_the_thread() {
    let mut lossy = events(1, 4).threads.remove(0);
    let words = completeness(&lossy).unwrap();
    assert_eq!(words, "4 visits lost, complete from 20 ns on");
    lossy.cells.clear();
    assert_eq!(completeness(&lossy), None);
}
