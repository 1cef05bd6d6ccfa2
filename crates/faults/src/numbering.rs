//! The numbers of callpaths: a tree in which each callpath has ten children.
//!
//! ```text
//! 0            root
//! 1 .. 10      root<a0 ... root<a9
//! 11 .. 20     root<a0<b0 ... root<a0<b9
//! ```
//!
//! The children of `n` are `10 n + 1` to `10 n + 10`.

/// The number of children of a callpath.
pub const CHILDREN: usize = 10;

/// Returns the number of child `child` (0-based) of callpath `parent`.
#[must_use]
pub const fn child(parent: usize, child: usize) -> usize {
    CHILDREN * parent + 1 + child
}

/// Returns the number of callpaths in a tree with this many levels below its root.
#[must_use]
pub fn callpaths(levels: u32) -> usize {
    (0..=levels).map(|level| CHILDREN.pow(level)).sum()
}

/// Returns the number of a callpath as profiles write it (`root<a0<b3`), or `None` for all others.
#[must_use]
pub fn number(path: &str) -> Option<usize> {
    let mut regions = path.split('<');
    if regions.next() != Some("root") {
        return None;
    }
    regions.zip('a'..).try_fold(0, |parent, (region, letter)| {
        let digit = region.strip_prefix(letter)?;
        let digit: usize =
            digit.parse().ok().filter(|&digit| digit < CHILDREN && region.len() == 2)?;
        Some(child(parent, digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_consecutive_by_level() {
        assert_eq!((callpaths(0), callpaths(1), callpaths(5)), (1, 11, 111_111));
        assert_eq!(callpaths(6), 1_111_111);
        for (path, expected) in [
            ("root", Some(0)),
            ("root<a0", Some(1)),
            ("root<a9", Some(10)),
            ("root<a0<b0", Some(11)),
            ("root<a9<b9", Some(callpaths(2) - 1)),
            ("root<step", None),
            ("root<b0", None),
            ("root<a10", None),
            ("other", None),
        ] {
            assert_eq!(number(path), expected, "{path}");
        }
    }
}
