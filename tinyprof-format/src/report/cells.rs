//! Names and numbers as tables of TinyProf show them, for tables that others make.

pub use super::names::{columns, cut, shown, wrapped};
pub use super::units::{counted, number_cell, percent_cell, ratio, time_cell};
