//! Programs linked to `AddressSanitizer`, whose runtime ends them if another library is loaded
//! before it: `ASan runtime does not come first in initial library list`.
//!
//! The runtime of a program that takes the place of this command is preloaded before our library.
//! If a launcher starts the program, that would put the runtime into the launcher, too, whose exit
//! code it may change. Then `tinyprof run` has to come after the launcher.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::needed::needed;

/// The beginnings of the names of the runtime as a library: GCC's, and Clang's. A runtime that is
/// linked statically always comes first.
const RUNTIMES: [&str; 2] = ["libasan.so", "libclang_rt.asan"];

/// The option that switches the runtime's check off, in `ASAN_OPTIONS`.
const UNCHECKED: &str = "verify_asan_link_order=0";

/// Returns `true` if this library is the runtime.
pub(super) fn is_runtime(library: &OsStr) -> bool {
    let name = Path::new(library).file_name().unwrap_or_default().to_string_lossy();
    RUNTIMES.iter().any(|runtime| name.starts_with(runtime))
}

/// Returns the runtime that a program is linked to, if it is.
pub(super) fn runtime_of(program: &OsStr) -> Option<String> {
    let path = on_path(program, env::var_os("PATH").as_deref())?;
    needed(&path).into_iter().find(|library| is_runtime(OsStr::new(library)))
}

/// Checks that no program among the arguments of a launcher would be ended by its runtime.
///
/// # Errors
/// If there is one, with the command that works.
pub(super) fn check(command: &[OsString]) -> Result<(), String> {
    let is_unchecked = env::var_os("ASAN_OPTIONS")
        .is_some_and(|options| options.to_string_lossy().contains(UNCHECKED));
    // A launcher may be told what to preload, or to start another `tinyprof run`.
    let preloads = |argument: &OsString| {
        argument.to_string_lossy().contains(super::PRELOAD)
            || Path::new(argument).file_name() == Some(OsStr::new("tinyprof"))
    };
    if is_unchecked || command.iter().any(preloads) {
        return Ok(());
    }
    for (at, argument) in command.iter().enumerate().skip(1) {
        let found = needed(Path::new(argument)).into_iter();
        let Some(runtime) = found.into_iter().find(|library| is_runtime(OsStr::new(library)))
        else {
            continue;
        };
        let text = |arguments: &[OsString]| {
            let arguments = arguments.iter().map(|argument| argument.to_string_lossy());
            arguments.collect::<Vec<_>>().join(" ")
        };
        return Err(format!(
            "{} is linked to AddressSanitizer, and ends if {runtime} is not loaded before all other libraries: put \
             tinyprof behind the launcher, as in {} tinyprof run -- {}",
            argument.to_string_lossy(),
            text(&command[..at]),
            text(&command[at..])
        ));
    }
    Ok(())
}

/// Returns the file that a program's name stands for.
pub(super) fn on_path(program: &OsStr, path: Option<&OsStr>) -> Option<PathBuf> {
    if Path::new(program).components().count() > 1 {
        return Some(PathBuf::from(program));
    }
    let places = env::split_paths(path?).map(|directory| directory.join(program));
    places.into_iter().find(|place| place.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runtimes_of_both_compilers_are_known() {
        let check = |name: &str, expected| assert_eq!(is_runtime(OsStr::new(name)), expected);
        check("libasan.so.8", true);
        check("/usr/lib/gcc/x86_64-linux-gnu/12/libasan.so", true);
        check("libclang_rt.asan-x86_64.so", true);
        check("libtsan.so.2", false);
        check("/libasan.so/libc.so.6", false);
    }

    #[test]
    fn a_name_without_a_directory_is_looked_up() {
        let path = OsStr::new("/none:/bin");
        assert_eq!(on_path(OsStr::new("sh"), Some(path)), Some(PathBuf::from("/bin/sh")));
        assert_eq!(on_path(OsStr::new("./a.out"), Some(path)), Some(PathBuf::from("./a.out")));
        assert_eq!(on_path(OsStr::new("no-such-program"), Some(path)), None);
    }
}
