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
use object::{CompressionFormat, File, Object as _, ObjectSection as _, SymbolMap, SymbolMapName};

use crate::sys;

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

type Symbols<'a> = SymbolMap<SymbolMapName<'a>>;
type Lines<'a> = Context<EndianSlice<'a, RunTimeEndian>>;

/// Returns each address with what is known of it: nothing if the file cannot be read.
pub(crate) fn look_up(path: &Path, addresses: &BTreeSet<u64>) -> Vec<(u64, Found)> {
    let nothing = || addresses.iter().map(|&at| (at, Found::default())).collect();
    if addresses.is_empty() {
        return Vec::new();
    }
    let Some(map) = sys::map(path) else { return nothing() };
    let Ok(file) = File::parse(&*map) else { return nothing() };
    let symbols = file.symbol_map();
    let sections = DwarfSections::load(|id| section(&file, id.name())).unwrap_or_default();
    let endian = if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let mut dwarf = sections.borrow(|bytes| EndianSlice::new(bytes, endian));
    dwarf.populate_abbreviations_cache(AbbreviationsCacheStrategy::Duplicates);
    let lines = Context::from_dwarf(dwarf).ok();
    addresses.iter().map(|&at| (at, found(lines.as_ref(), &symbols, at))).collect()
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

fn found(lines: Option<&Lines<'_>>, symbols: &Symbols<'_>, address: u64) -> Found {
    let mut frames = Vec::new();
    // Debug information in separate files is left out.
    let at_address = lines.and_then(|lines| lines.find_frames(address).skip_all_loads().ok());
    if let Some(mut at_address) = at_address {
        while let Ok(Some(frame)) = at_address.next() {
            let name = frame.function.as_ref().and_then(|function| function.demangle().ok());
            let line = frame.location.and_then(|location| {
                Some((location.file?.to_owned(), location.line?, location.column.unwrap_or(0)))
            });
            frames.push(Frame { function: name.map(Cow::into_owned), line });
        }
    }
    let demangled = |symbol: &SymbolMapName<'_>| {
        addr2line::demangle_auto(symbol.name().into(), None).into_owned()
    };
    Found { frames, symbol: symbols.containing(address).map(demangled) }
}
