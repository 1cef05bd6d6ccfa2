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
