//! The hosts of a run by their [`HostId`], with the names that tables show.

use std::collections::{BTreeMap, BTreeSet};

use crate::facts::statistics::spread::HostId;

/// The names of hosts. Empty for a run on a single host, where the host of a rank carries no
/// information.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hosts {
    /// The name and the short name; none if several hosts have the same id.
    names: BTreeMap<HostId, Option<(String, String)>>,
}

impl Hosts {
    /// Returns the hosts with these names. Empty names are ignored.
    #[must_use]
    pub fn new(mut names: BTreeSet<&str>) -> Self {
        names.remove("");
        if names.len() < 2 {
            return Self::default();
        }
        // A domain that all hosts share does not distinguish them.
        let is_short =
            names.iter().map(|name| short(name)).collect::<BTreeSet<_>>().len() == names.len();
        let mut hosts = BTreeMap::new();
        for name in names {
            let label = if is_short { short(name) } else { name };
            let pair = (name.to_owned(), label.to_owned());
            hosts
                .entry(HostId::of_name(name))
                .and_modify(|other| *other = None)
                .or_insert(Some(pair));
        }
        Self { names: hosts }
    }

    /// Returns true if there are several hosts.
    #[must_use]
    pub fn are_several(&self) -> bool {
        !self.names.is_empty()
    }

    /// Returns the name of a host, if its id is unambiguous.
    #[must_use]
    pub fn name(&self, host: HostId) -> Option<&str> {
        self.names.get(&host)?.as_ref().map(|(name, _)| name.as_str())
    }

    /// Returns the name of a host without the domain, if that is enough to distinguish the hosts.
    #[must_use]
    pub fn short_name(&self, host: HostId) -> Option<&str> {
        self.names.get(&host)?.as_ref().map(|(_, short)| short.as_str())
    }
}

fn short(name: &str) -> &str {
    name.split('.').next().filter(|short| !short.is_empty()).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_named_where_there_are_several_and_it_is_known_which() {
        let check = |names: &[&str], host: &str, expected: Option<&str>| {
            let hosts = Hosts::new(names.iter().copied().collect());
            assert_eq!(hosts.short_name(HostId::of_name(host)), expected, "{host} of {names:?}");
        };
        check(&["n1.site", "n2.site", "n1.site"], "n1.site", Some("n1"));
        check(&["n1.here", "n1.there"], "n1.there", Some("n1.there"));
        check(&["n1", "n2"], "n3", None);
        check(&["n1", "n1", ""], "n1", None);
        check(&[".", ".."], ".", Some("."));
        // The checksums of these two are equal.
        assert_eq!(HostId::of_name("plumless"), HostId::of_name("buckeroo"));
        check(&["plumless", "buckeroo", "n1"], "plumless", None);
        check(&["plumless", "buckeroo", "n1"], "n1", Some("n1"));
    }
}
