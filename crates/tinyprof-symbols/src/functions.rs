//! The functions of an executable's symbol table at some addresses. To sort all symbols first takes
//! longer than to look at each once.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use object::{
    File, Object as _, ObjectSymbol as _, ObjectSymbolTable as _, SymbolKind, SymbolScope,
};

use crate::units::within;

/// The distance of a symbol from an address: its begin, its visibility, its place in the table.
type Nearness = (u64, Reverse<u8>, usize);

/// Returns the demangled function at each of these addresses that is in one.
pub(crate) fn functions(file: &File<'_>, addresses: &BTreeSet<u64>) -> BTreeMap<u64, String> {
    let mut nearest: BTreeMap<u64, (Nearness, &str)> = BTreeMap::new();
    let table = file.symbol_table().or_else(|| file.dynamic_symbol_table());
    for symbol in table.iter().flat_map(|table| table.symbols()) {
        let (begin, end) = (symbol.address(), symbol.address().saturating_add(symbol.size()));
        let mut inside = within(addresses, begin..end).peekable();
        if inside.peek().is_none() || !symbol.is_definition() || symbol.kind() != SymbolKind::Text {
            continue;
        }
        let Some(name) = symbol.name().ok().filter(|name| !name.is_empty()) else { continue };
        let nearness = (begin, Reverse(hiddenness(symbol.scope())), symbol.index().0);
        for &address in inside {
            let best = nearest.entry(address).or_insert((nearness, name));
            if nearness > best.0 {
                *best = (nearness, name);
            }
        }
    }
    let mut names: BTreeMap<u64, &str> =
        nearest.into_iter().map(|(address, (_, name))| (address, name)).collect();
    // Symbols of assembly may have no size: they reach up to the next one.
    if names.len() < addresses.len() {
        let all = file.symbol_map();
        for &address in addresses {
            let name = all.containing(address).map(|symbol| symbol.name());
            name.into_iter().for_each(|name| _ = names.entry(address).or_insert(name));
        }
    }
    let demangled = |name: &str| addr2line::demangle_auto(name.into(), None).into_owned();
    names.into_iter().map(|(address, name)| (address, demangled(name))).collect()
}

/// Returns how few others see a symbol. Of several at one address, the most visible one names it.
fn hiddenness(scope: SymbolScope) -> u8 {
    match scope {
        SymbolScope::Dynamic => 0,
        SymbolScope::Linkage => 1,
        SymbolScope::Compilation => 2,
        SymbolScope::Unknown => 3,
    }
}
