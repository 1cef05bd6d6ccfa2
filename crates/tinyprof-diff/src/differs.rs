//! Differences between the runs of the two sides, which a reader must know before any number.

use std::collections::BTreeSet;

use tinyprof_format::model::RunMetadata;
use tinyprof_report::{cells::cut, escaped};

use super::compare::Diff;
use super::run::Run;

/// The width of a command, in columns.
const COMMAND_COLUMNS: usize = 40;

/// Returns a fact of a run; nothing if it is not known.
type Of<'a> = &'a dyn Fn(&Run) -> String;

impl Diff {
    /// Returns `differs: command wave 60 against wave 100; ranks 8 against 4`, the new side first;
    /// none if the two sides ran and were measured in the same way, as far as that is known.
    #[must_use]
    pub fn differs(&self) -> Option<String> {
        let of_ranks = |run: &Run| run.ranks.to_string();
        let of_hosts =
            |run: &Run| if run.hosts == 0 { String::new() } else { run.hosts.to_string() };
        let of_command = |run: &Run| run.command.clone();
        let of_mpi = |run: &Run| run.mpi.clone();
        // Following messages takes time of its own.
        let of_messages = |run: &Run| {
            let words = if run.follows_messages { "followed" } else { "not followed" };
            words.to_owned()
        };
        let facts: [(&str, Of<'_>); 5] = [
            ("command", &of_command),
            ("ranks", &of_ranks),
            ("hosts", &of_hosts),
            ("MPI", &of_mpi),
            ("messages", &of_messages),
        ];
        let told = facts.iter().filter_map(|(what, of)| {
            let [new, base] = [&self.new, &self.base].map(|side| all(side, of));
            let is_known = [&new, &base].iter().all(|side| !side.is_empty());
            (is_known && new != base).then(|| format!("{what} {new} against {base}"))
        });
        let told: Vec<String> = told.collect();
        (!told.is_empty()).then(|| format!("differs: {}", told.join("; ")))
    }
}

/// Returns the facts of the runs of a side, each once; nothing if one of them is not known.
fn all(side: &[Run], of: Of<'_>) -> String {
    let found: BTreeSet<String> = side.iter().map(of).collect();
    if found.contains("") {
        return String::new();
    }
    found.into_iter().collect::<Vec<_>>().join(" and ")
}

/// Returns the command of a run without the directories of its program.
pub(super) fn command(metadata: &RunMetadata) -> String {
    let Some((program, arguments)) = metadata.cmdline.split_first() else { return String::new() };
    let program = program.rsplit('/').next().unwrap_or(program);
    let words: Vec<&str> =
        std::iter::once(program).chain(arguments.iter().map(String::as_str)).collect();
    cut(&escaped(&words.join(" ")), COMMAND_COLUMNS)
}

/// Returns the MPI of a run without the details behind the first comma; empty if it is not known.
pub(super) fn mpi(metadata: &RunMetadata) -> String {
    let version = metadata.mpi_version.as_deref().unwrap_or_default();
    let first = version.lines().next().unwrap_or_default();
    let name = first.split(',').next().unwrap_or_default();
    let words: Vec<&str> = name.split_whitespace().collect();
    cut(&escaped(&words.join(" ")), COMMAND_COLUMNS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;

    fn run(command: &str, ranks: usize, hosts: u32) -> Run {
        Run {
            name: String::new(),
            command: command.to_owned(),
            hosts,
            mpi: String::new(),
            follows_messages: false,
            ranks,
            executions: 1,
            incomplete: false,
            rows: Vec::new(),
        }
    }

    fn differs(base: &[Run], new: &[Run]) -> Option<String> {
        Diff {
            base: base.to_vec(),
            new: new.to_vec(),
            names: crate::names::Names::default(),
            rows: Vec::new(),
            options: Options::default(),
        }
        .differs()
    }

    #[test]
    fn what_the_sides_ran_is_told_if_it_is_known_and_differs() {
        let usual = run("wave 100", 4, 1);
        let base = [usual.clone()];
        assert_eq!(differs(&base, &base), None);
        let shorter = [run("wave 60", 8, 0)];
        let expected = "differs: command wave 60 against wave 100; ranks 8 against 4";
        assert_eq!(differs(&base, &shorter).as_deref(), Some(expected));
        let others = [Run { mpi: "MPICH".into(), follows_messages: true, ..usual.clone() }];
        let expected = "differs: messages followed against not followed";
        assert_eq!(differs(&base, &others).as_deref(), Some(expected), "no MPI is known of one");
        let mpich = [Run { mpi: "Open MPI v4".into(), ..usual.clone() }];
        let expected =
            "differs: MPI MPICH against Open MPI v4; messages followed against not followed";
        assert_eq!(differs(&mpich, &others).as_deref(), Some(expected));
        let mixed = [usual, run("wave 60", 4, 2)];
        let expected =
            "differs: command wave 100 and wave 60 against wave 100; hosts 1 and 2 against 1";
        assert_eq!(differs(&base, &mixed).as_deref(), Some(expected));
    }

    #[test]
    fn an_mpi_has_its_name_and_version() {
        let of = |version: &str| {
            mpi(&RunMetadata { mpi_version: Some(version.to_owned()), ..RunMetadata::default() })
        };
        assert_eq!(of("Open MPI v4.1.4, package: Debian OpenMPI"), "Open MPI v4.1.4");
        assert_eq!(of("MPICH Version:\t4.0.2\nMPICH Release date:"), "MPICH Version: 4.0.2");
        assert_eq!(mpi(&RunMetadata::default()), "");
    }

    #[test]
    fn a_command_has_no_directories() {
        let cmdline = vec!["/home/ada/bin/wave".to_owned(), "100".to_owned()];
        assert_eq!(command(&RunMetadata { cmdline, ..RunMetadata::default() }), "wave 100");
        assert_eq!(command(&RunMetadata::default()), "");
    }
}
