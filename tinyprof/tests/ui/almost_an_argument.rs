use tinyprof::{profile, profile_loop, profile_scope};

#[profile(nam = "solve")]
fn name() {}

#[profile(Mode = each)]
fn mode() {}

fn scope() {
    profile_scope!("scope", tags = "COMM");
    profile_loop!("loop", flush_pont, for _ in 0..3 {});
}

fn main() {
    name();
    mode();
    scope();
}
