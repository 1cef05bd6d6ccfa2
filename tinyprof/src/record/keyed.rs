//! Regions split by a text that is known at run time: one site for each value of a key.
//!
//! Finding a known value takes no lock and no allocation. A new value takes a page from the system,
//! not from the heap: the visit may come from a signal handler, or from inside of an allocator.

use std::sync::OnceLock;

use super::site::Site;
use super::site_table::{SiteTable, name_byte};
use crate::sys::Room;

/// The table of the values of a key. There are at most 128, and so as many sites of one region.
type Values = SiteTable<Keyed, 256>;
/// The bytes of a value that are compared: values with an equal beginning are one.
const VALUE_BYTES: usize = 256;
/// The longest name of a region with its value.
const NAME_BYTES: usize = 1024;

/// The sites of one region, by the values of its key.
#[derive(Debug)]
pub(crate) struct KeyedSites {
    region: &'static Site,
    values: Values,
}

/// A value and its site.
#[derive(Debug)]
struct Keyed {
    hash: u64,
    value: &'static str,
    site: Site,
}

/// A page of memory with everything that a value needs.
struct Page {
    value: [u8; VALUE_BYTES],
    name: [u8; NAME_BYTES],
    keyed: OnceLock<Keyed>,
}

impl KeyedSites {
    /// Returns an empty table of the region.
    pub(crate) const fn new(region: &'static Site) -> Self {
        Self { region, values: Values::new() }
    }

    /// Returns the region without a key.
    pub(crate) const fn region(&self) -> &'static Site {
        self.region
    }

    /// Returns the region's site for `value`, or `None` if the region has too many values or there
    /// is no memory for another one.
    ///
    /// # Cost
    /// A hash and a comparison of the value; a system call for a new value.
    #[inline]
    pub(crate) fn site(&'static self, value: &str) -> Option<&'static Site> {
        let value = beginning(value, VALUE_BYTES);
        let hash = hash(value.as_bytes());
        if let Some(known) = self.values.find(hash, |known| known.is(hash, value)) {
            return Some(&known.site);
        }
        self.insert(hash, value)
    }

    #[cold]
    #[inline(never)]
    fn insert(&'static self, hash: u64, value: &str) -> Option<&'static Site> {
        let make = || Keyed::new(self.region, hash, value);
        let keyed = self.values.insert(hash, |known| known.is(hash, value), make);
        keyed.map(|keyed| &keyed.site)
    }
}

impl Keyed {
    fn new(region: &'static Site, hash: u64, value: &str) -> Option<&'static Self> {
        let mut page =
            Page { value: [0; VALUE_BYTES], name: [0; NAME_BYTES], keyed: OnceLock::new() };
        let length = name(region.name(), value, &mut page.name)?;
        page.value[..value.len()].copy_from_slice(value.as_bytes());
        let page: &'static Page = Room::new()?.fill(page);
        let name = str::from_utf8(&page.name[..length]).ok()?;
        let value = str::from_utf8(&page.value[..value.len()]).ok()?;
        // No other thread knows the page yet, so this does not wait.
        Some(page.keyed.get_or_init(|| Self { hash, value, site: region.with_name(name) }))
    }

    #[inline]
    fn is(&self, hash: u64, value: &str) -> bool {
        self.hash == hash && self.value == value
    }
}

/// Writes `region[value]`, and returns its length, or `None` if the region's name leaves no room.
fn name(region: &str, value: &str, into: &mut [u8; NAME_BYTES]) -> Option<usize> {
    let room = NAME_BYTES.checked_sub(region.len() + 2)?;
    let value = beginning(value, room);
    let bytes = region.bytes().chain([b'[']).chain(value.bytes().map(name_byte));
    let bytes = bytes.chain([b']']);
    let put = |(place, byte): (&mut u8, u8)| *place = byte;
    into.iter_mut().zip(bytes).for_each(put);
    Some(region.len() + value.len() + 2)
}

/// Returns the first characters of a text, in at most `bytes` bytes.
#[inline]
fn beginning(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let end = (0..=bytes).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    &text[..end]
}

/// Returns a hash of the bytes, computed a word at a time: values have a few dozen bytes, and each
/// visit hashes one.
#[inline]
fn hash(bytes: &[u8]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(ODD).rotate_left(29);
    let (words, rest) = bytes.as_chunks::<8>();
    let hash =
        words.iter().fold(bytes.len() as u64, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    let last = rest.iter().fold(0, |last, &byte| last << 8 | u64::from(byte));
    mix(mix(hash, last), 0)
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use tinyprof_format::model::{Mode, RegionKind};

    use super::*;

    static REGION: Site = Site::new("norm", "m", "f.rs", 1, 2, RegionKind::Function, Mode::Each);

    fn table() -> &'static KeyedSites {
        Box::leak(Box::new(KeyedSites::new(&REGION)))
    }

    #[test]
    fn a_value_has_one_site_which_is_the_region_with_another_name() {
        let table = table();
        let f64_site = table.site("f64").unwrap();
        let other = table.site("f32").unwrap();
        assert!(ptr::eq(f64_site, table.site(&String::from("f64")).unwrap()));
        assert!(!ptr::eq(f64_site, other) && f64_site.id() != other.id());
        let (region, with_key) = (REGION.region().unwrap(), f64_site.region().unwrap());
        assert_eq!(with_key.name, "norm[f64]");
        assert_eq!(
            (with_key.module, with_key.line, with_key.mode),
            (region.module, region.line, region.mode)
        );
        let again = self::table().site("f64").unwrap();
        assert_eq!(again.id(), f64_site.id(), "the same on every rank");
    }

    #[test]
    fn there_are_as_many_as_the_table_says_and_no_more() {
        let table = table();
        let values: Vec<String> =
            (0..Values::ENTRIES_MAX + 50).map(|number| number.to_string()).collect();
        for _ in 0..2 {
            let sites: Vec<_> = values.iter().map(|value| table.site(value)).collect();
            assert_eq!(sites.iter().flatten().count(), Values::ENTRIES_MAX as usize);
            assert!(
                sites[..Values::ENTRIES_MAX as usize].iter().all(Option::is_some),
                "the first ones stay"
            );
        }
    }

    #[test]
    fn long_values_are_cut_and_what_separates_regions_is_replaced() {
        let table = table();
        let name = |value: &str| table.site(value).unwrap().region().unwrap().name;
        assert_eq!(name("Vec<(u8, Option<f64>)>"), "norm[Vec((u8, Option(f64)))]");
        assert_eq!(name(""), "norm[]");
        let long = "\u{e4}".repeat(300);
        assert_eq!(name(&long), format!("norm[{}]", "\u{e4}".repeat(VALUE_BYTES / 2)));
        assert_eq!(
            name(&format!("x{long}")),
            format!("norm[x{}]", "\u{e4}".repeat(VALUE_BYTES / 2 - 1))
        );
        let long_name: &'static str = Box::leak("n".repeat(NAME_BYTES).into_boxed_str());
        let region = Site::new(long_name, "m", "f.rs", 1, 2, RegionKind::Function, Mode::Each);
        let table: &'static KeyedSites =
            Box::leak(Box::new(KeyedSites::new(Box::leak(Box::new(region)))));
        assert!(table.site("a").is_none());
    }
}
