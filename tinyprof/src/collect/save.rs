//! A profile that the program asks for, of what it has measured and of its events so far.

use std::io::Error;
use std::path::{Path, PathBuf};

use tinyprof_format::error::WriteError;
use tinyprof_format::file::{OutputFormat, ProfileWriter, profile_path};
use tinyprof_format::model::RunState;

use super::choices::deadline;
use super::config::output_files;
use super::isolated::isolated;
use super::metadata::metadata;
use super::segments;
use super::session::session;
use super::snapshot::snapshot;
use crate::record::thread;

/// Writes a profile of this process so far, and returns its path; `None` if there is nothing.
pub(crate) fn save_events(name: &Path) -> Result<Option<PathBuf>, WriteError> {
    if !session().config.is_recording() {
        return Ok(None);
    }
    let target = of_rank(name);
    let path = target.clone();
    let saved = thread::while_away(|| isolated(deadline(), move || write(&target)));
    saved.unwrap_or_else(|reason| {
        Err(WriteError { action: "write", path, source: Error::other(reason.reason()) })
    })
}

/// Returns the name for this rank: ranks do not write to one profile here.
fn of_rank(name: &Path) -> PathBuf {
    match segments::rank() {
        Some((rank, size)) if size > 1 => {
            let mut name = profile_path(name).with_extension("").into_os_string();
            name.push(format!("-rank-{rank}"));
            name.into()
        }
        _ => name.to_owned(),
    }
}

fn write(target: &Path) -> Result<Option<PathBuf>, WriteError> {
    let map = snapshot();
    if map.callpaths.is_empty() {
        return Ok(None);
    }
    let because = Some("the run had not ended when the program saved it".to_owned());
    let state = RunState { incomplete_because: because, ..RunState::default() };
    ProfileWriter::new()
        .with_files(output_files(&session().config, OutputFormat::Tprof))
        .with_metadata(metadata())
        .with_state(state)
        .write(target, std::slice::from_ref(&map))
        .map(Some)
}
