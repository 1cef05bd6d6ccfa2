use tinyprof::profile;

#[profile(name = "a", mode = each, name = "b")]
fn function() {}

#[profile(tag = "a", tag = "b")]
fn metric() {}

fn main() {
    function();
    metric();
}
