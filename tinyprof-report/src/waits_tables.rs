//! Who waits for whom, and the times of ranks without measurement, as tables and JSON.

mod compensated;
mod csv;
mod json;
mod text;
