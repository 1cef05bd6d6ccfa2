//! Profiles that are read callpath by callpath, so that the values of a large one are never in
//! memory together; and profiles in memory, in the same way.

use std::error::Error;

use crate::facts::totals::Totals;
use tinyprof_format::model::{
    CallpathIndex, CallpathTable, CallpathValues, Manifest, Profile, RankCauses, RankFacts,
};

/// The callback of a pass: a callpath, and its values by rank. An error ends the pass.
pub type Visit<'a> = dyn FnMut(CallpathIndex, &[CallpathValues]) -> Result<(), Box<dyn Error>> + 'a;

/// The callback of a pass over causes of waiting: a rank, and its causes.
pub type VisitCauses<'a> = dyn FnMut(u32, &RankCauses) + 'a;

/// A profile whose callpaths come one by one.
pub trait ByCallpath {
    /// Returns the facts of the run.
    fn manifest(&self) -> &Manifest;

    /// Returns the callpaths of the run.
    fn callpaths(&self) -> &CallpathTable;

    /// Returns the facts that each rank reports about itself, by rank.
    fn ranks(&self) -> &[RankFacts];

    /// Passes each callpath once, callees before their callers.
    ///
    /// # Errors
    /// If the profile cannot be read, or its executions not be separated; and the errors of
    /// `visit`.
    fn each(&self, visit: &mut Visit<'_>) -> Result<(), Box<dyn Error>>;

    /// Passes the causes of waiting of each rank that knows any, in the order of ranks.
    ///
    /// # Errors
    /// If they cannot be read.
    fn each_causes(&self, visit: &mut VisitCauses<'_>) -> Result<(), Box<dyn Error>> {
        for (rank, facts) in (0_u32..).zip(self.ranks()) {
            if let Some(causes) = &facts.causes {
                visit(rank, causes);
            }
        }
        Ok(())
    }

    /// Returns the totals, by a pass over all callpaths.
    ///
    /// # Errors
    /// As [`each`](Self::each).
    fn totals(&self) -> Result<Totals, Box<dyn Error>> {
        let mut totals = Totals::new(self.manifest(), self.callpaths(), self.ranks());
        self.each(&mut |index, values| {
            totals.add(index, values);
            Ok(())
        })?;
        Ok(totals)
    }
}

impl ByCallpath for Profile {
    fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    fn callpaths(&self) -> &CallpathTable {
        &self.callpaths
    }

    fn ranks(&self) -> &[RankFacts] {
        &self.ranks
    }

    fn each(&self, visit: &mut Visit<'_>) -> Result<(), Box<dyn Error>> {
        // The rows of callees are below those of their callers.
        for row in (0..self.values.len()).rev() {
            visit(CallpathIndex::new(row), &self.values[row])?;
        }
        Ok(())
    }
}
