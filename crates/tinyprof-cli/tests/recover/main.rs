//! `tinyprof recover`: the segments that it takes, and those that it leaves alone.

mod jobs;
mod scratch;
#[path = "../support/watched.rs"]
mod watched;

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::process::Command;

use scratch::{NOBODY, Scratch, names, segment};
use tinyprof_format::segment::ProcessState;
use tinyprof_segment::layout::{VERSION, header};
use watched::Watched;

#[test]
fn threads_of_a_dead_process_become_a_profile_that_says_it_is_incomplete() {
    let place = Scratch::new();
    let mut second = segment(NOBODY, 5);
    second[header::THREAD] |= 1;
    place.leave("a", &segment(NOBODY, 5));
    place.leave("b", &second);
    assert_eq!(place.recover(), "process 4194305: recovered as run.tprof\n");
    let profile = place.read("run.tprof");
    assert_eq!(profile.callpaths.rows()[0].region.name, "work");
    assert_eq!((profile.values[0][0].visits(), profile.values[0][0].inclusive_ns()), (14, 280));
    assert_eq!((profile.ranks[0].threads, profile.ranks[0].host.as_str()), (2, "here"));
    assert!(!profile.manifest.complete && profile.manifest.metadata.executable == "/bin/run");
    assert!(place.left().is_empty(), "they are in the profile");
    let (_, info) = place.run(&["info", "run.tprof"]);
    assert!(info.contains("incomplete  the program was killed"), "{info}");
    let (_, report) = place.run(&["report", "run.tprof"]);
    assert!(report.contains("note: incomplete: the program was killed"), "{report}");
    assert_eq!(place.recover(), "nothing to recover in segments\n");
}

#[test]
fn what_is_not_ours_is_left_alone_and_named() {
    let place = Scratch::new();
    let me = std::process::id();
    let stat = fs::read_to_string("/proc/self/stat").expect("Linux has it");
    let started = ProcessState::parse(&stat).expect("it is a process").start_time;
    let changed = |word: usize, value: u64| {
        let mut words = segment(NOBODY, 5);
        words[word] = value;
        words
    };
    place.leave("2-version", &changed(header::VERSION, VERSION + 1));
    place.leave("3-boot", &changed(header::BOOT_ID, 1));
    place.leave("4-user", &changed(header::PROCESS, 54_321 << 32 | 1));
    place.leave("5-container", &changed(header::NAMESPACE, 1));
    fs::write(place.segments().join("6-text"), "what is this").expect("it is written");
    symlink("/etc/passwd", place.segments().join("7-link")).expect("a link");
    fs::create_dir(place.segments().join("8-directory")).expect("a directory");
    // A reused process id: this process is not the one that began at another time.
    place.leave("9-reused", &segment(me, started + 1));
    let said = place.recover();
    let lines: Vec<&str> = said.lines().collect();
    let version = format!("segment version {}", VERSION + 1);
    for (line, expected) in lines.iter().zip([
        &version,
        "another boot",
        "user 54321",
        "another container",
        "it is no segment",
        "it is no file",
        "it is no file",
        "recovered as run.tprof",
    ]) {
        assert!(line.contains(expected), "{expected}: {line}");
    }
    assert_eq!((lines.len(), place.left().len()), (8, 7), "{said}");
}

#[test]
fn a_file_whose_process_died_before_it_wrote_is_removed() {
    let place = Scratch::new();
    for name in ["5-0", "5-1-2"] {
        let path = place.segments().join(format!("{NOBODY}-{name}.segment"));
        fs::write(path, [0; 4096]).expect("it is written");
    }
    fs::write(place.segments().join("other"), [0; 4096]).expect("it is written");
    place.recover();
    assert_eq!(place.left(), ["other"]);
}

