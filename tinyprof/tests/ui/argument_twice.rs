use tinyprof::profile;

#[profile(name = "a", mode = each, name = "b")]
fn function() {}

fn main() {
    function();
}
