//! Parsing of a line.

use super::matrix_market::Shape;

/// The format of a line.
#[derive(Clone, Copy, Debug)]
pub(super) enum Format {
    /// `BEGIN END`, vertices from 0.
    EdgeList,
    /// `ROW COLUMN`, from 1, and the number of values that the header gives.
    MatrixMarket(Shape),
}

/// Returns the edge in a line, or `None` for a comment or an empty line.
///
/// # Errors
/// The text names the expected and the actual content.
pub(super) fn edge(line: &[u8], format: Format) -> Result<Option<[u32; 2]>, String> {
    let text = String::from_utf8_lossy(line);
    let text = text.trim();
    if text.is_empty() || text.starts_with(['#', '%']) {
        return Ok(None);
    }
    let mut words = text.split_whitespace();
    let (Some(begin), Some(end)) = (words.next(), words.next()) else {
        return Err(format!("expected two vertices, found {}", shown(text)));
    };
    let edge = [vertex(begin)?, vertex(end)?];
    let Format::MatrixMarket(shape) = format else {
        if words.next().is_some() {
            return Err(format!("expected two vertices and no more, found {}", shown(text)));
        }
        return Ok(Some(edge));
    };
    for (number, name) in edge.into_iter().zip(["row", "column"]) {
        if number == 0 || number > shape.vertices {
            return Err(format!("expected a {name} from 1 to {}, found {number}", shape.vertices));
        }
    }
    let (expected, found) = (2 + shape.entry.values, 2 + words.count());
    if found != expected {
        return Err(format!(
            "expected {expected} numbers, of which two are row and column, found {found}"
        ));
    }
    Ok(Some(edge.map(|number| number - 1)))
}

fn vertex(word: &str) -> Result<u32, String> {
    word.parse().map_err(|_| {
        let is_number =
            word.trim_start_matches(['-', '+']).bytes().all(|byte| byte.is_ascii_digit());
        let what = match word.strip_prefix('-') {
            Some(rest) if is_number && !rest.is_empty() => "is negative",
            _ if is_number && word.len() > 1 => "is too large",
            _ => "is no number",
        };
        format!("vertex {} {what}: expected a whole number from 0 to {}", shown(word), u32::MAX)
    })
}

/// Returns the text in quotes, shortened to its beginning.
fn shown(text: &str) -> String {
    const CHARACTERS: usize = 40;
    let mut begin: String = text.chars().take(CHARACTERS).collect();
    if begin.len() < text.len() {
        begin.push_str("...");
    }
    format!("{begin:?}")
}

#[cfg(test)]
mod tests {
    use super::super::matrix_market::Entry;
    use super::*;

    fn read(line: &str) -> Result<Option<[u32; 2]>, String> {
        edge(line.as_bytes(), Format::EdgeList)
    }

    #[test]
    fn edges_comments_and_nothing_are_read() {
        assert_eq!(read("1 2\n"), Ok(Some([1, 2])));
        assert_eq!(read("\t 4294967295\t0 \r\n"), Ok(Some([u32::MAX, 0])));
        assert_eq!((read("# a b c"), read("% a"), read("  \r\n")), (Ok(None), Ok(None), Ok(None)));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (line, said) in [
            ("1", "expected two vertices, found \"1\""),
            ("1 2 3", "expected two vertices and no more, found \"1 2 3\""),
            ("1 -2", "vertex \"-2\" is negative"),
            ("4294967296 1", "vertex \"4294967296\" is too large"),
            ("a 1", "vertex \"a\" is no number"),
            ("1 -", "vertex \"-\" is no number"),
            ("1.5 2", "vertex \"1.5\" is no number"),
        ] {
            let reason = read(line).unwrap_err();
            assert!(reason.starts_with(said), "{reason}");
        }
        assert!(read(&"x".repeat(1000)).unwrap_err().len() < 200);
        assert!(edge(b"\xff\xfe 1", Format::EdgeList).is_err());
    }

    #[test]
    fn entries_of_a_matrix_begin_with_1() {
        let format = matrix(1);
        assert_eq!(edge(b"3 1 0.5", format), Ok(Some([2, 0])));
        assert_eq!(edge(b"0 1 1", format), Err("expected a row from 1 to 3, found 0".to_owned()));
        assert_eq!(
            edge(b"1 4 7", format),
            Err("expected a column from 1 to 3, found 4".to_owned())
        );
    }

    #[test]
    fn entries_of_a_matrix_have_the_values_that_its_header_says() {
        assert_eq!(edge(b"1 2", matrix(0)), Ok(Some([0, 1])));
        assert_eq!(edge(b"1 2 1e-3 -4", matrix(2)), Ok(Some([0, 1])));
        let reason = edge(b"1 2 0.5", matrix(2)).unwrap_err();
        assert_eq!(reason, "expected 4 numbers, of which two are row and column, found 3");
        assert!(edge(b"1 2 0.5", matrix(0)).is_err() && edge(b"1 2", matrix(1)).is_err());
    }

    fn matrix(values: usize) -> Format {
        let entry = Entry { values, is_symmetric: false };
        Format::MatrixMarket(Shape { vertices: 3, entry })
    }
}
