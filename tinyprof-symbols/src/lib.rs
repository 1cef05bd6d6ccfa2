//! Names the call sites of a dictionary by function, file and line, where the executable tells
//! them.
//!
//! The recorder names a call site by what it knows while the program runs: the function, the
//! executable or library, and the address in its file, `MPI_Send at a.out+0x1234`. Here it becomes
//! `MPI_Send at solve (lu.f:123)`. Without debug information it becomes
//! `MPI_Send at solve (a.out+0x1234)`, and without symbols it stays as it is. Where a line has
//! several calls of the function, the column is added: `MPI_Send at solve (lu.f:123:9)`.
#![forbid(unsafe_code)]

mod names;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use addr2line::Loader;
use tinyprof_format::model::{CallpathTable, Region};
use tinyprof_settings::Wrappers;

use names::{plain, without_separators};

/// The constant of a named call site that keeps the executable and the address.
const ADDRESS: &str = "address";

thread_local! {
    /// The executables and libraries that this thread has read, by path; none if it could not.
    static OBJECTS: RefCell<HashMap<String, Option<Loader>>> = RefCell::default();
}

/// Returns the dictionary with the names of its call sites, or `None` if it has none.
///
/// Reads the executables and libraries that the calls came from, if they are on this machine. Where
/// a wrapper was inlined into its caller, the place is that of the caller.
///
/// # Cost
/// Nothing without call sites. A look-up takes microseconds, after the first one in an executable,
/// which reads the index of its debug information. The thread keeps what it has read.
#[must_use]
pub fn with_names(dictionary: &CallpathTable, wrappers: &Wrappers) -> Option<CallpathTable> {
    let is_call_site = |region: &Region| CallSite::of(region).is_some();
    if !dictionary.rows().iter().any(|row| is_call_site(&row.region)) {
        return None;
    }
    let named = dictionary.with_regions(|region| {
        let call_site = CallSite::of(region)?;
        OBJECTS.with_borrow_mut(|objects| {
            let object = objects
                .entry(region.file.clone())
                .or_insert_with(|| Loader::new(Path::new(&region.file)).ok());
            call_site.named(region, object.as_ref()?, wrappers)
        })
    });
    Some(with_columns(&named))
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
    /// The function that is called.
    function: &'a str,
    /// The name of the executable or library, and the address: `a.out+0x1234`.
    place: &'a str,
    /// The address that the call returns to, in the object's file.
    address: u64,
}

impl<'a> CallSite<'a> {
    fn of(region: &'a Region) -> Option<Self> {
        let (function, place) = region
            .name
            .split_once(" at ")
            .filter(|_| region.module == "mpi" && region.line == 0)?;
        let (_, digits) = place.rsplit_once("+0x")?;
        Some(Self { function, place, address: u64::from_str_radix(digits, 16).ok()? })
    }

    /// Returns the region with the names of its place, if the object has any.
    fn named(&self, region: &Region, object: &Loader, wrappers: &Wrappers) -> Option<Region> {
        // The call is the instruction before the one that it returns to.
        let address = self.address.checked_sub(1)?;
        let place = Place::find(address, object, wrappers, self.function).unwrap_or_default();
        let caller = match place.caller {
            Some(caller) => caller,
            None => {
                addr2line::demangle_auto(object.find_symbol(address)?.into(), None).into_owned()
            }
        };
        let caller = plain(&caller);
        let mut named = region.clone();
        match place.location {
            Some((file, line, column)) => {
                let short = Path::new(&file).file_name().unwrap_or_default().to_string_lossy();
                named.name = format!("{} at {caller} ({short}:{line})", self.function);
                (named.file, named.line, named.column) = (file, line, column);
            }
            None => named.name = format!("{} at {caller} ({})", self.function, self.place),
        }
        named.name = without_separators(&named.name);
        // Also where a function is inlined twice, two call sites are two.
        named.constants.insert(ADDRESS.to_owned(), self.place.to_owned());
        Some(named)
    }
}

/// The place of a call in the source, as far as the debug information tells.
#[derive(Default)]
struct Place {
    /// The function that makes the call.
    caller: Option<String>,
    /// File, line and column, which is 0 if it is not known.
    location: Option<(String, u32, u32)>,
}

impl Place {
    /// Returns the place of the innermost of the functions at an address, which were inlined into
    /// each other, that is no wrapper of `called`; if all are, of the innermost.
    fn find(address: u64, object: &Loader, wrappers: &Wrappers, called: &str) -> Option<Self> {
        let mut frames = object.find_frames(address).ok()?;
        let mut innermost = None;
        while let Ok(Some(frame)) = frames.next() {
            let name = frame.function.as_ref().and_then(|function| function.demangle().ok());
            let is_wrapper = name.as_ref().is_some_and(|name| wrappers.is_wrapper(name, called));
            let location = frame.location.as_ref().and_then(|location| {
                Some((location.file?.to_owned(), location.line?, location.column.unwrap_or(0)))
            });
            let place = Self { caller: name.map(Into::into), location };
            if !is_wrapper {
                return Some(place);
            }
            innermost = innermost.or(Some(place));
        }
        innermost
    }
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
        let named = with_names(&table, &Wrappers::default()).unwrap_or(table);
        assert_eq!(named.rows()[0].id, id, "the id stays");
        Region::clone(&named.rows()[0].region)
    }

    /// Returns the address of this test's code in its file, which the loader put somewhere else.
    fn address_in_file() -> usize {
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
