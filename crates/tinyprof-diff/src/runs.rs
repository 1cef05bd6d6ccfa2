//! The runs of both sides, of which only the amounts are kept, since many may be compared.

use std::error::Error;

use tinyprof_format::model::ClockFacts;
use tinyprof_report::{ByCallpath, Report, SortKey};

use super::compare::{self, Diff};
use super::differs::{command, mpi};
use super::names::Names;
use super::options::Options;
use super::run::Run;
use super::values;

/// The side of a comparison that a run belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The runs before the change.
    Base,
    /// The runs after the change.
    New,
}

/// The amounts of the runs of both sides.
#[derive(Debug)]
pub struct Runs {
    options: Options,
    names: Names,
    base: Vec<Run>,
    new: Vec<Run>,
}

impl Runs {
    /// Returns a comparison with these settings and without runs.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self { options, names: Names::default(), base: Vec::new(), new: Vec::new() }
    }

    /// Adds a run to a side. Only the amounts of the ranks `ranks` are read and kept.
    ///
    /// # Errors
    /// If the profile cannot be read, and an
    /// [`UnknownMetric`](tinyprof_report::UnknownMetric) if it has no values of the metric.
    pub fn add(
        &mut self,
        side: Side,
        name: &str,
        profile: &dyn ByCallpath,
        ranks: &[usize],
    ) -> Result<(), Box<dyn Error>> {
        let metric = &self.options.metric;
        if let SortKey::Key(_) = metric {
            // The error lists the existing keys.
            Report::of_totals(&profile.totals()?).by_metric(metric.clone())?;
        }
        let run = Run {
            name: name.to_owned(),
            command: command(&profile.manifest().metadata),
            hosts: profile.manifest().metadata.numhosts,
            mpi: mpi(&profile.manifest().metadata),
            follows_messages: profile
                .ranks()
                .iter()
                .any(|facts| facts.clock != ClockFacts::default()),
            ranks: ranks.len(),
            executions: profile.manifest().executions,
            incomplete: !profile.manifest().complete,
            rows: values::amounts(profile, metric, ranks, &mut self.names)?,
        };
        match side {
            Side::Base => self.base.push(run),
            Side::New => self.new.push(run),
        }
        Ok(())
    }

    /// Returns the comparison of the runs that were added.
    #[must_use]
    pub fn compare(self) -> Diff {
        let Self { options, names, base, new } = self;
        let rows = compare::rows(names.rows().len(), &base, &new, options.estimator);
        Diff { base, new, options, names, rows }
    }
}
