use tinyprof::{profile, profile_scope};

#[profile(name = "Vec<T>::push")]
fn push() {}

fn main() {
    push();
    profile_scope!("a<b");
}
