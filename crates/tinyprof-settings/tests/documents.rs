//! The tables of settings in the documentation of the crates and in the README.
//!
//! `TINYPROF_UPDATE_DOCS=1 cargo test -p tinyprof-settings --test documents` rewrites them.

use std::fs;
use std::path::Path;

use tinyprof_settings::{Column, SETTINGS, Setting, document};

/// Compares the table in a file with the one of these settings, or rewrites it. The file has one
/// table with these heads, whose lines begin with `prefix`.
fn check(file: &str, prefix: &str, columns: &[Column], is_shown: fn(&Setting) -> bool) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    let page = fs::read_to_string(&path).expect("the document is read");
    let table = document(SETTINGS.iter().filter(|setting| is_shown(setting)), columns);
    let table: Vec<String> = table.into_iter().map(|line| format!("{prefix}{line}")).collect();

    let lines: Vec<&str> = page.lines().collect();
    let begin = lines.iter().position(|line| *line == table[0]).expect("the heads of the table");
    let row = format!("{prefix}|");
    let length = lines[begin..].iter().take_while(|line| line.starts_with(&row)).count();
    if std::env::var_os("TINYPROF_UPDATE_DOCS").is_some() {
        let table = table.iter().map(String::as_str);
        let after = lines[begin + length..].iter().copied();
        let all: Vec<&str> = lines[..begin].iter().copied().chain(table).chain(after).collect();
        fs::write(&path, all.join("\n") + "\n").expect("the document is written");
        return;
    }
    for (found, expected) in lines[begin..begin + length].iter().zip(&table) {
        assert_eq!(found, expected, "{file}: see the first lines of this test's file");
    }
    assert_eq!(length, table.len(), "{file}: see the first lines of this test's file");
}

#[test]
fn the_readme_has_every_setting() {
    check("README.md", "", &[Column::Variable, Column::Meaning, Column::Default], |_| true);
}

#[test]
fn each_crate_has_its_settings_with_the_methods_of_its_builder() {
    let columns = [Column::Variable, Column::Builder, Column::Meaning, Column::Default];
    check("tinyprof/src/lib.rs", "//! ", &columns, |setting| !setting.needs_mpi);
    check("tinyprof-mpi/src/lib.rs", "//! ", &columns, |_| true);
}
