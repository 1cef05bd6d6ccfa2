//! What a report says of a run, as people, programs and other ranks read it.

mod efficiency;
mod fixture;
mod hints;
mod info;
mod json;
mod statistics;
mod text;
