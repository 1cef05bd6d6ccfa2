//! `tinyprof run`: starts a program with the library that profiles its MPI calls.
//!
//! The program takes the place of this process, so that its exit code, signals, terminal and output
//! are exactly its own. If it is a launcher, or the first task of a step on several hosts, a
//! process in the background holds the roll call of the job until it ends; the same process watches
//! the condition in `TINYPROF_ON`.

#[cfg(feature = "top")]
mod condition;
#[cfg(not(feature = "top"))]
#[path = "launch/no_condition.rs"]
mod condition;
mod forward;
mod needed;
mod roll_call;
mod sanitizer;
mod tasks;

use std::collections::BTreeSet;
use std::env;
use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{self, Path, PathBuf};
use std::process::{self, Command};

use crate::arguments::RunArguments;
use crate::outcome::Outcome;
use crate::render;
use crate::sys::{in_background, wait_for_end_of};
use condition::{OfRun, Watching};
use roll_call::RollCall;
use tasks::Task;

/// The file name of the library.
const LIBRARY: &str = "libtinyprof_preload.so";

/// The places of the library, relative to the directory of this command: where cargo puts both, and
/// where both are installed.
const PLACES: [&str; 3] = [".", "../lib", "../lib/tinyprof"];

/// The variable with the libraries that are loaded before all others.
const PRELOAD: &str = "LD_PRELOAD";

/// The beginning of the names of our own variables, with that which turns us off.
const OURS: &str = "TINYPROF";

/// The characters that separate the names in that variable.
const SEPARATORS: [u8; 2] = [b':', b' '];

/// Runs the command in place of this process. Returns only if it could not be started.
///
/// # Errors
/// If there is no library to preload, if the program would end because of it, or if an option asks
/// for what cannot be.
pub(crate) fn run(arguments: &RunArguments) -> Result<Outcome, Box<dyn Error>> {
    let library = match &arguments.library {
        Some(given) => found(given)?,
        None => beside(&env::current_exe()?)?,
    };
    let [program, rest @ ..] = arguments.command.as_slice() else {
        return Err("expected a command to run".into());
    };
    let others = env::var_os(PRELOAD).unwrap_or_default();
    if !named(&others).any(sanitizer::is_runtime) {
        sanitizer::check(&arguments.command)?;
    }
    let runtime = sanitizer::runtime_of(program);
    let mut command = Command::new(program);
    command.env(PRELOAD, preload(&library, &others, runtime.as_deref()));
    for setting in arguments.settings.iter().chain(&arguments.out) {
        command.env(setting.variable, &setting.value);
    }
    let condition = condition::asked_for(arguments)?;
    if let Some(condition) = &condition {
        command.env(condition::VARIABLE, condition.token());
    }
    let is_launcher = roll_call::is_launcher(program);
    let (call, published) = invite(&mut command, is_launcher);
    // Where that fails, ranks are profiled as far as they know of each other.
    let begun = begin_background(call, &published, condition);
    if begun.is_err() {
        published.iter().for_each(Task::remove);
    }
    if is_launcher {
        hand_on(&mut command, program, rest);
    }
    let error = command.args(rest).exec();
    Ok(not_started(program, &error))
}

/// Prepares the roll call if the command starts ranks, or is the first of them, and lets the ranks
/// of the command have the invitation. Returns the task that has published it for others.
fn invite(command: &mut Command, is_launcher: bool) -> (Option<RollCall>, Option<Task>) {
    let task = if is_launcher { None } else { task(command) };
    let is_held_here = is_launcher || task.as_ref().is_some_and(Task::is_first);
    let call = if is_held_here { RollCall::new().unwrap_or_default() } else { None };
    let invitation = match (&call, &task) {
        (Some(call), _) => Some(call.invitation().clone()),
        (None, Some(task)) if !is_held_here => task.awaited(),
        (None, _) => None,
    };
    if let Some(invitation) = invitation {
        command.env(tinyprof_roll_call::VARIABLE, invitation.to_string());
    }
    let is_published =
        |task: &Task| call.as_ref().is_some_and(|call| task.publish(call.invitation()).is_ok());
    let published = task.filter(is_published);
    (call, published)
}

