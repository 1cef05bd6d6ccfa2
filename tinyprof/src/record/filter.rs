//! Exclusion of regions from a run: `-*fields_at*,+main`. The filter is consulted when a thread
//! first sees a site.

use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};

use tinyprof_settings::pattern::{self, matches};

use super::site::Site;

/// The patterns that select the regions to record, as they were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Filter(String);

static INSTALLED: OnceLock<Filter> = OnceLock::new();

/// The filter that a command has put in its place; null if none has. Never freed, as another thread
/// may be reading it.
static REPLACED: AtomicPtr<Filter> = AtomicPtr::new(ptr::null_mut());

/// The same of metrics, of which there is none at first.
static OF_METRICS: AtomicPtr<Filter> = AtomicPtr::new(ptr::null_mut());

/// The sites that were excluded, in the order of their first visit. A site that does not fit here
/// is not named in the profile.
static OUT: [AtomicPtr<Site>; OUT_MAX] = [const { AtomicPtr::new(ptr::null_mut()) }; OUT_MAX];
const OUT_MAX: usize = 512;

/// Installs the filter of this process. Only the first one counts, and only for callpaths that are
/// first visited after this call.
pub(crate) fn install(filter: Filter) {
    INSTALLED.get_or_init(|| filter);
}

/// Puts a filter in place of that of this process. Threads have to forget what they know of sites.
pub(crate) fn replace(filter: Filter) {
    REPLACED.store(Box::into_raw(Box::new(filter)), Release);
}

/// Puts a filter of metrics in place of the one before. Threads have to forget what they know of
/// sites.
pub(crate) fn replace_of_metrics(filter: Filter) {
    OF_METRICS.store(Box::into_raw(Box::new(filter)), Release);
}

/// Returns whether a command has excluded the metric.
pub(super) fn takes_out_metric(metric: &'static Site) -> bool {
    // SAFETY: null, or what `replace_of_metrics` has stored, which is never freed.
    let filter = unsafe { OF_METRICS.load(Acquire).as_ref() };
    filter.is_some_and(|filter| is_out(&filter.0, metric.module(), metric.name()))
}

/// Returns the filter that a command has given, if one has.
fn replaced() -> Option<&'static Filter> {
    // SAFETY: null, or what `replace` has stored, which is never freed.
    unsafe { REPLACED.load(Acquire).as_ref() }
}

/// Returns whether a command has given a filter, so that regions that were recorded may be excluded
/// now.
pub(super) fn is_replaced() -> bool {
    replaced().is_some()
}

/// Returns whether the filter of this process excludes the region, and records it if so. Cold.
pub(super) fn takes_out(site: &'static Site) -> bool {
    let Some(filter) = replaced().or_else(|| INSTALLED.get()) else { return false };
    let is_out = is_out(&filter.0, site.module(), site.name());
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

/// Returns the text of the filter with which this process has begun, if it has one.
pub(crate) fn text() -> Option<String> {
    INSTALLED.get().map(|filter| filter.0.clone())
}

/// Returns whether there is or was a filter.
pub(crate) fn is_known() -> bool {
    is_replaced() || INSTALLED.get().is_some()
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
        pattern::is_list(text).then(|| Self(text.to_owned()))
    }
}

/// Returns whether patterns exclude the region, by its name or `module::name`. Allocates nothing.
fn is_out(patterns: &str, module: &str, name: &str) -> bool {
    let pieces = [module, "::", name];
    pattern::excludes(patterns, |pattern| {
        matches(pattern, &|at| name.as_bytes().get(at).copied())
            || matches(pattern, &|at| byte_of(pieces, at))
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_pattern_that_matches_wins() {
        let out = |filter: &str, name| is_out(filter, "mesh::fields", name);
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
