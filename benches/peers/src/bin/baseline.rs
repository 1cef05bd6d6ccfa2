//! Bare pairs against bare pairs: how far the two differ is the noise of the measurement.

fn main() {
    tinyprof_peers::measure(tinyprof_peers::bare_pairs);
}
