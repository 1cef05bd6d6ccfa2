//! The room that segments may take in a file system that others need, too.
//!
//! A file system in memory that runs full ends programs: whoever touches a page for which there is
//! no room gets `SIGBUS`. MPI libraries keep files in `/dev/shm`, some with holes, and in a
//! container it often has 64 MiB. So at least half of it stays free, and what MPI may need for each
//! rank, whenever MPI takes it.
//!
//! The ranks of a host look at the same free space at the same moment. Each may therefore take an
//! equal share of what is to be had without asking whether others do, too. To take more than its
//! share, a process must find as much room as if all of them took as much at once. And all look
//! again when they have taken it, and give it back if it was too much after all.

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use tinyprof_format::segment::Refusal;

/// The bytes that an MPI library keeps in `/dev/shm` for each rank of the host: MPICH on UCX takes
/// 4.2 MB at its start, Open MPI has files of 4 MiB, with holes.
const MPI_BYTES_A_RANK: u64 = 17 << 18;
/// The bytes that stay free on a disk, if half of it is not less. Nothing there raises a signal.
const KEPT_ON_DISK_BYTES: u64 = 1 << 30;

/// The number of processes of this job on this host.
static SHARERS: AtomicU32 = AtomicU32::new(1);
/// The bytes that this process has taken.
static TAKEN_BYTES: AtomicU64 = AtomicU64::new(0);

/// Sets the number of processes of this job on this host, which share its file systems.
pub(crate) fn share_room_among(processes: u32) {
    SHARERS.store(processes.max(1), Relaxed);
}

/// Calls `allocate`, which takes `bytes` more bytes of the file system of `file`, if there is room
/// for them, and `give_back` if it turns out that there was not.
///
/// # Errors
/// If there is too little room, or the error of `allocate`.
pub(super) fn take(
    file: &File,
    bytes: u64,
    allocate: impl FnOnce() -> Result<(), Refusal>,
    give_back: impl FnOnce(),
) -> Result<(), Refusal> {
    let sharers = u64::from(SHARERS.load(Relaxed));
    let own_bytes = TAKEN_BYTES.fetch_add(bytes, Relaxed) + bytes;
    let taken = (|| {
        let before = Space::of(file)?;
        if !before.has_room(bytes, own_bytes, sharers) {
            return Err(before.refusal(sharers));
        }
        allocate()?;
        match Space::of(file) {
            Ok(after) if after.is_limited() && after.free_bytes < after.kept_bytes(sharers) => {
                give_back();
                Err(after.refusal(sharers))
            }
            // If the system does not say it a second time, there was room at the first.
            _ => Ok(()),
        }
    })();
    if taken.is_err() {
        TAKEN_BYTES.fetch_sub(bytes, Relaxed);
    }
    taken
}

/// The space of a file system.
#[derive(Clone, Copy, Debug)]
struct Space {
    total_bytes: u64,
    free_bytes: u64,
    is_memory: bool,
}

impl Space {
    fn of(file: &File) -> Result<Self, Refusal> {
        let mut place = MaybeUninit::<libc::statfs64>::zeroed();
        // SAFETY: the file is open, and the place is valid.
        if unsafe { libc::fstatfs64(file.as_raw_fd(), place.as_mut_ptr()) } != 0 {
            return Err((&io::Error::last_os_error()).into());
        }
        // SAFETY: the call has filled it in.
        let found = unsafe { place.assume_init() };
        let block_bytes = u64::try_from(found.f_bsize).unwrap_or_default();
        Ok(Self {
            total_bytes: found.f_blocks.saturating_mul(block_bytes),
            free_bytes: found.f_bavail.saturating_mul(block_bytes),
            is_memory: found.f_type == libc::TMPFS_MAGIC,
        })
    }

    /// Returns false for a file system in memory that has no limit of its own.
    fn is_limited(self) -> bool {
        self.total_bytes > 0
    }

    /// Returns the bytes that segments of this many processes leave free.
    fn kept_bytes(self, sharers: u64) -> u64 {
        let half = self.total_bytes / 2;
        if !self.is_memory {
            return half.min(KEPT_ON_DISK_BYTES);
        }
        let for_mpi = if sharers > 1 { sharers.saturating_mul(MPI_BYTES_A_RANK) } else { 0 };
        half.max(for_mpi).min(self.total_bytes)
    }

