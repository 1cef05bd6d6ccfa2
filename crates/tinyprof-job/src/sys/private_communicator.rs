//! Our own communicator, with operations that are started and then tested, so that none can hang.
//!
//! Ranks here are those of the whole communicator. Errors of MPI are returned as text: by default,
//! MPI ends the program, which a profiler must not do.

use std::ffi::c_int;

use tinyprof_pmpi::{Handle, Status, mpi};

use super::error::check;
use super::{Pending, ProgramCommunicator};

/// A duplicate of one of the program's communicators, so that no message of the program can match
/// one of these.
///
/// It is never freed: `MPI_Comm_free` is collective, and ranks that have given up do not call it.
/// There is one for the world, at most one for a profiler, and two for its interim profiles.
#[derive(Clone, Copy, Debug)]
pub struct PrivateCommunicator {
    handle: Handle,
    rank: u32,
    size: u32,
}

/// An operator that combines the numbers of all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// The greatest number.
    Max,
    /// The sum, which wraps.
    Sum,
}

/// The numbers of a rank, and the result of combining them with those of all others.
pub type Reduction = (Vec<u64>, Vec<u64>);

/// A duplicate of a communicator that is being made: MPI writes its handle to this place.
#[derive(Debug)]
pub struct Duplicate {
    place: Box<Handle>,
    rank: u32,
    size: u32,
}

/// A message that waits to be received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parcel {
    /// The rank that sent it.
    pub from: u32,
    /// Its length, in bytes.
    pub length: usize,
}

/// Converts a length to an `int`, in which MPI counts; the phases split larger messages into
/// chunks.
fn count(length: usize) -> Result<c_int, String> {
    c_int::try_from(length)
        .map_err(|_| format!("a message of {length} bytes is more than MPI can count"))
}

/// Allocates room for a message. It may be the largest allocation of all, so a failure is an
/// ordinary error.
pub(crate) fn room(length: usize) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    bytes
        .try_reserve_exact(length)
        .map_err(|_| format!("there is no memory for a message of {length} bytes"))?;
    Ok(bytes)
}

fn signed(rank: u32) -> c_int {
    c_int::try_from(rank).expect("a rank came from MPI, so it fits")
}

impl PrivateCommunicator {
    /// Duplicates `program`'s communicator. Collective over it, and blocking.
    ///
    /// # Errors
    /// MPI's reason, if the program has asked for errors to be returned; otherwise MPI ends the
    /// program.
    pub fn duplicate_of(program: ProgramCommunicator) -> Result<Self, String> {
        let mut own = Handle(0);
        // SAFETY: the program's communicator is live, and the place is valid.
        let code = unsafe { mpi().comm_dup(program.handle, &raw mut own) };
        check("MPI_Comm_dup", code)?;
        Self::adopt(own, program.rank, program.size)
    }

    /// Takes a new communicator that only we use.
    fn adopt(own: Handle, rank: u32, size: u32) -> Result<Self, String> {
        // SAFETY: both handles are live. Only our own communicator gets the handler.
        let code = unsafe { mpi().comm_set_errhandler(own, mpi().abi.errors_return) };
        check("MPI_Comm_set_errhandler", code)?;
        Ok(Self { handle: own, rank, size })
    }

    /// Duplicates the world.
    ///
    /// # Errors
    /// As [`duplicate_of`](Self::duplicate_of).
    pub(crate) fn of_world() -> Result<Self, String> {
        Self::duplicate_of(ProgramCommunicator::world())
    }

    /// Makes a communicator with all ranks of the world, without its attributes. Collective over
    /// the world, and blocking.
    ///
    /// # Errors
    /// As [`duplicate_of`](Self::duplicate_of).
    pub(crate) fn split_of_world() -> Result<Self, String> {
        let program = ProgramCommunicator::world();
        let mut own = Handle(0);
        // SAFETY: the world is live, and the place is valid.
        let code = unsafe { mpi().comm_split(program.handle, 0, 0, &raw mut own) };
        check("MPI_Comm_split", code)?;
        Self::adopt(own, program.rank, program.size)
    }

    /// Returns the program's own world. Only a rank that has started all of the program's
    /// collectives may start one of ours there, and it may start nothing except collectives: a
    /// message might be received by the program. Errors go to its handler, which ends the program
    /// unless it has been replaced.
    #[must_use]
    pub fn world_itself() -> Self {
        let ProgramCommunicator { handle, rank, size } = ProgramCommunicator::world();
        Self { handle, rank, size }
    }

    /// Starts to duplicate this communicator.
    ///
    /// # Errors
    /// Text that names the function and MPI's reason, if MPI refuses the operation.
    pub fn duplicate(&self) -> Result<Pending<Duplicate>, String> {
        let place = Box::new(Handle(0));
        let duplicate = Duplicate { place, rank: self.rank, size: self.size };
        Self::start("MPI_Comm_idup", duplicate, |duplicate, request| {
            // SAFETY: the communicator is live, and the place lives until the request is done, or
            // for ever.
            unsafe { mpi().comm_idup(self.handle, &raw mut *duplicate.place, request) }
        })
    }

