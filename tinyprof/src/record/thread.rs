//! The arena that the current thread writes, and the registry of all arenas.
//!
//! The thread-local is a plain pointer with a constant initialiser and no destructor: reading it is
//! one instruction, at any time in a thread's life. The arenas belong to the registry and outlive
//! their threads. When a thread ends, a later thread takes over its arena, so their number is
//! bounded by the largest number of threads alive at the same time.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64};

use tinyprof_segment::layout::header;

use super::arena::Arena;
use super::clock::Clock;
use super::current::{self, LAST_MARK, SET_ASIDE};
use super::segments;
use crate::sys::{Room, ThreadEnd, thread_word, undisturbed};

// Values of `current` that are not an arena. Null: the thread has not entered a region yet.
/// Recording is off: visits are skipped.
const OFF: *const Arena = ptr::without_provenance(1);
/// The arena is being made, and a region was entered meanwhile, for example in a global allocator;
/// or the thread has ended, or is one of ours. Visits are counted as kept out.
const KEPT_OUT: *const Arena = ptr::without_provenance(2);
/// There is no memory for an arena. Visits are counted as lost.
const NO_MEMORY: *const Arena = ptr::without_provenance(LAST_MARK);

/// The newest slot. Slots are never removed.
static REGISTRY: AtomicPtr<Slot> = AtomicPtr::new(ptr::null_mut());
static VISITS_LOST: AtomicU64 = AtomicU64::new(0);
static VISITS_KEPT_OUT: AtomicU64 = AtomicU64::new(0);
static THREAD_END: ThreadEnd = ThreadEnd::new();
/// Set if the flush points of every thread are watched.
static WATCH_ALL: AtomicBool = AtomicBool::new(false);

/// Changes the arena or state of the calling thread.
fn set_current(current: *const Arena) {
    let is_set_aside = Current(current).arena().is_some_and(Arena::is_switched_off);
    current::set(current.cast(), is_set_aside);
}

/// Lets [`arena_by_word`] find no arena while measuring is switched off, or find it then as well.
pub(crate) fn set_aside_for_calls(is_set_aside: bool) {
    current::set_aside_for_calls(is_set_aside);
}

/// The arena or state of the current thread. It is of no use to another thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Current(*const Arena);

/// Returns the arena or state of this thread.
#[inline]
pub(crate) fn current() -> Current {
    Current(current::get().cast())
}

impl Current {
    /// Returns whether the thread has found that recording is off.
    #[inline]
    pub(crate) fn is_off(self) -> bool {
        self.0 == OFF
    }

    /// Returns the arena, if there is one already: on every call of a thread but the first.
    ///
    /// The caller must not let another thread write to it: it belongs to this thread until the
    /// thread ends.
    #[inline]
    pub(crate) fn arena(self) -> Option<&'static Arena> {
        if self.0.addr() <= LAST_MARK {
            return None;
        }
        let arena = current::without_mark(self.0.cast()).cast::<Arena>();
        // SAFETY: a pointer above the marks was stored by `attach`; it points into the registry,
        // which is never dropped. Everything in an arena is atomic, so that a shared reference is
        // sound on any thread.
        Some(unsafe { &*arena })
    }

    /// Returns the arena, if there is one already, and measuring is not switched off in it.
    #[inline]
    pub(crate) fn measuring(self) -> Option<&'static Arena> {
        // SAFETY: as for `arena`, and the pointer has no other bit.
        (self.0.addr().cast_signed() > LAST_MARK.cast_signed()).then(|| unsafe { &*self.0 })
    }

    /// Returns whether measuring is switched off, and no command has come that may change it.
    #[inline]
    pub(crate) fn stays_switched_off(self) -> bool {
        if self.0.addr() & SET_ASIDE == 0 {
            return false;
        }
        // SAFETY: as for `arena`: only arenas bear the mark.
        let arena = unsafe { &*current::without_mark(self.0.cast()).cast::<Arena>() };
        !arena.has_news_while_off()
    }
}

/// Returns the arena of the current thread, if it has one already.
#[inline]
pub(crate) fn arena() -> Option<&'static Arena> {
    current().arena()
}

/// Returns the arena of the current thread, if it has one already, as fast in a library as in an
/// executable.
#[inline(always)]
pub(crate) fn arena_by_word() -> Option<&'static Arena> {
    let word = thread_word::get();
    // One comparison tells both: there is none, and it is set aside.
    let is_there = word.cast_signed() > 0;
    // SAFETY: a pointer of `current` that is an arena, see `Current::arena`.
    is_there.then(|| unsafe { &*ptr::with_exposed_provenance::<Arena>(word) })
}

