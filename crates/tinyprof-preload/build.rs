//! Has the loader never unload the library: handlers that it registers with the system are called
//! until the very end of the process.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-link-arg-cdylib=-Wl,-z,nodelete");
}
