//! The threads of this process that work, and the processors that they may use.

use super::processor::{ThreadTime, thread_number};
use super::sandbox;

/// The part of the busiest thread's processor time from which on a thread counts: those that MPI
/// and the system make sleep nearly all the time.
const LEAST_PART: u64 = 100;

/// The number of processors that are looked at.
const PROCESSORS_MAX: usize = 8192;
const WORD_BITS: usize = 64;

/// How many threads work, and on how many processors; 0 if the system does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ThreadsAtWork {
    /// The threads that are alive and have at least a hundredth of the busiest one's time.
    pub(crate) threads: u64,
    /// The processors that any of these threads may use.
    pub(crate) processors: u64,
}

impl ThreadsAtWork {
    /// Looks at all threads of this process; without the calling one if it is the profiler's own.
    ///
    /// # Cost
    /// Six system calls a thread.
    pub(crate) fn of_this_process(is_own: bool) -> Self {
        if cfg!(miri) || sandbox::is_entered() {
            return Self::default();
        }
        let own = if is_own { thread_number() } else { 0 };
        let times = threads().into_iter().filter(|&thread| thread != own);
        let times: Vec<(u32, u64)> =
            times.filter_map(|thread| Some((thread, ThreadTime::of(thread)?.cpu_ns))).collect();
        let most_ns = times.iter().map(|(_, ns)| *ns).max().unwrap_or(0);
        let is_at_work = |&&(_, ns): &&(u32, u64)| ns > 0 && ns >= most_ns / LEAST_PART;
        let at_work = || times.iter().filter(is_at_work);
        let mut allowed = [0_u64; PROCESSORS_MAX / WORD_BITS];
        at_work().for_each(|(thread, _)| add_processors(*thread, &mut allowed));
        let processors = allowed.iter().map(|word| u64::from(word.count_ones())).sum();
        Self { threads: at_work().count() as u64, processors }
    }
}

/// Returns the threads of this process but for the calling one.
pub(crate) fn other_threads() -> Vec<u32> {
    if cfg!(miri) || sandbox::is_entered() {
        return Vec::new();
    }
    let own = thread_number();
    threads().into_iter().filter(|&thread| thread != own).collect()
}

fn threads() -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir("/proc/self/task") else { return Vec::new() };
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

#[cfg(target_os = "linux")]
fn add_processors(thread: u32, allowed: &mut [u64; PROCESSORS_MAX / WORD_BITS]) {
    let mut own = [0_u64; PROCESSORS_MAX / WORD_BITS];
    let Ok(thread) = i32::try_from(thread) else { return };
    // SAFETY: the place has the length that is told.
    let failed =
        unsafe { libc::sched_getaffinity(thread, size_of_val(&own), own.as_mut_ptr().cast()) } != 0;
    if !failed {
        allowed.iter_mut().zip(own).for_each(|(all, own)| *all |= own);
    }
}

#[cfg(not(target_os = "linux"))]
fn add_processors(_: u32, _: &mut [u64; PROCESSORS_MAX / WORD_BITS]) {}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::sync::atomic::Ordering::Relaxed;
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn threads_that_work_count_and_those_that_sleep_do_not() {
        if cfg!(miri) || !cfg!(target_os = "linux") {
            return;
        }
        let is_over = &AtomicBool::new(false);
        std::thread::scope(|scope| {
            let (tell, told) = channel();
            scope.spawn(move || {
                tell.send(thread_number()).unwrap();
                while !is_over.load(Relaxed) {
                    std::hint::spin_loop();
                }
            });
            let sleeps = scope.spawn(std::thread::park);
            let both = [thread_number(), told.recv().unwrap()];
            let cpu_ns = |thread| ThreadTime::of(thread).map_or(0, |time| time.cpu_ns);
            // Other tests have threads, too, of which some have worked for seconds.
            let busiest_ns = || threads().into_iter().map(cpu_ns).max().unwrap();
            while both.map(cpu_ns).into_iter().min() < Some(busiest_ns() * 2 / LEAST_PART + 1) {
                std::hint::spin_loop();
            }
            let found = ThreadsAtWork::of_this_process(false);
            is_over.store(true, Relaxed);
            sleeps.thread().unpark();
            assert!(found.threads >= 2 && found.processors >= 1, "{found:?}");
        });
    }
}
