//! Which arena the current thread writes, and the registry of all of them.
//!
//! The thread-local is a plain pointer with a constant initialiser and no destructor: reading it is one
//! instruction, at any time in a thread's life. The arenas belong to the registry and outlive their threads;
//! the arena of a thread that has ended goes on with the next thread that gets its place, so that their number
//! is bounded by the threads that ever lived at the same time.

use std::cell::Cell;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64};

use thread_local::ThreadLocal;

use super::arena::Arena;
use super::clock::Clock;

thread_local! {
    static CURRENT: Cell<*const Arena> = const { Cell::new(ptr::null()) };
    /// Lets go of the arena when the thread ends.
    static DETACH: Detach = const { Detach { place: Cell::new(None) } };
}

// Values of `CURRENT` that are no arena. Null: the thread has not entered a region yet.
/// Recording is off, or there is no memory: visits are skipped.
const OFF: *const Arena = ptr::without_provenance(1);
/// The arena is being made, and a region was entered inside of that, for example in a global allocator; or the
/// thread's destructors run. Visits are counted as lost.
const AWAY: *const Arena = ptr::without_provenance(2);
const LAST_MARK: usize = 2;

static REGISTRY: OnceLock<ThreadLocal<Slot>> = OnceLock::new();
static VISITS_LOST: AtomicU64 = AtomicU64::new(0);

/// The arena of the current thread, if it has one already: all but the first call of a thread.
#[inline]
pub(crate) fn attached<T>(use_arena: impl FnOnce(&Arena) -> T) -> Option<T> {
    let arena = CURRENT.get();
    if arena.addr() <= LAST_MARK {
        return None;
    }
    // SAFETY: a pointer above the marks was stored by `attach`; it points into the registry, which is never
    // dropped, and `Detach` takes it away before another thread may claim the arena.
    Some(use_arena(unsafe { &*arena }))
}

/// What a thread does that has no arena: makes one, or finds out why not. `start` begins the recording of the
/// process if nothing has yet, and says which clock to use; none if recording is off.
#[cold]
#[inline(never)]
pub(crate) fn attach(start: fn() -> Option<Clock>) -> bool {
    match CURRENT.get() {
        arena if arena == OFF => return false,
        arena if arena == AWAY => {
            VISITS_LOST.fetch_add(1, Relaxed);
            return false;
        }
        _ => CURRENT.set(AWAY),
    }
    let arena = start().and_then(claim);
    CURRENT.set(arena.map_or(OFF, ptr::from_ref));
    arena.is_some()
}

fn claim(clock: Clock) -> Option<&'static Arena> {
    let registry = REGISTRY.get_or_init(ThreadLocal::new);
    let mut slot = registry.get_or(|| Slot::new(Arena::new(clock)));
    // The place of a thread may be given to the next one a moment before `Detach` has run: then the arena is
    // still claimed, and the next in the chain serves.
    while slot.claimed.compare_exchange(false, true, Acquire, Relaxed).is_err() {
        slot = slot.next.get_or_init(|| Box::new(Slot::new(Arena::new(clock))));
    }
    let arena = slot.arena.as_ref()?;
    arena.close_all();
    // Without a destructor to let go of it the arena stays claimed, which costs memory but no measurement.
    let _ = DETACH.try_with(|detach| detach.place.set(Some(slot)));
    Some(arena)
}

#[derive(Debug)]
struct Slot {
    claimed: AtomicBool,
    arena: Option<Arena>,
    next: OnceLock<Box<Slot>>,
}

impl Slot {
    fn new(arena: Option<Arena>) -> Self {
        Self { claimed: AtomicBool::new(false), arena, next: OnceLock::new() }
    }
}

struct Detach {
    place: Cell<Option<&'static Slot>>,
}

impl Drop for Detach {
    fn drop(&mut self) {
        CURRENT.set(AWAY);
        if let Some(slot) = self.place.take() {
            slot.claimed.store(false, Release);
        }
    }
}

/// The arenas of all threads that ever entered a region, ended ones included. Any thread.
pub(crate) fn arenas() -> impl Iterator<Item = &'static Arena> {
    let slots = REGISTRY.get().into_iter().flat_map(ThreadLocal::iter);
    slots
        .flat_map(|first| std::iter::successors(Some(first), |slot| slot.next.get().map(AsRef::as_ref)))
        .filter_map(|slot| slot.arena.as_ref())
}

/// Visits that found no arena to be recorded in.
pub(crate) fn visits_lost() -> u64 {
    VISITS_LOST.load(Relaxed)
}
