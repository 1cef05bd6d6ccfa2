//! Names the call sites of a dictionary by function, file and line, where the executable tells
//! them.
//!
//! An internal crate of TinyProf: nothing here is stable. Programs use `tinyprof` and
//! `tinyprof-mpi`.
//!
//! The recorder names a call site by what it knows while the program runs: the function, the
//! executable or library, and the address in its file, `MPI_Send at a.out+0x1234`. Here it becomes
//! `MPI_Send at solve (lu.f:123)`. Without debug information it becomes
//! `MPI_Send at solve (a.out+0x1234)`, and without symbols it stays as it is. Where a line has
//! several calls of the function, the column is added: `MPI_Send at solve (lu.f:123:9)`.
//!
//! Call sites, and places of samples, that have one name then are one to the user (`equal`).
#![deny(unsafe_code)]

mod equal;
mod executable;
mod functions;
mod made;
mod names;
#[expect(unsafe_code, reason = "std does not map files")]
mod sys;
mod units;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

pub use equal::name_and_merge;
use executable::{Found, Frame};
pub use made::name_made_code;
use tinyprof_format::model::{CallpathTable, Region};
use tinyprof_settings::Wrappers;

use names::{plain, without_separators};

/// A dictionary whose call sites have names.
#[derive(Clone, Debug)]
pub struct Named {
    /// The dictionary, whose ids and rows have not changed.
    pub callpaths: CallpathTable,
    /// Each row whose site equals that of an earlier one below the same callpath, and the first
    /// such row.
    pub equal: Vec<(u32, u32)>,
}

/// The constant of a named call site that keeps the executable and the address.
const ADDRESS: &str = "address";

thread_local! {
    /// What is known of addresses, by file, of those that this thread has looked up.
    static FOUND: RefCell<HashMap<String, HashMap<u64, Found>>> = RefCell::default();
}

/// Returns the dictionary with the names of its call sites, and which of them are equal; `None` if
/// it has none, also none that each rank has named for itself ([`name_made_code`]).
///
/// Reads the executables and libraries that the calls came from, if they are on this machine. Where
/// a wrapper was inlined into its caller, the place is that of the caller.
///
/// # Cost
/// Nothing without call sites. A look-up takes microseconds, and reading the index of an
/// executable's debug information comes before the first. The thread keeps what it has found.
#[must_use]
pub fn with_names(dictionary: &CallpathTable, wrappers: &Wrappers) -> Option<Named> {
    let regions = || dictionary.rows().iter().map(|row| &*row.region);
    let mut wanted: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for (region, call_site) in regions().filter_map(|region| Some((region, CallSite::of(region)?)))
    {
        wanted.entry(&region.file).or_default().insert(call_site.call);
    }
    if wanted.is_empty() && !regions().any(|region| region.constants.contains_key(ADDRESS)) {
        return None;
    }
    let named = FOUND.with_borrow_mut(|found| {
        for (file, mut addresses) in wanted {
            let known = found.entry(file.to_owned()).or_default();
            addresses.retain(|address| !known.contains_key(address));
            known.extend(executable::look_up(Path::new(file), &addresses));
        }
        dictionary.with_regions(|region| {
            let call_site = CallSite::of(region)?;
            let at_call = found.get(&region.file)?.get(&call_site.call)?;
            call_site.named(region, at_call, wrappers)
        })
    });
    let callpaths = with_columns(&named);
    Some(Named { equal: equal::rows(&callpaths), callpaths })
}

/// Tells call sites on one line apart by their columns: the same function, called from the same
/// file and line. Copies that the compiler has made of a call keep one name.
fn with_columns(dictionary: &CallpathTable) -> CallpathTable {
    let mut columns: HashMap<&str, BTreeSet<u32>> = HashMap::new();
    for row in dictionary.rows().iter().filter(|row| is_named(&row.region)) {
        columns.entry(&row.region.name).or_default().insert(row.region.column);
    }
    columns.retain(|_, columns| columns.len() > 1);
    dictionary.with_regions(|region| {
        if !is_named(region) || !columns.contains_key(region.name.as_str()) {
            return None;
        }
        let place = region.name.strip_suffix(')')?;
        Some(Region { name: format!("{place}:{})", region.column), ..region.clone() })
    })
}

/// Returns whether a region is a call site of which the line is known.
fn is_named(region: &Region) -> bool {
    region.line > 0 && region.module == "mpi" && region.constants.contains_key(ADDRESS)
}

