//! The header of a Matrix Market file (Boisvert, Pozo and Remington, NISTIR 5935), whose matrix
//! holds the edges of the graph.

use std::io::{self, BufRead};

/// The first bytes of such a file.
pub(super) const MARK: &[u8] = b"%%MatrixMarket";

/// The size of a matrix and the kind of its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// The number of rows, which equals that of columns.
    pub(super) vertices: u32,
    pub(super) entry: Entry,
}

/// The content of an entry besides its row and its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// How many numbers follow; a graph does not need them.
    pub(super) values: usize,
    /// Set if only one of two mirrored entries is in the file.
    pub(super) is_symmetric: bool,
}

/// The part of the file before the first entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) shape: Shape,
    pub(super) entries: u64,
    /// Its length in lines.
    pub(super) lines: u64,
    pub(super) bytes: u64,
}

impl Header {
    /// Reads the header, up to the line with the sizes.
    ///
    /// # Errors
    /// Fails if the file cannot be read. The inner error is the first wrong line, 1-based, and the
    /// reason.
    pub(super) fn read(file: &mut impl BufRead) -> io::Result<Result<Self, (u64, String)>> {
        let (mut lines, mut bytes, mut text) = (0, 0, Vec::new());
        let mut entry = None;
        loop {
            text.clear();
            let length = file.read_until(b'\n', &mut text)?;
            (lines, bytes) = (lines + 1, bytes + length as u64);
            let line = String::from_utf8_lossy(&text);
            let Some(entry) = entry else {
                match entry_of(&line) {
                    Ok(found) => entry = Some(found),
                    Err(reason) => return Ok(Err((lines, reason))),
                }
                continue;
            };
            let is_blank = length > 0 && line.trim().is_empty();
            if is_blank || line.starts_with('%') {
                continue;
            }
            let sizes: Vec<Option<u64>> =
                line.split_whitespace().map(|word| word.parse().ok()).collect();
            let &[Some(rows), Some(columns), Some(entries)] = sizes.as_slice() else {
                let found = line.trim();
                return Ok(Err((
                    lines,
                    format!("expected rows, columns and entries, found {found:?}"),
                )));
            };
            let shape = vertices(rows, columns).map(|vertices| Shape { vertices, entry });
            return Ok(shape
                .map(|shape| Self { shape, entries, lines, bytes })
                .map_err(|reason| (lines, reason)));
        }
    }
}

/// Returns the number of vertices: the matrix has a row and a column for each.
fn vertices(rows: u64, columns: u64) -> Result<u32, String> {
    if rows != columns {
        return Err(format!(
            "expected as many rows as columns, one for each vertex, found {rows} and {columns}"
        ));
    }
    u32::try_from(rows)
        .map_err(|_| format!("expected at most {} rows and columns, found {rows}", u32::MAX))
}

/// Returns the kind of all entries, from the banner.
fn entry_of(banner: &str) -> Result<Entry, String> {
    let words: Vec<String> = banner.split_whitespace().map(str::to_ascii_lowercase).collect();
    let [_, "matrix", "coordinate", field, symmetry] =
        &words.iter().map(String::as_str).collect::<Vec<_>>()[..]
    else {
        let found = banner.trim();
        return Err(format!(
            "expected %%MatrixMarket matrix coordinate FIELD SYMMETRY, found {found:?}"
        ));
    };
    let values = match *field {
        "pattern" => 0,
        "integer" | "real" => 1,
        "complex" => 2,
        other => {
            return Err(format!("expected pattern, integer, real or complex, found {other:?}"));
        }
    };
    let is_symmetric = match *symmetry {
        "general" => false,
        "symmetric" | "skew-symmetric" | "hermitian" => true,
        other => {
            return Err(format!(
                "expected general, symmetric, skew-symmetric or hermitian, found {other:?}"
            ));
        }
    };
    Ok(Entry { values, is_symmetric })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Header, (u64, String)> {
        Header::read(&mut text.as_bytes()).unwrap()
    }

    #[test]
    fn a_header_is_read_up_to_the_sizes() {
        let text = "%%MatrixMarket matrix coordinate pattern symmetric\n% by hand\n\n3 3 2\n1 1\n";
        let shape = Shape { vertices: 3, entry: Entry { values: 0, is_symmetric: true } };
        assert_eq!(
            read(text),
            Ok(Header { shape, entries: 2, lines: 4, bytes: text.len() as u64 - 4 })
        );
    }

    #[test]
    fn every_kind_of_entry_is_known_in_any_case_of_letters() {
        for (field, values) in [("pattern", 0), ("INTEGER", 1), ("Real", 1), ("complex", 2)] {
            for (symmetry, is_symmetric) in [
                ("general", false),
                ("symmetric", true),
                ("Skew-Symmetric", true),
                ("hermitian", true),
            ] {
                let text = format!("%%MatrixMarket MATRIX coordinate {field} {symmetry}\n1 1 0\n");
                assert_eq!(
                    read(&text).unwrap().shape.entry,
                    Entry { values, is_symmetric },
                    "{text}"
                );
            }
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, line, said) in [
            (
                "%%MatrixMarket matrix array real general\n2 2\n",
                1,
                "expected %%MatrixMarket matrix coordinate",
            ),
            ("%%MatrixMarket matrix coordinate words general\n", 1, "expected pattern"),
            ("%%MatrixMarket matrix coordinate real upside-down\n", 1, "expected general"),
            (
                "%%MatrixMarket matrix coordinate real general\n%\n2 2\n",
                3,
                "expected rows, columns and entries",
            ),
            (
                "%%MatrixMarket matrix coordinate real general\n",
                2,
                "expected rows, columns and entries",
            ),
            (
                "%%MatrixMarket matrix coordinate real general\n9999999999 9999999999 1\n",
                2,
                "expected at most 4294967295",
            ),
            (
                "%%MatrixMarket matrix coordinate real general\n3 4 1\n",
                2,
                "expected as many rows as columns",
            ),
        ] {
            let (found, reason) = read(text).unwrap_err();
            assert_eq!(found, line, "{reason}");
            assert!(reason.starts_with(said), "{reason}");
        }
    }
}
