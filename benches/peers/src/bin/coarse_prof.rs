//! `coarse-prof`: a tree of scopes with sums.

use tinyprof_peers::{VISITS, measure, work};

fn region() {
    coarse_prof::profile!("region");
    work();
}

fn root() {
    coarse_prof::profile!("root");
    for _ in 0..VISITS {
        region();
    }
}

fn main() {
    measure(root);
}
