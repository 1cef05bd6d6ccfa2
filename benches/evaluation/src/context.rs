//! The context of the measurements.

use std::cell::OnceCell;
use std::path::PathBuf;

use crate::application::Programs;
use crate::progress::say;
use crate::visit;

/// The programs, and the amount to measure.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) programs: Programs,
    /// Number of ranks: at most one per processor, a power of two.
    pub(crate) ranks: u32,
    pub(crate) repetitions: u32,
    pub(crate) always_on_s: u64,
    pub(crate) small: bool,
    pub(crate) shared_data: Option<PathBuf>,
    /// The name of the part, for progress lines.
    pub(crate) part: &'static str,
    /// The cost of a visit, once it has been measured.
    pub(crate) visit_ps: OnceCell<u64>,
}

impl Context {
    /// Returns the size of a case: the second one in a trial.
    pub(crate) fn size(&self, full: u64, small: u64) -> u64 {
        if self.small { small } else { full }
    }

    pub(crate) fn has_mpi(&self) -> bool {
        !self.programs.mpiexec.is_empty()
    }

    /// Returns the cost of a visit here, in picoseconds, measured once per part.
    pub(crate) fn visit_ps(&self) -> u64 {
        *self.visit_ps.get_or_init(visit::visit_ps)
    }

    /// Prints a progress line of the part.
    pub(crate) fn say(&self, text: &str) {
        say(&format!("  {}: {text}", self.part));
    }

    pub(crate) fn say_step(&self, repetition: u32, of: u32) {
        self.say(&format!("repetition {} of {of}", repetition + 1));
    }
}
