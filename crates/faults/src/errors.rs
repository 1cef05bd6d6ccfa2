//! The system calls that can fail, and the ways in which each of them can.
//!
//! A call that is not listed here is never made to fail: it cannot fail, or only for wrong
//! arguments.

use tinyprof_faults::sys::{Action, Call};

/// A way in which a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The call does nothing and returns this error.
    Fails(i32),
    /// The call does its work and returns this error, as `close` does.
    FailsAfter(i32),
    /// The call writes half of the bytes.
    Short,
    /// The call gets no memory and reports that by returning the old break: `brk`.
    NoBreak,
}

/// A kind of system call.
#[derive(Debug)]
pub(crate) struct Kind {
    number: i64,
    pub(crate) name: &'static str,
    pub(crate) shown: Shown,
    faults: &'static [Fault],
}

/// The argument that identifies the call to users.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shown {
    Nothing,
    Path(usize),
    File(usize),
}

use Fault::{Fails, FailsAfter, NoBreak, Short};
use Shown::{File, Nothing, Path};
use libc as c;

const OPEN: &[Fault] = &[
    Fails(c::EACCES),
    Fails(c::EMFILE),
    Fails(c::ENOSPC),
    Fails(c::EIO),
    Fails(c::ENOMEM),
    Fails(c::ENOENT),
    Fails(c::EDQUOT),
    Fails(c::EROFS),
    Fails(c::EINTR),
];
const WRITE: &[Fault] =
    &[Fails(c::ENOSPC), Fails(c::EIO), Fails(c::EDQUOT), Fails(c::EFBIG), Fails(c::EINTR), Short];
const WRITE_TO_STANDARD: &[Fault] =
    &[Fails(c::EPIPE), Fails(c::EIO), Fails(c::EAGAIN), Fails(c::EINTR), Short];
const READ: &[Fault] = &[Fails(c::EIO), Fails(c::EINTR)];
const SYNC: &[Fault] = &[Fails(c::EIO), Fails(c::ENOSPC), Fails(c::EDQUOT), Fails(c::EINVAL)];
const RENAME: &[Fault] = &[
    Fails(c::EACCES),
    Fails(c::ENOSPC),
    Fails(c::EXDEV),
    Fails(c::EIO),
    Fails(c::EROFS),
    Fails(c::ENOTEMPTY),
    Fails(c::EEXIST),
];
const MAKE_DIRECTORY: &[Fault] = &[
    Fails(c::EACCES),
    Fails(c::ENOSPC),
    Fails(c::EIO),
    Fails(c::ENOENT),
    Fails(c::EROFS),
    Fails(c::EDQUOT),
];
const REMOVE: &[Fault] = &[Fails(c::EACCES), Fails(c::EIO), Fails(c::EBUSY), Fails(c::EROFS)];
const ALLOCATE: &[Fault] =
    &[Fails(c::ENOSPC), Fails(c::EOPNOTSUPP), Fails(c::EIO), Fails(c::EFBIG), Fails(c::EINTR)];
const TRUNCATE: &[Fault] = &[Fails(c::EIO), Fails(c::EFBIG), Fails(c::EPERM), Fails(c::EINTR)];
const STATUS: &[Fault] = &[Fails(c::EACCES), Fails(c::EIO), Fails(c::ENOMEM), Fails(c::ENOENT)];
const STATUS_OF_OPEN: &[Fault] = &[Fails(c::EIO), Fails(c::ENOMEM)];
const MEMORY: &[Fault] = &[Fails(c::ENOMEM)];
const THREAD: &[Fault] = &[Fails(c::EAGAIN), Fails(c::ENOMEM)];
const NEW_THREAD: &[Fault] = &[Fails(c::EAGAIN), Fails(c::ENOMEM), Fails(c::ENOSYS)];
const LINK: &[Fault] = &[Fails(c::EACCES), Fails(c::EIO), Fails(c::ENOENT)];
const DIRECTORY: &[Fault] = &[Fails(c::ENOENT), Fails(c::EACCES), Fails(c::ENOMEM)];
const CLOSE: &[Fault] = &[FailsAfter(c::EIO), FailsAfter(c::ENOSPC), FailsAfter(c::EINTR)];
const DESCRIPTOR: &[Fault] = &[Fails(c::EMFILE), Fails(c::ENOMEM)];
const INTERRUPTED: &[Fault] = &[Fails(c::EINTR)];
const WAIT: &[Fault] = &[Fails(c::EINTR), Fails(c::EAGAIN)];
const LOCK: &[Fault] = &[Fails(c::ENOLCK), Fails(c::EAGAIN), Fails(c::EINTR)];
const OFTEN_MISSING: &[Fault] = &[Fails(c::ENOSYS)];
const FILE_SYSTEM: &[Fault] = &[Fails(c::EIO), Fails(c::ENOSYS)];

