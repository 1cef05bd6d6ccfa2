//! JSON that is safe for any terminal and any viewer.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// Writes `value` as one line of ASCII. Other characters become JSON escapes, so that a parser
/// reads the same value and no control sequence reaches a terminal.
pub(super) fn write(out: &mut (impl Write + ?Sized), value: &impl Serialize) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(&mut *out, Ascii)).map_err(io::Error::from)
}

/// The compact form, in ASCII.
struct Ascii;

impl Formatter for Ascii {
    fn write_string_fragment<W: Write + ?Sized>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(|c: char| !c.is_ascii() || c == '\u{7f}') {
            let (plain, special) = rest.split_at(at);
            out.write_all(plain.as_bytes())?;
            let mut chars = special.chars();
            if let Some(c) = chars.next() {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    write!(out, "\\u{unit:04x}")?;
                }
            }
            rest = chars.as_str();
        }
        out.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_ascii_and_means_the_same() {
        let hostile = "a\u{0}\u{1b}[2J\"\\\u{7f}\u{9b}\u{202e}流\u{1f600}</script>";
        let mut text = Vec::new();
        write(&mut text, &[hostile, "plain", ""]).unwrap();
        assert!(
            text.iter().all(|byte| (b' '..0x7f).contains(byte)),
            "{}",
            String::from_utf8_lossy(&text)
        );
        assert_eq!(serde_json::from_slice::<Vec<String>>(&text).unwrap(), [hostile, "plain", ""]);
    }
}
