//! The names of the functions of an object, from the symbol table of its file.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use object::elf::{FileHeader64, SHT_DYNSYM, SHT_SYMTAB, STT_FUNC, STT_GNU_IFUNC, SectionType};
use object::read::elf::{FileHeader as _, SectionHeader as _, Sym as _};
use object::{Endianness, ReadCache};

use super::object::Object;

/// The longest name that is read, in bytes.
const NAME_BYTES: usize = 512;

/// The functions of the objects that calls have come from.
#[derive(Debug)]
pub(super) struct Symbols {
    objects: Option<HashMap<PathBuf, Option<Functions>>>,
}

/// The functions of one file, in the order of their addresses. Their names stay in the file, which
/// does not stay open: the numbers of open files are the program's own.
#[derive(Debug)]
struct Functions {
    path: PathBuf,
    /// Where in the file the names begin.
    names_at: u64,
    all: Vec<Function>,
}

/// A function, by its addresses in the object's file.
#[derive(Clone, Copy, Debug)]
struct Function {
    start: u64,
    bytes: u32,
    name: u32,
}

impl Symbols {
    pub(super) const fn new() -> Self {
        Self { objects: None }
    }

    /// Returns the name of the function that an address of the object is in, as it is in the symbol
    /// table; `None` if the table does not have it.
    pub(super) fn name(&mut self, object: &Object, address: usize) -> Option<String> {
        let objects = self.objects.get_or_insert_default();
        if !objects.contains_key(&object.path) {
            objects.insert(object.path.clone(), Functions::read(&object.path));
        }
        let functions = objects.get(&object.path)?.as_ref()?;
        functions.name(address.wrapping_sub(object.loaded_at) as u64)
    }
}

impl Functions {
    /// Reads the functions of a file: of all, or, where it was stripped, of those that others use.
    fn read(path: &Path) -> Option<Self> {
        let file = File::open(path).ok()?;
        [SHT_SYMTAB, SHT_DYNSYM].into_iter().find_map(|table| Self::read_table(path, &file, table))
    }

    fn read_table(path: &Path, file: &File, table: SectionType) -> Option<Self> {
        let cache = ReadCache::new(file);
        let header = FileHeader64::<Endianness>::parse(&cache).ok()?;
        let endian = header.endian().ok()?;
        let sections = header.sections(endian, &cache).ok()?;
        let symbols = sections.symbols(endian, &cache, table).ok()?;
        let names_at = sections.section(symbols.string_section()).ok()?.sh_offset(endian);
        let functions = symbols.iter().filter(|symbol| {
            matches!(symbol.st_type(), STT_FUNC | STT_GNU_IFUNC) && symbol.st_size(endian) > 0
        });
        let mut all: Vec<Function> = functions
            .map(|symbol| Function {
                start: symbol.st_value(endian),
                bytes: u32::try_from(symbol.st_size(endian)).unwrap_or(u32::MAX),
                name: symbol.st_name(endian),
            })
            .collect();
        all.sort_unstable_by_key(|function| function.start);
        (!all.is_empty()).then_some(Self { path: path.to_owned(), names_at, all })
    }

    fn name(&self, address: u64) -> Option<String> {
        let behind = self.all.partition_point(|function| function.start <= address);
        let function = self.all[..behind].last()?;
        if address - function.start >= function.bytes.into() {
            return None;
        }
        let mut name = [0; NAME_BYTES];
        let file = File::open(&self.path).ok()?;
        let read = file.read_at(&mut name, self.names_at + u64::from(function.name)).ok()?;
        let length = name[..read].iter().position(|&byte| byte == 0)?;
        String::from_utf8(name[..length].to_vec()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    fn looked_up() -> usize {
        std::hint::black_box(looked_up as fn() -> usize as usize)
    }

    #[test]
    fn a_function_has_its_name() {
        let object = Object::of(looked_up()).expect("it is loaded");
        let mut symbols = Symbols::new();
        let name = symbols.name(&object, looked_up() + 1).expect("it is in the table");
        assert!(name.contains("looked_up"), "{name}");
        assert_eq!(symbols.name(&object, object.loaded_at), None, "no function");
    }

    #[test]
    fn a_file_that_is_no_object_has_no_functions() {
        assert!(Functions::read(Path::new("/etc/hostname")).is_none());
        assert!(Functions::read(Path::new("/nonexistent")).is_none());
    }
}
