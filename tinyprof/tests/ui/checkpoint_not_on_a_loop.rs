use tinyprof::{profile, profile_scope};

#[profile(checkpoint)]
fn function() {}

fn main() {
    function();
    profile_scope!("scope", checkpoint);
}
