//! Loops over all faults that the profiler promises to survive, and the programs that they are run
//! on.
//!
//! `scripts/faults.sh` builds and starts the command `faults`; its results are in
//! `docs/reliability.md`. This library is shared by the command and its programs:
//!
//! * [`numbering`]: the numbers of all callpaths that a program under test can visit;
//! * [`truth`]: the program's own count of visits by callpath, in shared memory that survives it;
//! * [`work`]: the regions of these programs;
//! * [`sys`]: the only unsafe code: shared memory, marker calls, an allocator that fails on demand,
//!   ptrace.

pub mod numbering;
pub mod phase;
pub mod sys;
pub mod truth;
pub mod work;
