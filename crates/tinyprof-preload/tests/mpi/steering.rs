//! The scripts of `examples/steering`, on a program that passes messages: what they promise is
//! there, and the program's own results are right.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tinyprof_format::file::read_profile;
use tinyprof_format::model::{EventClass, MessageKind, Profile};

use crate::support::{compile, library, mpiexec, tinyprof};

const RANKS: usize = 4;

/// The words of a client when all ranks have begun another part.
const BEGUN: &str = " 4 of 4 began another part at flush point ";

/// No script prints this, so that the program goes on for its whole time.
const NEVER: (&str, usize) = ("\0", 1);

/// A directory with the command that users have in their path.
struct Place {
    directory: tempfile::TempDir,
    program: PathBuf,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory can be made");
        let program = compile("steered.c", directory.path());
        let command = directory.path().join("tinyprof");
        let real = tinyprof().get_program().to_owned();
        let (real, library) = (real.display().to_string(), library().display().to_string());
        let script = format!(
            "#!/bin/sh\nif [ \"$1\" = run ]; then shift; exec {real} run --library {library} \"$@\"; fi\n\
             exec {real} \"$@\"\n"
        );
        fs::write(&command, script).expect("it can be written");
        fs::set_permissions(&command, fs::Permissions::from_mode(0o755)).expect("it is ours");
        Self { directory, program }
    }

    /// Runs a script with this program for some seconds, and returns what it has printed. The
    /// program ends earlier once the script has printed a text so often.
    fn run(
        &self,
        script: &str,
        (seconds, (last, times)): (&str, (&str, usize)),
        variables: &[(&str, &str)],
    ) -> String {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/steering");
        let launcher = mpiexec(RANKS);
        let enough = self.directory.path().join("enough");
        let mut command = Command::new("bash");
        command.arg(root.join(script)).arg(launcher.get_program()).args(launcher.get_args());
        command.arg(&self.program).arg(seconds).arg(&enough).current_dir(&self.directory);
        let own = launcher.get_envs().filter_map(|(name, value)| Some((name, value?)));
        command.envs(own).envs(variables.iter().copied());
        let path = std::env::var("PATH").expect("there is one");
        command.env("PATH", format!("{}:{path}", self.directory.path().display()));
        command.env("TINYPROF_SEGMENT_DIR", self.directory.path().join("segments"));
        let (reader, writer) = io::pipe().expect("a pipe");
        command.stdout(writer.try_clone().expect("another end")).stderr(writer);
        let mut bash = command.spawn().expect("bash starts");
        // The last end of this process, for which the reader would wait.
        drop(command);
        let mut text = String::new();
        for line in BufReader::new(reader).split(b'\n') {
            text.push_str(&String::from_utf8_lossy(&line.expect("it can be read")));
            text.push('\n');
            if !enough.exists() && text.matches(last).count() >= times {
                fs::write(&enough, "").expect("it can be written");
            }
        }
        let status = bash.wait().expect("it ends");
        assert!(status.success(), "{script}: {text}");
        assert!(text.contains(" steps, sums right"), "{script}: {text}");
        text
    }

    fn profile(&self, name: &str) -> Profile {
        read_profile(&self.directory.path().join(name)).expect("a profile")
    }
}

/// Returns the number of calls that each rank has kept as events.
fn calls(profile: &Profile) -> Vec<u64> {
    let of_rank = |rank: &tinyprof_format::model::RankFacts| {
        let threads = rank.events.iter().flat_map(|events| &events.threads);
        let cells = threads.flat_map(|thread| &thread.cells);
        cells.filter(|cell| cell.class == EventClass::Call).map(|cell| cell.kept + cell.lost).sum()
    };
    profile.ranks.iter().map(of_rank).collect()
}

