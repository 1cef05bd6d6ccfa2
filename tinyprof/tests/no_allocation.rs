//! Once a thread has seen a callpath, its visits allocate nothing on the heap.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::future::{Future, ready};
use std::pin::pin;
use std::task::{Context, Waker};

use tinyprof::collect::{snapshot, take_over};
use tinyprof::{profile, profile_loop, profile_scope};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
}

// SAFETY: passes every request to the system's allocator unchanged; counting does not access the
// heap.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of `dealloc`; all pointers come from `System`.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller upholds the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller upholds the contract of `realloc`; all pointers come from `System`.
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The visits of one call: the function, 5 of the recursion, 20 of the other, 30 of the loops, 10
/// scopes, 3 of a region with a key, a future and its callee.
const VISITS: u64 = 1 + 5 + 20 + 30 + 10 + 3 + 2;

#[profile(threads = 1)]
fn execution() {
    tinyprof::record!(cells = 1.5);
    recursive(4);
    // Deep enough to be folded.
    ping(19);
    for key in ["f32", "f64", "f32"] {
        profile_scope!("keyed", split = key);
    }
    profile_loop!(
        "each",
        mode = each,
        cells = i,
        for i in 0..20 {
            std::hint::black_box(());
        }
    );
    profile_loop!(
        "total",
        mode = total,
        for _ in 0..10 {
            profile_scope!("scope");
        }
    );
    let poll = pin!(future()).poll(&mut Context::from_waker(Waker::noop()));
    assert!(poll.is_ready());
}

#[profile(mode = each)]
async fn future() {
    ready(()).await;
    recursive(0);
}

#[profile(mode = each)]
fn recursive(depth: u32) {
    if depth > 0 {
        recursive(depth - 1);
    }
}

#[profile]
fn ping(depth: u32) {
    if depth > 0 {
        pong(depth - 1);
    }
}

#[profile(mode = each)]
fn pong(depth: u32) {
    if depth > 0 {
        ping(depth - 1);
    }
}

fn allocations_of(work: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

#[test]
fn ten_million_visits_and_their_metrics_allocate_nothing() {
    const EXECUTIONS: u64 = 150_000;
    // The test reads the snapshot, so no profile is to be written.
    assert!(take_over(tinyprof::collect::Ending::default));
    assert!(allocations_of(|| drop(std::hint::black_box(Box::new(1)))) > 0, "the allocator counts");
    execution();
    assert_eq!(allocations_of(|| (0..EXECUTIONS).for_each(|_| execution())), 0);
    let map = snapshot();
    assert_eq!(
        map.values.iter().map(tinyprof_format::model::CallpathValues::visits).sum::<u64>(),
        VISITS * (EXECUTIONS + 1)
    );
    let metrics = map.values.iter().flat_map(|values| values.metrics.values());
    assert_eq!(
        metrics.map(tinyprof_format::model::MetricValues::values).sum::<u64>(),
        22 * (EXECUTIONS + 1)
    );
    assert_eq!(map.facts.losses.named(), tinyprof_format::model::Losses::default().named());
}
