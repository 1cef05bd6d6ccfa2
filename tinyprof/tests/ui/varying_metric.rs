use tinyprof::{profile, profile_loop, profile_scope};

#[profile(mem = bytes.len())]
fn function(bytes: &[u8]) {
    let _ = bytes;
}

fn main() {
    function(&[]);
    let step = 3;
    profile_scope!("scope", step = step);
    profile_loop!("loop", size = 3, for _ in 0..3 {});
}
