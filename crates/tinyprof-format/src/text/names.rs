//! Reversible escaping of names between delimiters.

use std::fmt::Write as _;

/// The text for a missing value.
pub(super) const NULL: &str = "null";

/// The text for an empty name, which would otherwise look like a missing one.
const EMPTY: &str = "%";

/// The separator before the number of a name among siblings of the same name.
const ORDINAL: &str = "%~";

/// Returns `name` without delimiters, quotes and control characters.
pub(super) fn escape(name: &str) -> String {
    match name {
        "" => return EMPTY.to_owned(),
        NULL => return "%6Eull".to_owned(),
        _ => {}
    }
    let mut escaped = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_control() || matches!(c, '|' | '-' | '+' | '<' | '>' | '"' | ',' | '%') {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                // Writing to a string cannot fail.
                let _ = write!(escaped, "%{byte:02X}");
            }
        } else {
            escaped.push(c);
        }
    }
    escaped
}

/// Returns the escaped name of the `number`-th sibling of this name, 1-based.
pub(super) fn numbered(escaped: &str, number: u64) -> String {
    if number < 2 { escaped.to_owned() } else { format!("{escaped}{ORDINAL}{number}") }
}

/// Returns the name and the number that were passed to [`escape`] and [`numbered`].
pub(super) fn unescape(text: &str) -> (String, u64) {
    let number = text.rsplit_once(ORDINAL).and_then(|(name, number)| {
        let digits = number.bytes().all(|b| b.is_ascii_digit());
        Some((name, number.parse().ok().filter(|_| digits)?))
    });
    let (text, number) = number.unwrap_or((text, 1));
    if text == EMPTY {
        return (String::new(), number);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        match (byte, hexadecimal(tail)) {
            (b'%', Some(escaped)) => {
                bytes.push(escaped);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(byte);
                rest = tail;
            }
        }
    }
    let name = String::from_utf8(bytes);
    (name.unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()), number)
}

fn hexadecimal(text: &[u8]) -> Option<u8> {
    let digits = text.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_written_without_delimiters() {
        let check = |name: &str, expected: &str| assert_eq!(escape(name), expected);
        check("solve", "solve");
        check("größe 😀", "größe 😀");
        check("a<b>c-d+e|f", "a%3Cb%3Ec%2Dd%2Be%7Cf");
        check("\"100%\",\n", "%22100%25%22%2C%0A");
        check("\u{85}", "%C2%85");
        check("", "%");
        check("null", "%6Eull");
        assert_eq!(numbered("a", 1), "a");
        assert_eq!(unescape(&numbered("a", 12)), ("a".to_owned(), 12));
    }

    #[test]
    fn foreign_names_are_left_as_they_are() {
        for name in ["100%", "50%x", "%zz", "a%~", "a%~b", "a%~+2"] {
            assert_eq!(unescape(name), (name.to_owned(), 1));
        }
        assert_eq!(unescape("%FF").0, "\u{fffd}");
    }

    proptest! {
        #[test]
        fn any_name_comes_back(name in any::<String>(), number in 1_u64..12) {
            let written = numbered(&escape(&name), number);
            prop_assert!(!written.contains(|c: char| "|-+<>\",".contains(c) || c.is_control()));
            prop_assert_eq!(unescape(&written), (name, number));
        }
    }
}
