//! Events of the kernel: how they are asked for, opened, mapped and closed.

use std::fmt;

/// The system's description of an event, as its fourth version has it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Attributes {
    pub(super) kind: u32,
    pub(super) bytes: u32,
    pub(super) config: u64,
    pub(super) period: u64,
    pub(super) sample_type: u64,
    pub(super) read_format: u64,
    pub(super) flags: u64,
    pub(super) wakeup_events: u32,
    pub(super) breakpoint_type: u32,
    pub(super) breakpoint_address: u64,
    pub(super) breakpoint_bytes: u64,
    pub(super) branches: u64,
    pub(super) registers: u64,
    pub(super) stack_bytes: u32,
    pub(super) clock: i32,
}
const _: () = assert!(size_of::<Attributes>() == 96);

impl Attributes {
    /// Returns whether the event is sampled in the kernel, too.
    pub(super) const fn sees_kernel(&self) -> bool {
        self.sample_type & REGISTERS != 0
    }
}

pub(super) const SOFTWARE: u32 = 1;
/// The thread's processor time, in ns.
pub(super) const TASK_CLOCK: u64 = 1;
/// Events that the processor counts.
pub(super) const HARDWARE: u32 = 0;
pub(super) const CYCLES: u64 = 0;
pub(super) const INSTRUCTIONS: u64 = 1;

/// The kind and number of an event.
pub(super) type EventName = (u32, u64);
/// The events that are counted beside the samples, where the processor has them.
pub(super) const COUNTERS: [EventName; 2] = [(HARDWARE, CYCLES), (HARDWARE, INSTRUCTIONS)];

/// What samples consist of: the instruction pointer, what the event or its group has counted, and
/// registers of the program, which are there while the thread is in the kernel, too.
pub(super) const INSTRUCTION: u64 = 1;
pub(super) const READ: u64 = 1 << 4;
pub(super) const REGISTERS: u64 = 1 << 12;
/// The instruction pointer among the registers; none for processors on which it was not tried.
#[cfg(target_arch = "x86_64")]
const INSTRUCTION_REGISTER: Option<u64> = Some(1 << 8);
#[cfg(target_arch = "aarch64")]
const INSTRUCTION_REGISTER: Option<u64> = Some(1 << 32);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const INSTRUCTION_REGISTER: Option<u64> = None;
/// What is read: all events of the group, and for how long they were wanted and did count.
pub(super) const READ_GROUP: u64 = 1 | 1 << 1 | 1 << 3;
pub(super) const EXCLUDE_KERNEL: u64 = 1 << 5;
pub(super) const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
/// Records tell of threads that the thread makes, and of its own end.
pub(super) const TELL_THREADS: u64 = 1 << 13;
pub(super) const CLOSE_ON_EXEC: libc::c_ulong = 8;

/// The reason why a thread is not sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotSampled {
    /// The system makes no event: its error.
    Event(i32),
    /// The system gives no memory that the kernel writes to: its error.
    Memory(i32),
    /// The program has entered a sandbox, in which no question is asked.
    Sandboxed,
}

impl fmt::Display for NotSampled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (error, why) = match *self {
            Self::Event(error @ (libc::EACCES | libc::EPERM)) => (
                error,
                "the system allows no samples (/proc/sys/kernel/perf_event_paranoid above 2, or a \
                 container's filter)",
            ),
            Self::Event(error @ libc::ENOSYS) => (error, "the system has no samples"),
            Self::Event(error) => (error, "the system makes no event"),
            Self::Memory(error @ libc::EPERM) => {
                (error, "samples need more locked memory than /proc/sys/kernel/perf_event_mlock_kb")
            }
            Self::Memory(error) => (error, "the system gives no memory for samples"),
            Self::Sandboxed => return f.write_str("the program is in a sandbox"),
        };
        write!(f, "{why} (error {error})")
    }
}

pub(super) fn page_bytes() -> usize {
    // SAFETY: takes no pointer.
    let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(page_bytes).unwrap_or(4096)
}

/// Maps an event into memory of our own, and returns whether it could.
pub(super) fn map_at(file: i32, place: *mut u8, bytes: usize) -> bool {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let kind = libc::MAP_SHARED | libc::MAP_FIXED;
    // SAFETY: the caller has mapped this place, and nobody uses it yet.
    let found = unsafe { libc::mmap(place.cast(), bytes, access, kind, file, 0) };
    found != libc::MAP_FAILED
}

/// Calls `work`, and has `errno` of the program's thread be what it was.
#[cfg(target_os = "linux")]
pub(super) fn keeping_errno<T>(work: impl FnOnce() -> T) -> T {
    // SAFETY: takes nothing.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: the place is that of this thread.
    let before = unsafe { *place };
    let done = work();
    // SAFETY: the place is that of this thread.
    unsafe { *place = before };
    done
}

#[cfg(not(target_os = "linux"))]
pub(super) fn keeping_errno<T>(work: impl FnOnce() -> T) -> T {
    work()
}

/// Closes the event's file: the memory keeps the event. Not by the library, whose function may end
/// the thread.
#[cfg(target_os = "linux")]
pub(super) fn close(file: i32) {
    // SAFETY: opened by the caller, and nobody else knows it.
    unsafe { libc::syscall(libc::SYS_close, file) };
}

#[cfg(not(target_os = "linux"))]
pub(super) fn close(_: i32) {}

pub(super) const NO_GROUP: i32 = -1;

/// Returns the event that samples a thread while it is in the kernel, too, and tells at which
/// instruction of the program it then is; none if that is not known of this processor.
pub(super) fn clock_with_kernel(period_ns: u64) -> Option<Attributes> {
    INSTRUCTION_REGISTER.map(|registers| Attributes {
        sample_type: REGISTERS,
        flags: EXCLUDE_HYPERVISOR | TELL_THREADS,
        registers,
        ..clock_event(period_ns)
    })
}

/// Returns the event that samples a thread outside of the kernel, and tells how long it was in it.
pub(super) fn clock_event(period_ns: u64) -> Attributes {
    Attributes {
        period: period_ns,
        sample_type: INSTRUCTION | READ,
        flags: EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR | TELL_THREADS,
        ..counter_event((SOFTWARE, TASK_CLOCK))
    }
}

pub(super) fn counter_event((kind, config): EventName) -> Attributes {
    let flags = EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR;
    Attributes { kind, bytes: 96, config, flags, ..Attributes::default() }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn event(_: u32, _: &Attributes, _: i32) -> Result<i32, NotSampled> {
    Err(NotSampled::Event(libc::ENOSYS))
}

/// Opens an event of a thread, beside that of a group.
#[cfg(target_os = "linux")]
pub(super) fn event(thread: u32, attributes: &Attributes, group: i32) -> Result<i32, NotSampled> {
    let (thread, any_processor) = (thread.cast_signed(), -1_i32);
    // SAFETY: the attributes have the length that they tell.
    let file = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            std::ptr::from_ref(attributes),
            thread,
            any_processor,
            group,
            CLOSE_ON_EXEC,
        )
    };
    let file = i32::try_from(file).unwrap_or(-1);
    if file < 0 { Err(NotSampled::Event(last_error())) } else { Ok(file) }
}

pub(super) fn last_error() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}
