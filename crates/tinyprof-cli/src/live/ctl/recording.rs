//! `tinyprof ctl record`: some seconds of a running job in full detail.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use serde_json::json;
use tinyprof_report::escaped;
use tinyprof_segment::control::{Accepts, Answer, Verb};
use tinyprof_views::json_text;

use super::super::save::save;
use super::threads::Threads;
use crate::arguments::SegmentChoice;
use crate::events::Window;
use crate::export::perfetto_of;
use crate::sys;

/// The ending of a file for Perfetto.
const PERFETTO: &str = "pftrace";

/// The time between two looks while ranks record.
const LOOK: Duration = Duration::from_millis(20);

/// How long ranks may take to end the visit in which the recording ends.
const END_NS: u64 = 100_000_000;

/// What was recorded.
pub(super) struct Recorded {
    who: String,
    ranks: usize,
    window: Window,
    profile: PathBuf,
    /// The file for another tool.
    trace: Option<PathBuf>,
    notes: Vec<String>,
}

/// Makes all ranks keep events for this long, and writes a profile of them, and the file that
/// `name` is to be.
///
/// # Errors
/// If there is no such job, no rank obeys, or nothing can be written.
pub(super) fn record(
    choice: &SegmentChoice,
    time: Duration,
    name: Option<&Path>,
) -> Result<Recorded, Box<dyn Error>> {
    let mut threads = Threads::find(choice)?;
    let begin_ns = sys::now().monotonic_ns;
    let until_ns = begin_ns.saturating_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    threads.give(Verb::Record, Accepts::Recording, until_ns)?;
    while sys::now().monotonic_ns < until_ns {
        threads.ask();
        sleep(LOOK.min(Duration::from_nanos(until_ns.saturating_sub(sys::now().monotonic_ns))));
    }
    // Their last visits end a little later; those of a rank that waits are cut by the profile.
    let end_ns = until_ns.saturating_add(END_NS);
    while threads.ranks().iter().any(|rank| rank.keeps_events) && sys::now().monotonic_ns < end_ns {
        sleep(LOOK);
    }
    let mut notes: Vec<String> = threads.late_line().into_iter().collect();
    let (recorded, kept) =
        (threads.answered(Answer::Done).len(), threads.answered(Answer::KeepsAlready).len());
    if kept > 0 {
        notes.push(format!(
            "{kept} of {} ranks keep events anyway, as their TINYPROF_EVENTS says",
            threads.ranks().len()
        ));
    }
    if recorded + kept == 0 {
        return Err(
            format!("nothing was recorded of {}: {}", threads.who(), notes.join("; ")).into()
        );
    }
    let since_start = |ns: u64| ns.saturating_sub(threads.started_ns());
    let window = Window { from_ns: since_start(begin_ns), to_ns: since_start(until_ns) };
    let profile_name = profile_name(&threads, name);
    let profile = save(choice, Some(&profile_name))?.profile;
    let trace = match name {
        Some(name) if is_trace(name) => {
            perfetto_of(&profile, name, window)?;
            Some(name.to_owned())
        }
        _ => None,
    };
    let (who, ranks) = (threads.who().to_owned(), recorded + kept);
    Ok(Recorded { who, ranks, window, profile, trace, notes })
}

fn is_trace(name: &Path) -> bool {
    name.extension().is_some_and(|extension| extension == PERFETTO)
}

/// Returns the name of the profile: that of the user, or one made of the program's own.
fn profile_name(threads: &Threads, name: Option<&Path>) -> PathBuf {
    name.map_or_else(
        || {
            let own = Path::new(threads.profile()).file_stem().unwrap_or("profile".as_ref());
            let mut name = own.to_owned();
            name.push("-recorded");
            name.into()
        },
        |name| if is_trace(name) { name.with_extension("") } else { name.to_owned() },
    )
}

impl Recorded {
    /// Returns what was done, for people or for programs.
    pub(super) fn said(&self, is_json: bool) -> String {
        let Self { who, ranks, window, profile, trace, notes } = self;
        if is_json {
            return json_text(&json!({
                "job": who,
                "ranks": ranks,
                "from_ns": window.from_ns,
                "to_ns": window.to_ns,
                "profile": profile.to_string_lossy(),
                "trace": trace.as_ref().map(|trace| trace.to_string_lossy()),
                "notes": notes,
            }));
        }
        let files = trace.iter().chain([profile]).map(|file| file.display().to_string());
        let files = files.collect::<Vec<_>>().join(" and ");
        let seconds = |ns: u64| Duration::from_nanos(ns).as_secs_f64();
        let text = format!(
            "{who}: recorded {} from {:.1} to {:.1} s after the start, in {files}",
            tinyprof_report::cells::counted(*ranks as u64, "rank"),
            seconds(window.from_ns),
            seconds(window.to_ns),
        );
        let mut lines = vec![escaped(&text)];
        lines.extend(notes.iter().map(|note| format!("note: {note}")));
        lines.join("\n") + "\n"
    }
}
