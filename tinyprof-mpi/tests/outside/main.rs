//! Programs of users, built outside of this workspace: with the lowest version of `mpi` that is
//! accepted, and with one that is patched in, as in programs that use rsmpi's repository.

#![expect(clippy::unwrap_used, reason = "a test that cannot build its programs must fail")]

#[path = "../support/mod.rs"]
mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::mpiexec;
use tinyprof_format::file::read_profile;
use tinyprof_format::model::Losses;

/// Returns the manifest of a user's program, with its dependency on `mpi` and a patch. Its build
/// script needs what else only one of the programs would need: both have the same builds.
fn manifest(name: &str, mpi: &str, patch: &str) -> String {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().display().to_string();
    // The same options as in the workspace, so that its builds are used again.
    let root = fs::read_to_string(Path::new(&workspace).join("Cargo.toml")).unwrap();
    let options = &root[root.find("[profile.dev.package]").unwrap()..];
    format!(
        r#"
            [package]
            name = "{name}"
            edition = "2024"
            build = "build.rs"

            [workspace]

            [[bin]]
            name = "{name}"
            path = "program.rs"

            [dependencies]
            mpi = {{ {mpi}, default-features = false }}
            tinyprof = {{ path = "{workspace}/tinyprof" }}
            tinyprof-mpi = {{ path = "{workspace}/tinyprof-mpi" }}

            [build-dependencies]
            syn = "3"

            {patch}

            {options}
        "#
    )
}

/// Makes a package outside of the workspace, without remains of an earlier test.
fn package(name: &str, mpi: &str, patch: &str) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let package = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if package.exists() {
        fs::remove_dir_all(&package).unwrap();
    }
    fs::create_dir_all(&package).unwrap();
    fs::write(package.join("Cargo.toml"), manifest(name, mpi, patch)).unwrap();
    fs::write(package.join("build.rs"), "fn main() {}").unwrap();
    fs::copy(here.join("../Cargo.lock"), package.join("Cargo.lock")).unwrap();
    fs::copy(here.join("tests/outside/program.rs"), package.join("program.rs")).unwrap();
    package
}

/// Runs cargo, without the network if nothing has to be fetched.
fn cargo(package: &Path, arguments: &[&str]) -> String {
    let run = |arguments: &[&str]| {
        Command::new(env!("CARGO")).args(arguments).current_dir(package).output().unwrap()
    };
    let mut output = run(&[arguments, &["--offline"]].concat());
    if !output.status.success() {
        output = run(arguments);
    }
    assert!(
        output.status.success(),
        "cargo {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// Builds the program in the directory in which this test was built, and checks its profile.
fn check(package: &Path) {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let mut build = vec!["build", "--quiet", "--target-dir", target.to_str().unwrap()];
    // Keeps the bindings of several MPIs apart, see scripts/mpi.sh.
    let profile = std::env::var("MPI_PROFILE").unwrap_or_default();
    if !profile.is_empty() {
        build.extend(["--config", &profile]);
    }
    cargo(package, &build);
    let out = package.join("out.tprof");
    let program = target.join("debug").join(package.file_name().unwrap());
    let output = mpiexec(2).env("TINYPROF_OUT", &out).arg(program).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{told}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "the sum is 1\n".repeat(6));
    let profile = read_profile(&out).unwrap();
    let paths: Vec<_> =
        profile.callpaths.iter().map(|(index, _)| profile.callpaths.path(index)).collect();
    assert_eq!((paths, profile.ranks.len()), (vec!["main".to_owned(), "main<sum".to_owned()], 2));
    // `main` is open while the profile is written, and nothing of it is lost.
    assert_eq!(profile.manifest.losses, Losses::default());
    assert!(!told.contains("note: "), "{told}");
}

#[test]
#[ignore = "builds `mpi` anew, which takes a minute; scripts/test.sh runs it"]
fn a_program_on_the_first_version_of_mpi_that_is_accepted() {
    check(&package("outside-first", r#"version = "=0.8.0""#, ""));
}

#[test]
#[ignore = "builds `mpi` anew, which takes a minute; scripts/test.sh runs it"]
fn a_program_on_rsmpi_from_elsewhere_patches_it_in() {
    // A copy from the registry takes the place of a checkout of the repository.
    let metadata = cargo(
        Path::new(env!("CARGO_MANIFEST_DIR")),
        &["metadata", "--locked", "--format-version", "1"],
    );
    let metadata: serde_json::Value = serde_json::from_str(&metadata).unwrap();
    let source_of = |name: &str| {
        let packages = metadata["packages"].as_array().unwrap();
        let package = packages.iter().find(|package| package["name"] == name).unwrap();
        PathBuf::from(package["manifest_path"].as_str().unwrap()).parent().unwrap().to_owned()
    };
    let patch = r#"
        [patch.crates-io]
        mpi = { path = "rsmpi/mpi" }
        mpi-sys = { path = "rsmpi/mpi-sys" }
    "#;
    let package = package("outside-patched", r#"path = "rsmpi/mpi""#, patch);
    for name in ["mpi", "mpi-sys"] {
        copy(&source_of(name), &package.join("rsmpi").join(name));
    }
    check(&package);
    let tree = cargo(&package, &["tree", "--prefix", "none", "--format", "{p}"]);
    let versions: Vec<_> = tree.lines().filter(|line| line.starts_with("mpi v")).collect();
    assert!(
        !versions.is_empty() && versions.iter().all(|line| line.contains("rsmpi/mpi")),
        "{tree}"
    );
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (entry, to) = (entry.as_ref().unwrap(), to.join(entry.as_ref().unwrap().file_name()));
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}
