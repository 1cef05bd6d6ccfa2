//! `tinyprof ctl record`: some seconds of a running job in full detail.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};
use tinyprof_report::cells::counted;
use tinyprof_report::escaped;
use tinyprof_segment::control::{Accepts, Answer, Verb};

use super::super::agents::end_of_input;
use super::super::elsewhere::{Elsewhere, Sent, write_joined};
use super::super::giver::Giver;
use super::super::profile::Name;
use super::super::save::save;
use super::super::told::{Form, Scratch, Told, form};
use super::threads::Threads;
use crate::arguments::{OnJob, Time};
use crate::events::Window;
use crate::export::perfetto_of;
use crate::sys;

/// The ending of a file for Perfetto.
const PERFETTO: &str = "pftrace";

/// The time between two looks while ranks record.
const LOOK: Duration = Duration::from_millis(20);

/// How long ranks may take to end the visit in which the recording ends.
const END_NS: u64 = 100_000_000;

/// A recording of the ranks of a host, or of all.
struct Recorded {
    who: String,
    ranks: usize,
    window: Window,
    notes: Vec<String>,
}

/// Makes all ranks keep events for this long, writes a profile of them, and the file that `name` is
/// to be, and says so.
///
/// # Errors
/// If there is no such job, no rank obeys, or nothing can be written.
pub(super) fn run(on: &OnJob, time: Time, name: Option<&Path>) -> Result<(), Box<dyn Error>> {
    let trace = name.filter(|name| is_trace(name));
    if let Some(trace) = trace.filter(|trace| trace.exists()) {
        let trace = trace.display();
        return Err(format!("{trace} exists already: name another file, or remove it").into());
    }
    let chosen = name.map(profile_name);
    let chosen = chosen.as_deref();
    let scratch = Scratch::for_packed(on)?;
    let (recorded, profile) = match Elsewhere::of(on) {
        Some(elsewhere) => on_hosts(&elsewhere, time, chosen)?,
        None => {
            let recorded = record(on, time)?;
            let name = Name { chosen, directory: scratch.path(), ending: "-recorded" };
            (recorded, save(&on.segments, name)?.profile)
        }
    };
    if let Some(trace) = trace {
        perfetto_of(&profile, trace, recorded.window)?;
    }
    recorded.told(profile, trace).print(form(on))
}

/// Makes all ranks of these hosts keep events for this long, and writes a profile of them.
///
/// # Errors
/// If there is no such job on any, no rank obeys, or nothing can be written.
pub(in crate::live) fn record_by(
    hosts: &Elsewhere<'_>,
    time: Time,
    name: Option<&Path>,
) -> Result<Told, Box<dyn Error>> {
    let (recorded, profile) = on_hosts(hosts, time, name)?;
    Ok(recorded.told(profile, None))
}

fn on_hosts(
    hosts: &Elsewhere<'_>,
    time: Time,
    name: Option<&Path>,
) -> Result<(Recorded, PathBuf), Box<dyn Error>> {
    let sent = hosts.run(&["ctl", "record", "--for", &time.to_string()], |_, _| Ok(()))?;
    Ok((joined(&sent)?, write_joined(&sent, name)?))
}

