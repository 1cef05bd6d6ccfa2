//! The command line tools as users and scripts see them.

mod communication;
mod diff;
mod documents;
mod estimates;
mod formats;
mod manual;
mod mpi;
mod names;
mod pager;
#[expect(dead_code, reason = "the tests of the reports use the others")]
#[path = "../../../tinyprof-structure/tests/structure/programs.rs"]
mod programs;
mod reports;
mod rules;
mod support;
mod terminal;
mod words;
#[expect(dead_code, reason = "the tests of the reports use the others")]
#[path = "../../../tinyprof-report/tests/report/world.rs"]
mod world;
