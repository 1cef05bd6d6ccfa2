//! The processor time of the threads that an arena has had, in the header of its segment. All of it
//! is cold: it is read when a thread begins and ends, and with a snapshot.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};

use tinyprof_format::model::ProcessorFacts;
use tinyprof_segment::clock::monotonic_ns;
use tinyprof_segment::layout::header;

use super::Arena;
use crate::sys::{ThreadTime, process_cpu_ns, thread_number};

const _: () = assert!(header::PROCESSOR_WORDS <= ProcessorFacts::COUNT);

/// The moment at which the recording of this process began, in ns, and its processor time then.
static BEGUN_NS: AtomicU64 = AtomicU64::new(0);
static BEGUN_CPU_NS: AtomicU64 = AtomicU64::new(0);

/// Notes that the recording of this process begins at this moment.
pub(crate) fn begin_processor_time(now_ns: u64) {
    BEGUN_NS.store(now_ns, Relaxed);
    BEGUN_CPU_NS.store(process_cpu_ns().unwrap_or(0), Relaxed);
}

/// The last reading of the thread that owns the arena.
#[derive(Debug, Default)]
pub(super) struct LastReading {
    /// Set while a thread changes any of this. Others do not wait for it: they leave it.
    is_busy: AtomicBool,
    /// The number of the thread; 0 if there is none, or it cannot be read.
    thread: AtomicU32,
    /// What was read, and when.
    cpu_ns: AtomicU64,
    delay_ns: AtomicU64,
    at_ns: AtomicU64,
    /// Its processor time since its first reading.
    since_first_ns: AtomicU64,
}

impl LastReading {
    /// Calls `change` unless another thread is at it, or this one is in a signal handler that has
    /// interrupted it.
    fn try_change(&self, change: impl FnOnce()) -> bool {
        let is_free = self.is_busy.compare_exchange(false, true, Acquire, Relaxed).is_ok();
        if is_free {
            change();
            self.is_busy.store(false, Release);
        }
        is_free
    }

    fn store(&self, time: ThreadTime, now_ns: u64) {
        self.cpu_ns.store(time.cpu_ns, Relaxed);
        self.delay_ns.store(time.delay_ns, Relaxed);
        self.at_ns.store(now_ns, Relaxed);
    }
}

impl Arena {
    /// Begins to follow the calling thread, which has just taken over the arena.
    pub(in crate::record) fn follow_processor(&self) {
        let last = &self.processor;
        let is_done = last.try_change(|| {
            let thread = thread_number();
            let time = ThreadTime::of(thread);
            last.thread.store(if time.is_some() { thread } else { 0 }, Relaxed);
            last.since_first_ns.store(0, Relaxed);
            match time {
                Some(time) => last.store(time, monotonic_ns()),
                None => self.change_processor(|facts| facts.threads_unread += 1),
            }
        });
        if !is_done {
            self.change_processor(|facts| facts.threads_unread += 1);
        }
    }

    /// Reads the processor time of the thread and of the process. Any thread.
    ///
    /// # Cost
    /// Six system calls: 6 us.
    pub(crate) fn read_processor(&self) {
        self.processor.try_change(|| self.read());
    }

    /// Reads the processor time of the calling thread for the last time: it ends, or leaves the
    /// arena.
    pub(in crate::record) fn leave_processor(&self) {
        let last = &self.processor;
        last.try_change(|| {
            self.read();
            last.thread.store(0, Relaxed);
        });
    }

    /// Forgets what is known: it is of the process that has made this one by `fork`.
    pub(super) fn forget_processor(&self) {
        self.processor.thread.store(0, Relaxed);
        self.processor.is_busy.store(false, Relaxed);
        self.change_processor(|facts| *facts = ProcessorFacts::default());
    }

    /// Returns what was read last, without that of all threads together. Any thread.
    pub(crate) fn processor_facts(&self) -> ProcessorFacts {
        let fact = |at| match at {
            0..header::PROCESSOR_WORDS => self.header(header::PROCESSOR + at).load(Relaxed),
            _ => 0,
        };
        ProcessorFacts::from_numbers(std::array::from_fn(fact))
    }

    fn read(&self) {
        let last = &self.processor;
        let thread = last.thread.load(Relaxed);
        if thread == 0 {
            return;
        }
        let Some(time) = ThreadTime::of(thread) else { return };
        let now_ns = monotonic_ns();
        let cpu_ns = time.cpu_ns.saturating_sub(last.cpu_ns.load(Relaxed));
        let delay_ns = time.delay_ns.saturating_sub(last.delay_ns.load(Relaxed));
        let passed_ns = now_ns.saturating_sub(last.at_ns.load(Relaxed));
        let since_first_ns = last.since_first_ns.load(Relaxed).saturating_add(cpu_ns);
        last.since_first_ns.store(since_first_ns, Relaxed);
        last.store(time, now_ns);
        let process_ns = process_cpu_ns();
        self.change_processor(|facts| {
            facts.threads_ns = facts.threads_ns.saturating_add(passed_ns);
            facts.threads_cpu_ns = facts.threads_cpu_ns.saturating_add(cpu_ns);
            facts.delay_ns = facts.delay_ns.saturating_add(delay_ns);
            facts.thread_cpu_max_ns = facts.thread_cpu_max_ns.max(since_first_ns);
            if let Some(process_ns) = process_ns {
                facts.wall_ns = now_ns.saturating_sub(BEGUN_NS.load(Relaxed));
                facts.cpu_ns = process_ns.saturating_sub(BEGUN_CPU_NS.load(Relaxed));
            }
        });
    }

    fn change_processor(&self, change: impl FnOnce(&mut ProcessorFacts)) {
        let mut facts = self.processor_facts();
        change(&mut facts);
        let numbers = facts.named().into_iter().take(header::PROCESSOR_WORDS);
        for (at, (_, number)) in numbers.enumerate() {
            self.header(header::PROCESSOR + at).store(number, Relaxed);
        }
    }
}
