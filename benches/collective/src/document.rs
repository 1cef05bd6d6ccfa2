//! The elements of pages of measurements: tables, plots, and the marked places for them. The prose
//! around them is written by hand.

pub mod plot;
pub mod table;

/// Returns the page with the text between its marks `<!-- begin NAME -->` and `<!-- end NAME -->`
/// replaced.
///
/// # Errors
/// Fails if the page has no such marks; the text names them.
pub fn replace(page: &str, name: &str, text: &str) -> Result<String, String> {
    let (begin, end) = (format!("<!-- begin {name} -->\n"), format!("<!-- end {name} -->"));
    let missing = || format!("the page has no place {} ... {end}", begin.trim_end());
    let (before, rest) = page.split_once(&begin).ok_or_else(missing)?;
    let (_, after) = rest.split_once(&end).ok_or_else(missing)?;
    Ok(format!("{before}{begin}\n{}\n\n{end}{after}", text.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_the_marks_is_replaced() {
        let page = "a\n<!-- begin x -->\nold\n<!-- end x -->\nb\n";
        let new = replace(page, "x", "new").unwrap();
        assert_eq!(new, "a\n<!-- begin x -->\n\nnew\n\n<!-- end x -->\nb\n");
        assert_eq!(replace(&new, "x", "new").unwrap(), new);
        assert!(replace(page, "y", "new").unwrap_err().contains("begin y"));
    }
}
