fn main() {
    tinyprof::record!(name = 1);
    tinyprof::record!(mem = 1, mode = 2);
    tinyprof::record!(rank_local);
    tinyprof::record!(skip = 3);
}
