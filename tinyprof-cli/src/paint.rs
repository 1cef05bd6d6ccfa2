//! Colours: what stands out, and nothing that colours alone would tell.
//!
//! Text is painted always; what prints it takes the colours away where they are not wanted.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

const HEAD: Style = Style::new().bold();
const NOTE: Style = AnsiColor::Yellow.on_default();
pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
pub(crate) const WORSE: Style = AnsiColor::Red.on_default();
pub(crate) const BETTER: Style = AnsiColor::Green.on_default();

/// `text` in `style`.
pub(crate) fn painted(text: &str, style: Style) -> String {
    format!("{style}{text}{style:#}")
}

/// A note, of one or several lines.
pub(crate) fn note(note: &str) -> String {
    note.lines().map(|line| painted(line, NOTE) + "\n").collect()
}

/// A text for people: its first line is its head, and below may be notes.
pub(crate) fn text(text: &str) -> String {
    let mut painted = String::with_capacity(text.len() + 64);
    let mut in_note = false;
    for (number, line) in text.lines().enumerate() {
        // A note goes on in lines that are indented; only notes stand below notes.
        in_note = line.starts_with("note: ") || (in_note && line.starts_with(' '));
        let style = match (number, in_note) {
            (0, _) => HEAD,
            (_, true) => NOTE,
            _ => Style::new(),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(painted, "{style}{line}{style:#}");
    }
    painted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_and_notes_stand_out_and_nothing_is_lost() {
        let plain = "head\n  row\nnote: one\n  more\n";
        let painted = text(plain);
        assert_eq!(
            painted,
            "\u{1b}[1mhead\u{1b}[0m\n  row\n\u{1b}[33mnote: one\u{1b}[0m\n\u{1b}[33m  more\u{1b}[0m\n"
        );
        assert_eq!(anstream::adapter::strip_str(&painted).to_string(), plain);
    }
}