/// Returns the task of a batch system that the command is, unless its ranks know of each other by
/// other means.
fn task(command: &Command) -> Option<Task> {
    let set = |name: &str| command.get_envs().find(|(of, _)| *of == name).and_then(|(_, v)| v);
    let value = |name: &str| set(name).map_or_else(|| env::var_os(name), |v| Some(v.to_owned()));
    let is_known = [tinyprof_roll_call::VARIABLE, "TINYPROF_WORLD"];
    if is_known.iter().any(|name| value(name).is_some()) {
        return None;
    }
    let out = value("TINYPROF_OUT").filter(|out| !out.is_empty()).unwrap_or_else(|| ".out".into());
    let directory = path::absolute(out).ok()?;
    Task::new(directory.parent()?, |name| env::var(name).ok())
}

/// Holds the roll call, whose invitation the first task may have published, and watches the
/// condition, in a process in the background, until this process ends.
fn begin_background(
    call: Option<RollCall>,
    published: &Option<Task>,
    condition: Option<OfRun>,
) -> io::Result<()> {
    if call.is_none() && condition.is_none() {
        return Ok(());
    }
    let launcher = process::id();
    let listeners = call.iter().flat_map(RollCall::descriptors);
    let kept: Vec<_> = listeners.chain(condition.iter().map(OfRun::descriptor)).collect();
    in_background(&kept, || {
        let keeper = call.map(RollCall::hold);
        published.iter().for_each(Task::remove_later);
        let peers = move || keeper.as_ref().map(roll_call::hosts).unwrap_or_default();
        let watching = condition.map(|condition| condition.begin(peers));
        wait_for_end_of(launcher);
        published.iter().for_each(Task::remove);
        watching.into_iter().for_each(Watching::end);
    })
}

/// Lets ranks on other hosts get our variables.
fn hand_on(command: &mut Command, launcher: &OsStr, arguments: &[OsString]) {
    let set: Vec<OsString> = command.get_envs().map(|(name, _)| name.to_owned()).collect();
    let inherited = env::vars_os().map(|(name, _)| name);
    let ours = set.into_iter().chain(inherited).filter_map(|name| name.into_string().ok());
    let ours: BTreeSet<String> =
        ours.filter(|name| name == PRELOAD || name.starts_with(OURS)).collect();
    let names: Vec<&str> = ours.iter().map(String::as_str).collect();
    let path = env::var_os("PATH");
    let file = |program: &OsStr| sanitizer::on_path(program, path.as_deref());
    let resolved = file(launcher).and_then(|file| file.canonicalize().ok());
    let named = match resolved {
        Some(file) if !forward::may_be_of_open_mpi(&file) => Vec::new(),
        _ => {
            let is_program = |word: &OsStr| file(word).is_some_and(|file| is_executable(&file));
            forward::options(arguments, is_program, |name| env::var_os(name).is_some())
        }
    };
    let added = forward::added(&names, &named, |name| env::var_os(name));
    command.args(added.arguments);
    command.envs(added.variable);
}

fn is_executable(file: &Path) -> bool {
    let is_for_any = |metadata: Metadata| metadata.permissions().mode() & 0o111 != 0;
    file.metadata().is_ok_and(|metadata| metadata.is_file() && is_for_any(metadata))
}

/// Reports that the program could not be started. Returns the outcome that shells have for it.
fn not_started(program: &OsStr, error: &io::Error) -> Outcome {
    let outcome = match error.kind() {
        ErrorKind::NotFound => Outcome::NotFound,
        _ => Outcome::NotExecutable,
    };
    let message = format!("cannot start {}: {error}", Path::new(program).display());
    render::error(&*Box::<dyn Error>::from(message), None);
    outcome
}

