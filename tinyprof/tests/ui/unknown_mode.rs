use tinyprof::{profile, profile_loop, profile_scope};

#[profile(mode = all)]
fn function() {}

#[profile(mode = "each")]
fn in_quotes() {}

#[profile(mode)]
fn without_value() {}

fn main() {
    function();
    in_quotes();
    without_value();
    profile_scope!("scope", mode = Each);
    profile_loop!("loop", mode = sum, for _ in 0..3 {});
}
