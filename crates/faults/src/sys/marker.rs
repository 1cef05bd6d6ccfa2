//! The calls by which a program tells its tracer where it is.

/// The first argument of marker calls: an option that `prctl` does not know. The call fails, and
/// does nothing else.
pub(crate) const MARKER: libc::c_int = 0x5450_5246;
