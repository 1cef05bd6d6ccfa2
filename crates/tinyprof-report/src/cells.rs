//! Formatting of names and numbers in tables, for use by other crates.

pub use crate::facts::numbers::{ratio, rounded, whole};
pub use crate::words::amounts::{share_cell, sum_cell};
pub use crate::words::names::{columns, cut, is_hazardous, names_share, shown, wrapped};
pub use crate::words::units::{
    below, count_cell, counted, data, data_cell, number_cell, percent_cell, percent_of, time,
    time_cell,
};
