//! Exclusion of regions from a run: `-*fields_at*,+main`. The filter is consulted when a thread
//! first sees a site.

use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{AcqRel, Acquire};

use super::site::Site;

/// The patterns that select the regions to record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Filter {
    patterns: Vec<Pattern>,
    /// The pattern as it was written.
    text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern {
    takes_out: bool,
    text: String,
}

static INSTALLED: OnceLock<Filter> = OnceLock::new();

/// The sites that were excluded, in the order of their first visit. A site that does not fit here
/// is not named in the profile.
static OUT: [AtomicPtr<Site>; OUT_MAX] = [const { AtomicPtr::new(ptr::null_mut()) }; OUT_MAX];
const OUT_MAX: usize = 512;

/// Installs the filter of this process. Only the first one counts, and only for callpaths that are
/// first visited after this call.
pub(crate) fn install(filter: Filter) {
    INSTALLED.get_or_init(|| filter);
}

/// Returns whether the filter of this process excludes the region, and records it if so. Cold.
pub(super) fn takes_out(site: &'static Site) -> bool {
    let Some(filter) = INSTALLED.get() else { return false };
    let is_out = filter.takes_out(site.module(), site.name());
    if is_out {
        remember(site);
    }
    is_out
}

/// Records an excluded site. Neither locks nor allocates: it may run in a signal handler.
fn remember(site: &'static Site) {
    let this = ptr::from_ref(site).cast_mut();
    for place in &OUT {
        match place.compare_exchange(ptr::null_mut(), this, AcqRel, Acquire) {
            Ok(_) => return,
            Err(known) if known == this => return,
            Err(_) => {}
        }
    }
}

/// Returns the text of the filter of this process, if it has one.
pub(crate) fn text() -> Option<String> {
    INSTALLED.get().map(|filter| filter.text.clone())
}

/// Returns `module::name` of the regions that were excluded and visited, in order.
pub(crate) fn taken_out() -> Vec<String> {
    let places = OUT.iter().map(|place| place.load(Acquire));
    // SAFETY: null, or what `remember` has made of a `&'static Site`.
    let sites = places.map_while(|place| unsafe { place.as_ref() });
    let mut names: Vec<String> = sites.map(|site| full_name(site.module(), site.name())).collect();
    names.sort();
    names.dedup();
    names
}

fn full_name(module: &str, name: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}::{name}") }
}

impl Filter {
    /// Parses the text, or returns `None` if it is not a filter.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let patterns = text.split(',').map(|pattern| {
            let pattern = pattern.trim();
            let takes_out = pattern.starts_with('-');
            let text = pattern.strip_prefix(['-', '+']).unwrap_or(pattern).trim_start();
            (!text.is_empty()).then(|| Pattern { takes_out, text: text.to_owned() })
        });
        patterns
            .collect::<Option<Vec<_>>>()
            .map(|patterns| Self { patterns, text: text.to_owned() })
    }

    /// Returns whether the region is excluded: the last pattern that matches decides. A region that
    /// no pattern matches is recorded, unless the first pattern includes.
    fn takes_out(&self, module: &str, name: &str) -> bool {
        let matching = self.patterns.iter().rev().find(|pattern| pattern.matches(module, name));
        let first = self.patterns.first();
        matching.map_or(first.is_some_and(|first| !first.takes_out), |pattern| pattern.takes_out)
    }
}

impl Pattern {
    /// Returns whether the pattern matches the region's name or `module::name`. Allocates nothing.
    fn matches(&self, module: &str, name: &str) -> bool {
        let pieces = [module, "::", name];
        matches(self.text.as_bytes(), &|at| name.as_bytes().get(at).copied())
            || matches(self.text.as_bytes(), &|at| byte_of(pieces, at))
    }
}

/// Returns the byte at `at` of the concatenated texts.
fn byte_of(texts: [&str; 3], mut at: usize) -> Option<u8> {
    for text in texts {
        match text.as_bytes().get(at) {
            Some(&byte) => return Some(byte),
            None => at -= text.len(),
        }
    }
    None
}

/// Returns whether the whole text matches; `*` matches any bytes, or none.
///
/// After a mismatch only the last `*` has to take one more byte: earlier ones cannot help.
fn matches(pattern: &[u8], text: &dyn Fn(usize) -> Option<u8>) -> bool {
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

    #[test]
    fn the_last_pattern_that_matches_wins() {
        let out =
            |filter: &str, name| Filter::parse(filter).unwrap().takes_out("mesh::fields", name);
        for (filter, name, expected) in [
            ("-*fields_at*", "fields_at", true),
            ("-*fields_at*", "Mesh::fields_at_points", true),
            ("-*fields_at*", "push", false),
            ("-push", "push", true),
            ("-push", "pusher", false),
            ("-mesh::fields::push", "push", true),
            ("-fields::push", "push", false),
            ("-mesh::*", "push", true),
            ("-*fields::pu*", "push", true),
            ("-*, +push", "push", false),
            ("-*,push", "other", true),
            ("push", "push", false),
            ("push", "other", true),
            ("+p*,-push", "push", true),
            ("+p*,-push", "pull", false),
            ("-p*,+pu*,-push", "push", true),
            ("-p*,+pu*,-push", "pull", false),
            ("-p*,+pu*,-push", "other", false),
        ] {
            assert_eq!(out(filter, name), expected, "{filter} {name}");
        }
    }

    #[test]
    fn a_filter_without_a_pattern_is_none() {
        for text in ["", "-", "+", "a,", ",", "-a, ,b"] {
            assert_eq!(Filter::parse(text), None, "{text}");
        }
    }
}
