//! How comments and documents are written: line widths, module documentation, first words.

use crate::source::Source;

/// The columns that a line may have.
pub const WIDTH: usize = 100;

/// Words that no documentation of a public item begins with: they make a riddle of it in an index.
pub const POOR_OPENINGS: [&str; 9] =
    ["What", "Who", "Whether", "Where", "How", "The same", "So many", "That", "Which"];

/// Finds lines that are longer than [`WIDTH`]: comments in Rust, and the prose of Markdown, without
/// tables, code blocks and links. The width of code is the business of rustfmt.
#[must_use]
pub fn long_lines(sources: &[Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    for source in sources {
        let is_markdown = source.path.ends_with(".md");
        let mut is_code = false;
        for (number, line) in (1..).zip(source.text.lines()) {
            let text = line.trim_start();
            if is_markdown && text.starts_with("```") {
                is_code = !is_code;
            }
            let width = line.chars().count();
            let excused = if is_markdown {
                is_code || text.starts_with(['|', '<', '!', '[']) || !text.contains(' ')
            } else {
                !text.starts_with("//") || text.starts_with("//! |") || text.starts_with("/// |")
            };
            if width > WIDTH && !excused {
                complaints.push(format!("{}:{number}: {width} columns", source.path));
            }
        }
    }
    complaints
}

/// Finds Rust files without documentation at their top.
#[must_use]
pub fn undocumented(sources: &[Source]) -> Vec<String> {
    let without = sources.iter().filter(|source| !source.text.trim_start().starts_with("//!"));
    without.map(|source| format!("{}:1: no module documentation (`//!`)", source.path)).collect()
}

/// Finds documentation of public items that begins with one of [`POOR_OPENINGS`].
#[must_use]
pub fn poor_openings(sources: &[Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    for source in sources {
        let lines: Vec<&str> = source.text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let text = line.trim_start();
            let Some(opening) = text.strip_prefix("/// ") else { continue };
            let begins = at == 0 || !lines[at - 1].trim_start().starts_with("///");
            let poor = POOR_OPENINGS.iter().find(|word| {
                opening.strip_prefix(**word).is_some_and(|rest| rest.starts_with([' ', ',', ':']))
            });
            let item = lines[at..].iter().map(|line| line.trim_start()).find(|line| {
                !line.starts_with("///") && !line.starts_with("#[") && !line.starts_with("//")
            });
            let is_public = item.is_some_and(|item| item.starts_with("pub "));
            if let (true, true, Some(poor)) = (begins, is_public, poor) {
                complaints.push(format!(
                    "{}:{}: the documentation begins with \"{poor}\": begin with a verb in the third \
                     person, or a noun",
                    source.path,
                    at + 1
                ));
            }
        }
    }
    complaints
}

/// Words that STYLE rules out in comments and documents, and better ones.
pub const BANNED: [(&str, &str); 8] = [
    ("so many", "a number, or `many`"),
    ("all else", "the rest"),
    ("own cost", "overhead"),
    ("w/o us", "adjusted"),
    ("have us", "run the profiler"),
    ("of late", "recent"),
    ("takes note", "notes, records"),
    ("SAFETY: as above", "the reason, or `SAFETY: see ..`"),
];

/// Finds the words of [`BANNED`] in comments of Rust and in Markdown.
#[must_use]
pub fn banned_words(sources: &[Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    for source in sources {
        let is_markdown = source.path.ends_with(".md");
        let mut is_code = false;
        for (number, line) in (1..).zip(source.text.lines()) {
            is_code ^= is_markdown && line.trim_start().starts_with("```");
            if is_code {
                continue;
            }
            let comment = line.split_once("//").map(|(_, comment)| comment);
            let text = if is_markdown { line } else { comment.unwrap_or_default() };
            let text = text.to_lowercase();
            for (word, better) in BANNED {
                let has = |at: usize| {
                    let before = text[..at].chars().next_back();
                    let after = text[at + word.len()..].chars().next();
                    !before.is_some_and(char::is_alphanumeric)
                        && !after.is_some_and(char::is_alphanumeric)
                };
                if text.match_indices(&word.to_lowercase()).any(|(at, _)| has(at)) {
                    complaints
                        .push(format!("{}:{number}: \"{word}\": better {better}", source.path));
                }
            }
        }
    }
    complaints
}
