//! Programs do with the library what they do without it: same output, same exit code.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;
use tinyprof_format::file::read_profile;
use tinyprof_format::model::Profile;

use crate::support::{compile, compile_with, library, mpicc, mpiexec};

/// What is seen of a run: its exit code, and the sorted lines of its output, as ranks write in any
/// order.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) code: Option<i32>,
    pub(crate) lines: Vec<String>,
}

fn see(command: &mut Command) -> Seen {
    let output = command.output().expect("mpiexec starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    Seen { code: output.status.code(), lines }
}

/// Adds the library to a command, and the name of a profile in `directory`.
fn preload(command: &mut Command, directory: &Path) {
    command.env("TINYPROF_OUT", directory.join("p")).env("LD_PRELOAD", library());
    command.env("TINYPROF_SEGMENT_DIR", directory.join("segments"));
}

/// Runs `mpiexec -n RANKS WORDS` without the library, and with it at a level of `TINYPROF_MPI`.
pub(crate) fn without_and_with(words: &[&str], ranks: usize, level: &str) -> (Seen, Seen, TempDir) {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let without = see(mpiexec(ranks).args(words));
    let mut command = mpiexec(ranks);
    command.env("TINYPROF_MPI", level);
    preload(command.args(words), directory.path());
    (without, see(&mut command), directory)
}

/// Checks that a run is the same with the library, at both levels. Returns what was seen, and the
/// directory with the profiles of level `calls`.
fn unharmed(words: &[&str], ranks: usize) -> (Seen, TempDir) {
    let (without, with, _) = without_and_with(words, ranks, "messages");
    assert_eq!(with, without, "{words:?} at level messages");
    let (without, with, directory) = without_and_with(words, ranks, "calls");
    assert_eq!(with, without, "{words:?}");
    (with, directory)
}

pub(crate) fn path(of: &Path) -> &str {
    of.to_str().expect("the directory's name is text")
}

fn profile(directory: &Path) -> Profile {
    read_profile(&directory.join("p.tprof")).expect("the ranks have written one")
}

/// Returns the calls of a function, over all ranks.
fn calls(profile: &Profile, function: &str) -> u64 {
    let of_function = |name: &str| name.split(" at ").next() == Some(function);
    let rows = profile.callpaths.iter().filter(|(_, path)| of_function(&path.region.name));
    rows.flat_map(|(index, _)| &profile.values[index.row()]).map(|values| values.visits()).sum()
}

/// Returns the profiles that a run has left.
fn profiles(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("it is there").flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.contains(".tprof")).collect()
}

/// Checks how a program ends, and returns the directory with its profiles.
fn check(ending: &str, code: i32) -> TempDir {
    check_on(2, ending, code)
}

/// As [`check`], on a number of ranks.
fn check_on(ranks: usize, ending: &str, code: i32) -> TempDir {
    let scratch = tempfile::tempdir().expect("a directory can be made");
    let program = compile("endings.c", scratch.path());
    let (seen, directory) = unharmed(&[path(&program), ending], ranks);
    assert_eq!(seen.code, Some(code), "{ending}: {seen:?}");
    directory
}

#[test]
fn a_program_that_ends_well() {
    let directory = check("finalised", 4);
    assert_eq!(calls(&profile(directory.path()), "MPI_Barrier"), 2);
}

/// Handlers of `atexit` are called in the reverse order of their registration.
#[test]
fn a_program_that_ends_mpi_in_a_handler_registered_before_it_begins() {
    let directory = check("finalised-by-atexit", 0);
    assert_eq!(profiles(directory.path()), ["p.tprof"]);
}

#[test]
fn communicators_have_the_numbers_that_they_have_without_the_profiler() {
    let scratch = tempfile::tempdir().expect("a directory can be made");
    let program = compile("numbers.c", scratch.path());
    let words = [path(&program)];
    for level in ["off", "calls", "messages"] {
        let (without, with, _) = without_and_with(&words, 3, level);
        assert_eq!(with, without, "at level {level}");
        assert_eq!((with.code, with.lines.len()), (Some(0), 3));
    }
}

#[test]
fn a_program_that_never_initialises_mpi_writes_nothing() {
    let directory = check("never-initialised", 5);
    assert_eq!(profiles(directory.path()), [""; 0]);
}

#[test]
fn a_program_that_never_finalises_mpi() {
    let directory = check_on(1, "never-finalised", 6);
    assert_eq!(profiles(directory.path()), ["p-rank-0.tprof"], "the rank writes its own");
    // A launcher ends the other ranks when it sees the first one end, and what it returns then
    // differs from run to run.
    let codes = abort_codes("never-finalised");
    assert!(codes.iter().flatten().all(|code| *code != Some(0)), "{codes:?}");
}

/// Checks the exit code of a program that a rank ends for all.
fn check_abort(ending: &str) -> Option<i32> {
    let codes = abort_codes(ending);
    assert!(codes.iter().all(|[without, with]| without == with), "{ending}: {codes:?}");
    codes[1][1]
}

