//! How exact the times of this process's profiles are.

use std::sync::OnceLock;

use tinyprof_format::model::Precision;

use super::session::session;

/// What the program says.
static CHOSEN: OnceLock<Precision> = OnceLock::new();

/// Says how exact the times in profiles of this process shall be: `TINYPROF_PRECISION` wins, and
/// only the first call counts.
///
/// ```
/// use tinyprof::collect::{precision, set_precision};
/// use tinyprof_format::model::Precision;
///
/// set_precision(Precision::EightBit);
/// assert_eq!(precision(), Precision::EightBit);
/// ```
pub fn set_precision(precision: Precision) {
    // Of several that say so, the first is heard, as with other settings.
    CHOSEN.get_or_init(|| precision);
}

/// How exact they are: exact, unless the user or the program says otherwise.
#[must_use]
pub fn precision() -> Precision {
    session().config.precision.or_else(|| CHOSEN.get().copied()).unwrap_or_default()
}
