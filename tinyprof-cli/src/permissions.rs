//! Who may read the profiles that commands write: `TINYPROF_PERMISSIONS`, as for the programs that
//! are profiled.

use std::env;

use tinyprof_format::file::Permissions;

use crate::render;

/// What the environment says. A value that cannot be understood is said, and counts as not set.
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
