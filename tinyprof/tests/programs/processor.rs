//! Works on one processor beside a process that spins there, with a thread that works and ends, and
//! prints what the system says of its processor time. Each line has the moment, the processor time
//! of the process, and the processor time and delay of the threads that work, in ns.

#![expect(clippy::print_stdout, reason = "the test compares the numbers with the profile")]

use std::fs;
use std::mem::MaybeUninit;

use tinyprof::profile;

/// The processor time and the delay that each thread waits for.
const ENOUGH_NS: u64 = 60_000_000;

/// Keeps this process, and those that it makes, to one of the processors that it may use.
fn stay_on_one_processor() {
    // SAFETY: it is numbers only.
    let mut set: libc::cpu_set_t = unsafe { MaybeUninit::zeroed().assume_init() };
    let bytes = size_of::<libc::cpu_set_t>();
    // SAFETY: the set has this length.
    assert_eq!(unsafe { libc::sched_getaffinity(0, bytes, &raw mut set) }, 0);
    let numbers = 0..usize::try_from(libc::CPU_SETSIZE).expect("it is small");
    // SAFETY: the numbers are below the size of the set.
    let first = numbers.clone().find(|&number| unsafe { libc::CPU_ISSET(number, &set) });
    for number in numbers.filter(|&number| Some(number) != first) {
        // SAFETY: the numbers are below the size of the set.
        unsafe { libc::CPU_CLR(number, &mut set) };
    }
    // SAFETY: the numbers are below the size of the set.
    assert_eq!(unsafe { libc::sched_setaffinity(0, bytes, &raw const set) }, 0);
}

/// Starts a process that spins until this one ends.
fn spin_beside() {
    // SAFETY: the program has one thread so far, and the child only makes system calls.
    if unsafe { libc::fork() } == 0 {
        // SAFETY: takes no pointer.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        loop {
            std::hint::spin_loop();
        }
    }
}

/// Returns processor time and delay of this thread, in ns.
fn of_thread() -> [u64; 2] {
    let text = fs::read_to_string("/proc/thread-self/schedstat").expect("the system keeps it");
    let mut numbers = text.split_whitespace().map(|number| number.parse().expect("a number"));
    std::array::from_fn(|_| numbers.next().expect("three numbers"))
}

/// Returns the processor time of this process, as `getrusage` tells it.
fn of_process() -> u64 {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the place is valid for the result.
    assert_eq!(unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) }, 0);
    // SAFETY: it is numbers only.
    let usage = unsafe { usage.assume_init() };
    let us = |time: libc::timeval| time.tv_sec * 1_000_000 + time.tv_usec;
    u64::try_from(us(usage.ru_utime) + us(usage.ru_stime)).expect("it is positive") * 1_000
}

/// Works until the thread has had its processor time and its delay, and returns both since
/// `before`.
#[profile]
fn work(before: [u64; 2]) -> [u64; 2] {
    loop {
        for number in 0..100_000_u64 {
            std::hint::black_box(number);
        }
        let now = of_thread();
        let passed: [u64; 2] = std::array::from_fn(|at| now[at] - before[at]);
        if passed.iter().all(|&ns| ns >= ENOUGH_NS) {
            return passed;
        }
    }
}

#[profile]
fn begin() {}

fn main() {
    stay_on_one_processor();
    spin_beside();
    let before = of_process();
    let mut sums = [0, 0];
    begin();
    let after_first = of_process();
    let mut add = |passed: [u64; 2]| (0..2).for_each(|at| sums[at] += passed[at]);
    add(work(of_thread()));
    let thread = std::thread::spawn(|| {
        begin();
        work(of_thread())
    });
    add(thread.join().expect("it ends well"));
    println!("{} {} {} {}", before, of_process() - after_first, sums[0], sums[1]);
}
