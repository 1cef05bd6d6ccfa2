//! TinyProf: a function with the attribute, as users write it.

use tinyprof_peers::{VISITS, measure, work};

#[tinyprof::profile]
fn region() {
    work();
}

#[tinyprof::profile]
fn root() {
    for _ in 0..VISITS {
        region();
    }
}

fn main() {
    // The numbers are the harness's: no profile is to be written.
    assert!(tinyprof::collect::take_over(tinyprof::collect::Ending::default));
    measure(root);
}
