fn main() {
    tinyprof::record!(mem = 1, tag = "COMP");
}
