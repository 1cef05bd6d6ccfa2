//! Processor time and run-queue delay of a program beside one that spins, against the system's own
//! numbers.

use std::mem::MaybeUninit;

use crate::program::{Scratch, text};

/// Runs `child`, and returns its output, and the processor time of the whole process, in ns.
fn output_and_cpu_ns(command: &mut std::process::Command) -> (std::process::Output, u64) {
    let before = children_ns();
    let output = command.output().unwrap();
    (output, children_ns() - before)
}

/// Returns the processor time of the children that have ended. Another test may end one meanwhile:
/// the number is an upper bound.
fn children_ns() -> u64 {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the place is valid for the result.
    assert_eq!(unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr()) }, 0);
    // SAFETY: it is numbers only.
    let usage = unsafe { usage.assume_init() };
    let us = |time: libc::timeval| time.tv_sec * 1_000_000 + time.tv_usec;
    u64::try_from(us(usage.ru_utime) + us(usage.ru_stime)).unwrap() * 1_000
}

#[test]
fn processor_time_and_delay_are_those_that_the_system_counts() {
    let place = Scratch::new();
    let mut command = place.command("test_processor");
    let (output, whole_ns) = output_and_cpu_ns(command.env("TINYPROF_REPORT", "off"));
    assert!(output.status.success(), "{output:?}");
    let said: Vec<u64> =
        text(&output.stdout).split_whitespace().map(|number| number.parse().unwrap()).collect();
    let [before_ns, process_ns, threads_ns, delay_ns] = said[..] else { panic!("{output:?}") };
    let found = place.profile().ranks[0].processor;
    // `getrusage` counts in us.
    let tick_ns = 2_000;
    let of_process = process_ns.saturating_sub(tick_ns)..=whole_ns - before_ns + tick_ns;
    assert!(of_process.contains(&found.cpu_ns), "{found:?} {of_process:?}");
    // What threads do around their work also counts.
    assert!((threads_ns..=found.cpu_ns).contains(&found.threads_cpu_ns), "{found:?} {said:?}");
    let not_running_ns = found.threads_ns - found.threads_cpu_ns;
    assert!((delay_ns..=not_running_ns).contains(&found.delay_ns), "{found:?} {said:?}");
    assert!(found.thread_cpu_max_ns < found.threads_cpu_ns, "there were two threads: {found:?}");
    assert!(found.wall_ns >= found.cpu_ns, "one processor: {found:?}");
    assert_eq!(found.threads_unread, 0, "{found:?}");
}
