//! Regions on several threads; one of them is still running when the program ends.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use tinyprof::{profile, profile_loop, profile_scope};

const THREADS: usize = 4;
const VISITS: usize = 250;

#[profile]
fn work() {
    profile_loop!(
        "iteration",
        mode = each,
        for _ in 0..3 {
            profile_scope!("inner");
        }
    );
}

#[profile]
fn detached() {
    work();
}

#[profile]
fn waits(entered: &Sender<()>, never: &Receiver<()>) {
    work();
    entered.send(()).expect("the main thread waits for this");
    let _ = never.recv();
}

#[profile]
fn in_destructor() {}

/// A value that enters a region when its thread has almost ended.
struct Late;

impl Drop for Late {
    fn drop(&mut self) {
        in_destructor();
    }
}

thread_local! {
    static LATE: Late = const { Late };
}

#[profile(name = "main")]
fn main() {
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| (0..VISITS).for_each(|_| work()));
        }
    });
    // One after the other, so that their arenas are reused.
    for _ in 0..THREADS {
        let thread = thread::spawn(|| {
            LATE.with(|_| ());
            work();
        });
        thread.join().expect("the thread does not panic");
    }
    let (done, wait) = channel();
    drop(thread::spawn(move || {
        detached();
        done.send(()).expect("the main thread waits for this");
    }));
    wait.recv().expect("the thread says when it is done");

    let (entered, wait) = channel();
    let (keep, never) = channel();
    drop(thread::spawn(move || waits(&entered, &never)));
    wait.recv().expect("the thread says when it has entered");
    // If it were dropped at the end of `main`, the thread would continue while the profile is
    // written.
    Box::leak(Box::new(keep));
}
