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
            let done = longer(50_000_000) > 0 && work_shortly() > 0;
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
fn work_shortly() -> u64 {
    shorter(10_000_000)
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

fn main() {
    let what = std::env::args().nth(1).unwrap_or_default();
    let files = (what == "refused").then(|| allow_files(0));
    let here = work();
    let files = files.or_else(|| (what == "refused-later").then(|| allow_files(0)));
    let there = std::thread::spawn(work).join().expect("it ends well");
    if let Some(files) = files {
        allow_files(files);
    }
    if what == "forks" {
        fork();
    }
    if what == "waits" {
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || work_on(&sender));
        receiver.recv().expect("it works");
    }
    for (at, function) in [longer as fn(u64) -> u64, shorter].into_iter().enumerate() {
        println!("{:x} {}", in_file(function as usize), here[at] + there[at]);
    }
    if what == "killed" {
        // SAFETY: ends the process.
        unsafe { libc::raise(libc::SIGKILL) };
    }
}
