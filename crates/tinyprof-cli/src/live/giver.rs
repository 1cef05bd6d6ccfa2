//! The author of a command and its date, which ranks keep for the profile.

use std::env;
use std::fs;
use std::process;
use std::str::FromStr;

use tinyprof_segment::control::Given;

use crate::arguments::OnJob;
use crate::sys;

/// The author of a command and its date, equal on all hosts that get it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Giver {
    /// The date of the command, in ns since 1970-01-01 UTC.
    date_ns: u64,
    name: String,
    /// The argument of the command.
    argument: String,
}

impl Giver {
    /// Returns this process, now.
    pub(super) fn here() -> Self {
        let user = env::var("USER").ok().filter(|user| !user.is_empty());
        let user = user.unwrap_or_else(|| sys::user_id().to_string());
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let name = format!("{user}@{} (process {})", host.trim(), process::id());
        Self { date_ns: sys::date_ns(), name, argument: String::new() }
    }

    /// Returns who gives this command: on another host the one who has started this process there.
    pub(super) fn of(on: &OnJob) -> Self {
        on.by.as_deref().and_then(|by| by.parse().ok()).unwrap_or_else(Self::here)
    }

    /// Returns it with what the command is about.
    pub(super) fn about(self, argument: &str) -> Self {
        Self { argument: argument.to_owned(), ..self }
    }

    /// Returns the option that tells a process on another host.
    pub(super) fn option(&self) -> String {
        format!("--by={}:{}", self.date_ns, self.name)
    }

    /// Returns what goes to the threads, from now on.
    pub(super) fn given(&self) -> Given {
        Given::by(&self.name, self.date_ns, sys::now().monotonic_ns).about(&self.argument)
    }
}

impl FromStr for Giver {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once(':').and_then(|(date, name)| Some((date.parse().ok()?, name)));
        let (date_ns, name) = parts.ok_or("expected a date in ns, a colon and a name")?;
        Ok(Self { date_ns, name: name.to_owned(), argument: String::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_hosts_are_told_who_has_given_a_command() {
        let here = Giver::here();
        let option = here.option();
        assert_eq!(option.strip_prefix("--by=").expect("an option").parse(), Ok(here.clone()));
        assert!(here.name.contains(&format!(" (process {})", process::id())), "{}", here.name);
        assert!("yesterday:me".parse::<Giver>().is_err());
    }
}
