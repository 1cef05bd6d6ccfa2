#![deny(unused_must_use)]

fn main() {
    tinyprof::scope!("gather");
}
