use tinyprof::profile;

#[profile]
pub const fn seconds(minutes: u64) -> u64 {
    minutes * 60
}

// The function still exists, so there is no second error.
const HOUR: u64 = seconds(60);

fn main() {
    let _ = HOUR;
}
