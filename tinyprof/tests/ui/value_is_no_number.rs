use tinyprof::{profile, profile_loop, profile_scope, record};

#[profile(mem = bytes.to_vec())]
fn function(bytes: &[u8]) {
    let _ = bytes;
}

#[profile(flag = bytes.is_empty())]
async fn asynchronous(bytes: &[u8]) {
    let _ = bytes;
}

fn main() {
    function(&[]);
    drop(asynchronous(&[]));
    profile_scope!("scope", step = Some(3));
    profile_loop!("loop", size = (), for _ in 0..3 {});
    record!(name_of = String::from("a"));
}