macro_rules! kinds {
    ($($number:ident $shown:expr, $faults:expr;)*) => {
        &[$(Kind { number: c::$number, name: stringify!($number), shown: $shown, faults: $faults },)*]
    };
}

const KINDS: &[Kind] = kinds! {
    SYS_openat Path(1), OPEN;
    SYS_write File(0), WRITE;
    SYS_pwrite64 File(0), WRITE;
    SYS_writev File(0), WRITE;
    SYS_read File(0), READ;
    SYS_pread64 File(0), READ;
    SYS_fsync File(0), SYNC;
    SYS_fdatasync File(0), SYNC;
    SYS_syncfs File(0), SYNC;
    SYS_sync_file_range File(0), SYNC;
    SYS_msync Nothing, SYNC;
    SYS_renameat Path(1), RENAME;
    SYS_renameat2 Path(1), RENAME;
    SYS_linkat Path(1), RENAME;
    SYS_symlinkat Path(2), RENAME;
    SYS_mkdirat Path(1), MAKE_DIRECTORY;
    SYS_unlinkat Path(1), REMOVE;
    SYS_fallocate File(0), ALLOCATE;
    SYS_ftruncate File(0), TRUNCATE;
    SYS_newfstatat Path(1), STATUS;
    SYS_statx Path(1), STATUS;
    SYS_faccessat Path(1), STATUS;
    SYS_faccessat2 Path(1), STATUS;
    SYS_fstat File(0), STATUS_OF_OPEN;
    SYS_statfs Path(0), FILE_SYSTEM;
    SYS_fstatfs File(0), FILE_SYSTEM;
    SYS_fchmod File(0), STATUS_OF_OPEN;
    SYS_mmap Nothing, MEMORY;
    SYS_mprotect Nothing, MEMORY;
    SYS_mremap Nothing, MEMORY;
    SYS_munmap Nothing, MEMORY;
    SYS_madvise Nothing, MEMORY;
    SYS_brk Nothing, &[NoBreak];
    SYS_clone Nothing, THREAD;
    SYS_clone3 Nothing, NEW_THREAD;
    SYS_readlinkat Path(1), LINK;
    SYS_getcwd Nothing, DIRECTORY;
    SYS_getdents64 File(0), READ;
    SYS_close File(0), CLOSE;
    SYS_fcntl File(0), LOCK;
    SYS_flock File(0), LOCK;
    SYS_futex Nothing, WAIT;
    SYS_clock_nanosleep Nothing, INTERRUPTED;
    SYS_nanosleep Nothing, INTERRUPTED;
    SYS_ppoll Nothing, INTERRUPTED;
    SYS_wait4 Nothing, INTERRUPTED;
    SYS_waitid Nothing, INTERRUPTED;
    SYS_rt_sigtimedwait Nothing, WAIT;
    SYS_socket Nothing, DESCRIPTOR;
    SYS_connect Nothing, LINK;
    SYS_pipe2 Nothing, DESCRIPTOR;
    SYS_eventfd2 Nothing, DESCRIPTOR;
    SYS_memfd_create Nothing, DESCRIPTOR;
    SYS_timerfd_create Nothing, DESCRIPTOR;
    SYS_dup Nothing, DESCRIPTOR;
    SYS_timer_create Nothing, THREAD;
    SYS_getrandom Nothing, OFTEN_MISSING;
    SYS_membarrier Nothing, OFTEN_MISSING;
};

/// Calls that newer architectures only have in another form.
#[cfg(target_arch = "x86_64")]
const OLD_KINDS: &[Kind] = kinds! {
    SYS_open Path(0), OPEN;
    SYS_rename Path(0), RENAME;
    SYS_link Path(0), RENAME;
    SYS_symlink Path(1), RENAME;
    SYS_mkdir Path(0), MAKE_DIRECTORY;
    SYS_rmdir Path(0), REMOVE;
    SYS_unlink Path(0), REMOVE;
    SYS_stat Path(0), STATUS;
    SYS_lstat Path(0), STATUS;
    SYS_access Path(0), STATUS;
    SYS_readlink Path(0), LINK;
    SYS_fork Nothing, THREAD;
    SYS_vfork Nothing, THREAD;
    SYS_poll Nothing, INTERRUPTED;
};
#[cfg(not(target_arch = "x86_64"))]
const OLD_KINDS: &[Kind] = &[];

