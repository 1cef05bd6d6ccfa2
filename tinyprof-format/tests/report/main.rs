//! What a report says of a run, as people, programs and other ranks read it.

mod fixture;
mod info;
mod json;
mod statistics;
mod text;
