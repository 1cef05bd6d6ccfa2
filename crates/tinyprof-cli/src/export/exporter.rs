//! The interface of all exporters.

use std::error::Error;
use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};

#[cfg(test)]
use tinyprof_format::model::Profile;
use tinyprof_format::model::{
    CallpathIndex, CallpathTable, CallpathValues, Manifest, MetricSummary, Precision, RankFacts,
};
use tinyprof_report::ByCallpath;

use crate::arguments::Selection;
use crate::events::{self, EventSelection, EventVisitor, EventsProfile, RankChoice};
use crate::name::name_of;
use crate::parameter::Parameter;
use crate::select;

/// Notes for standard error on data that was not written, one per line.
pub(super) type Notes = Vec<String>;

/// A format of another tool.
pub(super) trait Exporter: Sync {
    /// Returns `true` if the format is text, which may go to standard output.
    fn is_text(&self) -> bool {
        !self.writes_directory()
    }

    /// Returns `true` if several profiles go into one file.
    fn takes_several(&self) -> bool {
        false
    }

    /// Returns `true` if it shows only some of many ranks, see `--max-ranks`.
    fn caps_ranks(&self) -> bool {
        self.has_events()
    }

    /// Returns `true` if it shows events, see `--window` and `--class`.
    fn has_events(&self) -> bool {
        false
    }

    /// Returns `true` if it writes a directory of several files, by
    /// [`export_into`](Self::export_into).
    fn writes_directory(&self) -> bool {
        false
    }

    /// Writes the profiles into the directory `to`, which is empty.
    ///
    /// # Errors
    /// If a file cannot be written, or if the format cannot hold the profile at all.
    fn export_into(&self, _request: &Request<'_>, _to: &Path) -> Result<Notes, Box<dyn Error>> {
        Err("the format is a file, not a directory".into())
    }

    /// Writes the profiles to `out`, which the caller flushes.
    ///
    /// # Errors
    /// If `out` cannot be written, or if the format cannot hold the profile at all.
    fn export(
        &self,
        _request: &Request<'_>,
        _out: &mut (dyn Write + Send),
    ) -> Result<Notes, Box<dyn Error>> {
        Err("the format is a directory, not a file".into())
    }
}

/// The data to export.
pub(super) struct Request<'a> {
    /// The profiles: never empty, and only one unless the exporter takes several.
    pub(super) inputs: Vec<Input<'a>>,
    pub(super) max_ranks: usize,
    pub(super) parameters: Vec<Parameter>,
    /// The part of the events to export.
    pub(super) events: EventSelection,
    /// The directory for data that does not fit into memory until it is written.
    pub(super) scratch: PathBuf,
}

impl Request<'_> {
    /// Opens the profile, for exporters that take one.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn source(&self) -> Result<Source<'_>, Box<dyn Error>> {
        self.inputs[0].open()
    }

    /// Returns the name of the profile, for exporters that take one.
    pub(super) fn name(&self) -> String {
        match &self.inputs[0] {
            Input::Directory(directory, _) => name_of(directory),
            #[cfg(test)]
            Input::Profile(name, _) => name.clone(),
        }
    }
}

#[cfg(test)]
impl Request<'static> {
    /// Returns the request of a whole profile.
    pub(super) fn of_profile(name: &str, profile: Profile) -> Self {
        let inputs = vec![Input::Profile(name.to_owned(), Box::new(profile))];
        let events = EventSelection::default();
        let scratch = std::env::temp_dir();
        Self { inputs, max_ranks: 64, parameters: Vec::new(), events, scratch }
    }
}

/// A profile that is opened when its turn comes, since each that is open keeps some of its files in
/// memory.
pub(super) enum Input<'a> {
    /// A profile on disk, and the part of it to export.
    Directory(&'a Path, &'a Selection),
    /// A name, and a profile in memory.
    #[cfg(test)]
    Profile(String, Box<Profile>),
}