    /// Returns whether one of this many processes may take `bytes` more, with which it has
    /// `own_bytes`.
    fn has_room(self, bytes: u64, own_bytes: u64, sharers: u64) -> bool {
        let kept_bytes = self.kept_bytes(sharers);
        let is_within_share = own_bytes <= (self.total_bytes - kept_bytes) / sharers;
        let at_once = if is_within_share { bytes } else { bytes.saturating_mul(sharers) };
        !self.is_limited() || self.free_bytes >= kept_bytes.saturating_add(at_once)
    }

    fn refusal(self, sharers: u64) -> Refusal {
        Refusal::Room { total_bytes: self.total_bytes, kept_bytes: self.kept_bytes(sharers) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: u64 = 256 << 10;

    fn memory(total_mib: u64, free_mib: u64) -> Space {
        Space { total_bytes: total_mib << 20, free_bytes: free_mib << 20, is_memory: true }
    }

    #[test]
    fn half_stays_free_and_what_mpi_may_need() {
        assert_eq!(memory(64, 64).kept_bytes(1), 32 << 20);
        assert_eq!(memory(64, 64).kept_bytes(4), 32 << 20);
        assert_eq!(memory(64, 64).kept_bytes(14), 14 * MPI_BYTES_A_RANK);
        assert_eq!(memory(64, 64).kept_bytes(64), 64 << 20, "MPI may need all of it");
        assert_eq!(memory(24 << 10, 0).kept_bytes(64), 12 << 30);
        let disk = |total_gib: u64| Space { is_memory: false, ..memory(total_gib << 10, 0) };
        assert_eq!((disk(1).kept_bytes(64), disk(250).kept_bytes(1)), (1 << 29, 1 << 30));
    }

    #[test]
    fn room_is_what_is_left_above_that() {
        let check = |free_mib, bytes, own_bytes, sharers, expected| {
            assert_eq!(memory(64, free_mib).has_room(bytes, own_bytes, sharers), expected);
        };
        check(64, 32 << 20, 32 << 20, 1, true);
        check(64, 33 << 20, 33 << 20, 1, false);
        // Others have used the first half.
        check(32, STEP, STEP, 1, false);
        // A share of 16 MiB, and more than it if all could have it.
        check(40, 8 << 20, 16 << 20, 2, true);
        check(40, 8 << 20, 24 << 20, 2, false);
        check(48, 8 << 20, 24 << 20, 2, true);
        // Fourteen ranks get a segment each, of which none grows beyond a share; fifteen get none.
        check(63, STEP, STEP, 14, true);
        check(61, STEP, 2 * STEP, 14, false);
        check(64, STEP, STEP, 15, false);
        check(64, STEP, STEP, 64, false);
        let unlimited = Space { total_bytes: 0, free_bytes: 0, is_memory: true };
        assert!(unlimited.has_room(1 << 40, 1 << 40, 64));
    }

    /// Simulates processes that all look before any of them takes anything.
    fn all_at_once(total_mib: u64, sharers: u64, steps: u32) -> u64 {
        let mut space = memory(total_mib, total_mib);
        let mut own = vec![0; usize::try_from(sharers).unwrap()];
        for step in 0..steps {
            let bytes = STEP << step.saturating_sub(1);
            let looked = space;
            for own in &mut own {
                if looked.has_room(bytes, *own + bytes, sharers) {
                    *own += bytes;
                    space.free_bytes = space.free_bytes.saturating_sub(bytes);
                }
            }
            assert!(space.free_bytes >= space.kept_bytes(sharers), "{total_mib} {sharers} {step}");
        }
        own.iter().sum()
    }

    #[test]
    fn processes_that_look_at_the_same_time_do_not_take_too_much_together() {
        for sharers in 1..=64 {
            for total_mib in [1, 16, 63, 64, 128, 1 << 10, 24 << 10] {
                all_at_once(total_mib, sharers, 12);
            }
        }
        assert_eq!(all_at_once(64, 14, 3), 14 * STEP);
        assert_eq!(all_at_once(24 << 10, 64, 12), 8 << 30, "most of half of a large one");
    }
}
