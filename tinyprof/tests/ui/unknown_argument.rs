use tinyprof::{profile, profile_loop, profile_scope};

#[profile(each)]
fn function() {}

fn scope() {
    profile_scope!("scope", skip);
}

fn looped() {
    profile_loop!("loop", name = "other", for _ in 0..3 {});
}

fn main() {
    function();
    scope();
    looped();
}
