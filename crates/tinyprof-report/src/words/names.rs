//! Names of the measured program on a terminal: escaping, width in columns, shortening.

use std::fmt::Write as _;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

const ELLIPSIS: &str = "...";

/// Returns `text` with every character escaped that could move a terminal's cursor, reorder a line
/// or hide in it.
///
/// These are control characters (and so escape sequences), bidirectional controls, line separators
/// and all characters that occupy no column of their own.
///
/// ```
/// use tinyprof_report::escaped;
///
/// assert_eq!(escaped("solve::<f64>"), "solve::<f64>");
/// assert_eq!(escaped("a\x1b[31mb\n"), r"a\u{1b}[31mb\n");
/// ```
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => shown.extend(c.escape_default()),
            _ if is_hazardous(c) => shown.extend(c.escape_unicode()),
            _ => shown.push(c),
        }
    }
    shown
}

/// Returns true if a terminal would not simply print `c` in columns of its own.
#[must_use]
pub fn is_hazardous(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}')
        || c.width().is_none_or(|columns| columns == 0)
}

/// Returns a region's name as shown in tables. Quoted if it would otherwise be invisible or look
/// like an indent.
#[must_use]
pub fn shown(name: &str) -> String {
    let escaped = escaped(name);
    if escaped.trim().len() < escaped.len() || escaped.is_empty() {
        return format!("\"{escaped}\"");
    }
    escaped
}

/// Returns the number of columns that `text` occupies.
#[must_use]
pub fn columns(text: &str) -> usize {
    text.width()
}

/// Returns the part of the width of a table that names should have, if they need it, in columns.
#[must_use]
pub const fn names_share(width: usize) -> usize {
    width * 2 / 5
}

/// Returns `text` in at most `width` columns.
///
/// Of a place at its end only the line is kept; then as many namespaces are left out as needed;
/// then the middle is replaced by an ellipsis, since names differ at their ends.
///
/// ```
/// use tinyprof_report::cells::cut;
///
/// assert_eq!(cut("MPI_Send at exchange (halo.c:41)", 24), "MPI_Send at exchange:41");
/// assert_eq!(cut("MPI_Send at exchange (halo.c:41)", 16), "MPI_Sen...nge:41");
/// ```
#[must_use]
pub fn cut(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let short = with_line_alone(text).unwrap_or_else(|| text.to_owned());
    if columns(&short) <= width {
        return short;
    }
    // Where the function is whole without its middle, too, the namespaces' ends may stay.
    let is_whole = |without: &String| 2 * columns(without) + ELLIPSIS.len() <= width;
    let without = without_namespaces(&short, width).filter(|without| !is_whole(without));
    cut_middle(&without.unwrap_or(short), width)
}

/// Returns a name with the file of its place left out: `exchange:41` for `exchange (halo.c:41)`.
/// The function matters more than the file, and the line tells calls in it apart.
fn with_line_alone(text: &str) -> Option<String> {
    let (name, place) = text.strip_suffix(')')?.rsplit_once(" (")?;
    let (_, line) = place.rsplit_once(':')?;
    let is_number = !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| format!("{name}:{line}"))
}

/// Returns a name without as many of the namespaces around its function as it takes to fit into
/// `width` columns, or without all: `MPI_Send at exchange:4` for `MPI_Send at halo::exchange:4`.
fn without_namespaces(text: &str, width: usize) -> Option<String> {
    let behind = |separator: &str| text.rfind(separator).map_or(0, |at| at + separator.len());
    let (before, name) = text.split_at(behind(" at ").max(behind("<")));
    let mut depth = 0_i32;
    let mut shortest = None;
    for (at, c) in name.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        let rest = name[at..].strip_prefix("::").filter(|_| depth == 0);
        // A closure has no name of its own.
        let Some(rest) = rest.filter(|rest| !rest.is_empty() && !rest.starts_with('{')) else {
            continue;
        };
        let short = format!("{before}{rest}");
        if columns(&short) <= width {
            return Some(short);
        }
        shortest = Some(short);
    }
    shortest
}

