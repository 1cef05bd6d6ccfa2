//! Drawing of the view into the cells of a terminal of any size.

use ratatui_core::buffer::Buffer;
use ratatui_core::style::{Color, Modifier, Style};
use tinyprof_report::cells::cut;
use tinyprof_report::escaped;
use tinyprof_why::Why;

use super::frame::Frame;
use super::ranks::{self, Cell};
use super::seen::JobLine;
use super::table;
use super::view::View;

/// Everything to draw.
#[derive(Debug)]
pub(super) struct Screen<'a> {
    pub(super) state: &'a State,
    pub(super) view: &'a View,
    /// The last read error.
    pub(super) trouble: Option<&'a str>,
    pub(super) colored: bool,
}

/// The state of the job.
#[derive(Debug)]
pub(super) enum State {
    /// It has not begun, or has no data yet.
    Waiting(String),
    /// There are several jobs to choose from.
    Choosing(Vec<JobLine>),
    Running(Box<Frame>),
    Ended(Box<Frame>),
}

const KEYS: &str = "q quit  up/down select  enter fold  s sort  r ranks  w why  p pause  ? help";
const HELP: [&str; 17] = [
    "q, ctrl-c        quit",
    "up, down, k, j   select a callpath; page up and page down go ten further",
    "right, left      unfold and fold what it calls; enter does either",
    "s                sort by inclusive, exclusive, now, visits",
    "r                list the slowest ranks of the callpath",
    "w                say why ranks wait: the causes, their places, and what to do",
    "p                pause: the screen stays as it is, the job goes on",
    "?                this page",
    "",
    "inclusive, exclusive   time on all ranks together, with and without what it calls",
    "share                  part of the time of all root regions, since the start",
    "now                    the same since the sample before: what is hot now",
    "visits/s               visits since the sample before, on all ranks together",
    "imbal                  how far the slowest rank is above the mean",
    "~                      an estimate: a budget let only some visits be timed",
    "",
    "Numbers are those of the newest sample; the first line says how old it is.",
];

/// The number of lines besides the tree: job, state, head, two of ranks, keys.
const OTHER_LINES: u16 = 6;
/// The number of ranks that are listed.
const SLOWEST: u16 = 8;

impl Screen<'_> {
    pub(super) fn draw(&self, to: &mut Buffer) {
        match self.state {
            _ if self.view.help => {
                HELP.iter().zip(0..).for_each(|(line, y)| put(to, y, line, Style::new()));
            }
            State::Waiting(what) => put(to, 0, what, Style::new()),
            State::Choosing(jobs) => self.draw_choice(jobs, to),
            State::Running(frame) | State::Ended(frame) => self.draw_frame(frame, to),
        }
        if let Some(last) = to.area.height.checked_sub(1) {
            put(to, last, KEYS, Style::new().add_modifier(Modifier::REVERSED));
        }
    }

    fn draw_choice(&self, jobs: &[JobLine], to: &mut Buffer) {
        put(to, 0, "Several jobs run here. Which one? (up, down, enter)", bold());
        for ((at, job), y) in jobs.iter().enumerate().zip(2..) {
            let style = if at == self.view.choice { selected() } else { Style::new() };
            put(to, y, &job_line(job), style);
        }
    }

    fn draw_frame(&self, frame: &Frame, to: &mut Buffer) {
        put(to, 0, &table::job_line(frame), bold());
        put(to, 1, &self.state_line(frame), self.color(Color::Yellow));
        if self.view.why {
            let lines = table::why_lines(frame, to.area.width);
            return lines.iter().zip(2..).for_each(|(line, y)| put(to, y, line, Style::new()));
        }
        let verdict = frame.sample.why.as_ref().map(Why::verdict);
        if let Some(verdict) = &verdict {
            put(to, 2, verdict, bold());
        }
        self.draw_tree(frame, 2 + u16::from(verdict.is_some()), to);
    }

    /// Draws the tree from line `top` on, and the ranks below it.
    fn draw_tree(&self, frame: &Frame, top: u16, to: &mut Buffer) {
        let (width, height) = (usize::from(to.area.width), to.area.height);
        put(to, top, &table::head(frame, width), Style::new().add_modifier(Modifier::UNDERLINED));
        let visible = self.view.visible(frame);
        let at = self.view.position(frame, &visible);
        let listed =
            if self.view.ranks { SLOWEST.min(height.saturating_sub(OTHER_LINES) / 2) } else { 0 };
        let room = height.saturating_sub(top - 2 + OTHER_LINES + listed);
        // The selected callpath stays visible.
        let first = at.saturating_sub(usize::from(room.saturating_sub(1)));
        let shown = visible.iter().enumerate().take(first + usize::from(room));
        for ((position, &row), y) in shown.skip(first).zip(top + 1..) {
            let style = if position == at { selected() } else { Style::new() };
            put(to, y, &table::row(&frame.rows[row], self.view, width), style);
        }
        let Some(&row) = visible.get(at) else { return };
        let below = top + 1 + room;
        put(to, below, &ranks::legend(frame, row, width), Style::new());
        for (cell, x) in ranks::cells(frame, row, width).into_iter().zip(0..) {
            if let Some(place) = to.cell_mut((x, below + 1)).filter(|_| below + 1 < height) {
                place.set_char(cell.symbol()).set_style(self.heat(cell));
            }
        }
        for (line, y) in ranks::slowest(frame, row, listed.into()).iter().zip(below + 2..) {
            put(to, y, line, Style::new());
        }
    }

    /// Returns the other facts: paused, ended, trouble, losses, the order.
    fn state_line(&self, frame: &Frame) -> String {
        let mut said = Vec::new();
        if matches!(self.state, State::Ended(_)) {
            said.push("the job has ended: these are its last numbers".to_owned());
        }
        if self.view.paused {
            said.push("paused".to_owned());
        }
        if let Some(trouble) = self.trouble {
            said.push(format!("not read this time: {}", escaped(trouble)));
        }
        let losses = table::losses_line(frame);
        if !losses.is_empty() {
            said.push(losses);
        }
        said.push(format!("sorted by {}", self.view.sort.name()));
        said.join("; ")
    }

    fn heat(&self, cell: Cell) -> Style {
        match cell {
            Cell::Tenth(9) => self.color(Color::Red),
            Cell::Tenth(7 | 8) => self.color(Color::Yellow),
            Cell::Tenth(_) => self.color(Color::Green),
            Cell::Absent => Style::new(),
        }
    }

    fn color(&self, color: Color) -> Style {
        if self.colored { Style::new().fg(color) } else { Style::new() }
    }
}

/// Returns one line for a job in a list of several.
pub(super) fn job_line(job: &JobLine) -> String {
    format!("{}  {}", escaped(&job.id), escaped(&job.what))
}

/// Writes a line of text, without control characters, to line `y`, if it exists.
fn put(to: &mut Buffer, y: u16, line: &str, style: Style) {
    if y < to.area.height {
        let width = usize::from(to.area.width);
        to.set_stringn(0, y, cut(line, width), width, style);
    }
}

fn bold() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}

fn selected() -> Style {
    Style::new().add_modifier(Modifier::REVERSED)
}

#[cfg(test)]
mod tests;
