//! Variables of ours for ranks that Open MPI starts on other hosts.
//!
//! Its launcher hands on those that are named, by `-x` or in a variable, and refuses both at once.
//! Other launchers hand on all, and do not know that variable.

use std::ffi::{OsStr, OsString};

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

/// Returns what is added to a launcher's command so that the variables of these names are handed
/// on. `arguments` are those of the command, `lookup` is the environment.
pub(super) fn added(
    names: &[&str],
    arguments: &[OsString],
    lookup: impl Fn(&str) -> Option<OsString>,
) -> Added {
    let named: Vec<&OsStr> = {
        let pairs = arguments.windows(2).filter(|pair| pair[0] == OPTION);
        pairs.map(|pair| pair[1].as_os_str()).collect()
    };
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

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn variables_are_handed_on_in_the_way_that_the_user_has_chosen() {
        let names = ["LD_PRELOAD", "TINYPROF_MPI"];
        let of_command = |text: &str| added(&names, &words(text), |_| None);
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
        let set = added(&names, &words("./a.out"), |_| Some("HOME".into()));
        assert_eq!(set, listed("HOME;LD_PRELOAD;TINYPROF_MPI"));
    }
}