/// Returns the kind of a call, if it can fail.
pub(crate) fn kind_of(call: &Call) -> Option<&'static Kind> {
    let kind = KINDS.iter().chain(OLD_KINDS).find(|kind| kind.number == call.number)?;
    (!kind.faults_of(call).is_empty()).then_some(kind)
}

impl Kind {
    /// Returns the ways in which this call can fail.
    pub(crate) fn faults_of(&self, call: &Call) -> &'static [Fault] {
        let command = i32::try_from(call.arguments[1]).unwrap_or_default();
        match self.number {
            // The profiler never writes to standard output, so this call is the program's own.
            c::SYS_write | c::SYS_writev if call.arguments[0] == 1 => &[],
            c::SYS_write | c::SYS_writev if writes_to_standard(call) => WRITE_TO_STANDARD,
            // Closing can only lose data of a file that was written to. The standard library relies
            // on that.
            c::SYS_close if call.is_directory(0) => &[],
            // Waking other threads cannot fail.
            c::SYS_futex if !matches!(command & 0x7f, c::FUTEX_WAIT | c::FUTEX_WAIT_BITSET) => &[],
            c::SYS_fcntl
                if !matches!(
                    command,
                    c::F_SETLK | c::F_SETLKW | c::F_OFD_SETLK | c::F_OFD_SETLKW
                ) =>
            {
                &[]
            }
            _ => self.faults,
        }
    }
}

/// Returns whether a call writes to a standard stream of the program, not to a file of the
/// profiler.
pub(crate) fn writes_to_standard(call: &Call) -> bool {
    matches!(call.number, c::SYS_write | c::SYS_writev) && call.arguments[0] <= 2
}

impl Fault {
    /// Returns the action that makes a call fail in this way.
    pub(crate) const fn action(self, call: &Call) -> Action {
        match self {
            Fails(errno) => Action::Fail(errno),
            FailsAfter(errno) => Action::FailAfter(errno),
            // A write of zero bytes would be retried for ever.
            Short => Action::Change(2, call.arguments[2].div_ceil(2)),
            NoBreak => Action::Change(0, 0),
        }
    }

    /// Returns whether all later calls of a kind may fail in this way, too. A call that is
    /// interrupted is not interrupted for ever.
    pub(crate) const fn lasts(self) -> bool {
        !matches!(self, Fails(c::EINTR | c::EAGAIN) | FailsAfter(c::EINTR))
    }

    /// Returns whether the fault is a lack of memory.
    pub(crate) const fn is_of_memory(self) -> bool {
        matches!(self, Fails(c::ENOMEM) | NoBreak)
    }

    /// Returns the name of the error.
    pub(crate) fn name(self) -> String {
        match self {
            Fails(errno) => error_name(errno),
            FailsAfter(errno) => format!("done-{}", error_name(errno)),
            Short => "short".to_owned(),
            NoBreak => "ENOMEM".to_owned(),
        }
    }
}

fn error_name(errno: i32) -> String {
    let name = match errno {
        c::EACCES => "EACCES",
        c::EAGAIN => "EAGAIN",
        c::EBUSY => "EBUSY",
        c::EDQUOT => "EDQUOT",
        c::EEXIST => "EEXIST",
        c::EFBIG => "EFBIG",
        c::EINTR => "EINTR",
        c::EINVAL => "EINVAL",
        c::EIO => "EIO",
        c::EMFILE => "EMFILE",
        c::ENOENT => "ENOENT",
        c::ENOLCK => "ENOLCK",
        c::ENOMEM => "ENOMEM",
        c::ENOSPC => "ENOSPC",
        c::ENOSYS => "ENOSYS",
        c::ENOTEMPTY => "ENOTEMPTY",
        c::EOPNOTSUPP => "EOPNOTSUPP",
        c::EPERM => "EPERM",
        c::EPIPE => "EPIPE",
        c::EROFS => "EROFS",
        c::EXDEV => "EXDEV",
        other => return other.to_string(),
    };
    name.to_owned()
}
