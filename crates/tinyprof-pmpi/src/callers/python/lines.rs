//! Lines of scripts as they are named, each kept once.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use tinyprof::__calls::ScriptLine;

/// The most lines that are kept.
const LINES_MAX: usize = 8192;

/// Returns the line itself, of which there is one for the whole process; `None` beyond the most
/// that are kept.
pub(super) fn kept(line: ScriptLine) -> Option<&'static ScriptLine> {
    static LINES: Mutex<Option<HashSet<&'static ScriptLine>>> = Mutex::new(None);
    let mut lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
    let lines = lines.get_or_insert_default();
    if let Some(known) = lines.get(&line) {
        return Some(known);
    }
    if lines.len() == LINES_MAX {
        return None;
    }
    let line: &'static ScriptLine = Box::leak(Box::new(line));
    lines.insert(line);
    Some(line)
}

/// Returns a function's name without what Python says of functions in functions, and without angle
/// brackets: `step.<locals>.<lambda>` is `step.lambda`, and the code outside of all functions
/// `module`.
pub(super) fn plain(name: &str) -> String {
    name.replace(".<locals>", "").replace(['<', '>'], "")
}

/// Returns whether a file is one of mpi4py's own, or of those by which Python imports and runs
/// modules.
pub(super) fn is_of_bindings(file: &str) -> bool {
    const OF_MPI4PY: [&str; 7] =
        ["futures/", "util/", "run.py", "bench.py", "__init__.py", "__main__.py", "MPI.py"];
    let is_of_mpi4py = |at: usize| {
        let inside = &file[at + "/mpi4py/".len()..];
        OF_MPI4PY.iter().any(|start| inside.starts_with(start))
    };
    file.starts_with("<frozen ") || file.rfind("/mpi4py/").is_some_and(is_of_mpi4py)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_lines_are_one() {
        let line = |line| ScriptLine { function: "f".into(), file: "a.py".into(), line };
        let first = kept(line(1)).expect("there is room");
        assert!(std::ptr::eq(first, kept(line(1)).expect("it is kept")));
        assert!(!std::ptr::eq(first, kept(line(2)).expect("there is room")));
    }

    #[test]
    fn names_have_no_angle_brackets() {
        for (name, expected) in [
            ("step", "step"),
            ("Grid.exchange", "Grid.exchange"),
            ("<module>", "module"),
            ("main.<locals>.<lambda>", "main.lambda"),
        ] {
            assert_eq!(plain(name), expected);
        }
    }

    #[test]
    fn bindings_are_known_by_their_files() {
        for (file, is_of) in [
            ("/usr/lib/python3/dist-packages/mpi4py/futures/_core.py", true),
            ("/home/u/env/lib/python3.11/site-packages/mpi4py/util/dtlib.py", true),
            ("<frozen importlib._bootstrap>", true),
            ("/home/u/mpi4py/demo/app.py", false),
            ("/home/u/mpi4py/run_all.py", false),
            ("app.py", false),
            ("<string>", false),
        ] {
            assert_eq!(is_of_bindings(file), is_of, "{file}");
        }
    }
}
