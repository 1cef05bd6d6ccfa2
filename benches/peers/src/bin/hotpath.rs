//! `hotpath`: a function with its attribute, every call timed, statistics made by its own thread.

use tinyprof_peers::{VISITS, measure, work};

#[hotpath::measure]
fn region() {
    work();
}

#[hotpath::measure]
fn root() {
    for _ in 0..VISITS {
        region();
    }
}

fn main() {
    let _guard = hotpath::HotpathGuardBuilder::new("main").format(hotpath::Format::None).build();
    measure(root);
}
