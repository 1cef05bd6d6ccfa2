use tinyprof::profile;

struct Field;

#[profile(only(advance), skip(rank))]
impl Field {
    fn advance(&self) {}

    fn rank(&self) {}
}

#[profile(only = advance)]
impl Field {
    fn other(&self) {}
}

fn main() {
    Field.advance();
    Field.rank();
    Field.other();
}