/// Makes all ranks of this host keep events for this long.
fn record(on: &OnJob, time: Time) -> Result<Recorded, Box<dyn Error>> {
    // Whoever has asked for it from another host may go.
    let is_over = (form(on) == Form::Packed).then(end_of_input);
    let mut threads = Threads::find(&on.segments)?;
    let begin_ns = sys::now().monotonic_ns;
    let until_ns = begin_ns.saturating_add(time.ns());
    let giver = Giver::of(on);
    let (verb, needs) = (Verb::Record, Accepts::Recording);
    threads.give(verb, needs, until_ns, &giver)?;
    let mut new = 0;
    loop {
        threads.ask();
        new += threads.give_to_new(verb, needs, until_ns, &giver);
        let rest_ns = until_ns.saturating_sub(sys::now().monotonic_ns);
        if rest_ns == 0 {
            break;
        }
        if is_over.as_ref().is_some_and(|is_over| is_over.load(Relaxed)) {
            return Err("whoever has asked for it is gone".into());
        }
        sleep(LOOK.min(Duration::from_nanos(rest_ns)));
    }
    // Their last visits end a little later; those of a rank that waits are cut by the profile.
    let end_ns = until_ns.saturating_add(END_NS);
    let mut ranks = threads.ranks();
    while ranks.0.iter().any(|rank| rank.keeps_events) && sys::now().monotonic_ns < end_ns {
        sleep(LOOK);
        ranks = threads.ranks();
    }
    let mut notes: Vec<String> = ranks.late_line().into_iter().chain(ranks.empty_line()).collect();
    if new > 0 {
        let threads = counted(new as u64, "thread");
        notes.push(format!("{threads} began meanwhile: the first {LOOK:?} of each may be missing"));
    }
    let recorded = ranks.answered(Answer::Done);
    let kept = ranks.answered(Answer::KeepsAlready);
    if kept > 0 {
        let of = ranks.0.len();
        notes.push(format!(
            "{kept} of {of} ranks keep events anyway, as their TINYPROF_EVENTS says"
        ));
    }
    let off = ranks.0.iter().filter(|rank| rank.is_off).count();
    if off > 0 {
        let of = ranks.0.len();
        notes.push(format!("{off} of {of} ranks are switched off: tinyprof ctl on measures again"));
    }
    if recorded + kept == 0 {
        let why = notes.join("; ");
        return Err(format!("nothing was recorded of {}: {why}", threads.who()).into());
    }
    let since_start = |ns: u64| ns.saturating_sub(threads.started_ns());
    let window = Window { from_ns: since_start(begin_ns), to_ns: since_start(until_ns) };
    Ok(Recorded { who: threads.who().to_owned(), ranks: recorded + kept, window, notes })
}

/// Returns what was recorded on all hosts together.
fn joined(sent: &[Sent]) -> Result<Recorded, Box<dyn Error>> {
    let number = |of: &Value, key: &str| of[key].as_u64().ok_or("a host did not say what it did");
    let mut all = Recorded {
        who: counted(sent.len() as u64, "host"),
        ranks: 0,
        window: Window { from_ns: u64::MAX, to_ns: 0 },
        notes: Vec::new(),
    };
    for Sent { head, .. } in sent {
        let json = &head.json;
        all.ranks += usize::try_from(number(json, "ranks")?)?;
        all.window.from_ns = all.window.from_ns.min(number(json, "from_ns")?);
        all.window.to_ns = all.window.to_ns.max(number(json, "to_ns")?);
        let notes = json["notes"].as_array().into_iter().flatten();
        all.notes.extend(notes.filter_map(|note| note.as_str().map(str::to_owned)));
    }
    Ok(all)
}

fn is_trace(name: &Path) -> bool {
    name.extension().is_some_and(|extension| extension == PERFETTO)
}

/// Returns the name of the profile beside what the user wants.
fn profile_name(name: &Path) -> PathBuf {
    if is_trace(name) { name.with_extension("") } else { name.to_owned() }
}

impl Recorded {
    /// Returns what was done.
    fn told(self, profile: PathBuf, trace: Option<&Path>) -> Told {
        let Self { who, ranks, window, notes } = self;
        let files = trace.into_iter().chain([profile.as_path()]);
        let files = files.map(|file| file.display().to_string()).collect::<Vec<_>>().join(" and ");
        let seconds = |ns: u64| Duration::from_nanos(ns).as_secs_f64();
        let text = format!(
            "{who}: recorded {} from {:.1} to {:.1} s after the start, in {files}",
            counted(ranks as u64, "rank"),
            seconds(window.from_ns),
            seconds(window.to_ns),
        );
        let mut text = escaped(&text) + "\n";
        notes.iter().for_each(|note| text += &format!("note: {}\n", escaped(note)));
        let json = json!({
            "job": who,
            "ranks": ranks,
            "from_ns": window.from_ns,
            "to_ns": window.to_ns,
            "profile": profile.to_string_lossy(),
            "trace": trace.map(Path::to_string_lossy),
            "notes": notes,
        });
        Told { text, json, profile: Some(profile) }
    }
}
