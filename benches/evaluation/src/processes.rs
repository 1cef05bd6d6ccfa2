//! The memory of running programs, from `/proc` of the descendants of a process.

use std::collections::BTreeMap;
use std::fs;

/// A process: its id, its parent's, and its name.
type Process = (u32, u32, String);

/// The resident set of a process, in bytes, including shared memory, which MPI and the recorder
/// use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Resident {
    pub(crate) now_bytes: u64,
    /// Its peak.
    pub(crate) peak_bytes: u64,
}

/// Returns the resident sets of all descendants of `ancestor` with this name, by process id.
pub(crate) fn resident(ancestor: u32, name: &str) -> Vec<Resident> {
    let found = descendants(&processes(), ancestor, name);
    found
        .into_iter()
        .filter_map(|id| {
            Resident::of_status(&fs::read_to_string(format!("/proc/{id}/status")).ok()?)
        })
        .collect()
}

fn processes() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers
        .filter_map(|id| of_stat(&fs::read_to_string(format!("/proc/{id}/stat")).ok()?))
        .collect()
}

/// Parses `1234 (name) S 1 ...`; a name may contain blanks and parentheses.
fn of_stat(stat: &str) -> Option<Process> {
    let (id, rest) = stat.split_once(" (")?;
    let (name, rest) = rest.rsplit_once(") ")?;
    Some((id.parse().ok()?, rest.split(' ').nth(1)?.parse().ok()?, name.to_owned()))
}

fn descendants(processes: &[Process], ancestor: u32, name: &str) -> Vec<u32> {
    let parents: BTreeMap<u32, u32> =
        processes.iter().map(|&(id, parent, _)| (id, parent)).collect();
    let is_below = |id: u32| {
        // Parents form no cycle, but the list was not read at one moment.
        let line = std::iter::successors(Some(id), |id| parents.get(id).copied())
            .take(processes.len() + 1);
        line.skip(1).any(|above| above == ancestor)
    };
    let mut found: Vec<u32> = processes
        .iter()
        .filter(|(id, _, own)| own == name && is_below(*id))
        .map(|&(id, ..)| id)
        .collect();
    found.sort_unstable();
    found
}

impl Resident {
    fn of_status(status: &str) -> Option<Self> {
        let bytes = |key: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
            line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib * 1024)
        };
        Some(Self { now_bytes: bytes("VmRSS")?, peak_bytes: bytes("VmHWM")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descendants_are_found_by_name_at_any_depth() {
        assert_eq!(of_stat("12 (a) b) S 7 12 0"), Some((12, 7, "a) b".to_owned())));
        assert_eq!(of_stat("12"), None);
        let of = |id, parent, name: &str| (id, parent, name.to_owned());
        let processes = [
            of(5, 1, "mpiexec"),
            of(9, 7, "tc"),
            of(7, 5, "proxy"),
            of(6, 5, "tc"),
            of(8, 1, "tc"),
            of(10, 9, "sh"),
        ];
        assert_eq!(descendants(&processes, 5, "tc"), [6, 9]);
        let resident = Resident { now_bytes: 2 << 20, peak_bytes: 3 << 20 };
        let status = "Name:\ttc\nVmHWM:\t    3072 kB\nVmRSS:\t    2048 kB\n";
        assert_eq!(Resident::of_status(status), Some(resident));
        assert_eq!(Resident::of_status("Name:\ttc\nVmRSS:\t    2048 kB\n"), None);
    }

    #[test]
    fn this_process_is_below_its_parent() {
        let own = of_stat(&fs::read_to_string("/proc/self/stat").unwrap()).unwrap();
        let found = resident(own.1, &own.2);
        assert!(
            found.iter().any(|of| of.now_bytes > 100_000 && of.peak_bytes >= of.now_bytes),
            "{found:?}"
        );
    }
}
