//! The permissions of the profiles that commands write: `TINYPROF_PERMISSIONS`, as for the profiled
//! programs.

use std::env;

use tinyprof_format::file::Permissions;

use crate::render;

/// Returns the setting of the environment. An invalid value is reported and counts as unset.
pub(crate) fn permissions() -> Permissions {
    let Some(text) = env::var_os(Permissions::VARIABLE) else { return Permissions::default() };
    text.to_str().and_then(Permissions::parse).unwrap_or_else(|| {
        render::notes(&[format!(
            "{}={} is ignored: expected {}",
            Permissions::VARIABLE,
            text.to_string_lossy(),
            Permissions::EXPECTED
        )]);
        Permissions::default()
    })
}