    /// Returns the caller's rank.
    #[must_use]
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// Returns the number of ranks.
    #[must_use]
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Starts an operation that makes a request over buffers.
    fn start<B>(
        call: &'static str,
        buffers: B,
        start: impl FnOnce(&mut B, *mut Handle) -> c_int,
    ) -> Result<Pending<B>, String> {
        let mut buffers = buffers;
        let mut request = Handle(0);
        let code = start(&mut buffers, &raw mut request);
        // Wrapped before the check: MPI may hold the buffers after some failures, and they are kept
        // then.
        let pending = Pending::new(call, request, buffers);
        check(call, code)?;
        Ok(pending)
    }

    /// Starts to reduce `words` over all ranks; the second vector will be the result.
    ///
    /// # Errors
    /// Text that names the function and MPI's reason, if MPI refuses the operation.
    pub fn all_reduce(
        &self,
        words: Vec<u64>,
        operator: Operator,
    ) -> Result<Pending<Reduction>, String> {
        let length = count(words.len())?;
        let result = vec![0; words.len()];
        Self::start("MPI_Iallreduce", (words, result), |(words, result), request| {
            let abi = &mpi().abi;
            let operator = if operator == Operator::Max { abi.max } else { abi.sum };
            let (from, to) = (words.as_ptr().cast(), result.as_mut_ptr().cast());
            // SAFETY: both vectors hold `length` numbers and live until the request is done, or for
            // ever.
            unsafe { mpi().iallreduce(from, to, length, abi.word, operator, self.handle, request) }
        })
    }

    /// Starts to broadcast the bytes of rank 0; the others pass as many.
    pub(crate) fn broadcast(&self, bytes: Vec<u8>) -> Result<Pending<Vec<u8>>, String> {
        let length = count(bytes.len())?;
        Self::start("MPI_Ibcast", bytes, |bytes, request| {
            let byte = mpi().abi.byte;
            // SAFETY: the vector holds `length` bytes and lives until the request is done, or for
            // ever.
            unsafe {
                mpi().ibcast(bytes.as_mut_ptr().cast(), length, byte, 0, self.handle, request)
            }
        })
    }

    /// Starts to send `bytes`.
    ///
    /// # Errors
    /// Text that names the function and MPI's reason, if MPI refuses the operation.
    pub fn send(&self, to: u32, tag: c_int, bytes: Vec<u8>) -> Result<Pending<Vec<u8>>, String> {
        let length = count(bytes.len())?;
        Self::start("MPI_Isend", bytes, |bytes, request| {
            let byte = mpi().abi.byte;
            let from = bytes.as_ptr().cast();
            // SAFETY: the vector holds `length` bytes and lives until the request is done, or for
            // ever.
            unsafe { mpi().isend(from, length, byte, signed(to), tag, self.handle, request) }
        })
    }

    /// Starts to receive a message of `length` bytes.
    ///
    /// # Errors
    /// Text that names the function and MPI's reason, if MPI refuses the operation.
    pub fn receive(
        &self,
        from: u32,
        tag: c_int,
        length: usize,
    ) -> Result<Pending<Vec<u8>>, String> {
        let counted = count(length)?;
        let mut bytes = room(length)?;
        bytes.resize(length, 0);
        Self::start("MPI_Irecv", bytes, |bytes, request| {
            let byte = mpi().abi.byte;
            let to = bytes.as_mut_ptr().cast();
            // SAFETY: the vector holds `counted` bytes and lives until the request is done, or for
            // ever.
            unsafe { mpi().irecv(to, counted, byte, signed(from), tag, self.handle, request) }
        })
    }

    /// Returns a message with this tag that has arrived, of any rank.
    ///
    /// # Errors
    /// Text that names the function and MPI's reason, if MPI refuses the operation.
    pub fn waiting(&self, tag: c_int) -> Result<Option<Parcel>, String> {
        let abi = &mpi().abi;
        let mut flag: c_int = 0;
        let mut status = Status::default();
        let place = (&raw mut status).cast();
        // SAFETY: the communicator is live and the places are valid.
        let code = unsafe { mpi().iprobe(abi.any_source, tag, self.handle, &raw mut flag, place) };
        check("MPI_Iprobe", code)?;
        if flag == 0 {
            return Ok(None);
        }
        let mut length = 0;
        // SAFETY: the status is that of the probe, and the place is valid.
        let code = unsafe { mpi().get_elements_x(place.cast_const(), abi.byte, &raw mut length) };
        check("MPI_Get_elements_x", code)?;
        let length = usize::try_from(length).unwrap_or_default();
        Ok(Some(Parcel { from: status.source(abi).unsigned_abs(), length }))
    }
}

impl Duplicate {
    /// Returns the duplicate when it has been made.
    ///
    /// # Errors
    /// MPI's reason, if its errors cannot be made values.
    pub fn link(self) -> Result<PrivateCommunicator, String> {
        PrivateCommunicator::adopt(*self.place, self.rank, self.size)
    }
}
