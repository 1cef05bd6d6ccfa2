fn main() {
    tinyprof::record!(mem = 1, mem = 2);
    tinyprof::profile_scope!("scope", mem = 1, mem = "a");
}
