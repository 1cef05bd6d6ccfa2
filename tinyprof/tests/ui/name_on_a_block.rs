use tinyprof::profile;

struct Field;

#[profile(name = "Field")]
impl Field {
    fn new() -> Self {
        Self
    }
}

#[profile(name = "inner")]
mod inner {
    pub fn work() {}
}

fn main() {
    Field::new();
    inner::work();
}
