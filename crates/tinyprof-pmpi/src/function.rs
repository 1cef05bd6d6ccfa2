//! The table of MPI's functions.

use tinyprof::__calls::Site;

use crate::words::word_of_argument;

/// One function of MPI.
#[derive(Debug)]
pub(crate) struct Function {
    /// The name in C.
    pub(crate) name: &'static str,
    pub(crate) role: Role,
    pub(crate) looks: Looks,
    /// True for the functions whose counts are `MPI_Count` (MPI 4.0, section 19.2).
    pub(crate) is_large: bool,
    pub(crate) arguments: u8,
    /// Arguments of the Fortran function, with the hidden lengths of its texts.
    pub(crate) fortran_arguments: u8,
    pub(crate) at: Positions,
}

impl Function {
    /// Returns whether the function says whether something is there, and does not wait for it.
    #[inline]
    pub(crate) fn is_test(&self) -> bool {
        self.at.flag != Positions::NO || self.name == "MPI_Testsome"
    }

    /// Returns whether all ranks that have opened the file read or write together.
    pub(crate) fn is_joint_io(&self) -> bool {
        matches!(self.role, Role::FileRead | Role::FileWrite)
            && self.at.request == Positions::NO
            && (self.name.ends_with("_all") || self.name.ends_with("_all_c"))
    }

    /// Returns whether level `messages` knows for whom a call waits, or it waits for nobody: where
    /// ranks share memory, and where all ranks of the communicator, window or file are followed.
    ///
    /// The completion of a request is followed if the request is.
    pub(crate) fn is_followed(&self) -> bool {
        match self.role {
            Role::Unfollowed
            | Role::Init
            | Role::InitThread
            | Role::Finalize
            | Role::Abort
            | Role::MakeIntercommunicator
            | Role::FreeCommunicator
            | Role::PartitionedSendInit
            | Role::PartitionedReceiveInit
            | Role::Unlock
            | Role::UnlockAll
            // MPI lets an access wait until the memory is posted, or a lock is free.
            | Role::Put
            | Role::Get
            | Role::GetAccumulate
            | Role::FetchAndOp
            | Role::CompareAndSwap
            | Role::FileReadBegin
            | Role::FileReadEnd => false,
            // Of a communicator only a part makes another one: nobody counts such operations.
            Role::MakeCommunicator => self.at.tag == Positions::NO,
            Role::FileRead => self.is_joint_io(),
            Role::FileWrite => self.is_joint_io() || self.at.request != Positions::NO,
            Role::Plain
            | Role::Probe
            | Role::Pcontrol
            | Role::Send
            | Role::SendInit
            | Role::Receive
            | Role::StartReceive
            | Role::ReceiveInit
            | Role::Exchange
            | Role::ExchangeReplace
            | Role::StartExchange
            | Role::StartExchangeReplace
            | Role::Match
            | Role::MatchedReceive
            | Role::StartMatchedReceive
            | Role::Start
            | Role::Startall
            | Role::CompleteOne
            | Role::CompleteAny
            | Role::CompleteSome
            | Role::CompleteAll
            | Role::Cancel
            | Role::FreeRequest
            | Role::MakeWindow
            | Role::FreeWindow
            | Role::Fence
            | Role::Post
            | Role::StartAccess
            | Role::CompleteAccess
            | Role::WaitExposure
            | Role::Lock
            | Role::LockAll
            | Role::OpenFile
            | Role::CloseFile
            | Role::JoinFile
            | Role::CreateKeyval
            | Role::FreeDatatype
            | Role::CommitDatatype
            | Role::File
            | Role::FileStartRead
            | Role::Collective(..) => true,
        }
    }
}

/// What a function does with messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Nothing that is counted, and it waits for nobody: bookkeeping, and others.
    Plain,
    /// Nothing that is counted. It may wait, and nobody follows for whom.
    Unfollowed,
    Probe,
    Init,
    InitThread,
    Finalize,
    Pcontrol,
    Abort,
    Send,
    SendInit,
    PartitionedSendInit,
    Receive,
    StartReceive,
    ReceiveInit,
    PartitionedReceiveInit,
    Exchange,
    ExchangeReplace,
    StartExchange,
    StartExchangeReplace,
    Match,
    MatchedReceive,
    StartMatchedReceive,
    Start,
    Startall,
    CompleteOne,
    CompleteAny,
    CompleteSome,
    CompleteAll,
    Cancel,
    FreeRequest,
    MakeCommunicator,
    MakeIntercommunicator,
    MakeWindow,
    FreeWindow,
    Fence,
    Post,
    StartAccess,
    CompleteAccess,
    WaitExposure,
    Lock,
    LockAll,
    Unlock,
    UnlockAll,
    OpenFile,
    CloseFile,
    /// All ranks that have opened the file come there.
    JoinFile,
    CreateKeyval,
    FreeCommunicator,
    FreeDatatype,
    CommitDatatype,
    Put,
    Get,
    GetAccumulate,
    FetchAndOp,
    CompareAndSwap,
    File,
    FileRead,
    FileStartRead,
    FileReadBegin,
    FileReadEnd,
    FileWrite,
    Collective(Collective, Form),
}

