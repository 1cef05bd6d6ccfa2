//! The precision of the times in this process's profiles.

use std::sync::OnceLock;

use tinyprof_format::model::Precision;

use super::session::session;

/// The choice of the program.
static CHOSEN: OnceLock<Precision> = OnceLock::new();

/// Sets the precision of the times in profiles of this process. `TINYPROF_PRECISION` wins, and only
/// the first call counts.
///
/// ```
/// use tinyprof::collect::{precision, set_precision};
/// use tinyprof_format::model::Precision;
///
/// set_precision(Precision::EightBit);
/// assert_eq!(precision(), Precision::EightBit);
/// ```
pub fn set_precision(precision: Precision) {
    // The first of several calls counts, as with other settings.
    CHOSEN.get_or_init(|| precision);
}

/// Returns the precision of the times: exact, unless the user or the program chooses otherwise.
#[must_use]
pub fn precision() -> Precision {
    session().config.precision.or_else(|| CHOSEN.get().copied()).unwrap_or_default()
}
