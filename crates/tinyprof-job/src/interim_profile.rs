//! Interim profiles: profiles of everything so far, which all ranks write at the same flush point,
//! on which they [agree](tinyprof_flush::agreement).

mod active;
mod interim_writer;
mod maxima;

pub(crate) use active::{
    begin, begin_of_profiler, by_hand, close, obstacle, proposal, retire, settle_all,
};
