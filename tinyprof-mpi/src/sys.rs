//! The handles of a program that uses rsmpi. This is the only module of the crate with unsafe code.

use mpi::ffi::MPI_Comm;
use mpi::topology::Communicator;
use tinyprof_job::sys::{Handle, ProgramCommunicator};

#[cfg(without_mpi)]
use crate::without_mpi as mpi;

/// Returns the communicator of a program that uses rsmpi.
pub(crate) fn program_communicator(program: &impl Communicator) -> ProgramCommunicator {
    let raw: MPI_Comm = program.as_raw();
    const { assert!(size_of::<MPI_Comm>() <= size_of::<usize>()) };
    let mut word = 0_usize;
    let from = (&raw const raw).cast::<u8>();
    let to = (&raw mut word).cast::<u8>();
    // SAFETY: both places are valid, and the word has at least as many bytes.
    unsafe { to.copy_from_nonoverlapping(from, size_of_val(&raw)) };
    // SAFETY: rsmpi's communicators are live, and of the MPI to which this program is linked.
    unsafe { ProgramCommunicator::of_handle(Handle(word)) }
}

#[cfg(test)]
mod tests {
    use tinyprof_job::sys::{Operator, PrivateCommunicator, is_usable};

    use super::*;

    /// Starts MPI for this process alone, which no other test of this crate does.
    #[test]
    fn errors_come_back_as_text_that_names_the_call() {
        assert!(!is_usable(), "before MPI is initialised");
        let universe = mpi::initialize().expect("no other test starts MPI");
        assert!(is_usable());
        let link =
            PrivateCommunicator::duplicate_of(program_communicator(&universe.world())).unwrap();
        assert_eq!((link.rank(), link.size()), (0, 1));
        let Err(error) = link.send(7, 0, vec![1]) else { panic!("there is no rank 7") };
        assert!(error.starts_with("MPI_Isend failed: ") && error.contains("rank"), "{error}");
        let too_long = usize::try_from(i32::MAX).unwrap() + 1;
        let Err(error) = link.receive(0, 0, too_long) else { panic!("MPI counts in ints") };
        assert!(error.contains("2147483648 bytes"), "{error}");
        // The communicator still works after an error.
        let mut reduced = link.all_reduce(vec![3, u64::MAX], Operator::Sum).unwrap();
        while !reduced.is_done().unwrap() {}
        assert_eq!(reduced.finish().unwrap().1, [3, u64::MAX]);
        assert_eq!(link.waiting(1), Ok(None));
        let mut duplicate = PrivateCommunicator::world_itself().duplicate().unwrap();
        while !duplicate.is_done().unwrap() {}
        let link = duplicate.finish().unwrap().link().unwrap();
        assert!(link.send(7, 0, vec![1]).is_err(), "the world's errors would end the program");
        drop(universe);
        assert!(!is_usable(), "after MPI is finalised");
    }
}
