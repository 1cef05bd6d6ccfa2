//! What ranks do, as it is found from profiles.

mod control_nodes;
#[expect(dead_code, reason = "other tests use the rest")]
#[path = "../../../tinyprof-report/tests/report/fixture.rs"]
mod fixture;
mod iterations;
mod programs;
mod structure;
#[expect(dead_code, reason = "other tests use the rest")]
#[path = "../../../tinyprof-report/tests/report/world.rs"]
mod world;
