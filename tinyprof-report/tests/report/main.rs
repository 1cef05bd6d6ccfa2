//! Reports of a run for people, programs and other ranks.

mod efficiency;
mod fixture;
mod hints;
mod info;
mod json;
mod messages;
mod statistics;
mod text;