/// Returns the arena of the current thread if it is [set aside](set_aside_for_calls).
#[inline]
pub(crate) fn arena_set_aside() -> Option<&'static Arena> {
    let word = thread_word::get();
    let arena = ptr::with_exposed_provenance::<Arena>(word & !SET_ASIDE);
    // SAFETY: as for `arena_by_word`.
    (word & SET_ASIDE != 0).then(|| unsafe { &*arena })
}

/// Returns the arena of the current thread, and makes it if there is none yet. Returns `None` if
/// nothing can be recorded. `start` is that of [`attach`].
#[inline]
pub(crate) fn arena_or_attach(start: fn() -> Option<Clock>) -> Option<&'static Arena> {
    arena().or_else(|| attach(start).then(arena).flatten())
}

/// Calls `work` while this thread records into `arena`.
pub(crate) fn while_on<T>(arena: &Arena, work: impl FnOnce() -> T) -> T {
    let before = current().0;
    set_current(arena);
    let done = work();
    set_current(before);
    done
}

/// Makes an arena for a thread that has none, and returns whether it could. `start` begins the
/// recording of the process if it has not begun yet, and returns the clock to use, or `None` if
/// recording is off.
#[cold]
#[inline(never)]
pub(crate) fn attach(start: fn() -> Option<Clock>) -> bool {
    match current().0 {
        arena if arena == OFF => return false,
        arena if arena == KEPT_OUT => {
            count_lost(&VISITS_KEPT_OUT, header::KEPT_OUT_ELSEWHERE);
            return false;
        }
        arena if arena == NO_MEMORY => {
            count_lost(&VISITS_LOST, header::LOST_ELSEWHERE);
            return false;
        }
        _ => set_current(KEPT_OUT),
    }
    let Some(arena) = undisturbed(|| start().map(claim)) else {
        set_current(OFF);
        return false;
    };
    if arena.is_none() {
        count_lost(&VISITS_LOST, header::LOST_ELSEWHERE);
    }
    set_current(arena.map_or(NO_MEMORY, ptr::from_ref));
    arena.is_some()
}

/// Runs `work` without recording: regions that this thread enters meanwhile, for example in a
/// global allocator, are counted as kept out.
pub(crate) fn while_away<T>(work: impl FnOnce() -> T) -> T {
    let before = current().0;
    set_current(KEPT_OUT);
    let done = work();
    set_current(before);
    done
}

/// Returns whether what this thread does is not recorded, as it is the profiler's own.
pub(super) fn is_away() -> bool {
    current().0 == KEPT_OUT
}

/// Stops recording on this thread until it ends: regions that it enters are counted as kept out.
pub(crate) fn stay_away() {
    set_current(KEPT_OUT);
}

/// Watches the flush points of all threads, including future ones.
pub(crate) fn watch_all() {
    WATCH_ALL.store(true, Relaxed);
    arenas().for_each(|arena| arena.watch(true));
}

/// Watches the flush points of no thread.
pub(crate) fn watch_none() {
    WATCH_ALL.store(false, Relaxed);
    arenas().for_each(|arena| arena.watch(false));
}

/// Watches the flush points of this thread and no other. Returns false if there is no arena for it.
/// `start` is that of [`attach`].
pub(crate) fn watch_this_alone(start: fn() -> Option<Clock>) -> bool {
    watch_none();
    if arena().is_none() && !attach(start) {
        return false;
    }
    arena().map(|arena| arena.watch(true)).is_some()
}

/// Takes over the arena of a thread that has ended, or makes a new one. Allocates nothing on the
/// heap.
fn claim(clock: Clock) -> Option<&'static Arena> {
    let free = |slot: &&Slot| slot.claimed.compare_exchange(false, true, Acquire, Relaxed).is_ok();
    let slot = slots().find(free).or_else(|| new_slot(clock))?;
    let arena = &slot.arena;
    arena.check_process();
    if !arena.is_mapped() {
        segments::count_unmapped(arenas());
    }
    arena.close_all();
    arena.watch(WATCH_ALL.load(Relaxed));
    arena.follow_processor();
    arena.begin_samples();
    // A thread whose end is not noticed keeps the arena, which costs memory but no measurement.
    THREAD_END.call_for_this_thread(slot);
    Some(arena)
}

