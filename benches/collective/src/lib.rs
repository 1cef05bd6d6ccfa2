//! Code shared by the studies: the data that is flushed, the model of what a simulation does not
//! execute, the rows of results, launching programs and finding their files, and the elements of
//! pages.

#[cfg(feature = "document")]
pub mod document;
pub mod files;
pub mod launch;
pub mod map;
pub mod model;
pub mod rows;
pub mod tracker;
