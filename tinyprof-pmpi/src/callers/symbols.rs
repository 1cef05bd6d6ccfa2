//! The names of the functions of an object, from the symbol table of its file.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectSymbol as _, ReadCache, SymbolKind};

use super::object::Object;

/// The functions of the objects that calls have come from.
#[derive(Debug)]
pub(super) struct Symbols {
    objects: Option<HashMap<PathBuf, Vec<Function>>>,
}

/// A function, by its addresses in the object's file.
#[derive(Debug)]
struct Function {
    start: u64,
    bytes: u64,
    name: Box<str>,
}

impl Symbols {
    pub(super) const fn new() -> Self {
        Self { objects: None }
    }

    /// Returns the name of the function that an address of the object is in, as it is in the symbol
    /// table; `None` if the table does not have it.
    pub(super) fn name(&mut self, object: &Object, address: usize) -> Option<&str> {
        let objects = self.objects.get_or_insert_default();
        let functions = match objects.get(&object.path) {
            Some(_) => &objects[&object.path],
            None => {
                let functions = functions_of(&object.path).unwrap_or_default();
                objects.entry(object.path.clone()).or_insert(functions)
            }
        };
        let address = address.wrapping_sub(object.loaded_at) as u64;
        let behind = functions.partition_point(|function| function.start <= address);
        let function = functions[..behind].last()?;
        (address - function.start < function.bytes).then_some(&*function.name)
    }
}

/// Reads the functions of a file, in the order of their addresses.
fn functions_of(path: &Path) -> Option<Vec<Function>> {
    let cache = ReadCache::new(File::open(path).ok()?);
    let file = ElfFile64::<Endianness, _>::parse(&cache).ok()?;
    let functions = |symbols: &mut dyn Iterator<Item = Function>| {
        let mut functions: Vec<Function> = symbols.collect();
        functions.sort_unstable_by_key(|function| function.start);
        functions
    };
    let function = |symbol: object::read::elf::ElfSymbol64<'_, '_, Endianness, _>| {
        let is_function = symbol.kind() == SymbolKind::Text && symbol.size() > 0;
        let name = symbol.name().ok().filter(|_| is_function)?;
        Some(Function { start: symbol.address(), bytes: symbol.size(), name: name.into() })
    };
    let of_file = functions(&mut file.symbols().filter_map(function));
    if of_file.is_empty() {
        return Some(functions(&mut file.dynamic_symbols().filter_map(function)));
    }
    Some(of_file)
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
        assert!(functions_of(Path::new("/etc/hostname")).is_none());
        assert!(functions_of(Path::new("/nonexistent")).is_none());
    }
}
