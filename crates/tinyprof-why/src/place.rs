//! Places in a program: a callpath, with function, file and line.

use tinyprof_format::model::{Callpath, CallpathIndex, CallpathTable};
use tinyprof_report::MpiCall;
use tinyprof_report::cells::{columns, cut, shown};

/// The maximum width of a name in a sentence, in columns.
const NAME_COLUMNS: usize = 120;

/// That of a function, which is a word: lines are not broken in it, and a terminal may have 80.
const FUNCTION_COLUMNS: usize = 72;

/// A place in a program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// The row of the callpath.
    pub index: CallpathIndex,
    /// The callpath, from the root region on.
    pub callpath: String,
    /// The function of the program: for a call of MPI the one that makes it.
    pub function: String,
    /// The file, if it is known.
    pub file: Option<String>,
    /// The line, if it is known.
    pub line: Option<u32>,
    /// The function of MPI, if it is a call of one.
    pub call: Option<String>,
}

/// Returns the name of a function that was sampled, with its place, for a sentence. Lists of types
/// and arguments are left out where the name is too long.
pub(crate) fn sampled_name(name: &str) -> String {
    let whole = shown(name);
    if columns(&whole) <= FUNCTION_COLUMNS {
        return whole;
    }
    let is_place = |place: &str| !place.contains(['(', ')', ' ']);
    let (function, place) = whole
        .strip_suffix(')')
        .and_then(|text| text.rsplit_once(" ("))
        .filter(|(_, place)| is_place(place))
        .map_or((whole.as_str(), String::new()), |(name, place)| (name, format!(" ({place})")));
    let own = function.split(['(', '<']).next().filter(|own| !own.is_empty());
    cut(&format!("{}{place}", own.unwrap_or(function)), FUNCTION_COLUMNS)
}

impl Place {
    /// Returns the place of a callpath.
    #[must_use]
    pub fn of(callpaths: &CallpathTable, index: CallpathIndex) -> Self {
        let callpath = callpaths.get(index);
        let region = &callpath.region;
        let mut place = Self {
            index,
            callpath: callpaths.path(index),
            function: region.name.clone(),
            file: Some(region.file.clone()).filter(|file| !file.is_empty()),
            line: Some(region.line).filter(|line| *line > 0),
            call: None,
        };
        let Some(call) = MpiCall::of_region(region) else { return place };
        place.call = Some(call.function.to_owned());
        let parent = callpath.parent.map(|parent| callpaths.get(parent).region.name.clone());
        place.function = parent.unwrap_or_else(|| call.function.to_owned());
        (place.file, place.line) = (None, None);
        if let Some(site) = call.call_site {
            place.set_call_site(site);
        }
        place
    }

    /// Returns the function around a call, where the call is reached from several functions that
    /// are told apart (`-o callers=2`).
    pub(crate) fn caller_of(callpaths: &CallpathTable, index: CallpathIndex) -> Option<Self> {
        let (call, parent) = (callpaths.get(index), callpaths.get(index).parent?);
        MpiCall::of_region(&call.region)?;
        let is_same = |(other, callpath): (CallpathIndex, &Callpath)| {
            let (other_region, region) = (&callpath.region, &call.region);
            other != index
                && callpath.parent.is_some()
                && (&other_region.module, &other_region.name) == (&region.module, &region.name)
        };
        callpaths.iter().any(is_same).then(|| Self::of(callpaths, parent))
    }

    /// Takes function, file and line of `exchange (halo.c:11)`, or `(halo.c:11:3)`; of other
    /// texts the function alone.
    fn set_call_site(&mut self, site: &str) {
        site.clone_into(&mut self.function);
        let Some((function, rest)) = site.rsplit_once(" (") else { return };
        let Some((file, line)) = rest.strip_suffix(')').and_then(|rest| rest.rsplit_once(':'))
        else {
            return;
        };
        let Ok(number) = line.parse() else { return };
        // Where a line has several calls, the column follows: `halo.c:11:3`.
        let with_column =
            file.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
        let (file, line) = with_column.unwrap_or((file, number));
        function.clone_into(&mut self.function);
        (self.file, self.line) = (Some(file.to_owned()), Some(line));
    }

