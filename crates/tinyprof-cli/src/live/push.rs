//! `tinyprof push`: the numbers of a running job for a site's monitoring.
//!
//! ```text
//! source -> app: a look -> numbers -> otlp, text -> a sender for each target
//!                       -> json                  -> a sender
//! ```
//!
//! A target that drops, hangs or refuses costs its documents and nothing else: each has a thread
//! and a queue of its own.

mod endpoint;
#[cfg(test)]
mod example;
mod metric;
mod numbers;
mod otlp;
mod sender;
mod sums;
mod target;
mod text;

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use tinyprof_report::cells::counted;

use super::app::App;
use super::frame::Frame;
use super::sample::Sample;
use super::{Watching, json, source};
use crate::arguments::PushArguments;
use crate::outcome::Outcome;
use crate::{render, sys};
use endpoint::Endpoint;
use metric::Numbers;
use numbers::Counter;
use sender::{Sender, Tally};
use target::{Collector, Lines, Newest};

/// The time between two looks at the job, in seconds: its last numbers are not older.
const LOOK_SECONDS: u32 = 1;

/// The time between two looks whether a signal has come.
const TICK: Duration = Duration::from_millis(50);

/// Pushes until the job has ended, or a signal asks to end.
///
/// # Errors
/// If there is no such job, or nothing reached a target.
pub(crate) fn run(arguments: &PushArguments) -> Result<Outcome, Box<dyn Error>> {
    let mut push = Push::new(arguments)?;
    let mut app = App::new(source(&Watching {
        directory: arguments.directory.as_deref(),
        job: arguments.job.as_deref(),
        hosts: &arguments.hosts.hosts,
        remote_shell: arguments.hosts.remote_shell.as_deref(),
        interval: LOOK_SECONDS,
    }));
    let stop = stop_on_signals()?;
    let interval_ns = u64::from(arguments.interval) * 1_000_000_000;
    let mut due_ns = 0;
    loop {
        let begun_ns = sys::now().monotonic_ns;
        app.update();
        let is_stopped = stop.load(Ordering::Relaxed);
        match app.only_frame()? {
            Some((frame, has_ended)) => {
                let is_last = has_ended || is_stopped;
                if is_last || begun_ns >= due_ns {
                    push.picture(frame, has_ended, app.watched())?;
                    due_ns = begun_ns.saturating_add(interval_ns);
                }
                if is_last {
                    return push.finish();
                }
            }
            None if is_stopped => return Err("ended by a signal before there was a job".into()),
            None => {}
        }
        while sys::since(begun_ns) < Duration::from_secs(LOOK_SECONDS.into())
            && !stop.load(Ordering::Relaxed)
        {
            sleep(TICK);
        }
    }
}

/// Returns what becomes true when a signal asks to end; a second one ends this process at once.
fn stop_on_signals() -> Result<Arc<AtomicBool>, Box<dyn Error>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, 1, Arc::clone(&stop))?;
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

/// A form of documents.
enum Form {
    /// OTLP, of a resource with these attributes.
    Otlp(Vec<(String, String)>),
    Text,
    Json,
}

/// The targets, and what was pushed.
struct Push {
    senders: Vec<(Form, Sender)>,
    counter: Counter,
    /// The sample that was pushed last.
    before: Option<Sample>,
}

impl Push {
    fn new(arguments: &PushArguments) -> Result<Self, Box<dyn Error>> {
        let mut senders = Vec::new();
        if let Some(url) = &arguments.otlp {
            let variable = |name: &str| std::env::var(name).ok();
            let endpoint = Endpoint::new(url.as_deref(), variable)?;
            render::notes(&endpoint.notes);
            let form = Form::Otlp(endpoint.resource.clone());
            let way = Box::new(Collector::new(endpoint.clone()));
            senders.push((form, Sender::start(endpoint.shown(), way)));
        }
        let name = |path: &Path| path.display().to_string();
        if let Some(path) = &arguments.openmetrics {
            senders.push((Form::Text, Sender::start(name(path), Box::new(Newest::new(path)))));
        }
        if let Some(path) = &arguments.json {
            let target = if path == Path::new("-") { "standard output".into() } else { name(path) };
            senders.push((Form::Json, Sender::start(target, Box::new(Lines::new(path)?))));
        }
        let counter = Counter::new(arguments.job.clone(), arguments.callpaths);
        Ok(Self { senders, counter, before: None })
    }

    /// Pushes a picture. Its rates are since the one before.
    fn picture(
        &mut self,
        frame: &Frame,
        has_ended: bool,
        job: Option<&str>,
    ) -> Result<(), Box<dyn Error>> {
        let dropped: Vec<(String, u64)> =
            self.senders.iter().map(|(form, sender)| (form.name(), sender.dropped())).collect();
        let numbers = self.counter.numbers(frame, has_ended, job, &dropped);
        let is_newer = |before: &&Sample| before.moment_ns < frame.sample.moment_ns;
        let frame = Frame::new(frame.sample.clone(), self.before.as_ref().filter(is_newer));
        for (form, sender) in &self.senders {
            sender.push(form.document(&numbers, &frame, has_ended)?);
        }
        self.before = Some(frame.sample);
        Ok(())
    }

    /// Waits for what is left, and tells what was lost.
    fn finish(self) -> Result<Outcome, Box<dyn Error>> {
        self.senders.iter().for_each(|(_, sender)| sender.close());
        let mut outcome = Outcome::Done;
        let mut failed = Vec::new();
        for (_, sender) in self.senders {
            let target = sender.target.clone();
            let Tally { delivered, dropped, rejected, why, .. } = sender.finish();
            if dropped + rejected == 0 {
                continue;
            }
            outcome = Outcome::Losses;
            if delivered == 0 {
                failed.push(format!("nothing reached {target}: {why}"));
                continue;
            }
            let of = counted(delivered + dropped, "document");
            render::notes(&[format!(
                "{target}: {dropped} of {of} dropped, {} refused: {why}",
                counted(rejected, "point")
            )]);
        }
        if failed.is_empty() { Ok(outcome) } else { Err(failed.join("; ").into()) }
    }
}

impl Form {
    /// Returns the name of the option.
    fn name(&self) -> String {
        let name = match self {
            Self::Otlp(_) => "otlp",
            Self::Text => "openmetrics",
            Self::Json => "json",
        };
        name.to_owned()
    }

    fn document(
        &self,
        numbers: &Numbers,
        frame: &Frame,
        has_ended: bool,
    ) -> Result<String, Box<dyn Error>> {
        Ok(match self {
            Self::Otlp(resource) => otlp::request(numbers, resource).to_string(),
            Self::Text => {
                let mut out = Vec::new();
                text::write(&mut out, numbers)?;
                String::from_utf8(out)?
            }
            Self::Json => json::document(frame, has_ended).to_string(),
        })
    }
}