#[test]
fn some_time_is_recorded_on_demand() {
    let place = Place::new();
    let said = place.run("record.sh", ("5", (": recorded 4 ranks from ", 1)), &[("TIME", "1s")]);
    assert!(said.contains(": recorded 4 ranks from "), "{said}");
    let (recorded, all) = (place.profile("steered-recorded.tprof"), place.profile("steered.tprof"));
    let of_run = all.values.iter().flatten().map(|values| values.visits()).sum::<u64>();
    let kept = calls(&recorded);
    assert!(kept.iter().all(|&kept| kept > 20) && kept.iter().sum::<u64>() < of_run, "{kept:?}");
    // Who has done what is in both: what was recorded is not over before it is written.
    for profile in [&recorded, &all] {
        let of_rank = |rank: &tinyprof_format::model::RankFacts| rank.commands.commands.clone();
        let dates: Vec<_> = profile.ranks.iter().map(|rank| of_rank(rank)[0].date_ns).collect();
        assert!(dates.iter().all(|date| *date == dates[0] && *date > 0), "{dates:?}");
        for command in profile.ranks.iter().map(|rank| &rank.commands.commands[0]) {
            assert_eq!((command.verb_name().as_str(), command.is_done()), ("record", true));
            let until_ns =
                command.late_ns.zip(command.lasted_ns).map(|(late, lasted)| late + lasted);
            assert!(until_ns.is_some_and(|ns| ns > 900_000_000), "{command:?}");
        }
    }
    let trace = place.directory.path().join("steered-recorded.pftrace");
    assert!(fs::metadata(trace).expect("a file").len() > 1_000);
}

#[test]
fn a_condition_saves_and_records() {
    let place = Place::new();
    let said = place.run("condition.sh", ("6", NEVER), &[("TIME", "1s")]);
    assert!(said.contains("efficiency < 0.9: holds, time 1\n"), "{said}");
    let saved = place.profile("steered-condition.tprof");
    assert_eq!(calls(&saved), [0; RANKS], "nothing was recorded before");
    assert!(calls(&place.profile("steered-condition-1.tprof")).iter().all(|&kept| kept > 20));
}

#[test]
fn a_condition_is_watched_without_a_client() {
    let place = Place::new();
    let said = place.run("unattended.sh", ("6", NEVER), &[("TIME", "1s")]);
    assert!(said.contains("efficiency < 0.9: holds, time 1\n"), "{said}");
    assert_eq!(calls(&place.profile("steered-saved.tprof")), [0; RANKS], "nothing before");
    assert!(calls(&place.profile("steered-recorded.tprof")).iter().all(|&kept| kept > 20));
    // By whom is said: there is no client, but a process that the user has asked for.
    let commands = &place.profile("steered.tprof").ranks[0].commands.commands;
    assert_eq!(commands.len(), 1, "{commands:?}");
}

#[test]
fn phases_are_compared_while_the_run_goes_on() {
    let place = Place::new();
    let said = place.run("phases.sh", ("4", NEVER), &[("PAUSE", "1")]);
    let visits = |name: &str| {
        let profile = place.profile(name);
        profile.values.iter().flatten().map(|values| values.visits()).sum::<u64>()
    };
    let counts = ["steered-first.tprof", "steered-second.tprof", "steered.tprof"].map(visits);
    assert!(counts.is_sorted() && counts[0] < counts[2], "{counts:?}: {said}");
}

#[test]
fn programs_of_others_are_fed_and_blame_nobody_for_waiting() {
    let place = Place::new();
    let said = place.run("analysis.sh", ("6", NEVER), &[]);
    assert!(said.contains("energy.py: about "), "{said}");
    // The program has no regions: its ranks differ in calls of MPI alone, which are no causes.
    assert!(!said.contains("straggler"), "{said}");
}

#[test]
fn the_whole_run_is_kept_in_a_small_memory() {
    let place = Place::new();
    place.run("always_on.sh", ("1", NEVER), &[]);
    let profile = place.profile("steered.tprof");
    assert!(calls(&profile).iter().all(|&kept| kept > 20));
}

