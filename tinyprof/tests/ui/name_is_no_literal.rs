use tinyprof::{profile, profile_loop, profile_scope};

const NAME: &str = "solve";

#[profile(name = NAME)]
fn function() {}

#[profile("solve")]
fn bare() {}

#[profile(name = "")]
fn empty() {}

fn main() {
    function();
    bare();
    empty();
    profile_scope!(NAME);
    profile_loop!(for _ in NAME.chars() {});
}
