//! `tinyprof top` of a directory that is not a profile, and `tinyprof live`: show a job while it
//! runs.
//!
//! ```text
//! segments, interim_profiles -> seen: sample -> frame -> view -> table -> screen -> terminal
//! ```
//!
//! A sample holds the data of one moment, a frame adds the changes since the previous sample, and a
//! view selects the visible part.

mod agents;
mod app;
mod causes;
mod choice;
mod copy;
mod ctl;
mod elsewhere;
mod every;
#[cfg(test)]
mod example;
mod frame;
mod giver;
mod interim_profiles;
mod iterations;
mod joined;
mod json;
mod keys;
mod of_run;
mod page;
mod plug;
mod profile;
mod progress;
mod push;
mod queue;
mod ranks;
mod remote;
mod sample;
mod save;
mod screen;
mod script;
mod seen;
mod segments;
mod source;
mod stream;
mod table;
mod terminal;
mod told;
mod until;
mod view;
mod watch;
mod whole;

use std::error::Error;
use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::time::Duration;

use crate::arguments::{HostChoice, Rows, SaveArguments, SegmentChoice, TableFormat, TopArguments};
use crate::recover::segment_directory;
use crate::sys;
pub(crate) use agents::run as agent;
use agents::{Task, way_to_hosts};
use app::App;
pub(crate) use ctl::run as ctl;
pub(crate) use of_run::{VARIABLE, Watcher};
pub(crate) use page::run as page;
pub(crate) use plug::run as plug;
pub(crate) use push::run as push;
use remote::Remote;
use screen::State;
use source::Source;
use terminal::{Event, on_terminal};
use watch::Watch;

/// The seconds between two reports of all measurements by an agent.
const MEASUREMENTS_EVERY_S: u32 = 10;

/// Watches until told to quit. Looks only once if that was asked for, or if nobody would see a
/// second look.
pub(crate) fn run(arguments: &TopArguments) -> Result<(), Box<dyn Error>> {
    let selection = &arguments.selection;
    let of_profiles = selection.ranks.is_some()
        || selection.executions.is_some()
        || selection.path.is_some()
        || arguments.metric.is_some()
        || arguments.by != Rows::Callpath
        || matches!(arguments.output.format(), TableFormat::Csv);
    if of_profiles {
        return Err(
            "a running job is shown as text or JSON, all of it: --rank, --execution, --path, --metric, --by \
                    and --format csv are for profiles; name one, NAME.tprof or NAME-interim-NNNN.tprof"
                .into(),
        );
    }
    let mut app = App::new(source(&Watching {
        directory: arguments.directory.as_deref(),
        job: arguments.job.as_deref(),
        hosts: &arguments.hosts,
        remote_shell: arguments.remote_shell.as_deref(),
        interval: arguments.interval,
    }))
    .expecting(arguments.iterations.clone());
    let is_json = matches!(arguments.output.format(), TableFormat::Json);
    if arguments.once || is_json || arguments.until.is_some() || !io::stdout().is_terminal() {
        return script::run(&mut app, arguments);
    }
    let colored = anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never;
    let interval_ns = u64::from(arguments.interval) * 1_000_000_000;
    on_terminal(|live| {
        let mut due_ns = 0;
        loop {
            let now_ns = sys::now().monotonic_ns;
            if now_ns >= due_ns {
                app.update();
                due_ns = now_ns.saturating_add(interval_ns);
            }
            live.draw(|buffer| app.screen(colored).draw(buffer))?;
            match live.next() {
                Event::Over => return Ok(()),
                Event::Tick => {}
                Event::Key(key) => {
                    if !keys::action_of(key).is_none_or(|action| app.act(action)) {
                        return Ok(());
                    }
                }
            }
        }
    })
}

/// Saves a running job, once or again and again.
///
/// # Errors
/// If there is no such job, or several, or a profile cannot be written.
pub(crate) fn save(arguments: &SaveArguments) -> Result<(), Box<dyn Error>> {
    match arguments.every {
        Some(interval) => every::run(arguments, interval.into()),
        None => save::run(arguments),
    }
}

/// The job that the user wants to watch.
struct Watching<'a> {
    directory: Option<&'a Path>,
    job: Option<&'a str>,
    hosts: &'a [String],
    remote_shell: Option<&'a str>,
    /// Of agents, in seconds.
    interval: u32,
}

impl<'a> Watching<'a> {
    /// Returns the job of these choices, of which agents send a picture each `interval` seconds.
    fn of(segments: &'a SegmentChoice, hosts: &'a HostChoice, interval: u32) -> Self {
        Self {
            directory: segments.directory.as_deref(),
            job: segments.job.as_deref(),
            hosts: &hosts.hosts,
            remote_shell: hosts.remote_shell.as_deref(),
            interval,
        }
    }
}

/// Returns the source of the numbers: agents, if the user names hosts, or a job of Slurm.
fn source(watching: &Watching<'_>) -> Source {
    let job = watching.job.map(str::to_owned);
    let Some((way, hosts)) = way_to_hosts(watching.job, watching.hosts, watching.remote_shell)
    else {
        let directory = segment_directory(watching.directory);
        return Source::Here(Box::new(Watch::new(&directory, job)));
    };
    let task = Task {
        way,
        directory: watching.directory.map(Path::to_owned),
        job,
        interval: Duration::from_secs(watching.interval.into()),
        measurements: (hosts.len() <= whole::HOSTS_MAX).then_some(MEASUREMENTS_EVERY_S),
    };
    Source::There(Box::new(Remote::start(&task, &hosts)))
}

/// Returns one frame as text: the whole tree, and the ranks of the first callpath.
fn once(app: &App, width: usize) -> String {
    let mut lines = Vec::new();
    match &app.state {
        State::Waiting(what) => lines.push(what.clone()),
        State::Choosing(jobs) => {
            lines.push("several jobs run here: name one with --job".to_owned());
            lines.extend(jobs.iter().map(screen::job_line));
        }
        State::Running(frame) | State::Ended(frame) => {
            lines.push(table::job_line(frame));
            if matches!(&app.state, State::Ended(_)) {
                lines.push("the job has ended: these are its last numbers".to_owned());
            }
            if frame.sample.why.is_some() {
                let width = u16::try_from(width).unwrap_or(u16::MAX);
                lines.extend(table::why_lines(frame, width));
            }
            lines.push(table::head(frame, width));
            let visible = app.view.visible(frame);
            lines.extend(visible.iter().map(|&row| table::row(&frame.rows[row], &app.view, width)));
            if let Some(&row) = visible.first() {
                lines.push(ranks::legend(frame, row, width));
                lines.push(
                    ranks::cells(frame, row, width).into_iter().map(ranks::Cell::symbol).collect(),
                );
            }
            let losses = table::losses_line(frame);
            if !losses.is_empty() {
                lines.push(format!("note: {losses}"));
            }
        }
    }
    lines.extend(
        app.trouble()
            .map(|why| format!("note: not read this time: {}", tinyprof_report::escaped(why))),
    );
    lines.into_iter().map(|line| line + "\n").collect()
}
