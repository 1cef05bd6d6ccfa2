//! Variables of ours for ranks that Open MPI starts on other hosts.
//!
//! Its launcher hands on those that are named, by `-x` or in a variable, and refuses both at once.
//! Other launchers hand on all, and do not know that variable; `-x` means something else to them,
//! as it may to the program.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The variable with the names of those that Open MPI hands on.
const LIST: &str = "OMPI_MCA_mca_base_env_list";
/// The option that names one.
const OPTION: &str = "-x";

/// What is added to a command.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Added {
    /// Arguments before all others.
    pub(super) arguments: Vec<OsString>,
    /// A variable and its value.
    pub(super) variable: Option<(&'static str, OsString)>,
}

/// Returns whether a launcher's file, of which this is the path without links, may be Open MPI's.
pub(super) fn may_be_of_open_mpi(launcher: &Path) -> bool {
    let name = launcher.file_name().unwrap_or_default().to_string_lossy();
    let begins = ["mpiexec", "mpirun", "orterun", "prterun"].iter().any(|of| name.starts_with(of));
    begins && !name.contains("hydra") && !name.contains("mpich")
}

/// Returns what is added to a launcher's command so that the variables of these names are handed
/// on. `named` is what [`options`] has found, `lookup` is the environment.
pub(super) fn added(
    names: &[&str],
    named: &[&OsStr],
    lookup: impl Fn(&str) -> Option<OsString>,
) -> Added {
    if !named.is_empty() {
        // A name, or a name and its value.
        let is_named = |name: &&&str| {
            let begin = format!("{name}=");
            named.iter().any(|given| {
                *given == **name || given.to_str().is_some_and(|given| given.starts_with(&begin))
            })
        };
        let missing = names.iter().filter(|name| !is_named(name));
        let arguments = missing.flat_map(|name| [OPTION.into(), (*name).into()]).collect();
        return Added { arguments, variable: None };
    }
    let mut list = lookup(LIST).unwrap_or_default();
    for name in names {
        if !list.is_empty() {
            list.push(";");
        }
        list.push(name);
    }
    Added { arguments: Vec::new(), variable: Some((LIST, list)) }
}

/// Returns what the user has the launcher hand on by `-x`: behind a program's name, that is an
/// option of the program, unless it names a variable.
pub(super) fn options(
    arguments: &[OsString],
    is_program: impl Fn(&OsStr) -> bool,
    is_variable: impl Fn(&str) -> bool,
) -> Vec<&OsStr> {
    let mut is_behind_program = false;
    let mut named = Vec::new();
    for pair in arguments.windows(2) {
        let [argument, next] = pair else { continue };
        if argument == ":" {
            is_behind_program = false;
        } else if argument == OPTION {
            let name = next.to_str().and_then(|next| next.split('=').next());
            if !is_behind_program || name.is_some_and(&is_variable) {
                named.push(next.as_os_str());
            }
        } else {
            is_behind_program |= is_program(argument);
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn variables_are_handed_on_in_the_way_that_the_user_has_chosen() {
        let names = ["LD_PRELOAD", "TINYPROF_MPI"];
        let of_command = |text: &str| {
            let arguments = words(text);
            let is_program = |word: &OsStr| word == "./a.out" || word == "ssh";
            added(&names, &options(&arguments, is_program, |name| name == "HOME"), |_| None)
        };
        let listed =
            |list: &str| Added { arguments: Vec::new(), variable: Some((LIST, list.into())) };
        assert_eq!(of_command("-n 4 ./a.out"), listed("LD_PRELOAD;TINYPROF_MPI"));
        let with_option = |text: &str| Added { arguments: words(text), variable: None };
        assert_eq!(
            of_command("-x OMP_NUM_THREADS -x TINYPROF_MPI=messages -n 4 ./a.out"),
            with_option("-x LD_PRELOAD"),
        );
        assert_eq!(
            of_command("-x TINYPROF_MPI_NOT -n 4 ./a.out"),
            with_option("-x LD_PRELOAD -x TINYPROF_MPI"),
        );
        for of_program in ["-n 4 ./a.out -x 1", "./a.out -x LIMIT=3", "./a.out -x"] {
            assert_eq!(of_command(of_program), listed("LD_PRELOAD;TINYPROF_MPI"), "{of_program}");
        }
        for of_launcher in ["--mca rsh ssh -x HOME ./a.out", "./a.out -x 1 : -x LIMIT ./a.out"] {
            let both = with_option("-x LD_PRELOAD -x TINYPROF_MPI");
            assert_eq!(of_command(of_launcher), both, "{of_launcher}");
        }
        let set = added(&names, &[], |_| Some("HOME".into()));
        assert_eq!(set, listed("HOME;LD_PRELOAD;TINYPROF_MPI"));
    }

    #[test]
    fn launchers_to_which_the_option_means_something_else_are_known() {
        let check = |path: &str, expected| {
            assert_eq!(may_be_of_open_mpi(Path::new(path)), expected, "{path}");
        };
        check("/usr/bin/orterun", true);
        check("/opt/openmpi/bin/mpirun", true);
        check("/usr/bin/mpiexec.hydra", false);
        check("/usr/bin/srun", false);
    }
}
