//! `tinyprof top` of running jobs: its output, and that the jobs are not disturbed.

#[path = "support/watched.rs"]
mod watched;

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Output, Stdio};

use tinyprof_format::file::{Permissions, save_profile};
use tinyprof_format::text::read_text;
use watched::Watched;

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

fn top(arguments: &[&str], directory: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tinyprof"));
    command.arg("top").args(arguments).current_dir(directory).env_remove("TINYPROF_SEGMENT_DIR");
    command.output().expect("tinyprof starts")
}

fn shown(arguments: &[&str], directory: &Path) -> String {
    let output = top(arguments, directory);
    assert_eq!(
        (output.status.code(), output.stderr.as_slice()),
        (Some(0), &b""[..]),
        "{arguments:?}"
    );
    String::from_utf8(output.stdout).expect("text")
}

/// Returns the number of visits in the line of a callpath.
fn visits(shown: &str, name: &str) -> u64 {
    let line = shown.lines().find(|line| line.trim_start_matches([' ', '-']).starts_with(name));
    // After the name: inclusive, exclusive, share, now, visits.
    let cells = line.expect(name).trim_start_matches([' ', '-']).strip_prefix(name).expect(name);
    cells.split_whitespace().nth(4).expect("visits").parse().expect("a number")
}

fn segments(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(directory.join("segments")).expect("a directory");
    entries
        .map(|entry| entry.expect("an entry").path())
        .map(|path| (path.clone(), fs::read(path).expect("a file")))
        .collect()
}

#[test]
fn a_program_that_runs_is_shown_with_its_open_regions_and_takes_no_notice() {
    let place = scratch();
    let mut program = Watched::start(place.path(), &[]);
    let before = segments(place.path());
    let first = shown(&["segments", "--once"], place.path());
    assert_eq!(
        (visits(&first, "run"), visits(&first, "step"), visits(&first, r"a \u{1b}[31mname")),
        (1, 1, 1)
    );
    assert!(first.starts_with("job.tprof: ") && first.contains(": 1 rank on 1 host, "), "{first}");
    assert!(!first.contains('\u{1b}'), "{first}");
    assert_eq!(before, segments(place.path()), "nothing was written to it");
    program.step();
    program.step();
    let line = first.lines().find(|line| line.contains("step")).expect("a line");
    assert_eq!(line.split_whitespace().nth(7), Some("0"), "visits a second in between: {line}");
    // Also without --once, since nobody would see a second look.
    let next = shown(&["segments"], place.path());
    assert_eq!((visits(&next, "run"), visits(&next, "step")), (1, 3));
    program.end();
    let over = top(&["segments", "--once"], place.path());
    let said = String::from_utf8_lossy(&over.stderr).into_owned();
    assert!(
        over.status.code() == Some(1) && said.contains("nothing to show in segments: no program "),
        "{said}"
    );
}

#[test]
fn of_several_jobs_one_is_named() {
    let place = scratch();
    let (mut one, other) = (Watched::start(place.path(), &[]), Watched::start(place.path(), &[]));
    one.step();
    let id = one.child.id().to_string();
    let list = shown(&["segments"], place.path());
    assert!(list.starts_with("several jobs run here: name one with --job\n"), "{list}");
    assert!(list.contains(&format!("{id}  job.tprof, 1 process\n")), "{list}");
    assert_eq!(list.lines().count(), 3, "{list}");
    assert_eq!(visits(&shown(&["segments", "--job", &id], place.path()), "step"), 2);
    other.end();
    // By the name of its profile or of its program.
    for name in ["job", "job.tprof", "watched"] {
        assert_eq!(visits(&shown(&["segments", "--job", name], place.path()), "step"), 2);
    }
    let nobody = top(&["segments", "--once", "--job", "nobody"], place.path());
    let said = String::from_utf8_lossy(&nobody.stderr).into_owned();
    assert!(
        nobody.status.code() == Some(1) && said.contains("no job nobody that records runs there"),
        "{said}"
    );
    one.end();
}

#[test]
fn what_cannot_be_read_is_no_crash() {
    let place = scratch();
    let program = Watched::start(place.path(), &[]);
    let [(path, whole)] = &segments(place.path())[..] else { panic!("one thread") };
    // A copy of this name counts as the process's own, since some file systems show other numbers
    // for mapped files.
    let name = path.file_name().expect("its name");
    let damaged = place.path().join("damaged");
    fs::create_dir(&damaged).expect("a directory");
    let mut random = 1_u64;
    for round in 0..40 {
        let mut bytes = whole.clone();
        for _ in 0..30 {
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            // After the fields that identify the owner, which make it a running process.
            let at = 128 + usize::try_from(random >> 33).expect("31 bits") % 6000;
            bytes[at] = random.to_le_bytes()[3];
        }
        bytes.truncate(bytes.len() - round * 997);
        fs::write(damaged.join(name), bytes).expect("it is written");
        shown(&["damaged", "--once"], place.path());
    }
    program.end();
}

/// Writes a profile of `main` containing `step`, on two ranks.
fn write(directory: &Path, name: &str, seconds: &str) {
    let text = format!(
        "id,parent,tag,is_loop,times\nmain,null,null,0,{seconds}\nstep,main,null,0,{seconds}\n"
    );
    let profile = read_text(text.as_bytes()).expect("it is read").profile;
    save_profile(Permissions::Private, &directory.join(name), &profile).expect("it is written");
}

