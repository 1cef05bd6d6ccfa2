use tinyprof::profile;

struct Field;

#[profile(mode = each)]
impl Field {
    #[profile(mode = all)]
    fn new() -> Self {
        Self
    }

    #[profile]
    const fn len() -> usize {
        0
    }
}

fn main() {
    Field::new();
    Field::len();
}
