//! Enters regions when the program has almost ended: in destructors of threads, and before and
//! after the profile is written.

#![expect(
    clippy::print_stdout,
    reason = "the test looks whether the last handler has run to its end"
)]

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use tinyprof::profile;

#[profile]
fn work() {}

#[profile]
fn in_destructor() {}

#[profile]
fn before_the_flush() {}

#[profile]
fn after_the_flush(depth: u32) {
    new_callpath(depth);
}

#[profile]
fn new_callpath(depth: u32) {
    if depth > 0 {
        after_the_flush(depth - 1);
    }
}

#[profile]
fn stays(entered: &Sender<()>, go_on: &Receiver<()>) {
    entered.send(()).expect("the main thread waits for this");
    go_on.recv().expect("the last handler says when to go on");
    (0..100).for_each(after_the_flush);
}

/// A value that enters a region when its thread ends.
struct Late;

impl Drop for Late {
    fn drop(&mut self) {
        in_destructor();
    }
}

thread_local! {
    /// Created before the thread's first region, so that it is dropped after the recorder's own
    /// thread-local data.
    static FIRST: Late = const { Late };
    /// Created after it.
    static SECOND: Late = const { Late };
}

static STAYING: Mutex<Option<(JoinHandle<()>, Sender<()>)>> = Mutex::new(None);

extern "C" fn ends_before_the_flush() {
    before_the_flush();
}

extern "C" fn ends_after_the_flush() {
    after_the_flush(3);
    let (thread, go_on) =
        STAYING.lock().expect("nobody panics").take().expect("the thread is there");
    go_on.send(()).expect("the thread waits for this");
    thread.join().expect("the thread does not panic");
    let new = thread::spawn(|| {
        FIRST.with(|_| ());
        (0..100).for_each(after_the_flush);
        SECOND.with(|_| ());
    });
    new.join().expect("the thread does not panic");
    println!("all has ended");
}

fn at_exit(handler: extern "C" fn()) {
    // SAFETY: a function of the program, which takes no arguments.
    let failed = unsafe { libc::atexit(handler) };
    assert_eq!(failed, 0);
}

fn main() -> ExitCode {
    // Handlers run in reverse order; the first region registers the recorder's handler.
    at_exit(ends_after_the_flush);
    FIRST.with(|_| ());
    work();
    SECOND.with(|_| ());
    at_exit(ends_before_the_flush);

    let (entered, wait) = channel();
    let (go_on, may_go_on) = channel();
    let thread = thread::spawn(move || {
        FIRST.with(|_| ());
        stays(&entered, &may_go_on);
    });
    wait.recv().expect("the thread says when it has entered");
    *STAYING.lock().expect("nobody panics") = Some((thread, go_on));
    ExitCode::from(7)
}
