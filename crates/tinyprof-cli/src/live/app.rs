//! The state of live viewing: looks at the job, keeps the previous sample, and executes key
//! actions. Knows no terminal.

use std::thread;

use super::frame::Frame;
use super::sample::Sample;
use super::screen::{Screen, State};
use super::seen::Seen;
use super::source::Source;
use super::view::{Action, View};
use crate::arguments::IterationCount;

/// The job being watched, and the state of the view.
#[derive(Debug)]
pub(super) struct App {
    source: Source,
    pub(super) view: View,
    pub(super) state: State,
    trouble: Option<String>,
    before: Option<Sample>,
    /// The iterations that the user expects.
    iterations: Option<IterationCount>,
}

impl App {
    pub(super) fn new(source: Source) -> Self {
        let state = State::Waiting(source.awaited());
        let view = View::default();
        Self { source, view, state, trouble: None, before: None, iterations: None }
    }

    /// Knows how many iterations there will be.
    pub(super) fn expecting(self, iterations: Option<IterationCount>) -> Self {
        Self { iterations, ..self }
    }

    /// Looks once; if a job runs, twice, so that rates are known.
    ///
    /// # Errors
    /// If there is no job to look at, with the reason.
    pub(super) fn look_once(&mut self) -> Result<(), String> {
        self.source.wait();
        self.update();
        if matches!(self.state, State::Running(_)) {
            thread::sleep(self.source.rates_over());
            self.update();
        }
        if !matches!(self.state, State::Waiting(_)) {
            return Ok(());
        }
        Err(self.trouble.clone().unwrap_or_else(|| self.source.nothing()))
    }

    /// Returns the frame of the only job, and whether the job has ended; `None` while it is waited
    /// for.
    ///
    /// # Errors
    /// If none will come, or there are several jobs, of which only a person can choose.
    pub(super) fn only_frame(&self) -> Result<Option<(&Frame, bool)>, String> {
        match &self.state {
            State::Waiting(what) if self.source.is_over() => {
                Err(self.trouble().unwrap_or(what).to_owned())
            }
            State::Waiting(_) => Ok(None),
            State::Choosing(jobs) => {
                let ids: Vec<&str> = jobs.iter().map(|job| job.id.as_str()).collect();
                Err(format!("several jobs run here: name one with --job: {}", ids.join(", ")))
            }
            State::Running(frame) => Ok(Some((frame, false))),
            State::Ended(frame) => Ok(Some((frame, true))),
        }
    }

    /// Looks once, unless the screen is paused.
    pub(super) fn update(&mut self) {
        if self.view.paused || matches!(self.state, State::Ended(_)) {
            return;
        }
        let seen = self.source.look();
        self.take(seen);
    }

    fn take(&mut self, seen: Seen) {
        self.trouble = None;
        match seen {
            Seen::Nothing => self.state = State::Waiting(self.source.awaited()),
            Seen::Several(jobs) => {
                self.view.choice = self.view.choice.min(jobs.len().saturating_sub(1));
                self.state = State::Choosing(jobs);
            }
            Seen::Running(sample) => self.state = State::Running(self.next(*sample)),
            Seen::Ended(Some(sample)) => self.state = State::Ended(self.next(*sample)),
            Seen::Ended(None) => {
                let waiting = State::Waiting(self.source.awaited());
                let state = std::mem::replace(&mut self.state, waiting);
                if let State::Running(frame) | State::Ended(frame) = state {
                    self.state = State::Ended(frame);
                }
            }
            Seen::Unreadable(why) => self.trouble = Some(why),
        }
    }

    /// Creates the frame of a sample, relative to the newest sample of an earlier moment.
    fn next(&mut self, sample: Sample) -> Box<Frame> {
        if let State::Running(frame) = &self.state
            && frame.sample.moment_ns < sample.moment_ns
        {
            self.before = Some(frame.sample.clone());
        }
        Box::new(Frame::expecting(sample, self.before.as_ref(), self.iterations.as_ref()))
    }

