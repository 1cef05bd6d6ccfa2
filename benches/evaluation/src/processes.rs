//! The memory of programs that run: what `/proc` says of the descendants of a process.

use std::collections::BTreeMap;
use std::fs;

/// A process: its number, its parent's, and its name.
type Process = (u32, u32, String);

/// The resident sets of all descendants of `ancestor` with this name, in bytes, by process number; shared memory, in which
/// MPI and the recorder keep what they share, is in them.
pub(crate) fn resident_bytes(ancestor: u32, name: &str) -> Vec<u64> {
    let found = descendants(&processes(), ancestor, name);
    found
        .into_iter()
        .filter_map(|id| status_bytes(&fs::read_to_string(format!("/proc/{id}/status")).ok()?))
        .collect()
}

fn processes() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers.filter_map(|id| of_stat(&fs::read_to_string(format!("/proc/{id}/stat")).ok()?)).collect()
}

/// `1234 (name) S 1 ...`; a name may hold blanks and parentheses.
fn of_stat(stat: &str) -> Option<Process> {
    let (id, rest) = stat.split_once(" (")?;
    let (name, rest) = rest.rsplit_once(") ")?;
    Some((id.parse().ok()?, rest.split(' ').nth(1)?.parse().ok()?, name.to_owned()))
}

fn descendants(processes: &[Process], ancestor: u32, name: &str) -> Vec<u32> {
    let parents: BTreeMap<u32, u32> = processes.iter().map(|&(id, parent, _)| (id, parent)).collect();
    let is_below = |id: u32| {
        // There is no circle of parents, but the list was not read at one moment.
        let line = std::iter::successors(Some(id), |id| parents.get(id).copied()).take(processes.len() + 1);
        line.skip(1).any(|above| above == ancestor)
    };
    let mut found: Vec<u32> =
        processes.iter().filter(|(id, _, own)| own == name && is_below(*id)).map(|&(id, ..)| id).collect();
    found.sort_unstable();
    found
}

fn status_bytes(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib * 1024)
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
        assert_eq!(status_bytes("Name:\ttc\nVmRSS:\t    2048 kB\n"), Some(2 << 20));
        assert_eq!(status_bytes("Name:\ttc\n"), None);
    }

    #[test]
    fn this_process_is_below_its_parent() {
        let own = of_stat(&fs::read_to_string("/proc/self/stat").unwrap()).unwrap();
        let bytes = resident_bytes(own.1, &own.2);
        assert!(bytes.iter().any(|&bytes| bytes > 100_000), "{bytes:?}");
    }
}