/// Returns the library that the user named, as a path that is valid in every directory.
fn found(library: &Path) -> Result<PathBuf, String> {
    let shown = library.display();
    let path =
        library.canonicalize().map_err(|error| format!("cannot preload {shown}: {error}"))?;
    if !path.is_file() {
        return Err(format!("cannot preload {shown}: it is not a file"));
    }
    // There is no way to quote them.
    if path.as_os_str().as_bytes().iter().any(|byte| SEPARATORS.contains(byte)) {
        return Err(format!(
            "cannot preload {}: {PRELOAD} takes no path with a space or colon; copy the library to another directory, \
             and name it with --library",
            path.display()
        ));
    }
    Ok(path)
}

/// Returns the library that was installed with this command.
fn beside(command: &Path) -> Result<PathBuf, String> {
    let directory = command.parent().unwrap_or(Path::new("/"));
    let places = PLACES.map(|place| directory.join(place).join(LIBRARY));
    match places.iter().find(|place| place.is_file()) {
        Some(place) => found(place),
        None => Err(format!(
            "there is no {LIBRARY} in {0}, nor in lib or lib/tinyprof beside it: cargo install brings the command alone; \
             run make install or pip install ./python in a clone of TinyProf, or name the library with --library",
            directory.display()
        )),
    }
}

/// Returns the libraries to preload: the runtime of a sanitizer if the program needs one, ours,
/// then the others that the environment names.
fn preload(library: &Path, others: &OsStr, runtime: Option<&str>) -> OsString {
    let runtimes = || named(others).filter(|name| sanitizer::is_runtime(name));
    let needed = runtime.map(OsStr::new).filter(|_| runtimes().next().is_none());
    let others = named(others).filter(|name| !sanitizer::is_runtime(name));
    let all: Vec<&OsStr> =
        needed.into_iter().chain(runtimes()).chain([library.as_os_str()]).chain(others).collect();
    all.join(OsStr::new(":"))
}

/// Returns the libraries that the variable names.
fn named(variable: &OsStr) -> impl Iterator<Item = &OsStr> {
    let names = variable.as_bytes().split(|byte| SEPARATORS.contains(byte));
    names.filter(|name| !name.is_empty()).map(OsStr::from_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_library_comes_first_except_for_a_sanitizer() {
        let check = |others: &str, runtime: Option<&str>, expected: &str| {
            assert_eq!(preload(Path::new("/lib/a.so"), OsStr::new(others), runtime), expected);
        };
        check("", None, "/lib/a.so");
        check("/b.so  /c.so", None, "/lib/a.so:/b.so:/c.so");
        check("/b.so", Some("libasan.so.8"), "libasan.so.8:/lib/a.so:/b.so");
        check("/b.so:/gcc/libasan.so", None, "/gcc/libasan.so:/lib/a.so:/b.so");
        check("/gcc/libasan.so", Some("libasan.so.8"), "/gcc/libasan.so:/lib/a.so");
    }

    #[test]
    fn the_library_is_where_the_command_was_installed() {
        let scratch = tempfile::tempdir().expect("a temporary directory");
        let root = scratch.path().canonicalize().expect("it is there");
        let command = root.join("bin/tinyprof");
        std::fs::create_dir_all(root.join("bin")).expect("a directory");
        let message = beside(&command).unwrap_err();
        assert!(message.contains("make install") && message.contains("--library"), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
        for place in ["lib/tinyprof", "lib", "bin"] {
            std::fs::create_dir_all(root.join(place)).expect("a directory");
            let library = root.join(place).join(LIBRARY);
            std::fs::write(&library, "").expect("a file");
            assert_eq!(beside(&command), Ok(library), "the nearest one");
        }
    }

    #[test]
    fn a_path_that_the_loader_would_split_is_refused() {
        let scratch = tempfile::tempdir().expect("a temporary directory");
        for name in ["a b.so", "a:b.so"] {
            let library = scratch.path().join(name);
            std::fs::write(&library, "").expect("a file");
            let message = found(&library).unwrap_err();
            assert!(message.contains("space or colon"), "{message}");
        }
    }
}