/// A call site as the recorder names it.
struct CallSite<'a> {
    /// The function that is called; none if it is a place of samples, or one around calls.
    function: Option<&'a str>,
    /// The name of the executable or library, and the address: `a.out+0x1234`.
    place: &'a str,
    /// The name of the executable or library.
    object: &'a str,
    /// The address of the call or the sampled instruction, in the object's file.
    call: u64,
}

impl<'a> CallSite<'a> {
    fn of(region: &'a Region) -> Option<Self> {
        if region.line != 0 {
            return None;
        }
        let is_place = region.is_sampled() || region.is_caller();
        let (function, place) = if is_place {
            (None, region.name.as_str())
        } else {
            let (function, place) = region.name.split_once(" at ")?;
            (Some(function).filter(|_| region.module == "mpi"), place)
        };
        if function.is_none() && !is_place {
            return None;
        }
        let (object, digits) = place.rsplit_once("+0x")?;
        let address = u64::from_str_radix(digits, 16).ok()?;
        // A sample is at the instruction itself, a call before the one that it returns to.
        let call = address.checked_sub(u64::from(!region.is_sampled()))?;
        Some(Self { function, place, object, call })
    }

    /// Returns the region with the names of its place, if any are known.
    fn named(&self, region: &Region, at_call: &Found, wrappers: &Wrappers) -> Option<Region> {
        let frame = self.frame(at_call, wrappers);
        let of_frame = frame.and_then(|frame| frame.function.as_ref());
        let caller = plain(of_frame.or(at_call.symbol.as_ref())?);
        let at = self.function.map_or_else(String::new, |function| format!("{function} at "));
        let mut named = region.clone();
        match frame.and_then(|frame| frame.line.clone()) {
            Some((file, line, column)) => {
                let short = Path::new(&file).file_name().unwrap_or_default().to_string_lossy();
                named.name = format!("{at}{caller} ({short}:{line})");
                (named.file, named.line, named.column) = (file, line, column);
            }
            // Samples are told apart by function, calls also by the instruction.
            None if self.function.is_none() => {
                named.name = format!("{caller} ({})", self.object);
            }
            None => named.name = format!("{at}{caller} ({})", self.place),
        }
        named.name = without_separators(&named.name);
        // Also where a function is inlined twice, two call sites are two.
        named.constants.insert(ADDRESS.to_owned(), self.place.to_owned());
        Some(named)
    }

    /// Returns the innermost of the functions at a call, which were inlined into each other, that
    /// is no wrapper of the called one and is not called by a binding; if all are, the innermost.
    fn frame<'f>(&self, at_call: &'f Found, wrappers: &Wrappers) -> Option<&'f Frame> {
        let Some(called) = self.function else { return at_call.frames.first() };
        let is_wrapper = |frame: &&Frame| {
            let name = frame.function.as_ref();
            name.is_some_and(|name| wrappers.is_wrapper(name, called))
        };
        // Bindings pass closures, whose names do not say whose they are.
        let of_bindings = at_call.frames.iter().rposition(is_of_bindings);
        let behind = &at_call.frames[of_bindings.map_or(0, |last| last + 1)..];
        let caller = behind.iter().find(|frame| !is_wrapper(frame));
        caller.or(behind.first()).or(at_call.frames.first())
    }
}

/// Returns whether a function is in a file of rsmpi, from a registry or a checkout.
fn is_of_bindings(frame: &Frame) -> bool {
    let Some((file, ..)) = &frame.line else { return false };
    let is_package = |directory: &str| {
        let version = directory.strip_prefix("mpi-");
        version.is_some_and(|version| version.starts_with(|of: char| of.is_ascii_digit()))
    };
    file.ends_with(".rs")
        && (file.contains("/checkouts/rsmpi-") || file.rsplit('/').any(is_package))
}

#[cfg(test)]
mod tests {
    use tinyprof_format::model::{CallpathId, Mode, RegionKind, SiteId};

    use super::*;

    #[inline(never)]
    fn marked() -> usize {
        std::hint::black_box(marked as fn() -> usize as usize)
    }

    fn region(name: String, file: &Path) -> Region {
        Region {
            site: SiteId::from_bits(7),
            name,
            module: "mpi".into(),
            file: file.to_str().expect("the build's path is text").into(),
            line: 0,
            column: 0,
            kind: RegionKind::Function,
            mode: Mode::Total,
            rank_local: false,
            constants: [("tag".to_owned(), "COMM".to_owned())].into(),
        }
    }

