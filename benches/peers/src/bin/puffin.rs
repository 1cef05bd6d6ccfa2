//! `puffin`: scopes in a frame; the newest frames are kept.

use tinyprof_peers::{VISITS, measure, work};

fn region() {
    puffin::profile_function!();
    work();
}

fn root() {
    puffin::profile_function!();
    for _ in 0..VISITS {
        region();
    }
}

fn main() {
    puffin::set_scopes_on(true);
    measure(|| {
        puffin::GlobalProfiler::lock().new_frame();
        root();
    });
}
