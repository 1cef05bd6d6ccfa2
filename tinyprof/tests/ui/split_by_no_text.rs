use tinyprof::{profile, profile_scope};

#[profile(split = N)]
fn generic<const N: usize>() {}

#[profile(split = "always")]
fn constant() {}

fn main() {
    generic::<3>();
    constant();
    profile_scope!("scope", split);
}