    /// Executes a key's action. Returns `false` to quit.
    pub(super) fn act(&mut self, action: Action) -> bool {
        match action {
            Action::Quit => return false,
            Action::Help => self.view.help = !self.view.help,
            Action::Why => self.view.why = !self.view.why,
            Action::Pause => self.view.paused = !self.view.paused,
            Action::Ranks => self.view.ranks = !self.view.ranks,
            _ => match &self.state {
                State::Waiting(_) => {}
                State::Choosing(jobs) => match action {
                    Action::Up => self.view.choice = self.view.choice.saturating_sub(1),
                    Action::Down => {
                        self.view.choice = (self.view.choice + 1).min(jobs.len().saturating_sub(1));
                    }
                    Action::Enter | Action::Expand => {
                        if let Some(job) = jobs.get(self.view.choice) {
                            self.choose(job.id.clone());
                        }
                    }
                    _ => {}
                },
                State::Running(frame) | State::Ended(frame) => self.view.apply(action, frame),
            },
        }
        true
    }

    /// Returns the id of the job that is watched, of several of this host.
    pub(super) fn watched(&self) -> Option<&str> {
        self.source.watched()
    }

    /// Watches the job of this id from now on, of several of this host.
    pub(super) fn choose(&mut self, id: String) {
        self.source.choose(id);
        self.update();
    }

    /// Returns everything to draw.
    pub(super) fn screen(&self, colored: bool) -> Screen<'_> {
        Screen { state: &self.state, view: &self.view, trouble: self.trouble.as_deref(), colored }
    }

    /// Returns the part that could not be read in the last look, if any.
    pub(super) fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::super::example::sample;
    use super::super::watch::Watch;
    use super::*;

    fn at(seconds: u64, visits: u64) -> Seen {
        let mut sample = sample(2, visits);
        sample.moment_ns = seconds * 1_000_000_000;
        Seen::Running(Box::new(sample))
    }

    fn rate(app: &App) -> Option<f64> {
        let (State::Running(frame) | State::Ended(frame)) = &app.state else {
            panic!("{:?}", app.state)
        };
        frame.rows[0].recent.map(|recent| recent.visits_per_s)
    }

    #[test]
    fn a_job_begins_runs_and_ends() {
        let empty = tempfile::tempdir().expect("a directory");
        let mut app = App::new(Source::Here(Box::new(Watch::new(empty.path(), None))));
        app.update();
        assert!(matches!(&app.state, State::Waiting(_)));
        app.take(at(1, 1));
        assert_eq!(rate(&app), None);
        app.take(at(3, 5));
        assert_eq!(rate(&app), Some(4.0));
        // The same sample again, only older: the rates stay.
        app.take(at(3, 5));
        assert_eq!(rate(&app), Some(4.0));
        app.take(Seen::Unreadable("a file".to_owned()));
        assert_eq!((app.trouble(), rate(&app)), (Some("a file"), Some(4.0)));
        app.take(Seen::Ended(None));
        assert!(matches!(&app.state, State::Ended(_)) && app.trouble().is_none());
        app.update();
        assert!(matches!(&app.state, State::Ended(_)), "it stays until it is quit");
        assert!(
            app.act(Action::Down)
                && app.act(Action::Help)
                && app.view.help
                && !app.act(Action::Quit)
        );
    }

    #[test]
    fn one_look_at_what_cannot_be_read_fails() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let mut app = App::new(Source::Here(Box::new(Watch::new(file.path(), None))));
        let why = app.look_once().expect_err("it is no directory");
        assert!(why.contains("cannot read"), "{why}");
    }

    #[test]
    fn one_of_several_jobs_is_chosen() {
        let empty = tempfile::tempdir().expect("a directory");
        let mut app = App::new(Source::Here(Box::new(Watch::new(empty.path(), None))));
        let jobs = ["7", "8", "9"]
            .map(|id| super::super::seen::JobLine { id: id.to_owned(), what: String::new() });
        app.take(Seen::Several(jobs.to_vec()));
        for action in [Action::Down, Action::Down, Action::Down, Action::Up] {
            app.act(action);
        }
        assert_eq!(app.view.choice, 1);
        app.take(Seen::Several(jobs[..1].to_vec()));
        assert_eq!(app.view.choice, 0, "the others have ended");
        app.act(Action::Enter);
        assert!(matches!(&app.state, State::Waiting(_)), "that job is not here any more");
    }
}