impl Input<'_> {
    /// Opens the profile.
    ///
    /// # Errors
    /// If it cannot be read, or has no such rank, execution or callpath.
    pub(super) fn open(&self) -> Result<Source<'_>, Box<dyn Error>> {
        match self {
            Self::Directory(directory, selection) => {
                let profile = select::open(directory, selection).map_err(NotRead)?;
                let ranks = selection.ranks_of(profile.ranks().len());
                let is_whole = selection.path.is_none();
                Ok(Source { name: name_of(directory), profile: Box::new(profile), ranks, is_whole })
            }
            #[cfg(test)]
            Self::Profile(name, profile) => {
                let ranks = (0..profile.ranks.len()).collect();
                let is_whole = true;
                Ok(Source { name: name.clone(), profile: profile.clone(), ranks, is_whole })
            }
        }
    }

    /// Passes the events of each rank that is chosen and kept any to `visit`, in their order.
    ///
    /// # Errors
    /// If the profile cannot be read; and the errors of `visit`.
    pub(super) fn each_events(
        &self,
        is_chosen: &RankChoice<'_>,
        visit: &mut EventVisitor<'_>,
    ) -> Result<(), Box<dyn Error>> {
        match self {
            Self::Directory(directory, _) => events::each_in(directory, is_chosen, visit),
            #[cfg(test)]
            Self::Profile(_, profile) => events::each_of(profile, is_chosen, visit),
        }
    }
}

/// A profile that could not be read, in contrast to a file that could not be written.
#[derive(Debug)]
pub(super) struct NotRead(pub(super) Box<dyn Error>);

impl fmt::Display for NotRead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for NotRead {}

/// A profile, reduced to the selection. Its values are read callpath by callpath.
pub(super) struct Source<'a> {
    /// The name of the profile on the screen.
    pub(super) name: String,
    profile: Box<dyn ByCallpath + 'a>,
    /// The selected ranks, in order. The others have no values.
    pub(super) ranks: Vec<usize>,
    is_whole: bool,
}

impl Source<'_> {
    pub(super) fn manifest(&self) -> &Manifest {
        self.profile.manifest()
    }

    pub(super) fn callpaths(&self) -> &CallpathTable {
        self.profile.callpaths()
    }

    /// Returns what the profile's events are of.
    pub(super) fn events_profile(&self) -> EventsProfile<'_> {
        let (callpaths, facts) = (self.callpaths(), self.facts());
        EventsProfile { callpaths, is_whole: self.is_whole, facts }
    }

    /// Returns the facts that each rank reports about itself, of all ranks.
    pub(super) fn facts(&self) -> &[RankFacts] {
        self.profile.ranks()
    }

    /// Returns the host of a rank; empty if it is not known.
    pub(super) fn host(&self, rank: u32) -> &str {
        self.facts().get(rank as usize).map_or("", |facts| facts.host.as_str())
    }

    /// Passes each callpath once, callees before their callers, with its values by rank.
    ///
    /// # Errors
    /// If the profile cannot be read; and the errors of `visit`.
    pub(super) fn each(
        &self,
        mut visit: impl FnMut(CallpathIndex, &[CallpathValues]) -> Result<(), Box<dyn Error>>,
    ) -> Result<(), Box<dyn Error>> {
        let mut is_read = true;
        let passed = self.profile.each(&mut |index, values| {
            let visited = visit(index, values);
            is_read = visited.is_ok();
            visited
        });
        passed.map_err(|error| if is_read { NotRead(error).into() } else { error })
    }

    /// Returns whether times are exact or rounded, in the words of formats that have a field for
    /// it.
    pub(super) fn precision(&self) -> &'static str {
        self.manifest().precision.name()
    }

    /// Returns the addition to a title if times are rounded.
    pub(super) fn rounded(&self) -> Option<&'static str> {
        (self.manifest().precision == Precision::EightBit).then_some("times rounded to 8 bits")
    }

    /// Returns the note for formats that have no place for it.
    pub(super) fn rounded_note(&self) -> Option<String> {
        self.rounded().map(|rounded| format!("not in this format: {rounded}"))
    }
}

/// Returns the values that one rank recorded under each key at a callpath.
pub(super) fn metrics_of(values: &CallpathValues) -> impl Iterator<Item = (&str, MetricSummary)> {
    values.metrics.iter().filter_map(|(key, metric)| {
        let total = metric.executions.iter().copied().reduce(|mut sum, next| {
            sum.absorb(&next);
            sum
        });
        total.map(|total| (key.as_str(), total))
    })
}

/// Returns `n` as a float, the number type of most formats; exact below 2^53.
#[expect(clippy::cast_precision_loss, reason = "the formats that get it have no other number")]
pub(super) fn float(n: u128) -> f64 {
    n as f64
}
