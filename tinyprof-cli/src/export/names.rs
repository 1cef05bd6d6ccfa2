//! Names for formats that cannot hold every character.

use tinyprof_format::report::escaped;

/// `text` with everything spelled out that is invisible, steers a terminal, or has no place in XML.
pub(super) fn shown(text: &str) -> String {
    // Two characters beside the control characters are none for XML.
    escaped(text).replace('\u{fffe}', r"\u{fffe}").replace('\u{ffff}', r"\u{ffff}")
}

/// A region's name between delimiters: [`shown`], with the delimiter spelled out too. What has no
/// character gets some.
pub(super) fn without(delimiter: char, name: &str) -> String {
    if name.is_empty() {
        return "\"\"".to_owned();
    }
    shown(name).replace(delimiter, &delimiter.escape_unicode().to_string())
}

/// `text` for an attribute or an element. XML 1.0 has no way to write most control characters, not
/// even escaped: these are spelled out as everywhere on the screen.
pub(super) fn xml(text: &str) -> String {
    let shown = shown(text);
    let mut xml = String::with_capacity(shown.len());
    for c in shown.chars() {
        match c {
            '&' => xml.push_str("&amp;"),
            '<' => xml.push_str("&lt;"),
            '>' => xml.push_str("&gt;"),
            '"' => xml.push_str("&quot;"),
            '\'' => xml.push_str("&apos;"),
            _ => xml.push(c),
        }
    }
    xml
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_format_cannot_hold_is_spelled_out() {
        assert_eq!(shown("\0\u{1b}\n\u{202e}\u{ffff}"), r"\u{0}\u{1b}\n\u{202e}\u{ffff}");
        assert_eq!(without(';', "a;b\t"), r"a\u{3b}b\t");
        assert_eq!(without(';', ""), "\"\"");
    }

    #[test]
    fn whatever_is_markup_or_no_character_of_xml_is_escaped() {
        assert_eq!(xml("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&apos;");
        assert_eq!(xml("\0\u{1b}\n\u{202e}\u{ffff}"), r"\u{0}\u{1b}\n\u{202e}\u{ffff}");
    }
}
