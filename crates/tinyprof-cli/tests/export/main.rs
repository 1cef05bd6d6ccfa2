//! `tinyprof export` as users and viewers see it. Python tests read the output with the formats'
//! own readers.

mod formats;
mod hostile;
mod requests;
mod wide;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::Value;
use tinyprof_format::file::{Permissions, save_profile};
use tinyprof_format::text::read_text;

/// Every format that may go to standard output, except the paper's own, which has its own tests.
const TEXTS: [&str; 8] =
    ["hatchet", "speedscope", "folded", "flamegraph", "chrome", "extrap", "graphml", "openmetrics"];

/// The formats that may not.
const BINARIES: [&str; 3] = ["parquet", "cubex", "pprof"];

fn command(arguments: &[&str], directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tinyprof"));
    command.args(arguments).current_dir(directory);
    command
}

fn run(arguments: &[&str], directory: &Path) -> Output {
    command(arguments, directory).output().expect("tinyprof starts")
}

/// Creates a directory with the profile `run.tprof`, made from these rows of the paper's text
/// format.
fn imported(rows: &str) -> tempfile::TempDir {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    import(rows, "run", scratch.path());
    scratch
}

fn import(rows: &str, name: &str, directory: &Path) {
    let file = format!("{name}.csv");
    fs::write(directory.join(&file), format!("id,parent,tag,is_loop,times\n{rows}"))
        .expect("the text is written");
    let output = run(&["import", &file, "-o", name], directory);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Creates a directory with the profile `run.tprof`, of one rank that visited nothing.
fn empty() -> tempfile::TempDir {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let text = b"id,parent,tag,is_loop,times\nmain,null,null,0,0.5\n";
    let mut profile = read_text(text).expect("it is read").profile;
    (profile.callpaths, profile.values) = Default::default();
    save_profile(Permissions::Private, &scratch.path().join("run"), &profile)
        .expect("it is written");
    scratch
}

/// Returns a frozen profile with hosts, executions, series (also folded ones), estimates, metrics
/// and an absent callpath.
fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tinyprof-format/tests/profiles/format-0.3")
}

/// Returns the output of an export, and its messages on standard error.
fn export(profile: &Path, format: &str, options: &[&str]) -> (Vec<u8>, String) {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let profile = profile.to_str().expect("a path of characters");
    let arguments = [&["export", profile, "--to", format, "-o", "out"], options].concat();
    let output = run(&arguments, scratch.path());
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && output.stdout.is_empty(), "{format}: {message}");
    (fs::read(scratch.path().join("out")).expect("the file"), message)
}

fn text(profile: &Path, format: &str, options: &[&str]) -> String {
    String::from_utf8(export(profile, format, options).0).expect("UTF-8")
}

fn json(profile: &Path, format: &str, options: &[&str]) -> Value {
    serde_json::from_str(&text(profile, format, options)).expect("JSON")
}

/// Returns the texts and the attributes of an XML file, which must be well-formed.
fn xml(text: &str) -> Vec<String> {
    let mut reader = Reader::from_str(text);
    let (mut depth, mut found) = (0, Vec::new());
    loop {
        let event = reader.read_event().expect("well-formed XML");
        if let Event::Start(tag) | Event::Empty(tag) = &event {
            for attribute in tag.attributes() {
                let value = attribute.expect("a well-formed attribute").value;
                found.push(String::from_utf8(value.into_owned()).expect("UTF-8"));
            }
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            Event::Text(text) => found.push(String::from_utf8(text.to_vec()).expect("UTF-8")),
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(depth, 0, "elements are closed");
    found
}