/// Switches measuring off and on six times, at a level, and returns the profile.
fn switched(level: &str) -> Profile {
    let place = Place::new();
    let variables = [("LEVEL", level), ("SWITCHES", "6"), ("PAUSE", "0.05")];
    let said = place.run("off.sh", ("12", ("4 of 4 on again\n", 6)), &variables);
    assert_eq!(said.matches("4 of 4 off\n").count(), 6, "{said}");
    assert_eq!(said.matches("4 of 4 on again\n").count(), 6, "{said}");
    assert!(said.contains("off: measuring was switched off for "), "{said}");
    let steps = said.lines().find_map(|line| line.strip_suffix(" steps, sums right"));
    let steps: u64 = steps.expect("it says so").parse().expect("a number");
    let profile = place.profile("steered.tprof");
    for (rank, facts) in profile.ranks.iter().enumerate() {
        let commands = &facts.commands;
        let off = commands.commands.iter().filter(|one| one.verb_name() == "off");
        let off_ns = off.clone().filter_map(|one| one.lasted_ns).sum::<u64>();
        assert_eq!((off.count(), commands.without_room), (6, 0), "{commands:?}");
        assert!(off_ns.abs_diff(commands.off_ns) < 20_000_000, "{off_ns} {}", commands.off_ns);
        assert!(commands.off_ns > 250_000_000, "{commands:?}");
        let waited =
            profile.callpaths.iter().filter(|(_, one)| one.region.name.starts_with("MPI_Waitall"));
        let waited: u64 = waited.map(|(at, _)| profile.values(at, rank).visits()).sum();
        assert!(waited > 0 && waited < steps, "{waited} of {steps}");
        // Messages of calls that were not measured are not counted.
        let of_callpaths = profile.callpaths.iter().map(|(at, _)| profile.values(at, rank));
        let traffic = of_callpaths.flat_map(|values| &values.messages);
        let sent = traffic.filter(|(key, _)| key.kind == MessageKind::MessageOut);
        let sent: u64 = sent.map(|(_, traffic)| traffic.count).sum();
        assert!(sent > 0 && sent < steps, "{sent} of {steps}");
    }
    profile
}

/// Returns the visits of each callpath on each rank, and the messages of each rank.
fn counts(profile: &Profile) -> (BTreeMap<(String, usize), u64>, Vec<u64>) {
    let mut visits = BTreeMap::new();
    let mut messages = vec![0; profile.ranks.len()];
    for (at, _) in profile.callpaths.iter() {
        for (rank, sent) in messages.iter_mut().enumerate() {
            let values = profile.values(at, rank);
            *visits.entry((profile.callpaths.path(at), rank)).or_default() += values.visits();
            *sent += values.messages.values().map(|traffic| traffic.count).sum::<u64>();
        }
    }
    visits.retain(|_, count| *count > 0);
    (visits, messages)
}

fn part_name(number: usize) -> String {
    format!("steered-part-{number:04}.tprof")
}

/// Has the run end in parts, and checks that they are the run together.
fn in_parts(level: &str, parts: usize) {
    let place = Place::new();
    let count = parts.to_string();
    let variables = [("LEVEL", level), ("PARTS", count.as_str()), ("PAUSE", "0.05")];
    let said = place.run("parts.sh", ("12", (BEGUN, parts)), &variables);
    let begun =
        said.lines().filter_map(|line| line.split(" began another part at flush point ").nth(1));
    let begun: Vec<u64> = begun.map(|at| at.parse().expect("the same one on all ranks")).collect();
    assert!(!begun.is_empty() && begun.is_sorted(), "{said}");
    let (mut whole, messages) = counts(&place.profile("steered.tprof"));
    // The program itself is open in all parts.
    let is_program = |path: &str| path == "steered";
    whole.retain(|(path, _), _| !is_program(path));
    let mut sums = (BTreeMap::new(), vec![0; RANKS]);
    // One that took longer than the client has waited for it may have made way for the next.
    let is_there = |number: &usize| place.directory.path().join(part_name(*number)).exists();
    let files: Vec<usize> = (1..).take_while(is_there).collect();
    assert!((begun.len() + 1..=parts + 1).contains(&files.len()), "{files:?}: {said}");
    for number in files {
        let part = place.profile(&part_name(number));
        let because = part.manifest.incomplete_because.as_deref().expect("it says so");
        assert!(because.starts_with(&format!("it is part {number}, from ")), "{because}");
        let (visits, messages) = counts(&part);
        for (key, count) in visits.into_iter().filter(|((path, _), _)| !is_program(path)) {
            *sums.0.entry(key).or_default() += count;
        }
        sums.1.iter_mut().zip(messages).for_each(|(sum, count)| *sum += count);
    }
    assert_eq!(sums, (whole, messages));
}