/// Returns the exit codes of a program that a rank ends for all, without us and with us, at the
/// levels `messages` and `calls`. What launchers still print then differs from run to run.
fn abort_codes(ending: &str) -> [[Option<i32>; 2]; 2] {
    let scratch = tempfile::tempdir().expect("a directory can be made");
    let program = compile("endings.c", scratch.path());
    ["messages", "calls"].map(|level| {
        let (without, with, _) = without_and_with(&[path(&program), ending], 2, level);
        [without.code, with.code]
    })
}

#[test]
fn a_program_that_aborts() {
    assert_eq!(check_abort("aborted"), Some(3));
}

#[test]
fn a_program_whose_error_ends_it() {
    assert_ne!(check_abort("failed"), Some(0));
}

#[test]
fn a_program_that_gets_an_error_code() {
    // On one rank: a launcher ends the other ranks when it sees the first one end with an error.
    let directory = check_on(1, "returned-error", 4);
    assert_eq!(calls(&profile(directory.path()), "MPI_Send"), 1);
}

#[test]
fn a_program_that_finalises_mpi_twice() {
    assert_ne!(check_abort("finalised-twice"), Some(0));
}

#[test]
fn a_program_that_hangs_and_is_ended_leaves_what_it_recorded() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let program = compile("endings.c", directory.path());
    for is_with in [false, true] {
        let mut command = mpiexec(2);
        command.arg(&program).arg("deadlocked").stdout(Stdio::piped()).stderr(Stdio::null());
        if is_with {
            preload(&mut command, directory.path());
        }
        let mut child = command.spawn().expect("mpiexec starts");
        let mut output = BufReader::new(child.stdout.take().expect("it is a pipe"));
        let mut line = String::new();
        while line != "hangs\n" {
            line.clear();
            assert_ne!(output.read_line(&mut line).expect("text"), 0, "it hangs, and does not end");
        }
        let id = child.id().to_string();
        let killed = Command::new("kill").args(["-TERM", &id]).status().expect("kill starts");
        assert!(killed.success());
        output.read_to_string(&mut line).expect("text");
        // The exit code is not compared: without the library, too, MPICH's launcher ends with 15
        // or 0, as it happens.
        let status = child.wait().expect("it was started");
        assert!(status.signal().is_none(), "the launcher has ended its ranks: {status}");
    }
    let segments = fs::read_dir(directory.path().join("segments")).expect("ranks have made it");
    assert_eq!(segments.count(), 2, "one file of each rank, for `tinyprof recover`");
}

#[test]
fn a_program_that_pauses_the_recording() {
    let scratch = tempfile::tempdir().expect("a directory can be made");
    let program = compile("paused.c", scratch.path());
    let (seen, directory) = unharmed(&[path(&program)], 2);
    assert_eq!(seen.code, Some(0));
    assert_eq!(calls(&profile(directory.path()), "MPI_Barrier"), 2 * 7);
}

#[test]
fn a_program_that_spawns_processes() {
    let scratch = tempfile::tempdir().expect("a directory can be made");
    let program = compile("spawn.c", scratch.path());
    let (seen, directory) = unharmed(&[path(&program)], 1);
    if seen.code != Some(0) {
        eprintln!("skipped: this MPI spawns no processes: {seen:?}");
        return;
    }
    assert_eq!(seen.lines, ["3 ranks: 62"]);
    // The processes that were spawned are a world, and have a profile of their own.
    let mut ranks = ["p.tprof", "p-1.tprof"].map(|name| {
        let profile = read_profile(&directory.path().join(name)).expect("one for each world");
        assert_eq!(calls(&profile, "MPI_Intercomm_merge"), u64::from(profile.manifest.ranks));
        profile.manifest.ranks
    });
    ranks.sort_unstable();
    assert_eq!(ranks, [1, 2]);
}

#[test]
fn a_plugin_that_is_loaded_for_one_user_alone() {
    let scratch = tempfile::tempdir().expect("a directory can be made");
    let (program, plugin) = (scratch.path().join("loads"), scratch.path().join("plugin.so"));
    compile_with("cc", &["-ldl"], "loads.c", &program);
    compile_with(&mpicc(), &["-shared", "-fPIC", "-ldl"], "plugin.c", &plugin);
    let (seen, directory) = unharmed(&[path(&program), path(&plugin)], 2);
    assert_eq!((seen.code, seen.lines.len()), (Some(0), 4), "{seen:?}");
    assert_eq!(calls(&profile(directory.path()), "MPI_Allreduce"), 2 * 10);
}

/// The loader holds its lock while it calls the plugin's constructor and destructor. Then a thread
/// of the profiler for which they wait gets no further.
#[test]
fn a_plugin_with_which_mpi_begins_and_ends() {
    let scratch = tempfile::tempdir().expect("a directory can be made");
    let (program, plugin) = (scratch.path().join("loads"), scratch.path().join("plugin.so"));
    compile_with("cc", &["-ldl"], "loads.c", &program);
    compile_with(&mpicc(), &["-shared", "-fPIC", "-ldl", "-DAROUND"], "plugin.c", &plugin);
    let (seen, directory) = unharmed(&[path(&program), path(&plugin)], 2);
    assert_eq!((seen.code, seen.lines.len()), (Some(0), 4), "{seen:?}");
    let profile = profile(directory.path());
    let has_line = |name: &str| name.starts_with("MPI_Allreduce at run (plugin.c:");
    assert!(profile.callpaths.iter().any(|(_, path)| has_line(&path.region.name)), "{profile:?}");
}

