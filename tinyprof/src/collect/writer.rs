//! The collector that writes the profile at the end of the process.

use std::sync::OnceLock;

/// A function that writes the profile at the end of the process, and returns what is left to do.
pub type Writer = fn() -> Ending;

/// The steps that are left when the measurements of a process have been written, or could not be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ending {
    /// Set if the files in which threads have recorded must be kept, because there is nothing else.
    pub keep_segments: bool,
    /// The text to be printed to standard error, with its line ends.
    pub text: String,
}

/// The collector that has taken over, if any.
static WRITER: OnceLock<Writer> = OnceLock::new();

/// Installs the collector's function; returns false if there is one already.
pub(super) fn take_over(write: Writer) -> bool {
    WRITER.set(write).is_ok()
}

/// Returns the installed function, if any.
pub(super) fn custom_writer() -> Option<Writer> {
    WRITER.get().copied()
}
