//! Functions and lines of addresses, from the debug information and the symbols of an executable or
//! library in ELF.
//!
//! The loader of `addr2line` does the same for the formats of all systems, and takes longer to
//! build than the rest of this crate. Debug information in separate files is not looked for.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;

use addr2line::Context;
use addr2line::gimli::{AbbreviationsCacheStrategy, DwarfSections, EndianSlice, RunTimeEndian};
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use object::{CompressionFormat, File, Object as _, ObjectSection as _};

use crate::functions::functions;
use crate::sys;
use crate::units::{self, Sections};

/// What is known of an address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// The functions that were inlined into each other there, the innermost first.
    pub(crate) frames: Vec<Frame>,
    /// The function of the symbol table, demangled.
    pub(crate) symbol: Option<String>,
}

/// A function, and a place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// The function, demangled.
    pub(crate) function: Option<String>,
    /// File, line and column, if the line is known. A column of 0 is not known.
    pub(crate) line: Option<(String, u32, u32)>,
}

type Lines<'a> = Context<EndianSlice<'a, RunTimeEndian>>;

/// Returns each address with what is known of it: nothing if the file cannot be read.
pub(crate) fn look_up(path: &Path, addresses: &BTreeSet<u64>) -> Vec<(u64, Found)> {
    let nothing = || addresses.iter().map(|&at| (at, Found::default())).collect();
    if addresses.is_empty() {
        return Vec::new();
    }
    let of_some = sys::map_copy(path).and_then(|mut map| {
        hide_others(&mut map, addresses)?;
        look_up_in(&map, addresses)
    });
    if let Some((found, true)) = of_some {
        return found;
    }
    let found = sys::map(path).and_then(|map| look_up_in(&map, addresses));
    found.map_or_else(nothing, |(found, _)| found)
}

/// Hides the units of debug information that these addresses do not need; `None` if these cannot be
/// told from others, or are compressed.
fn hide_others(file: &mut [u8], addresses: &BTreeSet<u64>) -> Option<()> {
    let (start, heads) = {
        let file = File::parse(&*file).ok()?;
        let of = |name| Some(section(&file, name).ok()).flatten().unwrap_or_default();
        let (info, abbreviations, ranges) =
            (of(".debug_info"), of(".debug_abbrev"), of(".debug_aranges"));
        let place = file.section_by_name(".debug_info")?.compressed_file_range().ok()?;
        let sections = Sections {
            info: &info,
            abbreviations: &abbreviations,
            ranges: &ranges,
            endian: endian(&file),
        };
        let is_plain = place.format == CompressionFormat::None;
        let heads = units::hidden(&sections, addresses).filter(|_| is_plain)?;
        (usize::try_from(place.offset).ok()?, heads)
    };
    for (at, head) in heads {
        file.get_mut(start + at..start + at + head.len())?.copy_from_slice(&head);
    }
    Some(())
}

/// Returns each address with what is known of it, and whether all of it could be read; `None` if
/// this is no executable or library.
fn look_up_in(file: &[u8], addresses: &BTreeSet<u64>) -> Option<(Vec<(u64, Found)>, bool)> {
    let file = File::parse(file).ok()?;
    let mut symbols = functions(&file, addresses);
    let sections = DwarfSections::load(|id| section(&file, id.name())).unwrap_or_default();
    let mut dwarf = sections.borrow(|bytes| EndianSlice::new(bytes, endian(&file)));
    dwarf.populate_abbreviations_cache(AbbreviationsCacheStrategy::Duplicates);
    let lines = Context::from_dwarf(dwarf).ok();
    let mut is_all = lines.is_some();
    let found = addresses.iter().map(|&at| {
        let (frames, is_whole) = lines.as_ref().map_or_else(Default::default, |of| frames(of, at));
        is_all &= is_whole;
        (at, Found { frames, symbol: symbols.remove(&at) })
    });
    Some((found.collect(), is_all))
}

