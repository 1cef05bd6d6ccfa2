use tinyprof::profile;

struct Field;

#[profile]
impl Field {
    #[profile(skip, mode = each)]
    fn new() -> Self {
        Self
    }
}

#[profile(name = "solve", skip)]
fn solve() {}

fn main() {
    Field::new();
    solve();
}
