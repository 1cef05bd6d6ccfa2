//! Colours, which emphasize but never carry information alone.
//!
//! Text always gets colours; printing removes them if they are not wanted.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

pub(crate) const HEAD: Style = Style::new().bold();
pub(crate) const PLAIN: Style = Style::new();
pub(crate) const NOTE: Style = AnsiColor::Yellow.on_default();
const HINT: Style = AnsiColor::Cyan.on_default();
const ASIDE: Style = Style::new().dimmed();
pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
pub(crate) const WORSE: Style = AnsiColor::Red.on_default();
pub(crate) const BETTER: Style = AnsiColor::Green.on_default();

/// Returns `text` in `style`.
pub(crate) fn painted(text: &str, style: Style) -> String {
    format!("{style}{text}{style:#}")
}

/// Colours a text for people: its first line is its head; below may be hints, notes, and the cost
/// of the profiler itself.
pub(crate) fn text(text: &str) -> String {
    let mut painted = String::with_capacity(text.len() + 64);
    let mut above = PLAIN;
    for (number, line) in text.lines().enumerate() {
        // These paragraphs continue in indented lines.
        above = match line {
            _ if line.starts_with("note: ") => NOTE,
            _ if line.starts_with("hint: ") => HINT,
            _ if line.starts_with("overhead: ") => ASIDE,
            _ if line.starts_with(' ') => above,
            _ => PLAIN,
        };
        let style = if number == 0 { HEAD } else { above };
        // Writing to a string cannot fail.
        let _ = writeln!(painted, "{style}{line}{style:#}");
    }
    painted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_hints_and_notes_stand_out_and_nothing_is_lost() {
        let plain = "head\n  row\nhint: a\n  b\nhosts: c\n  d\nnote: one\n  more\noverhead: e\n";
        let painted = text(plain);
        assert_eq!(
            painted,
            "\u{1b}[1mhead\u{1b}[0m\n  row\n\u{1b}[36mhint: a\u{1b}[0m\n\u{1b}[36m  b\u{1b}[0m\nhosts: c\n  d\n\
             \u{1b}[33mnote: one\u{1b}[0m\n\u{1b}[33m  more\u{1b}[0m\n\u{1b}[2moverhead: e\u{1b}[0m\n"
        );
        assert_eq!(anstream::adapter::strip_str(&painted).to_string(), plain);
    }
}
