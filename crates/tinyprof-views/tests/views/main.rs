//! Tables of a profile for people and programs.

#[expect(dead_code, reason = "other tests use the rest")]
#[path = "../../../tinyprof-report/tests/report/fixture.rs"]
mod fixture;
mod info;
mod json;
mod messages;
mod regions;
mod waits;
#[expect(dead_code, reason = "other tests use the rest")]
#[path = "../../../tinyprof-report/tests/report/world.rs"]
mod world;
