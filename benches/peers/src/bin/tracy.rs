//! `tracy-client`: zones without call stacks; no viewer is connected, so they are kept in memory.

use tinyprof_peers::{VISITS, measure, work};
use tracy_client::{Client, span};

fn region() {
    let _zone = span!("region");
    work();
}

fn main() {
    let _client = Client::start();
    measure(|| {
        let _zone = span!("root");
        for _ in 0..VISITS {
            region();
        }
    });
}
