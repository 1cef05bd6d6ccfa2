fn main() {
    tinyprof::record!();
    tinyprof::record!(crate = tinyprof);
    tinyprof::record!(mem);
    tinyprof::record!(mem =);
    tinyprof::record!("mem", 3);
    tinyprof::record!(3);
}
