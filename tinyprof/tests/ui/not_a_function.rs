use tinyprof::profile;

#[profile]
pub struct Field {
    _values: Vec<f64>,
}

#[profile]
impl Field {
    fn new() -> Self {
        Self { _values: Vec::new() }
    }
}

#[profile]
pub(crate) mod inner {
    pub(crate) fn work() {}
}

#[profile]
unsafe trait Norm {}

#[profile]
const LIMIT: u32 = 3;

fn main() {
    Field::new();
    inner::work();
    let _ = LIMIT;
}
