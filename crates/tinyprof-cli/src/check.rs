//! `tinyprof check`: checks a profile for damage and lists the damaged parts.

use std::error::Error;
use std::fmt::Write as _;

use serde_json::json;
use tinyprof_format::file::{Check, Damage, FileCheck};
use tinyprof_report::escaped;
use tinyprof_views::{csv_line, json_text};

use crate::arguments::{CheckArguments, TableFormat};
use crate::name::name_of;
use crate::outcome::Outcome;
use crate::salvage::{Salvaged, salvage};
use crate::{memory, render};

pub(crate) fn run(arguments: &CheckArguments) -> Result<Outcome, Box<dyn Error>> {
    let name = name_of(&arguments.directory);
    let check = memory::read_options().check(&arguments.directory);
    let salvaged = match &arguments.output {
        Some(output) => Some(salvage(&arguments.directory, output)?),
        None => None,
    };
    // Without a manifest there is nothing to check, but there may be something to salvage.
    let unreadable = match (&check, &salvaged) {
        (Err(error), Some(_)) => Some(error.to_string()),
        _ => None,
    };
    let check = if unreadable.is_some() { Check::default() } else { check? };
    let format = if arguments.json { TableFormat::Json } else { arguments.format };
    let output = match format {
        TableFormat::Json => json_text(&json!({
            "name": name,
            "whole": unreadable.is_none() && check.is_whole(),
            "unreadable": unreadable,
            "files": check.files,
            "contradiction": check.contradiction,
            "over_limit": check.over_limit,
            "salvaged": salvaged.as_ref().map(Salvaged::to_json),
        })),
        TableFormat::Csv => csv(&check),
        TableFormat::Text => {
            let found = unreadable
                .as_ref()
                .map_or_else(|| text(&name, &check), |error| escaped(error) + "\n");
            found + &salvaged.as_ref().map_or_else(String::new, Salvaged::to_text)
        }
    };
    render::output(&output)?;
    let whole = unreadable.is_none() && check.is_whole() && salvaged.is_none_or(|s| s.is_whole());
    Ok(if whole { Outcome::Done } else { Outcome::Damaged })
}

/// Returns one line for each damaged part, then a summary line.
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
    if let Some(over_limit) = &check.over_limit {
        line(over_limit.clone());
    }
    let (files, sections) =
        (check.files.len(), check.files.iter().map(|file| file.sections).sum::<usize>());
    line(match check.damage_count() {
        0 => format!("{name}: whole, {files} files with {sections} sections"),
        damaged => format!("{name}: damaged in {damaged} places, see above"),
    });
    text
}

/// Returns a header line, then one line for each damaged part.
fn csv(check: &Check) -> String {
    let mut csv = csv_line(["file", "offset", "section", "reason"]);
    for file in &check.files {
        for damage in &file.damage {
            let offset = damage.offset.map(|offset| offset.to_string()).unwrap_or_default();
            let section = damage.section.as_deref().unwrap_or_default();
            csv.push_str(&csv_line([&file.file, &offset, section, &damage.reason]));
        }
    }
    if let Some(contradiction) = &check.contradiction {
        csv.push_str(&csv_line(["", "", "", contradiction]));
    }
    csv
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
