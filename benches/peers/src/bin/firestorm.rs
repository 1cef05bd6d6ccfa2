//! `firestorm`: a list of starts and ends, cleared after each root region.

use tinyprof_peers::{VISITS, measure, work};

fn region() {
    firestorm::profile_fn!(region);
    work();
}

fn root() {
    firestorm::profile_fn!(root);
    for _ in 0..VISITS {
        region();
    }
}

fn main() {
    measure(|| {
        root();
        firestorm::clear();
    });
}
