//! Formatting of names and numbers in tables, for use by other crates.

pub use super::date::utc;
pub use super::names::{columns, cut, shown, wrapped};
pub use super::units::{counted, data, number_cell, percent_cell, ratio, time_cell};