    fn named(region: Region) -> Region {
        let id = CallpathId::root(region.site);
        let table = CallpathTable::from_parents([(id, None, region)]);
        let named = with_names(&table, &Wrappers::default()).map_or(table, |named| named.callpaths);
        assert_eq!(named.rows()[0].id, id, "the id stays");
        Region::clone(&named.rows()[0].region)
    }

    /// Returns the address of this test's code in its file, which the loader put somewhere else.
    pub(crate) fn address_in_file() -> usize {
        let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux");
        let executable = std::env::current_exe().expect("it has a path");
        let name = executable.to_str().expect("the build's path is text");
        let first = maps.lines().find(|line| line.ends_with(name)).expect("it is mapped");
        let start = first.split('-').next().expect("an address");
        marked() - usize::from_str_radix(start, 16).expect("an address")
    }

    #[test]
    fn a_call_site_gets_the_function_file_and_line_of_its_call() {
        let executable = std::env::current_exe().expect("it has a path");
        let name = format!("MPI_Send at test+{:#x}", address_in_file() + 1);
        let place = name.split(" at ").nth(1).unwrap().to_owned();
        let found = named(region(name, &executable));
        assert!(
            found.name.starts_with("MPI_Send at ") && found.name.contains("marked"),
            "{}",
            found.name
        );
        assert!(found.name.contains("(lib.rs:"), "{}", found.name);
        assert!(found.line > 0 && found.file.ends_with("lib.rs"), "{}:{}", found.file, found.line);
        assert_eq!(found.constants[ADDRESS], place);
        assert_eq!(found.constants["tag"], "COMM");
    }

    #[test]
    fn two_calls_on_one_line_have_their_columns_and_copies_of_one_do_not() {
        let of = |site: u64, column: u32, line: u32| {
            let name = format!("MPI_Send at solve (lu.c:{line})");
            let mut region = region(name, Path::new("lu.c"));
            (region.site, region.line, region.column) = (SiteId::from_bits(site), line, column);
            region.constants.insert(ADDRESS.to_owned(), format!("a.out+{site:#x}"));
            (CallpathId::root(region.site), None, region)
        };
        // Two calls on line 3, one of them copied, and a copied call on line 4.
        let rows = vec![of(1, 5, 3), of(2, 9, 3), of(3, 9, 3), of(4, 7, 4), of(5, 7, 4)];
        let table = with_columns(&CallpathTable::from_parents(rows));
        let mut names: Vec<&str> =
            table.rows().iter().map(|row| row.region.name.as_str()).collect();
        names.sort_unstable();
        let expected =
            ["3:5", "3:9", "3:9", "4", "4"].map(|at| format!("MPI_Send at solve (lu.c:{at})"));
        assert_eq!(names, expected);
    }

    #[test]
    fn what_a_binding_inlines_is_where_the_user_calls_it() {
        let frame = |function: &str, file: &str, line| Frame {
            function: Some(function.to_owned()),
            line: Some((file.to_owned(), line, 0)),
        };
        let frames = vec![
            frame(
                "{closure#0}",
                "/home/u/.cargo/registry/src/i-1/mpi-0.8.2/src/environment.rs",
                329,
            ),
            frame("call_once<()>", "/rustc/1/library/core/src/ops/function.rs", 250),
            frame("initialize", "/home/u/.cargo/git/checkouts/rsmpi-7/1/src/environment.rs", 297),
            frame("main", "/home/u/mpi-tests/src/main.rs", 7),
        ];
        let mut at_call = Found { frames, symbol: None };
        let region = region("MPI_Init_thread at app+0x10".to_owned(), Path::new("/app"));
        let call_site = CallSite::of(&region).expect("it is one");
        let line = |at_call: &Found| {
            let frame = call_site.frame(at_call, &Wrappers::default());
            frame.and_then(|frame| frame.line.clone()).map(|(_, line, _)| line)
        };
        assert_eq!(line(&at_call), Some(7));
        at_call.frames.pop();
        assert_eq!(line(&at_call), Some(329), "all are the binding's");
    }

    #[test]
    fn what_cannot_be_found_stays_as_it_is() {
        for (name, file) in [
            ("MPI_Send at a.out+0x10", "/does/not/exist"),
            ("MPI_Send at a.out+0x10", "/proc/self/maps"),
            ("MPI_Send at a.out+0xzz", "/proc/self/exe"),
            ("MPI_Send", "/proc/self/exe"),
        ] {
            let region = region(name.to_owned(), Path::new(file));
            assert_eq!(named(region.clone()), region);
        }
    }
}
