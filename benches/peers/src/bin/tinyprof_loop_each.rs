//! TinyProf: an iteration of a loop, in mode `each`.

use tinyprof_peers::{VISITS, measure, work};

#[tinyprof::profile]
fn root() {
    tinyprof::profile_loop!(
        "iteration",
        mode = each,
        for _ in 0..VISITS {
            work();
        }
    );
}

fn main() {
    assert!(tinyprof::collect::take_over(tinyprof::collect::Ending::default));
    measure(root);
}
