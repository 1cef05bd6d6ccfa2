//! The program under test: visits a tree of callpaths, counts its visits in shared memory, prints a
//! result, ends with 7.
//!
//! Arguments: threads, levels of the tree, rounds (`forever` until it is killed), microseconds
//! between rounds, and how it ends (`return`, `exit`; `stay`: not at all). The environment names
//! the file of the truth (`FAULTS_TRUTH`) and may say which allocation fails (`FAULTS_ALLOCATION`),
//! and whether all that follow do, too (`FAULTS_FOR_GOOD`).

use std::io::{Cursor, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU64};

use tinyprof_faults::phase::Phase;
use tinyprof_faults::sys::{FailingAllocator, exit, spin_us, write_out};
use tinyprof_faults::truth::Truth;
use tinyprof_faults::work::visit_all;

#[global_allocator]
static ALLOCATOR: FailingAllocator = FailingAllocator::new();

/// The threads wait for this, because to make a thread takes calls and allocations of its own,
/// which may not fail.
static BEGIN: AtomicBool = AtomicBool::new(false);
/// They wait for this, because so does their end.
static END: AtomicBool = AtomicBool::new(false);
/// Threads that are where they wait.
static READY: AtomicU64 = AtomicU64::new(0);

#[derive(Clone, Copy)]
struct Work {
    truth: Truth,
    levels: u32,
    pause_us: u64,
}

impl Work {
    fn round(self) {
        visit_all(self.truth, self.levels);
        spin_us(self.pause_us);
    }
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let mut next =
        |what: &str| arguments.next().unwrap_or_else(|| panic!("an argument is missing: {what}"));
    let threads: u64 = next("threads").parse().expect("a number of threads");
    let levels = next("levels").parse().expect("a number of levels");
    let rounds = next("rounds");
    let rounds =
        if rounds == "forever" { u64::MAX } else { rounds.parse().expect("a number of rounds") };
    let pause_us = next("pause").parse().expect("microseconds between rounds");
    let end = next("end");
    let environment = |name: &str| std::env::var(name).ok();
    let truth = environment("FAULTS_TRUTH").expect("FAULTS_TRUTH names the file of the truth");
    let truth = Truth::open(Path::new(&truth)).expect("the file of the truth is there");
    let fail_at = environment("FAULTS_ALLOCATION")
        .map_or(0, |k| k.parse().expect("the number of an allocation"));
    let for_good = environment("FAULTS_FOR_GOOD").is_some();
    let work = Work { truth, levels, pause_us };

    let others = (1..threads).map(|_| {
        std::thread::spawn(move || {
            READY.fetch_add(1, SeqCst);
            wait_until(|| BEGIN.load(SeqCst));
            (0..rounds).for_each(|_| work.round());
            READY.fetch_add(1, SeqCst);
            wait_until(|| END.load(SeqCst));
        })
    });
    let others: Vec<_> = others.collect();
    wait_until(|| READY.load(SeqCst) == threads - 1);
    truth.set_process();
    ALLOCATOR.arm(fail_at, for_good, truth.allocations());
    truth.enter(Phase::Start);
    work.round();
    truth.enter(Phase::Recording);
    BEGIN.store(true, SeqCst);
    (1..rounds).for_each(|_| work.round());
    wait_until(|| READY.load(SeqCst) == 2 * (threads - 1));
    truth.enter(Phase::Own);
    if end == "stay" {
        wait_until(|| false);
    }
    END.store(true, SeqCst);
    others.into_iter().for_each(|other| other.join().expect("its rounds end"));
    result(truth);
    truth.enter(Phase::Final);
    if end == "return" {
        return ExitCode::from(7);
    }
    exit(7)
}

fn wait_until(come: impl Fn() -> bool) {
    while !come() {
        std::thread::yield_now();
    }
}

/// Prints what was computed.
fn result(truth: Truth) {
    let mut line = Cursor::new([0; 64]);
    writeln!(line, "the result is {}", truth.ended()).expect("a number fits");
    let bytes = usize::try_from(line.position()).expect("a short line");
    write_out(&line.get_ref()[..bytes]);
}
