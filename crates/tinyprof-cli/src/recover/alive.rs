//! A check of whether the owner of a segment is still recording into it.
//!
//! A process that called `exec` keeps its id and start time, but no mapping. Its earlier segments
//! are as dead as those of a killed process.

use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;

use tinyprof_format::segment::ProcessState;

/// The owner of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// It runs, and has the file mapped.
    Records,
    /// It runs another program.
    IsReplaced,
    /// It is no longer running.
    IsDead,
}

/// Returns the state of the process that began at `start_time` and created `file` under the name
/// `name`.
pub(crate) fn owner(process_id: u32, start_time: u64, name: &str, file: &Metadata) -> Owner {
    if !runs(process_id, start_time) {
        return Owner::IsDead;
    }
    match fs::read(format!("/proc/{process_id}/maps")) {
        Ok(maps) if !is_mapped(&maps, name, file) => Owner::IsReplaced,
        // A process whose mappings cannot be read might be recording.
        _ if runs(process_id, start_time) => Owner::Records,
        _ => Owner::IsDead,
    }
}

/// Returns `true` if the process that began then is still running, and not another one of the same
/// id.
pub(super) fn runs(process_id: u32, start_time: u64) -> bool {
    runs_that(process_id, |found| found == start_time)
}

/// Returns `true` if a process of this id is running whose start time is one that `began` accepts.
/// A process that cannot be looked at counts as one.
pub(super) fn runs_that(process_id: u32, began: impl Fn(u64) -> bool) -> bool {
    let stat = match fs::read(format!("/proc/{process_id}/stat")) {
        Err(error) => {
            return !matches!(error.kind(), ErrorKind::NotFound)
                && error.raw_os_error() != Some(libc::ESRCH);
        }
        Ok(stat) => stat,
    };
    let state = ProcessState::parse(&String::from_utf8_lossy(&stat));
    state.is_none_or(|state| began(state.start_time) && !state.has_ended)
}

/// Returns `true` if the text of `/proc/PID/maps` contains a file, by its inode or by its name.
///
/// Some file systems (btrfs, overlayfs) show other numbers there than `stat` does. Segments are
/// named after their processes, so a file of the same name elsewhere is a copy. It is left alone
/// while the process runs.
fn is_mapped(maps: &[u8], name: &str, file: &Metadata) -> bool {
    let device = format!("{:02x}:{:02x}", libc::major(file.dev()), libc::minor(file.dev()));
    let inode = file.ino().to_string();
    let path_end = format!("/{name}");
    String::from_utf8_lossy(maps).lines().any(|line| {
        let mut fields = line.split_ascii_whitespace().skip(3);
        let is_file = fields.next() == Some(&device) && fields.next() == Some(&inode);
        is_file || line.ends_with(&path_end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_among_mappings_by_its_number_or_its_name() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let metadata = file.as_file().metadata().unwrap();
        let device =
            format!("{:02x}:{:02x}", libc::major(metadata.dev()), libc::minor(metadata.dev()));
        let inode = metadata.ino();
        let check = |line: &str, expected| {
            let maps = format!(
                "00400000-00401000 r-xp 00000000 08:02 17    /bin/sleep\n{line}\n7f [vdso]\n"
            );
            assert_eq!(is_mapped(maps.as_bytes(), "1-2-0.segment", &metadata), expected, "{line}");
        };
        check(&format!("7f-80 rw-s 00000000 {device} {inode}    /any"), true);
        check(&format!("7f-80 rw-s 00000000 ff:ff {inode}    /any"), false);
        check(&format!("7f-80 rw-s 00000000 {device} 1{inode}    /any"), false);
        check("7f-80 rw-s 00000000 00:01 1    /dev/shm/a b/1-2-0.segment", true);
        check("7f-80 rw-s 00000000 00:01 1    /dev/shm/1-2-0-1.segment", false);
        check("7f-80 rw-s 00000000 00:01 1    /dev/shm/11-2-0.segment", false);
        check("7f-80 rw-s 00000000 00:01 1    /dev/shm/1-2-0.segment (deleted)", false);
    }

    #[test]
    fn this_process_runs_and_maps_its_program() {
        let stat = fs::read_to_string("/proc/self/stat").unwrap();
        let start_time = ProcessState::parse(&stat).unwrap().start_time;
        let program = fs::metadata("/proc/self/exe").unwrap();
        let me = std::process::id();
        let name =
            std::env::current_exe().unwrap().file_name().unwrap().to_string_lossy().into_owned();
        assert_eq!(owner(me, start_time, &name, &program), Owner::Records);
        let file = tempfile::NamedTempFile::new().unwrap();
        let metadata = file.as_file().metadata().unwrap();
        assert_eq!(owner(me, start_time, "1-2-0.segment", &metadata), Owner::IsReplaced);
        assert_eq!(owner(me, start_time + 1, &name, &program), Owner::IsDead);
    }
}
