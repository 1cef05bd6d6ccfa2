//! A document with all modules, each with what it says of itself.

use std::fmt::Write as _;

use crate::source::Source;

/// Returns the table of the modules of a crate, whose sources are below `directory`: `|` rows with
/// their paths, and the first sentences of their documentation.
#[must_use]
pub fn table(directory: &str, sources: &[Source]) -> String {
    let mut table = String::from("| module | what it is |\n|---|---|\n");
    let prefix = format!("{directory}/src/");
    for source in sources {
        let Some(path) = source.path.strip_prefix(&prefix) else { continue };
        let Some(path) = path.strip_suffix(".rs") else { continue };
        if path.split('/').any(|part| part == "tests") {
            continue;
        }
        let sentence = first_sentence(&source.text).replace('|', "\\|");
        writeln!(table, "| `{path}` | {sentence} |").expect("text can be written to");
    }
    table
}

/// Returns the first sentence of a module's documentation.
fn first_sentence(text: &str) -> String {
    let mut sentence = String::new();
    for line in text.lines().map_while(|line| line.strip_prefix("//!")) {
        let line = line.trim();
        if line.is_empty() {
            break;
        }
        let separator = if sentence.is_empty() { "" } else { " " };
        write!(sentence, "{separator}{line}").expect("text can be written to");
        if let Some((first, _)) = sentence.split_once(". ") {
            return format!("{first}.");
        }
    }
    sentence
}
