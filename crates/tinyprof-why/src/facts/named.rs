//! The place of an activity, as a user would name it.

use super::activities::Doing;
use super::run::Run;
use crate::place::Place;

/// What bindings ask of MPI before a call.
const QUERIES: &[&str] = &[
    "MPI_Comm_get_attr",
    "MPI_Comm_rank",
    "MPI_Comm_remote_size",
    "MPI_Comm_size",
    "MPI_Comm_test_inter",
    "MPI_Type_get_extent",
    "MPI_Type_size",
];

impl Run {
    /// Returns the place of an activity. Bindings ask MPI before they call what the user has
    /// written: then it is before that call, if it is of the same line.
    pub(crate) fn place(&self, doing: Doing) -> Place {
        /// The most questions before a call.
        const QUESTIONS: usize = 4;
        let mut place = Place::of(&self.callpaths, doing.callpath());
        let Doing::Before(_) = doing else { return place };
        for _ in 0..QUESTIONS {
            let asks = |function: &String| QUERIES.contains(&function.as_str());
            if !place.call.as_ref().is_some_and(asks) {
                break;
            }
            let follow = self
                .calls
                .iter()
                .filter(|(_, call)| call.before.is_some_and(|(before, _)| before == place.index));
            let is_same = |next: &Place| {
                (&next.function, &next.file, next.line)
                    == (&place.function, &place.file, place.line)
                    && next.index != place.index
            };
            let mut next = follow.map(|(index, _)| Place::of(&self.callpaths, *index));
            let Some(next) = next.find(is_same) else { break };
            place = next;
        }
        place
    }
}
