//! Visits a region for each line that it reads, and prints `done`. Arguments, in any order:
//!
//! * `before`, `after`: it handles `SIGUSR1` itself, starting before or after its first region, and
//!   prints the number of signals at the end;
//! * `ask`: the program requests the on-demand report, not the environment;
//! * `fork`: a child sends itself the signal, and its parent prints what ended it.
//!
//! At the end it prints the number of its threads.

#![expect(clippy::print_stdout, reason = "the tests read what it says")]

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;

use tinyprof::profile;

static HANDLED: AtomicU64 = AtomicU64::new(0);

extern "C" fn handle(_signal: libc::c_int) {
    HANDLED.fetch_add(1, SeqCst);
}

fn install() {
    // SAFETY: the handler only counts.
    unsafe { libc::signal(libc::SIGUSR1, handle as *const () as libc::sighandler_t) };
}

#[profile]
fn work() {}

fn child_sends_itself_the_signal() {
    // SAFETY: the child has one thread, and calls only what such a child may.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: a signal to this process, which ends here at the latest.
        unsafe { libc::raise(libc::SIGUSR1) };
        // SAFETY: ends the child without the exit handlers of its parent.
        unsafe { libc::_exit(7) };
    }
    let mut status = 0;
    // SAFETY: the pointer is valid, and the child is ours.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    println!("the child was ended by signal {}", libc::WTERMSIG(status));
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let is_asked = |what: &str| arguments.iter().any(|argument| argument == what);
    if is_asked("before") {
        install();
    }
    if is_asked("ask") {
        tinyprof::Builder::new().report_on_signal(true).start().expect("the only settings");
    }
    for (number, _) in std::io::stdin().lines().enumerate() {
        work();
        if number == 0 && is_asked("after") {
            install();
        }
        println!("done");
    }
    if is_asked("fork") {
        child_sends_itself_the_signal();
    }
    if is_asked("before") || is_asked("after") {
        println!("handled {}", HANDLED.load(SeqCst));
    }
    println!("{} threads", std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count));
}
