//! One stopped thread of a traced process, by `ptrace`. Only the thread that traces it may call
//! this.

use std::io;
use std::ptr;

/// The kind of a stop at a system call.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stop {
    /// The stop before the call, with its number and arguments.
    Entry(i64, [u64; 6]),
    /// The stop after the call.
    Exit,
}

fn call(
    request: libc::c_uint,
    thread: libc::pid_t,
    address: usize,
    data: usize,
) -> io::Result<libc::c_long> {
    // SAFETY: the callers pass requests that fit address and data; the system refuses threads that
    // we do not trace.
    let result = unsafe { libc::ptrace(request, thread, address, data) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Lets the parent trace the calling process. For a child before it executes another program.
pub(super) fn trace_me() -> io::Result<()> {
    call(libc::PTRACE_TRACEME, 0, 0, 0).map(drop)
}

/// Makes the stopped first thread of a process report system calls and new threads, and new
/// processes if `children`.
pub(super) fn follow(thread: libc::pid_t, children: bool) -> io::Result<()> {
    let mut options = libc::PTRACE_O_TRACESYSGOOD
        | libc::PTRACE_O_TRACECLONE
        | libc::PTRACE_O_TRACEEXEC
        | libc::PTRACE_O_EXITKILL;
    if children {
        options |= libc::PTRACE_O_TRACEFORK | libc::PTRACE_O_TRACEVFORK;
    }
    call(libc::PTRACE_SETOPTIONS, thread, 0, usize::try_from(options).unwrap_or_default()).map(drop)
}

/// Resumes a thread until its next stop, with this signal (0: none).
pub(super) fn resume(thread: libc::pid_t, signal: libc::c_int) {
    // The thread may have been killed meanwhile; its end is reported separately.
    call(libc::PTRACE_SYSCALL, thread, 0, usize::try_from(signal).unwrap_or_default()).ok();
}

/// Returns the kind of stop of a thread at a system call.
pub(super) fn stop(thread: libc::pid_t) -> io::Result<Stop> {
    // SAFETY: the type consists of numbers, which may be zero.
    let mut info: libc::ptrace_syscall_info = unsafe { std::mem::zeroed() };
    let place = ptr::from_mut(&mut info).expose_provenance();
    call(libc::PTRACE_GET_SYSCALL_INFO, thread, size_of_val(&info), place)?;
    if info.op != libc::PTRACE_SYSCALL_INFO_ENTRY {
        return Ok(Stop::Exit);
    }
    // SAFETY: the system reports that it has filled this member.
    let entry = unsafe { info.u.entry };
    Ok(Stop::Entry(entry.nr.cast_signed(), entry.args))
}

/// Prevents the call at whose entry a thread is stopped. Its result must be set at its exit.
pub(super) fn skip(thread: libc::pid_t) -> io::Result<()> {
    architecture::set_number(thread)
}

/// Sets the first or third argument (0-based: 0 or 2) of the call at whose entry a thread is
/// stopped.
pub(super) fn set_argument(thread: libc::pid_t, argument: usize, value: u64) -> io::Result<()> {
    architecture::change(thread, |registers| *architecture::argument(registers, argument) = value)
}

/// Sets the result of the call at whose exit a thread is stopped to an error.
pub(super) fn set_error(thread: libc::pid_t, errno: i32) -> io::Result<()> {
    let result = (-i64::from(errno)).cast_unsigned();
    architecture::change(thread, |registers| *architecture::result(registers) = result)
}

/// Reads and writes a set of a thread's registers.
fn register_set(
    request: libc::c_uint,
    thread: libc::pid_t,
    set: libc::c_int,
    place: *mut libc::c_void,
    bytes: usize,
) -> io::Result<()> {
    let mut vector = libc::iovec { iov_base: place, iov_len: bytes };
    let vector = ptr::from_mut(&mut vector).expose_provenance();
    call(request, thread, usize::try_from(set).unwrap_or_default(), vector).map(drop)
}

mod architecture {
    use super::{io, ptr, register_set};

    pub(super) type Registers = libc::user_regs_struct;

    pub(super) fn change(thread: libc::pid_t, change: impl Fn(&mut Registers)) -> io::Result<()> {
        // SAFETY: the type consists of numbers, which may be zero.
        let mut registers: Registers = unsafe { std::mem::zeroed() };
        let (place, bytes) = (ptr::from_mut(&mut registers).cast(), size_of::<Registers>());
        register_set(libc::PTRACE_GETREGSET, thread, libc::NT_PRSTATUS, place, bytes)?;
        change(&mut registers);
        register_set(
            libc::PTRACE_SETREGSET,
            thread,
            libc::NT_PRSTATUS,
            ptr::from_mut(&mut registers).cast(),
            bytes,
        )
    }

    #[cfg(target_arch = "x86_64")]
    pub(super) fn set_number(thread: libc::pid_t) -> io::Result<()> {
        change(thread, |registers| registers.orig_rax = u64::MAX)
    }

    #[cfg(target_arch = "x86_64")]
    pub(super) const fn argument(registers: &mut Registers, argument: usize) -> &mut u64 {
        if argument == 0 { &mut registers.rdi } else { &mut registers.rdx }
    }

    #[cfg(target_arch = "x86_64")]
    pub(super) const fn result(registers: &mut Registers) -> &mut u64 {
        &mut registers.rax
    }

    /// Removes the number of the call. On this architecture it is a separate register set,
    /// `NT_ARM_SYSTEM_CALL`.
    #[cfg(target_arch = "aarch64")]
    pub(super) fn set_number(thread: libc::pid_t) -> io::Result<()> {
        let mut none: libc::c_int = -1;
        register_set(
            libc::PTRACE_SETREGSET,
            thread,
            0x404,
            ptr::from_mut(&mut none).cast(),
            size_of_val(&none),
        )
    }

    #[cfg(target_arch = "aarch64")]
    pub(super) const fn argument(registers: &mut Registers, argument: usize) -> &mut u64 {
        &mut registers.regs[argument]
    }

    #[cfg(target_arch = "aarch64")]
    pub(super) const fn result(registers: &mut Registers) -> &mut u64 {
        &mut registers.regs[0]
    }
}
