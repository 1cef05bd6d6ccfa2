//! Compiles the shim with SimGrid's wrapper of the C compiler, and links it into the library that
//! smpirun loads.

use std::env;
use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=src/shim.c");
    println!("cargo::rerun-if-env-changed=SMPICC");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let object = out.join("shim.o");
    let smpicc = env::var_os("SMPICC").unwrap_or_else(|| "smpicc".into());
    let status = Command::new(&smpicc)
        .args(["-O2", "-fPIC", "-c", "src/shim.c", "-o"])
        .arg(&object)
        .status();
    match status {
        Ok(status) if status.success() => {}
        other => panic!("{}: {other:?}; Debian's libsimgrid-dev brings it", smpicc.display()),
    }
    println!("cargo::rustc-cdylib-link-arg={}", object.display());
    println!("cargo::rustc-link-lib=simgrid");
}
