//! Empty on purpose: cargo demands a build script of a package that says `links`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
