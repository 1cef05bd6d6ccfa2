//! Continues in two processes, without a new program in the child.
//!
//! The arguments select how the child ends (`return`, `exit`, `_exit`) and how the parent ends
//! (`return`, `abort`). Prints whether the child has changed a file of its parent.

#![expect(
    clippy::print_stdout,
    reason = "the test looks whether the program's own output is untouched"
)]

use std::collections::BTreeMap;
use std::path::PathBuf;

use tinyprof::{profile, profile_loop};

#[profile]
fn before() {}

#[profile]
fn in_parent() {}

#[profile]
fn in_child(depth: u32) {
    if depth > 0 {
        deeper(depth);
    }
}

#[profile]
fn deeper(depth: u32) {
    in_child(depth - 1);
}

/// Returns the files that this process and its children record into, with their contents.
fn segments() -> BTreeMap<PathBuf, Vec<u8>> {
    let directory = std::env::var_os("TINYPROF_SEGMENT_DIR").unwrap_or_default();
    let Ok(entries) = std::fs::read_dir(directory) else { return BTreeMap::new() };
    let paths = entries.map(|entry| entry.expect("the directory can be read").path());
    paths.map(|path| (path.clone(), std::fs::read(path).expect("the file can be read"))).collect()
}

/// Does enough work for new callpaths, a series that folds, memory that grows, and a thread.
fn child_work() {
    (0..100).for_each(in_child);
    profile_loop!(
        "step",
        mode = each,
        for step in 0..100_000 {
            std::hint::black_box(step);
        }
    );
    std::thread::spawn(|| in_child(3)).join().expect("the thread does not panic");
}

/// Forks inside a region, which then ends in both processes. Returns the status of the child.
#[profile]
fn forks(child_ends: &str) -> Option<i32> {
    let before = segments();
    // SAFETY: there is only one thread, so the child may do whatever the parent may.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "no second process");
    if child == 0 {
        child_work();
        #[expect(
            clippy::exit,
            reason = "the test looks whether it is the same as to return from `main`"
        )]
        match child_ends {
            "exit" => std::process::exit(0),
            // SAFETY: ends the process at once.
            "_exit" => unsafe { libc::_exit(0) },
            _ => return None,
        }
    }
    let mut status = -1;
    // SAFETY: `status` is valid for writing the result.
    let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(waited, child);
    // The parent has recorded nothing since, so not a single byte may differ.
    println!("{} file as it was: {}", before.len(), before == segments());
    Some(status)
}

#[profile]
fn around(child_ends: &str) -> Option<i32> {
    before();
    forks(child_ends)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |at: usize| arguments.get(at).map_or("return", String::as_str);
    let Some(status) = around(argument(0)) else { return };
    in_parent();
    println!("the child ended with {status}");
    if argument(1) == "abort" {
        std::process::abort();
    }
}
