//! Lines of comma-separated fields, quoted or not.
//!
//! A field never continues on the next line: our writer escapes newlines, and the authors' tools
//! never write them. So a missing quote affects only its own line.

/// The header, or a line below it.
#[derive(Debug)]
pub(super) struct Record<'a> {
    /// The line number in the file, 1-based.
    pub(super) line: u64,
    pub(super) fields: Vec<&'a [u8]>,
    /// True if the last field has no closing quote, as at the end of a truncated file.
    pub(super) cut: bool,
}

/// Returns the non-empty lines of `text`, with at most `columns` fields. Further commas belong to
/// the last field.
pub(super) fn records(text: &[u8], columns: usize) -> impl Iterator<Item = Record<'_>> {
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    let lines = text.split(|&b| b == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    (1..)
        .zip(lines)
        .filter(|(_, line)| !line.is_empty())
        .map(move |(line, bytes)| record(line, bytes, columns))
}

fn record(line: u64, mut rest: &[u8], columns: usize) -> Record<'_> {
    let (mut fields, mut cut) = (Vec::new(), false);
    loop {
        let last = fields.len() + 1 >= columns;
        let (field, tail) = if let Some(quoted) = rest.strip_prefix(b"\"") {
            // The times contain no quotes, but may contain commas if they are damaged.
            match quoted.iter().position(|&b| b == b'"') {
                Some(end) => (&quoted[..end], &quoted[end + 1..]),
                None => {
                    cut = true;
                    (quoted, &[][..])
                }
            }
        } else {
            let end = rest.iter().position(|&b| b == b',' && !last).unwrap_or(rest.len());
            rest.split_at(end)
        };
        fields.push(field);
        match tail.iter().position(|&b| b == b',').filter(|_| !last) {
            Some(comma) => rest = &tail[comma + 1..],
            None => return Record { line, fields, cut },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, columns: usize, expected: &[(u64, &[&str], bool)]) {
        let found: Vec<_> = records(text.as_bytes(), columns).collect();
        let found: Vec<(u64, Vec<&str>, bool)> = found
            .iter()
            .map(|r| {
                (r.line, r.fields.iter().map(|f| std::str::from_utf8(f).unwrap()).collect(), r.cut)
            })
            .collect();
        let expected: Vec<_> =
            expected.iter().map(|(line, fields, cut)| (*line, fields.to_vec(), *cut)).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn fields_are_quoted_or_not() {
        check("\"a\",\"b\"\n", 2, &[(1, &["a", "b"], false)]);
        check("a,b\r\n\nc,d", 2, &[(1, &["a", "b"], false), (3, &["c", "d"], false)]);
        check("\u{feff}\"a\",b", 2, &[(1, &["a", "b"], false)]);
        check("\"a,b\",\"\"", 2, &[(1, &["a,b", ""], false)]);
        check("a,", 2, &[(1, &["a", ""], false)]);
        check("", 2, &[]);
    }

    #[test]
    fn commas_too_many_belong_to_the_last_field() {
        check("a,0.1,0.2|3", 2, &[(1, &["a", "0.1,0.2|3"], false)]);
        check("\"a\",\"0.1,0.2\"", 2, &[(1, &["a", "0.1,0.2"], false)]);
    }

    #[test]
    fn a_quote_that_is_missing_costs_its_line() {
        check(
            "\"a\",\"0.1|0.\n\"b\",\"1\"",
            2,
            &[(1, &["a", "0.1|0."], true), (2, &["b", "1"], false)],
        );
        check("\"a", 2, &[(1, &["a"], true)]);
    }
}
