//! Names the samples of code that was made at run time, by the file in which the program says what
//! it has made: `/tmp/perf-PID.map`, as `perf` reads it.
//!
//! Addresses and file are those of one process, so each names its own, on its own host.

mod map_file;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use tinyprof_format::model::{EventMap, MergedRows, Region, SAMPLES_WITHOUT_FILE};

use super::names::without_separators;
use super::{ADDRESS, equal};
use map_file::{MapFile, Version};

/// The name of code that is in no executable or library.
const OBJECT: &str = "made at run time";

/// The name of each address, where it has one.
type Names = BTreeMap<u64, Option<String>>;

thread_local! {
    /// The names of addresses, from the newest version of each file.
    static KNOWN: RefCell<HashMap<String, (Version, Names)>> = RefCell::default();
}

/// Names the samples of a process in code that was made at run time, and gives those of one
/// function one row. Those that are not named become `[code without a file]`.
///
/// `recording_began_s` is when the process has begun to record, as a date in unix seconds: a file
/// that is older is that of another process with the same number.
///
/// # Cost
/// Nothing without such samples. Otherwise reads the file, of which at most the last 64 MiB, unless
/// it is as it was when this thread last did so.
pub fn name_made_code(map: &mut EventMap, recording_began_s: u64) {
    let mut wanted: BTreeMap<&str, Names> = BTreeMap::new();
    for row in map.callpaths.rows() {
        if let Some(address) = row.region.made_code() {
            wanted.entry(&row.region.file).or_default().insert(address, None);
        }
    }
    if wanted.is_empty() {
        return;
    }
    for (file, addresses) in &mut wanted {
        look_up(file, addresses, recording_began_s);
    }
    let named = map.callpaths.with_regions(|region| {
        let address = region.made_code()?;
        Some(named(region, wanted.get(region.file.as_str())?.get(&address)?.as_deref()))
    });
    let pairs = equal::rows(&named);
    drop(wanted);
    map.callpaths = named;
    if !pairs.is_empty() {
        let merged = MergedRows::new(&map.callpaths, &pairs);
        *map = merged.event_map(std::mem::take(map));
    }
}

fn look_up(file: &str, addresses: &mut Names, recording_began_s: u64) {
    let Some(found) = MapFile::open(Path::new(file), recording_began_s) else { return };
    KNOWN.with_borrow_mut(|known| {
        let version = found.version();
        let is_known = known.get(file).is_some_and(|(of, known)| {
            *of == version && addresses.keys().all(|address| known.contains_key(address))
        });
        if !is_known {
            let mut names = addresses.clone();
            found.look_up(&mut names);
            known.insert(file.to_owned(), (version, names));
        }
        for (address, name) in addresses {
            name.clone_from(&known[file].1[address]);
        }
    });
}

/// Returns the region with the name of its function, if that is known.
fn named(region: &Region, function: Option<&str>) -> Region {
    let mut named = region.clone();
    named.constants.insert(ADDRESS.to_owned(), region.name.clone());
    (named.name, named.file) = match function.map(|name| (name, of_python(name))) {
        Some((_, Some((function, file)))) => {
            let short = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
            (format!("{function} ({short})"), file.to_owned())
        }
        Some((name, None)) => (format!("{name} ({OBJECT})"), String::new()),
        None => (SAMPLES_WITHOUT_FILE.to_owned(), String::new()),
    };
    named.name = without_separators(&named.name);
    named
}

/// Returns function and file of a name that Python has written: `py::Grid.step:/home/u/app.py`.
/// Functions in functions, and code outside of all, have the names that they have at calls of MPI.
fn of_python(name: &str) -> Option<(String, &str)> {
    let (function, file) = name.strip_prefix("py::")?.split_once(':')?;
    let function = function.replace(".<locals>", "").replace(['<', '>'], "");
    Some((function, file)).filter(|(function, file)| !function.is_empty() && !file.is_empty())
}

#[cfg(test)]
mod tests {
    use tinyprof_format::model::{
        CallpathId, CallpathValues, ExecutionSummary, RankFacts, SAMPLES_MODULE, SAMPLES_PERIOD,
        SiteId,
    };

    use super::*;

    fn region(name: &str) -> Region {
        Region {
            module: SAMPLES_MODULE.to_owned(),
            file: "/tmp/perf-0.map".to_owned(),
            constants: [(SAMPLES_PERIOD.to_owned(), "10".to_owned())].into(),
            ..Region::named(SiteId::from_bits(name.len() as u64), name)
        }
    }

    #[test]
    fn names_are_those_of_the_file_and_python_s_have_a_script() {
        let of = region("perf-0.map+0x7f00");
        for (name, expected, file) in [
            (Some("solve"), "solve (made at run time)", ""),
            (Some("JS:*step /app.js:1:2"), "JS:*step /app.js:1:2 (made at run time)", ""),
            (Some("py::Grid.step:/u/app.py"), "Grid.step (app.py)", "/u/app.py"),
            (Some("py::<module>:/u/a:b.py"), "module (a:b.py)", "/u/a:b.py"),
            (Some("py::f.<locals>.<lambda>:<string>"), "f.lambda ((string))", "<string>"),
            (Some("py::"), "py:: (made at run time)", ""),
            (Some("Vec<f64>::at"), "Vec(f64)::at (made at run time)", ""),
            (None, "[code without a file]", ""),
        ] {
            let named = named(&of, name);
            assert_eq!((named.name.as_str(), named.file.as_str()), (expected, file), "{name:?}");
            assert_eq!(named.constants[ADDRESS], "perf-0.map+0x7f00");
            assert_eq!(named.made_code(), None, "it is named once");
        }
        let step = named(&of, Some("py::Grid.step:/u/app.py"));
        assert_eq!(step.sampled_function(), Some("Grid.step"));
        assert_eq!(named(&of, Some("solve")).sampled_function(), Some("solve"));
        assert_eq!(named(&of, None).sampled_function(), Some("[code without a file]"));
    }

    #[test]
    fn places_that_nothing_names_are_one_row() {
        let one = || {
            let visit = ExecutionSummary::of_one_visit(0, 10);
            CallpathValues { executions: vec![visit], ..CallpathValues::default() }
        };
        let records = ["perf-0.map+0x7f00", "perf-0.map+0x7f012", "a.out+0x10"].map(|name| {
            let region = region(name);
            (CallpathId::root(region.site), None, region, one())
        });
        let mut map = EventMap::from_records(records, RankFacts::default());
        name_made_code(&mut map, 0);
        let mut rows: Vec<(String, u64)> = map
            .callpaths
            .iter()
            .map(|(at, row)| (row.region.name.clone(), map.values[at.row()].visits()))
            .collect();
        rows.sort();
        assert_eq!(rows, [("[code without a file]".into(), 2), ("a.out+0x10".into(), 1)]);
    }
}
