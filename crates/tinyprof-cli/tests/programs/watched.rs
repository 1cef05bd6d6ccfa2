//! Does one step for each line that it reads, and prints `done`. It stays in the region `run` until
//! its input ends; with `WATCHED_ROOTS`, each step is outside of all regions. With
//! `WATCHED_METRICS`, each step has two metrics. After the line `thread`, a second thread does a
//! step of its own, `aside`, with each of the following.
#![expect(clippy::print_stdout, reason = "the tests read what it says")]

use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use tinyprof::{profile, profile_scope, record};

static HAS_METRICS: LazyLock<bool> =
    LazyLock::new(|| std::env::var_os("WATCHED_METRICS").is_some());

#[profile]
fn step() {
    if *HAS_METRICS {
        record!(cells = 3, faces = 4);
    }
    profile_scope!("a \u{1b}[31mname");
}

#[profile]
fn aside() {}

/// Begins a thread that does a step for each message, and answers it.
fn second_thread() -> (SyncSender<()>, Receiver<()>) {
    let (asks, asked) = sync_channel(0);
    let (answers, answered) = sync_channel(0);
    thread::spawn(move || {
        while let Ok(()) = asked.recv() {
            aside();
            let _ = answers.send(());
        }
    });
    (asks, answered)
}

#[profile]
fn run() {
    let mut second = None;
    for line in std::io::stdin().lines() {
        step();
        if line.is_ok_and(|line| line == "thread") {
            second = Some(second_thread());
        }
        if let Some((asks, answered)) = &second {
            asks.send(()).expect("it waits");
            answered.recv().expect("it answers");
        }
        println!("done");
    }
}

fn main() {
    if std::env::var_os("WATCHED_ROOTS").is_none() {
        return run();
    }
    for _ in std::io::stdin().lines() {
        step();
        println!("done");
    }
}
