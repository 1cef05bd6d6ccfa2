use tinyprof::profile;

#[profile]
async fn exchange() -> u32 {
    "three"
}

#[profile]
async fn fails() -> Result<u32, std::fmt::Error> {
    let number: u32 = "3".parse()?;
    Ok(number)
}

fn main() {
    drop((exchange(), fails()));
}