#[test]
fn parts_begin_at_the_same_flush_point_and_are_the_run_together() {
    in_parts("calls", 20);
    in_parts("messages", 5);
}

/// Returns the visits of functions whose names begin so, by rank.
fn visits_of(profile: &Profile, function: &str) -> Vec<u64> {
    let is_one = |name: &str| name.starts_with(function);
    let rows: Vec<_> =
        profile.callpaths.iter().filter(|(_, one)| is_one(&one.region.name)).collect();
    let of_rank = |rank| rows.iter().map(|(at, _)| profile.values(*at, rank).visits()).sum();
    (0..profile.ranks.len()).map(of_rank).collect()
}

#[test]
fn a_filter_begins_at_the_same_flush_point_and_messages_are_still_paired() {
    let place = Place::new();
    let variables =
        [("LEVEL", "messages"), ("FILTER", "-MPI_Isend*,-MPI_Irecv*"), ("PAUSE", "0.3")];
    let said = place.run("filter.sh", ("12", (BEGUN, 2)), &variables);
    assert_eq!(said.matches(BEGUN).count(), 2, "{said}");
    assert!(said.contains("command: filter -MPI_Isend*,-MPI_Irecv* began after "), "{said}");
    let [before, filtered, after] = [1, 2, 3].map(|number| place.profile(&part_name(number)));
    let equal = |counts: Vec<u64>| {
        assert!(counts.iter().all(|count| *count == counts[0]), "{counts:?}");
        counts[0]
    };
    let [sent, reduced] = ["MPI_Isend", "MPI_Allreduce"]
        .map(|name| [&before, &filtered, &after].map(|part| equal(visits_of(part, name))));
    // The flush point is before a reduction, and after the messages of its step.
    assert!(sent[0] == reduced[0] + 1 && sent[2] + 1 == reduced[2], "{sent:?} {reduced:?}");
    assert!(sent[1] == 0 && reduced[1] > 0, "{sent:?} {reduced:?}");
    assert_eq!(equal(visits_of(&filtered, "MPI_Irecv")), 0);
    assert!(equal(visits_of(&filtered, "MPI_Waitall")) > 0);
    let whole = place.profile("steered.tprof");
    assert_eq!(equal(visits_of(&whole, "MPI_Isend")), sent.iter().sum::<u64>());
    for facts in &whole.ranks {
        let commands = &facts.commands.commands;
        assert!(commands.iter().all(|one| one.verb_name() == "filter" && one.is_done()));
        assert_eq!(commands.last().map(|one| one.argument.as_str()), Some("+*"));
        assert_eq!((facts.clock.contradictions, facts.clock.companions_unclear), (0, 0));
    }
}

#[test]
fn calls_are_not_counted_while_measuring_is_off() {
    switched("calls");
}

#[test]
fn messages_are_paired_rightly_whichever_end_was_off() {
    let profile = switched("messages");
    for facts in &profile.ranks {
        assert!(facts.clock.companions > 0, "companions go on");
        assert_eq!((facts.clock.contradictions, facts.clock.companions_unclear), (0, 0));
        assert_eq!(facts.losses.edges_without_partner, 0, "{:?}", facts.losses);
    }
}
