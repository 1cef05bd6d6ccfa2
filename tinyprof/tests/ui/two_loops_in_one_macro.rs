use tinyprof::profile_loop;

fn main() {
    profile_loop!("both", for _ in 0..3 {} for _ in 0..3 {});
    profile_loop!("with a method", loop { break 1 }.min(2));
}
