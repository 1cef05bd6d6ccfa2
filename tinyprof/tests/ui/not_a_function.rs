use tinyprof::profile;

#[profile]
pub struct Field {
    _values: Vec<f64>,
}

#[profile]
unsafe extern "C" {
    fn abs(x: i32) -> i32;
}

#[profile]
const LIMIT: u32 = 3;

fn main() {
    let _ = unsafe { abs(-1) };
    let _ = LIMIT;
}
