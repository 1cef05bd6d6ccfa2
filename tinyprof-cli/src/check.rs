//! `tinyprof check`: is a profile whole, and if not, what of it is damaged.

use std::error::Error;
use std::fmt::Write as _;

use serde_json::json;
use tinyprof_format::file::{Check, Damage, FileCheck, check_profile};
use tinyprof_format::report::{escaped, json_text};

use crate::arguments::CheckArguments;
use crate::name::name_of;
use crate::outcome::Outcome;
use crate::render;

pub(crate) fn run(arguments: &CheckArguments) -> Result<Outcome, Box<dyn Error>> {
    let check = check_profile(&arguments.directory)?;
    let name = name_of(&arguments.directory);
    let output = if arguments.json {
        json_text(&json!({
            "name": name,
            "whole": check.is_whole(),
            "files": check.files,
            "contradiction": check.contradiction,
        }))
    } else {
        text(&name, &check)
    };
    render::output(&output)?;
    Ok(if check.is_whole() { Outcome::Done } else { Outcome::Damaged })
}

/// A line for each damaged place, then one on the whole.
fn text(name: &str, check: &Check) -> String {
    let mut text = String::new();
    let mut line = |what: String| {
        text.push_str(&escaped(&what));
        text.push('\n');
    };
    for file in &check.files {
        file.damage.iter().for_each(|damage| line(damage_line(file, damage)));
    }
    if let Some(contradiction) = &check.contradiction {
        line(contradiction.clone());
    }
    let (files, sections) = (check.files.len(), check.files.iter().map(|file| file.sections).sum::<usize>());
    line(match check.damage_count() {
        0 => format!("{name}: whole, {files} files with {sections} sections"),
        damaged => format!("{name}: damaged in {damaged} places, see above"),
    });
    text
}

fn damage_line(file: &FileCheck, damage: &Damage) -> String {
    let mut line = file.file.clone();
    // Writing to a string cannot fail.
    if let Some(offset) = damage.offset {
        let _ = write!(line, ", offset {offset}");
    }
    if let Some(section) = &damage.section {
        let _ = write!(line, ", {section}");
    }
    line + ": " + &damage.reason
}
