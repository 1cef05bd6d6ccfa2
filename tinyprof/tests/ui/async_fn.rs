use tinyprof::profile;

#[profile]
async fn exchange() -> u32 {
    1
}

fn main() {
    drop(exchange());
}