/// Returns a new slot, claimed and in the registry.
fn new_slot(clock: Clock) -> Option<&'static Slot> {
    // First, because an arena without a slot would leave its file behind.
    let room = Room::new()?;
    let arena = segments::arena(clock)?;
    arena.begin_events();
    let slot =
        room.fill(Slot { claimed: AtomicBool::new(true), arena, next: AtomicPtr::default() });
    let mut newest = REGISTRY.load(Relaxed);
    loop {
        slot.next.store(newest, Relaxed);
        match REGISTRY.compare_exchange_weak(
            newest,
            ptr::from_ref(slot).cast_mut(),
            Release,
            Relaxed,
        ) {
            Ok(_) => return Some(slot),
            Err(found) => newest = found,
        }
    }
}

/// An arena, with a flag that is set while a live thread writes it.
#[derive(Debug)]
struct Slot {
    claimed: AtomicBool,
    arena: Arena,
    next: AtomicPtr<Self>,
}

/// Makes new threads take over the arenas of threads that have ended. Called once, before the first
/// arena is made.
pub(crate) fn pass_arenas_on() {
    THREAD_END.handle(let_go);
}

/// Releases the slot of a thread that ends. The program's own thread-local variables have been
/// dropped already, so regions in their destructors were recorded.
unsafe extern "C" fn let_go(slot: *mut c_void) {
    set_current(KEPT_OUT);
    // SAFETY: `claim` has given it a slot, and slots are never freed.
    let slot = unsafe { &*slot.cast::<Slot>() };
    slot.arena.leave_processor();
    slot.arena.end_samples();
    slot.claimed.store(false, Release);
}

fn slots() -> impl Iterator<Item = &'static Slot> {
    // SAFETY: the registry holds null or slots, which are never freed and are complete before they
    // get there.
    let at = |slot: &AtomicPtr<Slot>| unsafe { slot.load(Acquire).as_ref() };
    std::iter::successors(at(&REGISTRY), move |slot| at(&slot.next))
}

/// Returns the arenas of all threads that ever entered a region, including ended ones. Any thread.
pub(crate) fn arenas() -> impl Iterator<Item = &'static Arena> {
    slots().map(|slot| &slot.arena)
}

/// Counts a visit of a thread that has no arena. The count is also kept in the file of a thread
/// that has one, if there is any, so that it survives the process.
#[cold]
fn count_lost(counter: &AtomicU64, word: usize) {
    counter.fetch_add(1, Relaxed);
    if let Some(arena) = arenas().find(|arena| arena.has_file()) {
        arena.header(word).fetch_add(1, Relaxed);
    }
}

/// Returns the number of visits on threads without memory for an arena.
pub(crate) fn visits_lost() -> u64 {
    VISITS_LOST.load(Relaxed)
}

/// Returns the number of visits while their thread's arena was being made, or after the thread's
/// end.
pub(crate) fn visits_kept_out() -> u64 {
    VISITS_KEPT_OUT.load(Relaxed)
}

#[cfg(test)]
mod tests {
    use tinyprof_format::model::{Mode, RegionKind};

    use super::*;
    use crate::record::Site;

    static OUTER: Site = Site::new("outer", "t", "t.rs", 1, 1, RegionKind::Scope, Mode::Total);
    static INNER: Site = Site::new("inner", "t", "t.rs", 2, 1, RegionKind::Scope, Mode::Total);

    /// Enters a region on a thread of its own, which ends before it leaves the region.
    fn enter_and_end(site: &'static Site) {
        let thread = std::thread::spawn(move || {
            assert!(arena().is_none(), "a new thread has no arena");
            assert!(attach(|| Some(Clock::Monotonic)));
            assert!(arena().map(|arena| arena.enter(site)).is_some());
        });
        thread.join().unwrap();
    }

    #[test]
    fn a_thread_does_not_go_on_inside_of_what_another_left_open() {
        pass_arenas_on();
        enter_and_end(&OUTER);
        enter_and_end(&INNER);
        let readings: Vec<_> = arenas().flat_map(|arena| arena.readings().flatten()).collect();
        for site in [&OUTER, &INNER] {
            let mine: Vec<_> = readings.iter().filter(|r| ptr::eq(r.site, site)).collect();
            assert_eq!(mine.len(), 1);
            assert_eq!(mine[0].parent, None);
        }
        assert_eq!(arenas().count(), 1, "the arena of an ended thread is used again");
        assert_eq!(arenas().map(|arena| arena.visits_unbalanced.load(Relaxed)).sum::<u64>(), 1);
    }

    #[test]
    fn switched_off_a_thread_gets_no_arena() {
        let off = std::thread::spawn(|| {
            let before = visits_lost() + visits_kept_out();
            assert!(!current().is_off() && !attach(|| None) && !attach(|| Some(Clock::Monotonic)));
            assert!(current().is_off() && arena().is_none());
            assert_eq!(visits_lost() + visits_kept_out(), before, "nothing was to be recorded");
        });
        off.join().unwrap();
    }
}
