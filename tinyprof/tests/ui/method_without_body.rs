use tinyprof::profile;

trait Solver {
    #[profile]
    fn solve(&self) -> f64;
}

impl Solver for f64 {
    fn solve(&self) -> f64 {
        *self
    }
}

fn main() {
    1.0_f64.solve();
}
