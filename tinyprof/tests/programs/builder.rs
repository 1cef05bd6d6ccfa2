//! Makes its settings itself: the name, the format, no table, and which interim profiles stay.

use std::time::Duration;

use tinyprof::collect::ALL_INTERIM_PROFILES;
use tinyprof::{Builder, OutputFormat, profile};

#[profile]
fn work() {}

fn main() {
    let settings = Builder::new()
        .out("chosen")
        .format(OutputFormat::Csv)
        .report(false)
        .interim_interval(Duration::from_nanos(1))
        .keep_interim_profiles(ALL_INTERIM_PROFILES);
    settings.clone().start().expect("the first settings");
    settings.start().expect_err("the second settings");
    (0..3).for_each(|_| work());
}
