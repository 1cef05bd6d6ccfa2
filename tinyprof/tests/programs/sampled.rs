//! Two functions without regions of their own, below one region, that work for known processor
//! times. Prints for each where it is in the executable's file, as hexadecimal number, and its
//! processor time, in ns. The argument says what else happens: see the test.

#![expect(clippy::print_stdout, reason = "the test compares the numbers with the profile")]

use std::fs;
use std::sync::mpsc;

use tinyprof::profile;

/// Defines a function that works for the given processor time, and returns how long it was. No
/// function is called in the loop: samples are in it.
macro_rules! working {
    ($name:ident, $shift:literal) => {
        #[inline(never)]
        fn $name(wanted_ns: u64) -> u64 {
            let begin_ns = processor_ns();
            loop {
                let (mut left, mut word) = (200_000_u64, begin_ns | 1);
                while left != 0 {
                    word ^= word << $shift;
                    word ^= word >> 7;
                    left -= 1;
                }
                let passed_ns = processor_ns() - begin_ns;
                if passed_ns >= wanted_ns && word != 0 {
                    return passed_ns;
                }
            }
        }
    };
}

working!(longer, 13);
working!(shorter, 17);

/// Returns the processor time of this thread, in ns.
fn processor_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the place is valid for the result.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    let number = |number: i64| u64::try_from(number).expect("it is positive");
    number(time.tv_sec) * 1_000_000_000 + number(time.tv_nsec)
}

#[profile]
fn work() -> [u64; 2] {
    [longer(300_000_000), shorter(100_000_000)]
}

/// Returns an address as the executable's file counts it: it is mapped from its beginning.
fn in_file(address: usize) -> usize {
    let maps = fs::read_to_string("/proc/self/maps").expect("there is one");
    let first = maps.split('-').next().expect("it has a line");
    address - usize::from_str_radix(first, 16).expect("an address")
}

/// Sets the number of files that may be open, and returns what it was.
fn allow_files(number: u64) -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the place is valid for the result.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    let before = limit.rlim_cur;
    limit.rlim_cur = number;
    // SAFETY: the limit is a valid one.
    unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) };
    before
}

/// Works in a child, which must end well.
fn fork() {
    // SAFETY: there is no other thread.
    match unsafe { libc::fork() } {
        0 => {
            let done = longer(50_000_000) > 0 && work_shortly(10_000_000) > 0;
            // SAFETY: ends the process.
            unsafe { libc::_exit(if done { 7 } else { 1 }) }
        }
        child => {
            let mut state = 0;
            // SAFETY: the place is valid for the result.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut state, 0) }, child);
            assert_eq!(libc::WEXITSTATUS(state), 7);
        }
    }
}

#[profile]
fn work_shortly(wanted_ns: u64) -> u64 {
    shorter(wanted_ns)
}

/// Works until the program ends.
#[profile]
fn work_on(at_work: &mpsc::Sender<()>) {
    longer(20_000_000);
    at_work.send(()).expect("it is waited for");
    loop {
        std::thread::park();
    }
}

/// A thread that never enters a region.
struct Helper {
    wanted_ns: mpsc::Sender<u64>,
    worked_ns: mpsc::Receiver<u64>,
}

impl Helper {
    fn new() -> Self {
        let (wanted_ns, wants) = mpsc::channel();
        let (works, worked_ns) = mpsc::channel();
        let (begins, begun) = mpsc::channel();
        std::thread::spawn(move || {
            begins.send(()).expect("it is waited for");
            while let Ok(wanted_ns) = wants.recv() {
                works.send(longer(wanted_ns)).expect("it is waited for");
            }
        });
        begun.recv().expect("it has begun");
        Self { wanted_ns, worked_ns }
    }
}

#[profile]
fn work_by(helper: &Helper, wanted_ns: u64) -> u64 {
    helper.wanted_ns.send(wanted_ns).expect("it is there");
    helper.worked_ns.recv().expect("it works")
}

/// Has threads work that were made before the first region, and later; and makes others that end.
fn find(early: &Helper) -> u64 {
    let mut worked_ns = work_by(early, 200_000_000);
    let late = Helper::new();
    // A region, so that the thread is found.
    worked_ns += work_by(early, 10_000_000);
    worked_ns += work_by(&late, 200_000_000);
    for _ in 0..100 {
        let short = Helper::new();
        worked_ns += work_by(early, 1);
        worked_ns += work_by(&short, 1);
    }
    worked_ns + work_by(early, 1)
}

fn main() {
    let what = std::env::args().nth(1).unwrap_or_default();
    let early = (what == "found").then(Helper::new);
    let files = (what == "refused").then(|| allow_files(0));
    let here = work();
    let files = files.or_else(|| (what == "refused-later").then(|| allow_files(0)));
    let there = std::thread::spawn(work).join().expect("it ends well");
    if let Some(files) = files {
        allow_files(files);
    }
    let mut of_threads = 0;
    if what == "threads" {
        let begin = |_| std::thread::spawn(|| work_shortly(20_000_000));
        let threads: Vec<_> = (0..64).map(begin).collect();
        of_threads = threads.into_iter().map(|thread| thread.join().expect("it ends well")).sum();
    }
    let found_ns = early.as_ref().map_or(0, find);
    if what == "forks" {
        fork();
    }
    if what == "waits" {
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || work_on(&sender));
        receiver.recv().expect("it works");
    }
    for (at, function) in [longer as fn(u64) -> u64, shorter].into_iter().enumerate() {
        let of_threads = [found_ns, of_threads][at];
        println!("{:x} {}", in_file(function as usize), here[at] + there[at] + of_threads);
    }
    if what == "killed" {
        // SAFETY: ends the process.
        unsafe { libc::raise(libc::SIGKILL) };
    }
}
