//! Regions that are split by a key: the expansion of `split = expression`.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use crate::collect::start::start_recording;
use crate::record::{KeyedSites, Site, thread};

/// A text that distinguishes the visits of a region.
#[diagnostic::on_unimplemented(
    message = "a region is split by a text, which `{Self}` is not",
    label = "here a `&str` or a `String` was expected",
    note = "a text that is made anew for each visit costs more than the visit: keep it, as in `const NAME: &str`"
)]
pub trait Key {
    /// Returns the text.
    fn text(&self) -> &str;
}

impl Key for str {
    #[inline]
    fn text(&self) -> &str {
        self
    }
}

impl Key for String {
    #[inline]
    fn text(&self) -> &str {
        self
    }
}

impl Key for Cow<'_, str> {
    #[inline]
    fn text(&self) -> &str {
        self
    }
}

macro_rules! keys_behind {
    ($($pointer:ty),*) => {$(
        impl<K: Key + ?Sized> Key for $pointer {
            #[inline]
            fn text(&self) -> &str {
                (**self).text()
            }
        }
    )*};
}
keys_behind!(&K, Box<K>, Rc<K>, Arc<K>);

/// Returns the text of a key. The macros call it to require the type they expect.
#[inline]
pub fn key<K: Key + ?Sized>(key: &K) -> &str {
    key.text()
}

/// The sites of one region, by the values of its key. The macros emit it as a `static` beside the
/// region's own site.
#[derive(Debug)]
pub struct Keys {
    sites: KeyedSites,
}

impl Keys {
    /// Returns a table in which no value is known yet.
    #[must_use]
    pub const fn new(region: &'static Site) -> Self {
        Self { sites: KeyedSites::new(region) }
    }

    /// Returns the site for this value of the key. If there are too many values, it returns the
    /// region's own site and counts the visit.
    ///
    /// # Cost
    /// A hash and a comparison of the text. No lock, and no heap allocation.
    #[inline(never)]
    pub fn site(&'static self, value: &str) -> &'static Site {
        if thread::current().is_off() {
            return self.sites.region();
        }
        self.sites.site(value).unwrap_or_else(|| self.without_key())
    }

    #[cold]
    fn without_key(&self) -> &'static Site {
        if let Some(arena) = thread::arena_or_attach(start_recording) {
            arena.count_without_key();
        }
        self.sites.region()
    }
}
