//! Prints a result, and ends in the way that its argument names.

#![expect(
    clippy::print_stdout,
    reason = "the test looks whether the program's own output is untouched"
)]

use std::io::Write;
use std::process::ExitCode;

use tinyprof::{profile, profile_scope};

#[profile]
fn work(how: &str) -> u32 {
    profile_scope!("inner");
    leaf();
    match how {
        "exit" => exit(3),
        "panic" => panic!("the program's own panic"),
        _ => 42,
    }
}

#[profile]
fn leaf() {}

#[profile]
#[expect(
    clippy::exit,
    reason = "the test looks whether regions that are open then are in the profile"
)]
fn exit(code: i32) -> ! {
    std::process::exit(code)
}

fn main() -> ExitCode {
    let how = std::env::args().nth(1).unwrap_or_default();
    match how.as_str() {
        "no-region" => return ExitCode::from(5),
        // Programs do this to end quietly in `program | head`. SAFETY: sets a disposition that has
        // no handler.
        "sigpipe" => drop(unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) }),
        _ => {}
    }
    if how == "moves" {
        work("first");
        std::env::set_current_dir("/").expect("there is a root");
    }
    let result = work(&how);
    // If standard output is closed, there is nobody to tell.
    drop(writeln!(std::io::stdout(), "the result is {result}"));
    if how == "count" {
        println!("{} callpaths were recorded", tinyprof::collect::snapshot().callpaths.len());
    }
    ExitCode::from(7)
}