#[test]
fn the_newest_interim_profile_is_shown_until_the_profile_is_there() {
    let place = scratch();
    write(place.path(), "heat-interim-0009", "0.5|0.25");
    write(place.path(), "heat-interim-0010", "1.5|0.75");
    fs::create_dir(place.path().join("heat-interim-0011.tprof"))
        .expect("one that is being removed");
    let newest = shown(&["."], place.path());
    assert!(
        newest.starts_with("heat.tprof: 2 ranks on ") && newest.contains("; interim profile 10, "),
        "{newest}"
    );
    assert!(newest.contains("2.25s") && newest.ends_with("\n95\n"), "{newest}");
    write(place.path(), "other-interim-0001", "1|1");
    let list = shown(&["."], place.path());
    assert!(
        list.contains(
            "heat  heat.tprof, interim profile 10\nother  other.tprof, interim profile 1\n"
        ),
        "{list}"
    );
    assert_eq!(
        shown(&[".", "--job", "heat", "--width", "80"], place.path()).lines().nth(4),
        Some("main by rank: a digit for each; 9 is the slowest, . none")
    );
    for number in ["0009", "0010", "0011"] {
        fs::remove_dir_all(place.path().join(format!("heat-interim-{number}.tprof")))
            .expect("it was there");
    }
    write(place.path(), "heat", "2|2");
    let over = shown(&[".", "--job", "heat"], place.path());
    assert!(
        over.contains("\nthe job has ended: these are its last numbers\n")
            && over.contains("4.00s"),
        "{over}"
    );
}

#[test]
fn what_is_for_profiles_alone_is_refused() {
    let place = scratch();
    for arguments in
        [&[".", "--format=csv"][..], &[".", "--rank", "0"], &[".", "--metric", "visits"]]
    {
        let output = top(arguments, place.path());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.code() == Some(1) && said.contains("are for profiles"),
            "{arguments:?}: {said}"
        );
    }
    assert_eq!(
        top(&["nowhere", "--once"], place.path()).status.code(),
        Some(1),
        "a name that is mistyped"
    );
}

/// Runs a shell command on a terminal of 80 x 24 until it has drawn, calls `then`, and returns all
/// of its output. The terminal is `script` (of bsdutils, which every Linux has).
fn on_terminal(
    command: &str,
    directory: &Path,
    then: impl FnOnce(&mut ChildStdin, &str),
) -> String {
    let command = format!("stty cols 80 rows 24; {command}; echo \"code $?\"; stty -a");
    let mut script = Command::new("script");
    script.args(["-q", "-e", "-c", &command, "/dev/null"]).current_dir(directory);
    script.env("TERM", "xterm").env("SHELL", "/bin/sh").env("NO_COLOR", "1");
    let mut child =
        script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("script starts");
    let (mut stdin, mut stdout) =
        (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
    let (mut shown, mut buffer) = (Vec::new(), [0; 4096]);
    // The keys are drawn last.
    while !String::from_utf8_lossy(&shown).contains("fold") {
        let read = stdout.read(&mut buffer).expect("it draws");
        assert!(read > 0, "{}", String::from_utf8_lossy(&shown));
        shown.extend(&buffer[..read]);
    }
    then(&mut stdin, &String::from_utf8_lossy(&shown));
    stdout.read_to_end(&mut shown).expect("it ends");
    drop(stdin);
    child.wait().expect("it ends");
    String::from_utf8_lossy(&shown).into_owned()
}

/// Checks that the terminal was restored: the earlier screen, a cursor, and line editing with echo.
#[track_caller]
fn check_given_back(shown: &str, code: u32) {
    let (drawn, after) = shown.rsplit_once("\u{1b}[?1049l").expect("the screen of before");
    assert!(drawn.contains("\u{1b}[?1049h") && drawn.contains("\u{1b}[?25l"), "{shown}");
    assert!(shown.rfind("\u{1b}[?25h") > shown.rfind("\u{1b}[?25l"), "{shown}");
    assert!(after.contains(&format!("code {code}")), "{after}");
    for setting in [" icanon", " echo", " isig", " opost"] {
        assert!(
            after.contains(setting) || after.contains(&setting.replace(' ', "\n")),
            "{setting}: {after}"
        );
    }
}

#[test]
fn the_screen_opens_and_gives_the_terminal_back_when_it_is_quit() {
    let place = scratch();
    let program = Watched::start(place.path(), &[]);
    let tinyprof = env!("CARGO_BIN_EXE_tinyprof");
    let shown = on_terminal(&format!("'{tinyprof}' top segments"), place.path(), |stdin, drawn| {
        assert!(drawn.contains("step") && drawn.contains("job.tprof"), "{drawn}");
        stdin.write_all(b"jsrq").expect("it reads");
    });
    check_given_back(&shown, 0);
    // Nothing is coloured.
    assert!(!shown.contains("\u{1b}[31m") && !shown.contains("\u{1b}[38;5;1m"), "{shown}");
    program.end();
}

#[test]
fn a_signal_ends_it_and_the_terminal_is_given_back() {
    let place = scratch();
    fs::create_dir(place.path().join("segments")).expect("a directory");
    let tinyprof = env!("CARGO_BIN_EXE_tinyprof");
    let command = format!("sh -c 'echo process $$; exec \"{tinyprof}\" top segments'");
    let shown = on_terminal(&command, place.path(), |_, drawn| {
        assert!(drawn.contains("waiting"), "{drawn}");
        let process =
            drawn.lines().find_map(|line| line.trim().strip_prefix("process ")).expect("its id");
        assert!(Command::new("kill").args(["-TERM", process]).status().expect("kill").success());
    });
    check_given_back(&shown, 143);
}