/// The loader calls constructors of the program's libraries before those of a preloaded one, and
/// their destructors after its own.
#[test]
fn a_library_with_which_mpi_begins_before_the_program_and_ends_after_it() {
    let scratch = tempfile::tempdir().expect("a directory can be made");
    let (program, library) = (scratch.path().join("linked"), scratch.path().join("libplugin.so"));
    compile_with(&mpicc(), &["-shared", "-fPIC", "-ldl", "-DAROUND"], "plugin.c", &library);
    compile_with(&mpicc(), &["-DLINKED", path(&library)], "loads.c", &program);
    let leaves_it_to_the_library = "leaves";
    for words in [&[path(&program)][..], &[path(&program), leaves_it_to_the_library]] {
        let (seen, directory) = unharmed(words, 2);
        assert_eq!((seen.code, seen.lines.len()), (Some(0), 4), "{seen:?}");
        assert_eq!(calls(&profile(directory.path()), "MPI_Allreduce"), 2 * 10);
        assert_eq!(profiles(directory.path()), ["p.tprof"], "{words:?}");
    }
}

/// Compiles a program that is linked to a tool. Returns the directory of both, and the program.
fn linked_to_a_tool() -> (TempDir, PathBuf) {
    let scratch = tempfile::tempdir().expect("a directory can be made");
    let (program, tool) = (scratch.path().join("tooled"), scratch.path().join("libtool.so"));
    compile_with(&mpicc(), &["-shared", "-fPIC"], "tool.c", &tool);
    let link = ["-Wl,--no-as-needed", path(&tool)];
    compile_with(&mpicc(), &link, "tooled.c", &program);
    (scratch, program)
}

#[test]
fn a_program_that_is_linked_to_another_tool() {
    let (_scratch, program) = linked_to_a_tool();
    let (seen, directory) = unharmed(&[path(&program)], 2);
    let lines = [10, 0].map(|sent| format!("begun 1 times, sent {sent} messages"));
    let expected = [0, 1].map(|rank| format!("rank {rank}: {}", lines[rank]));
    assert_eq!((seen.code, seen.lines), (Some(0), expected.to_vec()));
    assert_eq!(calls(&profile(directory.path()), "MPI_Send"), 10);
    assert_eq!(calls(&profile(directory.path()), "MPI_Comm_size"), 0, "the tool's own call");
}

#[test]
fn a_program_whose_mpi_does_not_begin() {
    let (_scratch, program) = linked_to_a_tool();
    let said = "MPI has not begun".to_owned();
    for (how, lines) in [("fails", vec![said.clone(), said]), ("exits", vec![])] {
        let (seen, directory) = unharmed(&[path(&program), how], 2);
        assert_eq!(seen, Seen { code: Some(3), lines }, "{how}");
        assert_eq!(profiles(directory.path()), [""; 0], "{how}");
    }
    let (seen, directory) = unharmed(&[path(&program), "retries"], 2);
    assert_eq!((seen.code, seen.lines.len()), (Some(0), 2), "{seen:?}");
    assert_eq!(calls(&profile(directory.path()), "MPI_Init"), 2 * 2);
    assert_eq!(calls(&profile(directory.path()), "MPI_Send"), 10);
}

#[test]
fn a_program_that_a_shell_starts() {
    let scratch = tempfile::tempdir().expect("a directory can be made");
    let program = compile("paused.c", scratch.path());
    let script = format!("{} && /bin/true; exit 7", path(&program));
    let (seen, directory) = unharmed(&["sh", "-c", &script], 2);
    assert_eq!(seen.code, Some(7));
    assert_eq!(profile(directory.path()).manifest.ranks, 2);
}

#[test]
fn a_program_that_enters_a_sandbox() {
    let scratch = tempfile::tempdir().expect("a directory can be made");
    let program = compile("sandbox.c", scratch.path());
    let (seen, directory) = unharmed(&[path(&program)], 2);
    assert_eq!(seen.lines.iter().filter(|line| *line == "the sum is 1").count(), 1, "{seen:?}");
    assert_eq!(profiles(directory.path()), [""; 0]);
    let segments = fs::read_dir(directory.path().join("segments")).expect("ranks have made it");
    assert_eq!(segments.count(), 2, "one file of each rank, for `tinyprof recover`");
}

/// Without the library, Open MPI 4.1 reads what the array happens to hold.
#[test]
fn undefined_places_for_datatypes_are_not_looked_at() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let program = compile("contents.c", directory.path());
    for level in ["off", "calls", "messages"] {
        let mut command = mpiexec(1);
        command.env("TINYPROF_MPI", level);
        preload(command.arg(&program), directory.path());
        let lines = vec!["0 types, precision 3, range 10".to_owned()];
        assert_eq!(see(&mut command), Seen { code: Some(0), lines }, "at level {level}");
    }
}
