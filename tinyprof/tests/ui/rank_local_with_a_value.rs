use tinyprof::{profile, profile_scope};

#[profile(rank_local = true)]
fn function() {}

fn main() {
    function();
    profile_scope!("scope", rank_local = "yes");
}
