//! Formatting of names, numbers and facts for people.

pub(crate) mod amounts;
pub(crate) mod names;
pub(crate) mod notes;
pub(crate) mod units;
