use tinyprof::profile;

#[profile]
async fn exchange() -> u32 {
    "three"
}

#[profile]
async fn fails() -> Result<u32, std::fmt::Error> {
    Ok("3".parse::<u32>()?)
}

fn main() {
    drop((exchange(), fails()));
}
