//! Messages of the profiler: one line on standard error, whatever state the process is in.

use std::fmt::{self, Write};

use crate::sys::{without_write_signals, write_line};

/// The longest line, in bytes: a pipe takes that much at once.
const LINE_BYTES_MAX: usize = 4096;

/// A line that is built without the heap, which may be exhausted.
struct Line {
    bytes: [u8; LINE_BYTES_MAX],
    length: usize,
}

impl Line {
    /// Appends text, always leaving room for the end of the line.
    fn push(&mut self, text: &str) -> fmt::Result {
        let place = self.bytes.get_mut(self.length..self.length + text.len()).ok_or(fmt::Error)?;
        if self.length + text.len() >= LINE_BYTES_MAX {
            return Err(fmt::Error);
        }
        place.copy_from_slice(text.as_bytes());
        self.length += text.len();
        Ok(())
    }
}

impl Write for Line {
    /// Appends text with control characters escaped: they come from names and variables, and must
    /// not reach a terminal.
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut utf8 = [0; 4];
        for c in text.chars() {
            if c.is_control()
                || matches!(c, '\u{2028}' | '\u{2029}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
            {
                c.escape_default().try_for_each(|c| self.push(c.encode_utf8(&mut utf8)))?;
            } else {
                self.push(c.encode_utf8(&mut utf8))?;
            }
        }
        Ok(())
    }
}

/// Prints one line to standard error, with control characters escaped. All messages of the profiler
/// use it.
///
/// A program whose standard error is closed is not disturbed. If standard error is a full pipe that
/// nobody reads, the program is held up for a second at most. A line longer than 4 KiB is cut.
/// Nothing is allocated.
pub fn warn(line: impl fmt::Display) {
    let mut text = Line { bytes: [0; LINE_BYTES_MAX], length: 0 };
    // The only error is a line that is too long; the part that fits is printed.
    let _ = write!(text, "tinyprof: {line}");
    text.bytes[text.length] = b'\n';
    without_write_signals(|| write_line(&text.bytes[..=text.length]));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: impl fmt::Display) -> (String, bool) {
        let mut line = Line { bytes: [0; LINE_BYTES_MAX], length: 0 };
        let fits = write!(line, "{text}").is_ok();
        (std::str::from_utf8(&line.bytes[..line.length]).unwrap().to_owned(), fits)
    }

    #[test]
    fn control_characters_are_shown_and_not_sent() {
        assert_eq!(
            line("a\x1b[31m\u{e9}\n\u{9b}2J"),
            ("a\\u{1b}[31m\u{e9}\\n\\u{9b}2J".to_owned(), true)
        );
        assert_eq!(line("\u{202e}x").0, "\\u{202e}x");
    }

    #[test]
    fn a_line_that_is_too_long_is_cut_between_characters() {
        let (text, fits) = line("\u{e9}".repeat(LINE_BYTES_MAX));
        assert!(!fits && text.len() < LINE_BYTES_MAX && text.len() > LINE_BYTES_MAX - 4);
    }
}
