use tinyprof::{profile, profile_loop, profile_scope};

#[profile(nam = "solve")]
fn function() {}

fn scope() {
    profile_scope!("scope", every = 3);
}

fn looped() {
    profile_loop!("loop", mod = each, for _ in 0..3 {});
}

fn main() {
    function();
    scope();
    looped();
}
