//! Names as users write them, with `*` for any letters.

/// Returns whether the whole text matches; `*` matches any bytes, or none.
///
/// `text` returns the byte at a place; none behind the end. Allocates nothing.
///
/// # Cost
/// At most the product of both lengths.
///
/// ```
/// use tinyprof_settings::pattern::matches;
///
/// let name = |at| b"fields_at".get(at).copied();
/// assert!(matches(b"*at", &name) && !matches(b"fields", &name));
/// ```
#[must_use]
pub fn matches(pattern: &[u8], text: &dyn Fn(usize) -> Option<u8>) -> bool {
    // After a mismatch only the last `*` has to take one more byte: earlier ones cannot help.
    let (mut at, mut in_text) = (0, 0);
    let mut last_star: Option<(usize, usize)> = None;
    loop {
        match (pattern.get(at), text(in_text)) {
            (Some(b'*'), _) => {
                last_star = Some((at + 1, in_text));
                at += 1;
            }
            (None, None) => return true,
            (Some(&wanted), Some(found)) if wanted == found => {
                (at, in_text) = (at + 1, in_text + 1);
            }
            (_, found) => match last_star {
                Some((behind, from)) if found.is_some() || from < in_text => {
                    if text(from).is_none() {
                        return false;
                    }
                    last_star = Some((behind, from + 1));
                    (at, in_text) = (behind, from + 1);
                }
                _ => return false,
            },
        }
    }
}

/// Returns whether a text is a list of patterns with commas between them, each with `-` or `+`
/// before it, or neither.
#[must_use]
pub fn is_list(text: &str) -> bool {
    patterns(text).all(|(_, pattern)| !pattern.is_empty())
}

/// Returns whether a list of patterns excludes a name, for which `is_match` tells whether a pattern
/// matches.
///
/// The last pattern that matches decides, and one with `-` excludes. A name that no pattern matches
/// is excluded if the first pattern includes. Allocates nothing.
///
/// ```
/// use tinyprof_settings::pattern::{excludes, matches};
///
/// let is = |pattern: &[u8]| matches(pattern, &|at| b"fields_at".get(at).copied());
/// assert!(excludes("-*fields_at*,+main", is) && excludes("main", is));
/// ```
#[must_use]
pub fn excludes(list: &str, is_match: impl Fn(&[u8]) -> bool) -> bool {
    let first_includes = patterns(list).next().is_some_and(|(takes_out, _)| !takes_out);
    let matching = patterns(list).filter(|(_, pattern)| is_match(pattern.as_bytes())).last();
    matching.map_or(first_includes, |(takes_out, _)| takes_out)
}

/// Returns the patterns of a list, and whether each excludes.
fn patterns(list: &str) -> impl Iterator<Item = (bool, &str)> {
    list.split(',').map(|pattern| {
        let pattern = pattern.trim();
        let takes_out = pattern.starts_with('-');
        (takes_out, pattern.strip_prefix(['-', '+']).unwrap_or(pattern).trim_start())
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_match(pattern: &str, text: &str) -> bool {
        matches(pattern.as_bytes(), &|at| text.as_bytes().get(at).copied())
    }

    /// Returns whether the pattern matches, by the definition and without regard to speed.
    fn naive(pattern: &[u8], text: &[u8]) -> bool {
        match (pattern, text) {
            ([], []) => true,
            ([b'*', rest @ ..], _) => (0..=text.len()).any(|from| naive(rest, &text[from..])),
            ([a, pattern @ ..], [b, text @ ..]) if a == b => naive(pattern, text),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn a_pattern_matches_as_it_would_if_time_did_not_count(pattern in "[ab*]{0,8}", text in "[ab]{0,8}") {
            prop_assert_eq!(is_match(&pattern, &text), naive(pattern.as_bytes(), text.as_bytes()));
        }
    }

    #[test]
    fn many_stars_take_no_more_than_their_product() {
        assert!(!is_match(&"*a".repeat(60), &"b".repeat(20_000)));
        assert!(is_match(&"*a".repeat(60), &"ba".repeat(20_000)));
    }
}
