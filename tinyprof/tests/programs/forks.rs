//! Goes on in two processes, without a new program in the child.

#![expect(clippy::print_stdout, reason = "the test looks whether the program's own output is untouched")]

use tinyprof::profile;

#[profile]
fn before() {}

#[profile]
fn in_parent() {}

#[profile]
fn in_child() {}

fn main() {
    before();
    // SAFETY: there is one thread, so that the child may do whatever the parent may.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "no second process");
    if child == 0 {
        in_child();
        return;
    }
    let mut status = -1;
    // SAFETY: `status` is a valid place for the result.
    let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(waited, child);
    in_parent();
    println!("the child ended with {status}");
    if std::env::args().nth(1).as_deref() == Some("abort") {
        std::process::abort();
    }
}
