use tinyprof::{profile, profile_loop, record};

#[profile(kind = each)]
fn function() {}

struct Field(u64);

#[profile(bytes = self.0)]
impl Field {
    fn new(bytes: u64) -> Self {
        Self(bytes)
    }
}

fn main() {
    function();
    Field::new(3);
    profile_loop!("loop", size = i, for _ in 0..3 {});
    record!(mem = memory());
}
