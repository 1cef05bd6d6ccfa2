//! `tinyprof save`: a profile of a job that runs, from the memory of its threads. Reads only: the
//! processes do not notice.

use std::cell::RefCell;
use std::collections::HashMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Acquire;

use serde_json::json;
use tinyprof_format::model::EventMap;
use tinyprof_report::cells::counted;
use tinyprof_report::escaped;
use tinyprof_segment::clock::Moment;
use tinyprof_segment::layout::header;
use tinyprof_segment::words::{Line, high, low};

use super::elsewhere::{Elsewhere, write_joined};
use super::profile::{Name, write};
use super::segments::{copied_with, event_maps, only_job, pieces};
use super::told::{Scratch, Told, form};
use crate::arguments::{OnJob, SaveArguments, SegmentChoice};
use crate::kept::events::{Kept, add_events};
use crate::recover::find::find;
use crate::recover::jobs::{Job, jobs};
use crate::recover::segment_directory;
use crate::sys;

/// The events of threads, by the paths of their segments.
type Events = RefCell<HashMap<PathBuf, Kept>>;

/// Writes a profile of a job as it is now, and says so.
///
/// # Errors
/// If there is no such job, or several, or the profile cannot be written.
pub(super) fn run(arguments: &SaveArguments) -> Result<(), Box<dyn Error>> {
    save_on(&arguments.on, arguments.name.as_deref())
}

/// Writes a profile of a job as it is now, on this host or others, and says so.
///
/// # Errors
/// If there is no such job, or several, or the profile cannot be written.
pub(super) fn save_on(on: &OnJob, name: Option<&Path>) -> Result<(), Box<dyn Error>> {
    let scratch = Scratch::for_packed(on)?;
    saved_to(on, name, scratch.path())?.print(form(on))
}

/// Writes a profile of a job as it is now, in the user's directory.
///
/// # Errors
/// As for [`save_on`].
pub(super) fn saved(on: &OnJob, name: Option<&Path>) -> Result<Told, Box<dyn Error>> {
    saved_to(on, name, "".as_ref())
}

fn saved_to(on: &OnJob, name: Option<&Path>, directory: &Path) -> Result<Told, Box<dyn Error>> {
    if let Some(elsewhere) = Elsewhere::of(on) {
        return save_by(&elsewhere, name);
    }
    let saved = save(&on.segments, Name { chosen: name, directory, ending: "-saved" })?;
    Ok(told(&saved.who, saved.profile))
}

/// Writes a profile of a job as it is now on all of these hosts.
///
/// # Errors
/// If there is no such job on any, or the profile cannot be written.
pub(super) fn save_by(hosts: &Elsewhere<'_>, name: Option<&Path>) -> Result<Told, Box<dyn Error>> {
    let sent = hosts.run(&["save"], |_, _| Ok(()))?;
    let profile = write_joined(&sent, name)?;
    Ok(told(&counted(sent.len() as u64, "host"), profile))
}

/// Returns what is said of a profile.
pub(super) fn told(who: &str, profile: PathBuf) -> Told {
    Told {
        text: escaped(&format!("{who}: saved as {}", profile.display())) + "\n",
        json: json!({ "job": who, "profile": profile.to_string_lossy() }),
        profile: Some(profile),
    }
}

/// A profile of a job that runs.
pub(super) struct Saved {
    /// The processes of the job, for people.
    pub(super) who: String,
    pub(super) profile: PathBuf,
}

/// Writes a profile of a job of this host as it is now.
///
/// # Errors
/// If there is no such job, or several, or the profile cannot be written.
pub(super) fn save(segments: &SegmentChoice, name: Name<'_>) -> Result<Saved, Box<dyn Error>> {
    let directory = segment_directory(segments.directory.as_deref());
    let (mut threads, mut events) = (Vec::new(), HashMap::new());
    for path in find(&directory)?.running {
        // One that has just ended is not there.
        let Some((segment, kept)) = copied_with(&path, events_in) else { continue };
        events.extend(kept.map(|kept| (path.clone(), kept)));
        threads.push((path, segment));
    }
    let pieces = pieces(&threads);
    let job = only_job(jobs(&pieces), segments.job.as_deref(), &directory)?;
    let ranks = ranks(&job, &RefCell::new(events), sys::now());
    let described = job.description();
    let count = job.size().map(|_| (job.ranks(), ranks.len()));
    let profile = write(described.metadata, &ranks, count, &described.profile, name)?;
    Ok(Saved { who: job.who(), profile })
}

/// Returns the events in the words of a segment. They are read before the segment is copied, so
/// that the copy has their callpaths.
fn events_in(segment: &[AtomicU64]) -> Option<Kept> {
    let place = segment.get(header::EVENTS).map_or(0, |place| place.load(Acquire));
    let (first, count) = (Line::from_number(low(place)).first_word(), high(place) as usize);
    let words = segment.get(first..first.saturating_add(count)).filter(|_| place != 0)?;
    Kept::read(words, Some(sys::now()))
}

fn ranks(job: &Job<'_>, events: &Events, now: Moment) -> Vec<EventMap> {
    event_maps(job, now, |map, threads, segments| {
        let kept = threads.iter().map(|piece| events.borrow_mut().remove(piece.path)).collect();
        add_events(map, segments, kept, now);
    })
}
