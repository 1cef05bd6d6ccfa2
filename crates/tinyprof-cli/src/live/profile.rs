//! A profile of a run that goes on: its name, and that it says so.

use std::error::Error;
use std::path::{Path, PathBuf};

use tinyprof_format::model::{EventMap, RunMetadata, RunState};

use crate::recover::write_ranks;

/// The name of a profile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name<'a> {
    /// The user's choice.
    pub(super) chosen: Option<&'a Path>,
    /// The directory of a profile that the user has not named.
    pub(super) directory: &'a Path,
    /// The end of its name, behind that of the program's own profile.
    pub(super) ending: &'a str,
}

impl Name<'_> {
    /// Returns the path, where the program's own profile has the path `own`.
    fn path(self, own: &str) -> PathBuf {
        self.chosen.map_or_else(
            || {
                let own = Path::new(own).file_stem().unwrap_or("profile".as_ref());
                let mut name = own.to_owned();
                name.push(self.ending);
                self.directory.join(name)
            },
            Path::to_owned,
        )
    }
}

/// Writes the profile of a program whose own profile has the path `own`, and returns its path.
/// `count` is the number of ranks that it has, and of all ranks, where there are several.
///
/// # Errors
/// If it cannot be written.
pub(super) fn write(
    metadata: RunMetadata,
    ranks: &[EventMap],
    count: Option<(usize, usize)>,
    own: &str,
    name: Name<'_>,
) -> Result<PathBuf, Box<dyn Error>> {
    let of = count.map(|(there, all)| format!("; it has {there} of its {all} ranks"));
    let of = of.unwrap_or_default();
    let because = format!("the run had not ended when tinyprof save wrote this{of}");
    let state = RunState { incomplete_because: Some(because), ..RunState::default() };
    write_ranks(metadata, ranks, state, &name.path(own))
}
