//! The functions through which programs call MPI, as the user names them.

use std::env;

use tinyprof_settings::Wrappers;

/// Returns the wrappers that `TINYPROF_WRAPPERS` names, as the recorder reads it.
pub(crate) fn wrappers() -> Wrappers {
    Wrappers::new(&env::var("TINYPROF_WRAPPERS").unwrap_or_default())
}