/// When a function's arguments are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Looks {
    /// The function steers the recording, and is not recorded itself.
    Steers,
    Never,
    After,
    BeforeAndAfter,
}

impl Role {
    /// Returns when the arguments are looked at.
    const fn looks(self) -> Looks {
        match self {
            Self::Finalize | Self::Pcontrol | Self::Abort => Looks::Steers,
            Self::Plain
            | Self::Unfollowed
            | Self::Probe
            | Self::Init
            | Self::InitThread
            | Self::Fence
            | Self::Post
            | Self::StartAccess
            | Self::CompleteAccess
            | Self::WaitExposure
            | Self::Lock
            | Self::LockAll
            | Self::Unlock
            | Self::UnlockAll
            | Self::FreeWindow
            | Self::OpenFile
            | Self::CloseFile
            | Self::JoinFile
            | Self::File => Looks::Never,
            Self::Receive
            | Self::Exchange
            | Self::ExchangeReplace
            | Self::FileRead
            | Self::FileReadEnd
            | Self::Match
            | Self::MatchedReceive
            | Self::StartMatchedReceive
            | Self::CompleteOne
            | Self::CompleteAny
            | Self::CompleteSome
            | Self::CompleteAll
            | Self::FreeRequest
            | Self::FreeCommunicator
            | Self::FreeDatatype => Looks::BeforeAndAfter,
            _ => Looks::After,
        }
    }
}

/// When the data of a collective operation is exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// By this call, or by an operation that it starts.
    Once,
    /// At each start of the request that the call makes.
    Persistent,
}

/// The kinds of collective operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Collective {
    Barrier,
    Bcast,
    Gather,
    Gatherv,
    Scatter,
    Scatterv,
    Allgather,
    Allgatherv,
    Alltoall,
    Alltoallv,
    Alltoallw,
    Reduce,
    Allreduce,
    ReduceScatter,
    ReduceScatterBlock,
    Scan,
    Exscan,
    NeighborAllgather,
    NeighborAllgatherv,
    NeighborAlltoall,
    NeighborAlltoallv,
    NeighborAlltoallw,
}

macro_rules! positions {
    ($($argument:ident)*) => {
        /// The words of the arguments that the wrappers look at, by their names in the standard.
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct Positions {
            $(pub(crate) $argument: u8,)*
        }

        impl Positions {
            /// The word of an argument that the function does not have.
            pub(crate) const NO: u8 = u8::MAX;
            const NONE: Self = Self { $($argument: Self::NO,)* };

            /// Returns the word of the request that a call completes, or of the array of them.
            #[inline]
            pub(crate) fn open_requests(&self) -> u8 {
                if self.requests == Self::NO { self.request } else { self.requests }
            }
        }
    };
}

positions! {
    comm count datatype dest fh flag group incount index indices lock_type message newcomm op origin_count
    origin_datatype outcount partitions rank recvbuf recvcount recvcounts recvtag recvtype recvtypes request
    requests result_count result_datatype root sendbuf sendcount sendcounts sendtag sendtype sendtypes
    source status statuses tag target_rank win
}

const INIT: [(&str, &str); 1] = [("tag", "INIT")];
const COMM: [(&str, &str); 1] = [("tag", "COMM")];
const IO: [(&str, &str); 1] = [("tag", "IO")];

include!(concat!(env!("OUT_DIR"), "/table.rs"));

#[cfg(test)]
mod tests {
    use super::*;

    fn is_followed(name: &str) -> bool {
        FUNCTIONS.iter().find(|function| function.name == name).expect("in the table").is_followed()
    }

    #[test]
    fn what_may_wait_for_somebody_unknown_is_not_followed() {
        let names = ["Comm_spawn", "Comm_accept", "Comm_create_group", "Comm_idup", "Win_flush"];
        let io = ["File_read", "File_write_all_begin", "File_read_ordered", "File_sync"];
        for name in names.into_iter().chain(io) {
            assert!(!is_followed(&format!("MPI_{name}")), "{name}");
        }
        let names = ["Type_size", "Ibarrier", "Comm_split", "Win_fence", "Neighbor_alltoallw"];
        let io = ["File_read_all", "File_write_at_all_c", "File_open", "File_iread_at_all"];
        for name in names.into_iter().chain(io) {
            assert!(is_followed(&format!("MPI_{name}")), "{name}");
        }
    }
}
