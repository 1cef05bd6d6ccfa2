//! Enters regions when the system gives no more memory: on all threads (`all`), or on all but the
//! main one (`some`).

#![expect(
    clippy::print_stdout,
    reason = "the test looks whether the program's own output is untouched"
)]

use std::process::ExitCode;
use std::sync::Barrier;

use tinyprof::profile;

const THREADS: usize = 3;

#[profile]
fn work() {
    leaf();
}

#[profile]
fn leaf() {}

fn limit() -> libc::rlimit {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is valid for writing the result.
    let failed = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) };
    assert_eq!(failed, 0);
    limit
}

/// Limits the address space of the process, in bytes.
fn set_limit(bytes: libc::rlim_t) {
    let limit = libc::rlimit { rlim_cur: bytes, ..limit() };
    // SAFETY: the limit is initialized.
    let failed = unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) };
    assert_eq!(failed, 0);
}

fn address_space_bytes() -> libc::rlim_t {
    let text = std::fs::read_to_string("/proc/self/status").expect("the system says it");
    let line =
        text.lines().find_map(|line| line.strip_prefix("VmSize:")).expect("the system says it");
    line.trim_end_matches("kB").trim().parse::<libc::rlim_t>().expect("a number") * 1024
}

fn main() -> ExitCode {
    let some = std::env::args().nth(1).as_deref() == Some("some");
    let barrier = Barrier::new(THREADS + 1);
    if some {
        work();
    }
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                barrier.wait();
                barrier.wait();
                (0..100).for_each(|_| work());
                barrier.wait();
            });
        }
        // The threads have started, so their stacks exist.
        barrier.wait();
        let unlimited = limit().rlim_cur;
        // Some for the heap, but less than the smallest arena.
        set_limit(address_space_bytes() + (600 << 10));
        barrier.wait();
        (0..100).for_each(|_| work());
        barrier.wait();
        if some {
            set_limit(unlimited);
        }
    });
    println!("the result is 42");
    ExitCode::from(7)
}
