//! Names for formats that cannot hold every character.

use tinyprof_report::escaped;

/// Returns `text` with every character escaped that is invisible, controls a terminal, or is not
/// allowed in XML.
pub(super) fn shown(text: &str) -> String {
    // XML excludes two characters besides the control characters.
    escaped(text).replace('\u{fffe}', r"\u{fffe}").replace('\u{ffff}', r"\u{ffff}")
}

/// Returns a region's name for use between delimiters: like [`shown`], with the delimiter escaped
/// too. An empty name gets a placeholder.
pub(super) fn without(delimiter: char, name: &str) -> String {
    if name.is_empty() {
        return "\"\"".to_owned();
    }
    shown(name).replace(delimiter, &delimiter.escape_unicode().to_string())
}

/// Returns `text` for an attribute or an element. XML 1.0 cannot represent most control characters,
/// not even escaped. They are spelled out as everywhere on the screen.
pub(crate) fn xml(text: &str) -> String {
    quick_xml::escape::escape(shown(text)).into_owned()
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
