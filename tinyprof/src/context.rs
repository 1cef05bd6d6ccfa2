//! Context propagation: regions of worker threads under the region that gave them their work.

use std::marker::PhantomData;

use crate::collect::start::start_recording;
use crate::record::{Arena, Before, OpenRegion, thread};

/// The innermost open region of a thread. See [`current`].
#[derive(Clone, Copy, Debug)]
#[must_use = "a position does nothing until a thread enters it"]
pub struct Position {
    at: Option<(&'static Arena, OpenRegion)>,
}

/// Returns the innermost open region of this thread, to be passed to threads that work for it.
///
/// The first region of a thread is a root region, unless the thread has entered a position. The
/// times of workers add up: workers that run in parallel can take longer in total than the region
/// that started them, whose exclusive time is then given as 0.
///
/// # Example
///
/// ```
/// use tinyprof::{profile, profile_scope};
///
/// #[profile]
/// fn solve(parts: &[f64]) -> f64 {
///     let here = tinyprof::current();
///     std::thread::scope(|scope| {
///         let workers = parts.chunks(2).map(|part| {
///             scope.spawn(move || {
///                 let _under_solve = here.enter();
///                 profile_scope!("part");          // the callpath is solve<part
///                 part.iter().sum::<f64>()
///             })
///         });
///         workers.collect::<Vec<_>>().into_iter().map(|w| w.join().unwrap()).sum()
///     })
/// }
///
/// assert_eq!(solve(&[1.0, 2.0, 3.0]), 6.0);
/// ```
pub fn current() -> Position {
    let at = thread::arena().and_then(|arena| arena.place().map(|place| (arena, place)));
    Position { at }
}

impl Position {
    /// Opens this thread's next regions under the position, until the returned value is dropped.
    ///
    /// A position outside of all regions, or one for which there is no memory, has no effect.
    ///
    /// # Cost
    /// A look-up in a hash table for each region between the root and the position, about 10 ns
    /// each. No allocation once the thread has entered the position before.
    pub fn enter(&self) -> Attached {
        let entered = self.at.and_then(|(theirs, place)| {
            let ours = thread::arena_or_attach(start_recording)?;
            ours.enter_context(theirs, place)
        });
        Attached { before: entered, _not_send: PhantomData }
    }
}

/// A thread's place under another thread's region; see [`Position::enter`]. It belongs to the
/// thread that entered it: it is not `Send`.
#[derive(Debug)]
#[must_use = "dropped at once it attaches nothing"]
pub struct Attached {
    before: Option<Before>,
    _not_send: PhantomData<*const ()>,
}

impl Drop for Attached {
    fn drop(&mut self) {
        if let (Some(before), Some(arena)) = (self.before, thread::arena()) {
            arena.step_back(before);
        }
    }
}
