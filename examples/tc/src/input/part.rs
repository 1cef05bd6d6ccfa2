//! One rank's part of a file.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use super::line::{Format, edge};

/// The content of a part.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) edges: Vec<[u32; 2]>,
    /// Lines with an edge. In a symmetric matrix most of them stand for two edges.
    pub(super) entries: u64,
    /// All lines.
    pub(super) lines: u64,
    /// The first line that could not be read, 1-based in this part, and why.
    pub(super) bad: Option<(u64, String)>,
}

impl Part {
    /// Reads the lines that begin in `bytes`; the first line of the body begins at `body`.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub(super) fn read(
        path: &Path,
        body: u64,
        bytes: Range<u64>,
        format: Format,
    ) -> io::Result<Self> {
        let mut file = BufReader::new(File::open(path)?);
        let mut at = bytes.start;
        let mut line = Vec::new();
        if at > body {
            // A line begins here only if the byte before ends one.
            file.seek(SeekFrom::Start(at - 1))?;
            at = at - 1 + file.read_until(b'\n', &mut line)? as u64;
        } else {
            file.seek(SeekFrom::Start(at))?;
        }
        let mut part = Self::default();
        while at < bytes.end {
            line.clear();
            at += file.read_until(b'\n', &mut line)? as u64;
            part.lines += 1;
            match edge(&line, format) {
                Ok(Some(edge)) => part.add(edge, format),
                Ok(None) => {}
                Err(reason) => {
                    part.bad.get_or_insert((part.lines, reason));
                }
            }
        }
        Ok(part)
    }

    fn add(&mut self, [begin, end]: [u32; 2], format: Format) {
        self.entries += 1;
        self.edges.push([begin, end]);
        if let Format::MatrixMarket(shape) = format
            && shape.entry.is_symmetric
            && begin != end
        {
            self.edges.push([end, begin]);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parts(text: &str, ranks: u64) -> Vec<Part> {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("graph");
        std::fs::write(&path, text).unwrap();
        let at = |share: u64| text.len() as u64 * share / ranks;
        (0..ranks)
            .map(|r| Part::read(&path, 0, at(r)..at(r + 1), Format::EdgeList).unwrap())
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn each_line_is_in_one_part(
            lines in prop::collection::vec(prop_oneof!["", "# x", "[0-9]{1,4} [0-9]{1,9}", "no"], 0..30),
            ranks in 1_u64..40,
            ends in prop::bool::ANY,
        ) {
            let text = lines.join("\n") + if ends { "\n" } else { "" };
            let whole = parts(&text, 1).remove(0);
            let parts = parts(&text, ranks);
            prop_assert_eq!(parts.iter().map(|part| part.lines).sum::<u64>(), whole.lines);
            let edges: Vec<_> = parts.iter().flat_map(|part| part.edges.clone()).collect();
            prop_assert_eq!(edges, whole.edges);
            let before = |rank: usize| parts[..rank].iter().map(|part| part.lines).sum::<u64>();
            let bad = parts.iter().enumerate().find_map(|(rank, part)| {
                part.bad.clone().map(|(line, reason)| (before(rank) + line, reason))
            });
            prop_assert_eq!(bad, whole.bad);
        }
    }
}
