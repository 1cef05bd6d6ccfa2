use tinyprof::profile;

struct Field;

#[profile(only(len))]
impl Field {
    const fn len(&self) -> usize {
        0
    }
}

#[profile(skip(deposit))]
trait Deposit {
    #[profile]
    fn deposit(&self) {}
}

impl Deposit for Field {}

fn main() {
    Field.len();
    Field.deposit();
}
