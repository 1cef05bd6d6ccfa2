//! The table of MPI's functions.

mod facts;
mod shape;

use tinyprof::__calls::Site;
use tinyprof_messages::waiting::Collective as Pattern;

pub(crate) use facts::{
    Accesses, Collective, Completes, Concludes, Cost, Counts, Epoch, Form, Frees, Lifetime, Looks,
    Makes, Meets, Prepares, Sent, Waits,
};
pub(crate) use shape::Shape;

use crate::words::word_of_argument;

/// One function of MPI, and what follows from the tags of its role.
#[derive(Debug)]
pub(crate) struct Function {
    /// The name in C.
    pub(crate) name: &'static str,
    /// True for the functions whose counts are `MPI_Count` (MPI 4.0, section 19.2).
    pub(crate) is_large: bool,
    /// True if the function says whether something is there, and does not wait for it.
    pub(crate) is_test: bool,
    pub(crate) arguments: u8,
    /// Arguments of the Fortran function, with the hidden lengths of its texts.
    pub(crate) fortran_arguments: u8,
    /// The word of the argument in which the Fortran function returns its code.
    pub(crate) error: u8,
    pub(crate) looks: Looks,
    pub(crate) counts: Counts,
    pub(crate) concludes: Concludes,
    pub(crate) meets: Meets,
    pub(crate) lifetime: Lifetime,
    pub(crate) waits: Waits,
    pub(crate) cost: Cost,
    pub(crate) makes: Makes,
    pub(crate) frees: Frees,
    pub(crate) epoch: Epoch,
    /// True if something that others wait for begins with the call, apart from messages.
    pub(crate) begins: bool,
    /// True if the call sends a message.
    pub(crate) sends: bool,
    /// True if the call posts a receive that another one completes.
    pub(crate) posts: bool,
    pub(crate) probes: bool,
    /// True if a call that has failed may have taken messages.
    pub(crate) takes: bool,
    /// True if the call hears whether messages were taken, and does so in turn with other threads.
    pub(crate) hears: bool,
    /// True if level `messages` knows for whom a call waits, or it waits for nobody: where ranks
    /// share memory, and where all ranks of the communicator, window or file are followed. The
    /// completion of a request is followed if the request is.
    pub(crate) is_followed: bool,
    pub(crate) sent: Sent,
    /// The word of the tag of the message that the call receives.
    pub(crate) received_tag: u8,
    pub(crate) at: Positions,
}

/// All wait for all, as what they make or use is one.
const ALL_TO_ALL: Shape = Shape::Of(Pattern::AllToAll);

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
    comm count datatype dest fh flag group incount index indices lock_type message newcomm op
    origin_count origin_datatype outcount partitions rank recvbuf recvcount recvcounts recvtype
    recvtypes request requests result_count result_datatype root sendbuf sendcount sendcounts
    sendtype sendtypes source status statuses tag target_rank win
}

const INIT: [(&str, &str); 1] = [("tag", "INIT")];
const COMM: [(&str, &str); 1] = [("tag", "COMM")];
const IO: [(&str, &str); 1] = [("tag", "IO")];

include!(concat!(env!("OUT_DIR"), "/table.rs"));

#[cfg(test)]
mod tests {
    use super::*;

    fn is_followed(name: &str) -> bool {
        FUNCTIONS.iter().find(|function| function.name == name).expect("in the table").is_followed
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