fn cut_middle(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let Some(room) = width.checked_sub(ELLIPSIS.len()).filter(|room| *room > 1) else {
        return head(text.chars(), width).collect();
    };
    let tail: Vec<char> = head(text.chars().rev(), room / 2).collect();
    let mut cut: String = head(text.chars(), room - room / 2).collect();
    cut.push_str(ELLIPSIS);
    cut.extend(tail.iter().rev());
    cut
}

/// Returns the characters that fit into `width` columns.
fn head(chars: impl Iterator<Item = char>, width: usize) -> impl Iterator<Item = char> {
    chars
        .scan(0, |used, c| {
            *used += c.width().unwrap_or(0);
            Some((*used, c))
        })
        .take_while(move |(used, _)| *used <= width)
        .map(|(_, c)| c)
}

/// Returns `text` broken after some of the separators `after`, which end in a space, into lines of
/// at most `width` columns. The second and later lines are indented by two.
#[must_use]
pub fn wrapped(text: &str, after: &str, width: usize) -> String {
    let (mut lines, mut used) = (String::new(), 0);
    for word in text.split_inclusive(after).map(str::trim_end) {
        if used > 0 && used + 1 + columns(word) > width {
            lines.push_str("\n ");
            used = 1;
        }
        let gap = if used > 0 { " " } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(lines, "{gap}{word}");
        used += gap.len() + columns(word);
    }
    lines.push('\n');
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_characters_are_spelled_out() {
        let check = |name: &str, expected: &str| assert_eq!(shown(name), expected);
        check("", "\"\"");
        check("  main", "\"  main\"");
        check("\u{7}\u{9b}31m\u{7f}", r"\u{7}\u{9b}31m\u{7f}");
        check("a\u{202e}b\u{2066}c", r"a\u{202e}b\u{2066}c");
        check("pay\u{200b}load\u{feff}\u{ad}", r"pay\u{200b}load\u{feff}\u{ad}");
        check("one\u{2028}two", r"one\u{2028}two");
        check("z\u{301}\u{301}", r"z\u{301}\u{301}");
        check("流れ計算", "流れ計算");
    }

    #[test]
    fn a_cut_keeps_both_ends_and_its_width() {
        let check = |text: &str, width: usize, expected: &str| {
            assert_eq!(cut(text, width), expected);
            assert!(columns(expected) <= width);
        };
        check("exchange", 8, "exchange");
        check("exchange_halo", 9, "exc...alo");
        check("exchange_halo", 10, "exch...alo");
        check("exchange_halo", 5, "e...o");
        check("exchange_halo", 4, "exch");
        check("exchange_halo", 0, "");
        check("流れ計算の全体", 10, "流れ...体");
        check("halo (src/halo.c:41)", 20, "halo (src/halo.c:41)");
        check("halo (src/halo.c:41)", 19, "halo:41");
        check("halo (src/halo.c:41)", 7, "halo:41");
        check("exchange (halo.c:41)", 9, "exc...:41");
        check(
            "MPI_Send at fluid::Op(double, 3)::send (a.cpp:4)",
            40,
            "MPI_Send at fluid::Op(double, 3)::send:4",
        );
        check(
            "MPI_Send at fluid::Op(double, 3)::send (a.cpp:4)",
            36,
            "MPI_Send at Op(double, 3)::send:4",
        );
        check("MPI_Send at fluid::Op(a::b)::send (a.cpp:4)", 20, "MPI_Send at send:4");
        check("main<fluid::exchange", 15, "main<exchange");
        check("fluid::exchange::{{closure}}", 22, "exchange::{{closure}}");
        check("operator() (int, double)", 10, "oper...le)");
        check("exchange (halo.c:)", 10, "exch...c:)");
        check("fluid::a_long_namespace::send", 26, "a_long_namespace::send");
        check("fluid::a_long_namespace::send", 20, "fluid::a_...ce::send");
    }

    #[test]
    fn a_long_line_breaks_between_words() {
        assert_eq!(wrapped("a a, b b, c c", ", ", 9), "a a, b b,\n  c c\n");
        assert_eq!(wrapped("aa bb cc dd", " ", 5), "aa bb\n  cc\n  dd\n");
        assert_eq!(wrapped("aa bbbbbbbb", " ", 5), "aa\n  bbbbbbbb\n");
    }
}
