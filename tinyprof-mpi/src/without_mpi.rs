//! Stand-ins for the parts of rsmpi that the interface of this crate names, for the documentation,
//! which is built without an MPI.

pub mod environment {
    //! The start and end of MPI.

    /// A stand-in for `mpi::environment::Universe`: MPI, while it is initialised.
    #[derive(Debug)]
    pub struct Universe(());

    impl Universe {
        /// Returns the communicator of all ranks.
        pub fn world(&self) -> super::topology::World {
            super::topology::World
        }
    }
}

pub mod topology {
    //! Communicators.

    use super::ffi::MPI_Comm;

    /// A stand-in for `mpi::topology::Communicator`: a group of ranks that communicate.
    pub trait Communicator {
        #[doc(hidden)]
        fn as_raw(&self) -> MPI_Comm;
    }

    /// The communicator of all ranks.
    #[derive(Debug)]
    pub struct World;

    impl Communicator for World {
        fn as_raw(&self) -> MPI_Comm {
            0
        }
    }
}

pub mod ffi {
    //! Names of MPI's own interface.

    #[doc(hidden)]
    #[expect(non_camel_case_types, reason = "the name in MPI's header")]
    pub type MPI_Comm = usize;
}
