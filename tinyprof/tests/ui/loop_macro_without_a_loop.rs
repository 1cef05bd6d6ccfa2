use tinyprof::profile_loop;

fn main() {
    profile_loop!("nothing");
    profile_loop!("a block", { 1 + 1 });
    profile_loop!("an iterator", (0..3).for_each(drop));
}
