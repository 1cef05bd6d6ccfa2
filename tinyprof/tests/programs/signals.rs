//! Enters regions in a signal handler while its main thread enters regions, continuously.
//!
//! Arguments: the sender of the signals (`timer`, 1 kHz of processor time; `thread`, as fast as it
//! can), and the number of rounds of the main thread. Prints the visits of `a`, `b`, `c` and of the
//! handler.

#![expect(clippy::print_stdout, reason = "the test compares the numbers with the profile")]

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};

use tinyprof::{profile, profile_loop, profile_scope};

static VISITS: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];
static HANDLED: AtomicU64 = AtomicU64::new(0);
static DONE: AtomicBool = AtomicBool::new(false);

/// Regions that call each other by the bits of a number: each number gives a separate callpath.
macro_rules! regions {
    ($($index:literal $name:ident: $zero:ident or $one:ident;)*) => {$(
        #[profile]
        fn $name(bits: u64, depth: u32) {
            VISITS[$index].fetch_add(1, Relaxed);
            if depth > 0 {
                if bits & 1 == 0 { $zero(bits >> 1, depth - 1) } else { $one(bits >> 1, depth - 1) }
            }
        }
    )*};
}
regions! {
    0 a: b or c;
    1 b: c or a;
    2 c: a or b;
}

const DEPTH: u32 = 10;

extern "C" fn handle(_signal: libc::c_int) {
    profile_scope!("handler");
    HANDLED.fetch_add(1, Relaxed);
    profile_scope!("inside");
    HANDLED.fetch_add(1, Relaxed);
}

fn install() {
    // SAFETY: integers and a pointer, for which zeros are valid.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handle as *const () as libc::sighandler_t;
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: the action is initialized; its handler makes only async-signal-safe calls.
    let failed = unsafe { libc::sigaction(libc::SIGPROF, &raw const action, std::ptr::null_mut()) };
    assert_eq!(failed, 0);
}

/// Makes the timer send a signal each time this many microseconds of processor time have passed; 0
/// stops it.
fn set_timer(interval_us: libc::suseconds_t) {
    let interval = libc::timeval { tv_sec: 0, tv_usec: interval_us };
    let timer = libc::itimerval { it_interval: interval, it_value: interval };
    // SAFETY: the timer is initialized.
    let failed =
        unsafe { libc::setitimer(libc::ITIMER_PROF, &raw const timer, std::ptr::null_mut()) };
    assert_eq!(failed, 0);
}

/// Makes the rounds, in a separate region so that they are not executions: each callpath would keep
/// thousands of those.
#[profile]
fn rounds(count: u64) {
    profile_loop!(
        "round",
        mode = each,
        for round in 0..count {
            // New callpaths from the first round to the last.
            a((round << DEPTH) / count, DEPTH);
        }
    );
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let by_timer = arguments.next().as_deref() == Some("timer");
    let count = arguments.next().and_then(|text| text.parse().ok()).expect("a number of rounds");
    install();
    if by_timer {
        set_timer(1_000);
        rounds(count);
        set_timer(0);
    } else {
        // SAFETY: takes no arguments and always succeeds.
        let main_thread = unsafe { libc::pthread_self() };
        std::thread::scope(|scope| {
            scope.spawn(move || {
                while !DONE.load(Relaxed) {
                    // SAFETY: the main thread lives until this one has ended.
                    unsafe { libc::pthread_kill(main_thread, libc::SIGPROF) };
                }
            });
            rounds(count);
            DONE.store(true, Relaxed);
        });
    }
    let [a, b, c] = VISITS.each_ref().map(|visits| visits.load(Relaxed));
    println!("{a} {b} {c} {}", HANDLED.load(Relaxed));
}
