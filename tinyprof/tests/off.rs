//! Switched off by the Cargo feature, the attribute and the macros leave nothing: the same
//! instructions as without them, and no trace of TinyProf in the executable.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot build its programs must fail")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the package in `tests/off`, copied to a directory where it may be built, so that the
/// source tree does not change.
fn package() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let package = Path::new(env!("CARGO_TARGET_TMPDIR")).join("off");
    fs::create_dir_all(package.join("src/bin")).unwrap();
    let manifest = fs::read_to_string(here.join("tests/off/Cargo.toml")).unwrap();
    let path = format!("path = {:?}", here.display().to_string());
    fs::write(package.join("Cargo.toml"), manifest.replace("path = \"../..\"", &path)).unwrap();
    // With the versions that this workspace uses, nothing has to be downloaded.
    fs::copy(here.join("../Cargo.lock"), package.join("Cargo.lock")).unwrap();
    for source in ["src/bin/annotated.rs", "src/bin/plain.rs"] {
        fs::copy(here.join("tests/off").join(source), package.join(source)).unwrap();
    }
    package
}

/// Builds one of the programs. Returns its assembly and its executable.
fn build(package: &Path, program: &str) -> (String, Vec<u8>) {
    let assembly = package.join(format!("{program}.s"));
    let output = Command::new(env!("CARGO"))
        .args(["rustc", "--quiet", "--release", "--offline", "--bin", program, "--target-dir"])
        .arg(package.join("target"))
        .args(["--", &format!("--emit=link,asm={}", assembly.display())])
        .current_dir(package)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let executable = package.join("target/release").join(program);
    (fs::read_to_string(assembly).unwrap(), fs::read(executable).unwrap())
}

/// Returns the instructions of a function: without directives, and with local labels without their
/// numbers.
fn instructions(assembly: &str, function: &str) -> Vec<String> {
    let lines = assembly.lines().skip_while(|line| *line != format!("{function}:"));
    let lines = lines.take_while(|line| !line.starts_with(".Lfunc_end")).skip(1).map(str::trim);
    let instructions = lines.filter(|line| line.starts_with(".L") || !line.starts_with('.'));
    instructions.map(without_numbers_of_labels).collect()
}

fn without_numbers_of_labels(line: &str) -> String {
    let mut pieces = line.split(".L");
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        text.push_str(".L");
        text.push_str(
            piece.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "_$.".contains(c)),
        );
    }
    text
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn switched_off_by_feature_a_region_is_no_instruction() {
    let package = package();
    let (annotated, executable) = build(&package, "annotated");
    let (plain, _) = build(&package, "plain");
    for function in ["function", "scopes", "loops", "metrics", "polled"] {
        let expected = instructions(&plain, function);
        assert!(expected.len() > 10, "{function} was not found:\n{plain}");
        assert_eq!(instructions(&annotated, function), expected, "{function}");
    }
    assert!(contains(&executable, "scopes"), "symbols are kept");
    for trace in ["tinyprof_sites", "8tinyprof"] {
        assert!(!contains(&executable, trace), "{trace} is in the executable");
    }
}
