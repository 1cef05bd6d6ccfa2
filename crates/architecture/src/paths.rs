//! Paths that texts name, which are there.

use crate::source::Source;

/// Endings of files that texts name.
const ENDINGS: [&str; 12] =
    [".rs", ".md", ".sh", ".txt", ".py", ".toml", ".json", ".js", ".c", ".h", ".yml", ".ipynb"];

/// Finds files that a text names by a path from one of `roots`, the folders at the top, and that
/// are not there. A path may also begin at the folder of its text, or at one around that.
#[must_use]
pub fn missing(sources: &[Source], roots: &[String], exists: impl Fn(&str) -> bool) -> Vec<String> {
    let mut complaints = Vec::new();
    for source in sources {
        for (number, line) in (1..).zip(source.text.lines()) {
            for path in named(line, roots) {
                let mut folder = source.path.as_str();
                let mut is_there = exists(path);
                while let (false, Some((around, _))) = (is_there, folder.rsplit_once('/')) {
                    folder = around;
                    is_there = exists(&format!("{folder}/{path}"));
                }
                if !is_there {
                    complaints.push(format!("{}:{number}: {path} is not there", source.path));
                }
            }
        }
    }
    complaints
}

/// Returns the paths of files in a line.
fn named<'a>(line: &'a str, roots: &[String]) -> Vec<&'a str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    let mut found = Vec::new();
    let mut before = ' ';
    let mut rest = line;
    while let Some(start) = rest.find(is_part) {
        before = rest[..start].chars().next_back().unwrap_or(before);
        let word = &rest[start..];
        let end = word.find(|c| !is_part(c)).unwrap_or(word.len());
        let (word, after) = word.split_at(end);
        let path = word.trim_end_matches(['.', '-', '/']);
        let begins = roots.iter().any(|root| {
            path.strip_prefix(root.as_str()).is_some_and(|inside| inside.starts_with('/'))
        });
        // A variable before or after it, or a pattern, makes another path of it.
        let is_whole = !"$}~:*<".contains(before) && !after.starts_with(['$', '*', '{', '<']);
        if begins && is_whole && ENDINGS.iter().any(|ending| path.ends_with(ending)) {
            found.push(path);
        }
        before = word.chars().next_back().unwrap_or(' ');
        rest = after;
    }
    found
}
