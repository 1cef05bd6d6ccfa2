use tinyprof::profile;

struct Field;

#[profile(only(advnce, Other::deposit))]
impl Field {
    fn advance(&self) {}

    fn deposit(&self) {}
}

#[profile(skip(missing))]
mod inner {
    pub fn there() {}
}

fn main() {
    Field.advance();
    Field.deposit();
    inner::there();
}
