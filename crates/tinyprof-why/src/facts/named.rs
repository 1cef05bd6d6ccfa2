//! The place of an activity, as a user would name it.

use super::activities::Doing;
use super::run::Run;
use crate::place::Place;

/// The queries that bindings make before a call.
const QUERIES: &[&str] = &[
    "MPI_Comm_get_attr",
    "MPI_Comm_rank",
    "MPI_Comm_remote_size",
    "MPI_Comm_size",
    "MPI_Comm_test_inter",
    "MPI_Type_get_extent",
    "MPI_Type_get_extent_x",
    "MPI_Type_size",
];

impl Run {
    /// Returns the place of an activity. Bindings ask MPI before they call what the user has
    /// written: then it is before the call of that line.
    pub(crate) fn place(&self, doing: Doing) -> Place {
        let place = Place::of(&self.callpaths, doing.callpath());
        let asks = |function: &str| QUERIES.contains(&function);
        let is_asked = place.line.is_some() && place.call.as_deref().is_some_and(asks);
        if !is_asked || !matches!(doing, Doing::Before(_)) {
            return place;
        }
        let is_same = |other: &Place| {
            (&other.function, &other.file, other.line) == (&place.function, &place.file, place.line)
        };
        let others = self.calls.iter().filter(|(_, call)| !asks(&call.function));
        let mut others = others.map(|(index, _)| Place::of(&self.callpaths, *index));
        others.find(is_same).unwrap_or(place)
    }
}
