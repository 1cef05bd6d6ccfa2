//! The cost of a visit on this machine, measured with empty regions of our own.

mod over_run;

use std::sync::OnceLock;

use tinyprof_format::model::{Mode, RegionKind};
use tinyprof_segment::words::Line;

use super::arena::{Arena, Visit, weigh_counted};
use super::budget::VisitCost;
use super::clock::Clock;
use super::site::Site;
use super::thread;

pub(crate) use over_run::{look, run_cost};

/// The visits of a batch, and the number of batches. The fastest batch counts: others were
/// interrupted.
const VISITS: u32 = 128;
const BATCHES: u32 = 32;
/// The sampling rate where most visits are only counted: one in 2^5 is timed.
const SHIFT: u32 = 5;
/// The relative uncertainty of the cost inside of a visit: the calibration repeats to a few
/// percent, and the cost depends on the surrounding code.
const UNSURE_PART: f64 = 0.3;

macro_rules! sites {
    ($($name:ident)*) => {$(
        #[cfg_attr(feature = "enable", used)]
        #[cfg_attr(all(target_os = "linux", feature = "enable"), unsafe(link_section = "tinyprof_sites"))]
        static $name: Site =
            Site::new("[calibration]", "tinyprof", file!(), line!(), column!(), RegionKind::Scope, Mode::Total);
    )*};
}
sites!(ROOT EMPTY HELD_BACK EMPTY_ROOT);

/// Returns the cost of a visit in this process, measured by the first call.
///
/// # Cost
/// The first call takes about 200 us, and an arena that is discarded.
pub(crate) fn visit_cost(clock: Clock) -> VisitCost {
    static COST: OnceLock<VisitCost> = OnceLock::new();
    // Not `get_or_init`: if a thread dies while it measures, others must not wait for ever.
    if let Some(cost) = COST.get() {
        return *cost;
    }
    let cost = measure(clock).unwrap_or_else(|| of_clock(clock));
    *COST.get_or_init(|| cost)
}

/// Calls `work` inside of a region in an arena that is discarded then: what `work` returns must not
/// refer to it. `None` if there is no memory.
pub(crate) fn in_discarded_arena(
    clock: Clock,
    work: impl FnOnce(&'static Arena) -> u64,
) -> Option<u64> {
    let place = Box::into_raw(Box::new(new_arena(clock)?));
    // SAFETY: just made, and freed below; nobody keeps it, as a number is all that comes back.
    let arena: &'static Arena = unsafe { &*place };
    let done = arena.enter(&ROOT).to_leave().map(|root| {
        let done = thread::while_on(arena, || work(arena));
        arena.exit(root);
        done
    });
    // SAFETY: made above, and the thread has its own arena again.
    drop(unsafe { Box::from_raw(place) });
    done
}

/// Returns an arena in which no filter takes out the regions of this module.
fn new_arena(clock: Clock) -> Option<Arena> {
    let arena = Arena::new(clock)?;
    let root = arena.find_or_insert_recorded(Line::NONE, &ROOT);
    arena.find_or_insert_recorded(Line::NONE, &EMPTY_ROOT);
    let root = Visit::from(root).to_leave()?;
    for site in [&EMPTY, &HELD_BACK] {
        arena.find_or_insert_recorded(root, site);
    }
    Some(arena)
}

fn measure(clock: Clock) -> Option<VisitCost> {
    let arena = new_arena(clock)?;
    let root = arena.enter(&ROOT).to_leave()?;
    let visit = |site| visit(&arena, site);
    let held_back = arena.enter(&HELD_BACK).to_leave()?;
    let is_held_back = arena.time_one_in(held_back, SHIFT);
    arena.exit(held_back);
    if !is_held_back {
        return None;
    }
    visit(&EMPTY);
    let timed = batch(clock, || visit(&EMPTY));
    let mixed = batch(clock, || visit(&HELD_BACK));
    let inside = arena.mean_timed(held_back)?;
    arena.exit(root);
    let one_in = f64::from(1_u32 << SHIFT);
    Some(VisitCost {
        timed: timed.max(1.0),
        counted: ((mixed * one_in - timed) / (one_in - 1.0)).max(0.0),
        inside,
        inside_error: inside * UNSURE_PART,
    })
}

/// Measures how much less than others a visit costs that is only counted, for the cost that each
/// thread adds up.
pub(crate) fn weigh_visits(clock: Clock) {
    let VisitCost { timed, counted, .. } = visit_cost(clock);
    weigh_counted(counted / timed);
}

/// Makes an empty visit.
#[inline(always)]
fn visit(arena: &Arena, site: &'static Site) {
    if let Some(line) = arena.enter(std::hint::black_box(site)).to_leave() {
        arena.exit(line);
    }
}

/// Returns the ticks of one call of `work`.
fn batch(clock: Clock, work: impl Fn()) -> f64 {
    batches(clock, (BATCHES, VISITS), work)
}

/// Returns the ticks of one call of `work`, in the fastest of some batches of calls.
#[expect(clippy::cast_precision_loss, reason = "a few thousand ticks")]
fn batches(clock: Clock, (batches, calls): (u32, u32), work: impl Fn()) -> f64 {
    let batches = (0..batches).map(|_| {
        let begin = clock.ticks();
        (0..calls).for_each(|_| work());
        clock.ticks().saturating_sub(begin)
    });
    batches.min().unwrap_or(0) as f64 / f64::from(calls)
}

/// Returns the cost if there is no memory for an arena: two clock reads, behind which the
/// bookkeeping hides.
fn of_clock(clock: Clock) -> VisitCost {
    let look = batch(clock, || {
        std::hint::black_box(clock.ticks());
    });
    VisitCost {
        timed: (2.0 * look).max(1.0),
        counted: 0.0,
        inside: look,
        inside_error: look * UNSURE_PART,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timed_visit_costs_more_than_a_counted_one_and_measures_a_part_of_it() {
        for clock in [Clock::detect(tinyprof_settings::ClockChoice::Auto), Clock::Monotonic] {
            let cost = measure(clock).unwrap();
            assert!(cost.timed > cost.counted && cost.counted >= 0.0, "{cost:?}");
            assert!(cost.inside > 0.0 && cost.inside_error < cost.inside, "{cost:?}");
        }
    }
}
