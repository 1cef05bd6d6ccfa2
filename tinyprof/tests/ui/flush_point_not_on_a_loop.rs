use tinyprof::{profile, profile_scope};

#[profile(flush_point)]
fn function() {}

fn main() {
    function();
    profile_scope!("scope", flush_point);
}
