use tinyprof::profile;

#[profile(skip(inner))]
fn function() {}

fn main() {
    function();
}
