//! Measures its own allocator: every call of it is a region, including those by the recorder.
//!
//! Prints the number of such regions that it entered. With `LATE` in the environment, the regions
//! begin only after `main` has started the recording manually.

#![expect(clippy::print_stdout, reason = "the test compares the number with the profile")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::RefCell;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU8, AtomicU64};

use tinyprof::{profile, profile_scope};

const UNKNOWN: u8 = 0;
const OFF: u8 = 1;
const ON: u8 = 2;

static MEASURED: AtomicU8 = AtomicU8::new(UNKNOWN);
static ENTERED: AtomicU64 = AtomicU64::new(0);

struct Measured;

impl Measured {
    /// Returns whether a call of the allocator is a region; counts it if so.
    fn enters() -> bool {
        if MEASURED.load(Relaxed) == UNKNOWN {
            // SAFETY: a C string; nobody changes the environment.
            let is_late = !unsafe { libc::getenv(c"LATE".as_ptr()) }.is_null();
            MEASURED.store(if is_late { OFF } else { ON }, Relaxed);
        }
        let is_on = MEASURED.load(Relaxed) == ON;
        if is_on {
            ENTERED.fetch_add(1, Relaxed);
        }
        is_on
    }
}

// SAFETY: everything is passed to the system's allocator.
unsafe impl GlobalAlloc for Measured {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if Self::enters() {
            profile_scope!("alloc");
            // SAFETY: guaranteed by the caller.
            return unsafe { System.alloc(layout) };
        }
        // SAFETY: guaranteed by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        if Self::enters() {
            profile_scope!("dealloc");
            // SAFETY: guaranteed by the caller.
            return unsafe { System.dealloc(place, layout) };
        }
        // SAFETY: guaranteed by the caller.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Measured = Measured;

thread_local! {
    /// A value whose destructor frees; std allocates to register that destructor.
    static KEPT: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

#[profile]
fn work(number: u64) {
    KEPT.with_borrow_mut(|kept| kept.push(number));
    let text: Vec<String> = (0..number % 7).map(|part| part.to_string()).collect();
    drop(text);
}

fn main() {
    if MEASURED.load(Relaxed) == OFF {
        MEASURED.store(ON, Relaxed);
        tinyprof::collect::start();
    }
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                KEPT.with_borrow_mut(|kept| kept.push(0));
                (0..5_000).for_each(work);
            });
        }
    });
    println!("{}", ENTERED.load(Relaxed));
}
