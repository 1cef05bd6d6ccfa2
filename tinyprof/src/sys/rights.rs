//! The rights of the process compared with those of its user.

/// Returns whether the process has rights that the user who started it lacks: a set-user-ID or
/// set-group-ID program, or one with file capabilities. The user's environment must not make it
/// write files.
pub(crate) fn has_raised_rights() -> bool {
    // SAFETY: reads what the kernel has told the process at its start.
    !cfg!(miri) && unsafe { libc::getauxval(libc::AT_SECURE) } != 0
}
