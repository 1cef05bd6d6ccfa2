//! Aborts inside nested regions, while another thread is inside a region too.

use std::sync::mpsc::{Receiver, Sender, channel};

use tinyprof::{profile, profile_loop, profile_scope};

#[profile]
fn outer(is_last: bool) {
    profile_scope!("middle");
    profile_loop!(
        "step",
        mode = each,
        for step in 0..10 {
            inner();
            if is_last && step == 6 {
                innermost();
            }
        }
    );
}

#[profile]
fn inner() {}

#[profile]
fn innermost() -> ! {
    std::process::abort()
}

#[profile]
fn waits(entered: &Sender<()>, never: &Receiver<()>) {
    inner();
    entered.send(()).expect("the main thread waits for this");
    let _ = never.recv();
}

fn main() {
    let (entered, wait) = channel();
    let (_keep, never) = channel();
    drop(std::thread::spawn(move || waits(&entered, &never)));
    wait.recv().expect("the thread says when it has entered");
    (0..100).for_each(|_| outer(false));
    outer(true);
}
