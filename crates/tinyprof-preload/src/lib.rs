//! The shared library for MPI programs that are not rebuilt: the recorder, the wrappers of MPI's
//! functions, and the phases, with no undefined symbol of MPI.
//!
//! `tinyprof run -- mpiexec -n 4 ./a.out` loads it into every process (`LD_PRELOAD`). A process
//! that never initialises MPI is not touched, but for its calls of `prctl` and `pthread_create`,
//! which are passed on, the latter with room for us on small stacks.

mod sys;

// Named, so that it is linked: its functions have MPI's names.
use tinyprof_job as _;