#[test]
fn damage_anywhere_is_no_crash() {
    let whole = segment(NOBODY, 5);
    let place = Scratch::new();
    let mut random = 1_u64;
    for round in 0..60 {
        let mut words = whole.clone();
        for _ in 0..4 {
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            let at = 8 + usize::try_from(random >> 33).expect("31 bits") % 72;
            words[at] = if random & 1 == 0 { random } else { random >> 58 };
        }
        words.truncate(words.len() - round * 60);
        place.leave("damaged", &words);
        let (output, said) = place.run(&["recover", "segments", "-o", "out"]);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{said}{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
fn a_profile_that_cannot_be_written_leaves_the_segments_where_they_are() {
    let place = Scratch::new();
    place.leave("a", &segment(NOBODY, 5));
    let (output, _) = place.run(&["recover", "segments", "-o", "/proc/none/out"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(place.left(), ["a"]);
}

#[test]
fn a_program_that_runs_is_left_alone_until_it_is_killed() {
    let place = Scratch::new();
    let mut program = Watched::start(place.0.path(), &[]);
    let running = format!("process {} still runs", program.child.id());
    let said = place.recover();
    assert!(said.contains(&running) && said.lines().count() == 1, "{said}");
    assert_eq!(names(place.0.path()), ["segments"]);
    program.child.kill().expect("it runs");
    program.child.wait().expect("it is ours");
    let said = place.recover();
    assert!(said.contains("recovered as job.tprof"), "{said}");
    assert_eq!(place.read("job.tprof").callpaths.rows().len(), 3);
}

#[test]
fn a_process_that_runs_as_another_program_has_left_its_segments() {
    let place = Scratch::new();
    let me = std::process::id();
    let stat = fs::read_to_string("/proc/self/stat").expect("Linux has it");
    let started = ProcessState::parse(&stat).expect("it is a process").start_time;
    let second = |word: usize, value: u64| {
        let mut words = segment(me, started);
        words[word] = value;
        words
    };
    // Programs, or copies of the recorder, that began to record at different moments.
    place.leave(&format!("{me}-{started}-0.segment"), &segment(me, started));
    place.leave(&format!("{me}-{started}-0-1.segment"), &second(header::START_NS, 77));
    place.leave(&format!("{me}-{started}-0-2.segment"), &second(header::START_TICKS, 77));
    let said = place.recover_with(&["--all"]);
    assert_eq!(said.lines().count(), 3, "{said}");
    for name in ["run.tprof", "run-1.tprof", "run-2.tprof"] {
        let profile = place.read(name);
        assert_eq!((profile.values[0][0].visits(), profile.ranks[0].threads), (7, 1));
        let because = profile.manifest.incomplete_because.expect("it is incomplete");
        assert!(because.contains("(exec)"), "{because}");
    }
    assert!(place.left().is_empty());
}

/// Gives each segment a second name, which survives when the first is removed: as if the removing
/// process had been killed.
fn keep(place: &Scratch) {
    fs::create_dir(place.0.path().join("kept")).expect("a directory");
    for name in place.left() {
        fs::hard_link(place.segments().join(&name), place.0.path().join("kept").join(&name))
            .expect("a link");
    }
}

#[test]
fn what_was_recovered_is_not_recovered_again_where_its_segments_are_left() {
    let place = Scratch::new();
    let mut second = segment(NOBODY, 5);
    second[header::THREAD] |= 1;
    place.leave("a", &segment(NOBODY, 5));
    place.leave("b", &second);
    keep(&place);
    place.recover();
    // Some were removed before it was killed.
    fs::remove_file(place.0.path().join("kept/a")).expect("it is there");
    let (_, said) = place.run(&["recover", "kept"]);
    assert_eq!(said, "process 4194305: nothing is missing: its profile ./run.tprof is complete\n");
    assert_eq!(names(place.0.path()), ["kept", "run.tprof", "segments"]);
    assert!(names(&place.0.path().join("kept")).is_empty());
}

#[test]
fn a_program_that_was_killed_when_its_profile_was_complete_has_one_profile() {
    for damage in [false, true] {
        let place = Scratch::new();
        let program = Watched::start(place.0.path(), &[]);
        keep(&place);
        program.end();
        assert!(place.left().is_empty(), "it has removed its own");
        let profile = place.0.path().join("job.tprof");
        let id = place.read("job.tprof").manifest.profile_id.expect("it has a number");
        let [kept] = &names(&place.0.path().join("kept"))[..] else { panic!("one thread") };
        let file = File::open(place.0.path().join("kept").join(kept)).expect("it is there");
        let mut word = [0; 8];
        file.read_exact_at(&mut word, 8 * header::PROFILE_ID as u64).expect("it is long enough");
        assert_eq!(u64::from_le_bytes(word), id.to_word());
        if damage {
            let part =
                File::options().write(true).open(profile.join("part-00000")).expect("it is there");
            part.set_len(10).expect("it can be cut");
        }
        // Its profile is found where the program wanted it.
        fs::create_dir(place.0.path().join("elsewhere")).expect("a directory");
        let mut command = Command::new(env!("CARGO_BIN_EXE_tinyprof"));
        command
            .args(["recover", "../kept", "--json"])
            .current_dir(place.0.path().join("elsewhere"));
        let output = command.output().expect("tinyprof starts");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}");
        let made = names(&place.0.path().join("elsewhere"));
        if damage {
            assert_eq!(made, ["job.tprof"], "{said}");
        } else {
            assert!(made.is_empty(), "{made:?}");
            let path = profile.canonicalize().expect("it is there");
            let found = said.contains(&format!("\"{}\"", path.display()));
            assert!(found && said.contains("written_before"), "{said}");
        }
        assert!(names(&place.0.path().join("kept")).is_empty());
    }
}

#[test]
fn a_file_that_is_longer_than_what_was_written_to_it_is_not_read() {
    let place = Scratch::new();
    for (name, bytes) in [("long", 20 << 30), ("holes", 512 << 20)] {
        place.leave(name, &segment(NOBODY, 5));
        let file =
            File::options().write(true).open(place.segments().join(name)).expect("it is there");
        file.set_len(bytes).expect("holes cost nothing");
    }
    let said = place.recover();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 2, "{said}");
    assert!(
        lines[0].contains("only 32768 are on the disk")
            && lines[1].contains("no segment has more than")
    );
    // It also stays within the memory limit.
    let place = Scratch::new();
    place.leave("a", &segment(NOBODY, 5));
    let (output, said) = place.run(&["recover", "segments", "--memory", "16KiB"]);
    assert!(output.status.success() && said.contains("--memory"), "{said}");
    assert_eq!(place.left(), ["a"]);
}

#[test]
fn what_is_recovered_is_private_unless_the_umask_is_asked_for() {
    let place = Scratch::new();
    fs::create_dir(place.0.path().join("usual")).expect("a directory");
    let mode = |name: &str| {
        fs::metadata(place.0.path().join(name)).expect("it is there").permissions().mode() & 0o777
    };
    for (value, expected) in [("private", 0o700), ("umask", mode("usual")), ("0777", 0o700)] {
        place.leave("a", &segment(NOBODY, 5));
        let mut command = Command::new(env!("CARGO_BIN_EXE_tinyprof"));
        command.args(["recover", "segments", "-o", value]).current_dir(place.0.path());
        let output = command.env("TINYPROF_PERMISSIONS", value).output().expect("tinyprof starts");
        assert!(output.status.success());
        assert_eq!(mode(&format!("{value}.tprof")), expected, "{value}");
        let noted = String::from_utf8_lossy(&output.stderr).contains("expected private or umask");
        assert_eq!(noted, value == "0777");
    }
}