    /// Returns `MPI_Irecv at exchange (halo.c:11)`, or the name of the region.
    #[must_use]
    pub fn name(&self) -> String {
        let at = match (&self.file, self.line) {
            (Some(file), Some(line)) => format!(" ({file}:{line})"),
            _ => String::new(),
        };
        let function = cut(&shown(&self.function), FUNCTION_COLUMNS);
        let name = match &self.call {
            Some(call) if *call != self.function => format!("{} at {function}", shown(call)),
            _ => function,
        };
        cut(&format!("{name}{}", shown(&at).trim_matches('"')), NAME_COLUMNS)
    }

    /// Returns `MPI_Waitall (halo.c:16)` where it is in a file that `beside` names, too.
    #[must_use]
    pub fn short_name(&self, beside: &Self) -> String {
        match (&self.call, &self.file, self.line) {
            (Some(call), Some(file), Some(line))
                if beside.file == self.file && beside.function == self.function =>
            {
                cut(&shown(&format!("{call} ({file}:{line})")), NAME_COLUMNS)
            }
            _ => self.name(),
        }
    }
}

#[cfg(test)]
mod tests {
    use tinyprof_format::model::{CallpathId, Region, SiteId};

    use super::*;

    #[test]
    fn a_long_name_of_a_sampled_function_loses_its_lists_of_types() {
        let types = "usize, f64, (core::iter::adapters::map::Map(A, B), fire::{closure_env#0})";
        for (name, expected) in [
            ("flux_0 (solver.c:20)".to_owned(), "flux_0 (solver.c:20)"),
            (format!("fold({types}) (iterator.rs:279)"), "fold (iterator.rs:279)"),
            (format!("fold({types})"), "fold"),
        ] {
            assert_eq!(sampled_name(&name), expected, "{name}");
        }
        let anonymous = format!("({types})");
        assert!(sampled_name(&anonymous).starts_with("(usize"), "nothing but a list is left");
    }

    #[test]
    fn a_call_has_the_function_that_makes_it() {
        let check = |name: &str, function: &str, line: Option<u32>, shown: &str| {
            let site = SiteId::from_bits(1);
            let region = Region { module: "mpi".into(), ..Region::named(site, name) };
            let table = CallpathTable::from_parents([(CallpathId::root(site), None, region)]);
            let place = Place::of(&table, CallpathIndex::new(0));
            assert_eq!((place.function.as_str(), place.line), (function, line), "{name}");
            assert_eq!(place.name(), shown);
        };
        let name = "MPI_Irecv at exchange (halo.c:11)";
        check(name, "exchange", Some(11), name);
        let two = "MPI_Irecv at exchange (halo.c:11:3)";
        check(two, "exchange", Some(11), name);
        check("MPI_Irecv at lu+0x1c40", "lu+0x1c40", None, "MPI_Irecv at lu+0x1c40");
        check("MPI_Irecv", "MPI_Irecv", None, "MPI_Irecv");
        check("MPI_Send at f<int> (a.cpp:3)", "f<int>", Some(3), "MPI_Send at f<int> (a.cpp:3)");
    }

    #[test]
    fn a_call_in_two_functions_has_a_caller() {
        let region = |site: u64, module: &str, name: &str| Region {
            module: module.into(),
            ..Region::named(SiteId::from_bits(site), name)
        };
        let root = CallpathId::root(SiteId::from_bits(1));
        let [first, second] = [2, 3].map(|site| root.child(SiteId::from_bits(site)));
        let call = SiteId::from_bits(4);
        let receive = || region(4, "mpi", "MPI_Recv at exchange (halo.c:11)");
        let table = CallpathTable::from_parents([
            (root, None, region(1, "", "main")),
            (first, Some(root), region(2, "", "momentum")),
            (second, Some(root), region(3, "", "energy")),
            (first.child(call), Some(first), receive()),
            (second.child(call), Some(second), receive()),
        ]);
        let callers = table.iter().filter_map(|(index, _)| Place::caller_of(&table, index));
        let mut names: Vec<String> = callers.map(|caller| caller.function).collect();
        names.sort();
        assert_eq!(names, ["energy", "momentum"]);
    }
}