fn endian(file: &File<'_>) -> RunTimeEndian {
    if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big }
}

/// Returns the bytes of a section: none if there is no such section, or it is compressed in a way
/// other than zlib's.
fn section<'a>(file: &File<'a>, name: &str) -> Result<Cow<'a, [u8]>, object::Error> {
    let Some(section) = file.section_by_name(name) else { return Ok(Cow::default()) };
    let found = section.compressed_data()?;
    let plain = match found.format {
        CompressionFormat::None => Cow::Borrowed(found.data),
        CompressionFormat::Zlib => {
            let bytes = usize::try_from(found.uncompressed_size).unwrap_or(usize::MAX);
            Cow::Owned(decompress_to_vec_zlib_with_limit(found.data, bytes).unwrap_or_default())
        }
        _ => Cow::default(),
    };
    Ok(plain)
}

/// Returns the functions at an address, and whether all of them could be read.
fn frames(lines: &Lines<'_>, address: u64) -> (Vec<Frame>, bool) {
    let mut frames = Vec::new();
    // Debug information in separate files is left out.
    let Ok(mut at_address) = lines.find_frames(address).skip_all_loads() else {
        return (frames, false);
    };
    loop {
        let frame = match at_address.next() {
            Ok(Some(frame)) => frame,
            end => return (frames, end.is_ok()),
        };
        let name = frame.function.as_ref().and_then(|function| function.demangle().ok());
        let line = frame.location.and_then(|location| {
            Some((location.file?.to_owned(), location.line?, location.column.unwrap_or(0)))
        });
        frames.push(Frame { function: name.map(Cow::into_owned), line });
    }
}

#[cfg(test)]
mod tests {
    use object::{ObjectSymbol as _, SymbolKind};

    use super::*;

    /// Checks addresses in all functions of an executable, this many at once.
    fn check(path: &Path, at_once: usize) -> (usize, usize) {
        let map = sys::map(path).expect("it is there");
        let file = File::parse(&*map).expect("it is one");
        let symbols = file.symbol_map();
        let functions =
            file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0);
        let middles = functions.map(|symbol| symbol.address() + symbol.size() / 2).collect();
        // Other people's code has no lines in builds for tests, and then nothing is hidden.
        let known = look_up_in(&map, &middles).expect("it is one").0;
        let known = known.into_iter().filter(|(_, found)| !found.frames.is_empty());
        let addresses: Vec<u64> = known.map(|(at, _)| at).collect();
        // Some of the whole executable, far from each other.
        let groups = addresses.len() / 40;
        let (mut hidden, mut all) = (0, 0);
        for first in (0..groups).step_by(groups / 6 + 1) {
            let group = addresses.iter().skip(first).step_by(groups).take(at_once).copied();
            let group: BTreeSet<u64> = group.collect();
            let expected = look_up_in(&map, &group).expect("it is one").0;
            assert_eq!(look_up(path, &group), expected, "{group:x?}");
            for (at, found) in &expected {
                let symbol = symbols.containing(*at).map(|symbol| symbol.name());
                let name = symbol.map(|name| addr2line::demangle_auto(name.into(), None));
                assert_eq!(found.symbol.as_deref(), name.as_deref(), "{at:x}");
            }
            let mut copy = sys::map_copy(path).expect("it is there");
            hidden += usize::from(hide_others(&mut copy, &group).is_some());
            all += 1;
        }
        (hidden, all)
    }

    #[test]
    fn what_hidden_units_would_say_is_not_needed() {
        // Programs of Rust list the ranges of their units; this one is linked from hundreds.
        let path = std::env::current_exe().expect("it has a path");
        for at_once in [1, 40] {
            let (hidden, all) = check(&path, at_once);
            println!("{at_once} at once: units hidden in {hidden} of {all}");
            assert!(hidden > 0 && all >= 6, "{hidden} of {all}");
        }
    }
}
