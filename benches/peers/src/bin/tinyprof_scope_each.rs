//! TinyProf: a scope that keeps the time of every visit.

use tinyprof_peers::{VISITS, measure, work};

fn region() {
    tinyprof::profile_scope!("region", mode = each);
    work();
}

#[tinyprof::profile]
fn root() {
    for _ in 0..VISITS {
        region();
    }
}

fn main() {
    assert!(tinyprof::collect::take_over(tinyprof::collect::Ending::default));
    measure(root);
}
