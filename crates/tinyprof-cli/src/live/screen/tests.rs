//! Screens of jobs in all states, drawn into a buffer.

use insta::assert_snapshot;
use ratatui_core::backend::TestBackend;
use ratatui_core::terminal::Terminal;

use super::super::example::{sample, waiting};
use super::super::view::Action;
use super::*;

fn frame(ranks: u64) -> Frame {
    let before = sample(ranks, 3);
    let mut now = sample(ranks, 5);
    now.moment_ns += 2_500_000_000;
    Frame::new(now, Some(&before))
}

fn drawn(state: &State, view: &View, (width, height): (u16, u16)) -> String {
    let mut terminal =
        Terminal::new(TestBackend::new(width, height)).expect("a terminal in memory");
    let screen = Screen { state, view, trouble: None, colored: false };
    terminal.draw(|frame| screen.draw(frame.buffer_mut())).expect("it draws");
    let text = terminal.backend().to_string();
    text.lines().map(|line| line.trim_matches('"').trim_end().to_owned() + "\n").collect()
}

fn after(state: &State, actions: &[Action]) -> View {
    let mut view = View::default();
    if let State::Running(frame) | State::Ended(frame) = state {
        actions.iter().for_each(|&action| view.apply(action, frame));
    }
    view
}

#[test]
fn one_rank_at_80_columns() {
    let state = State::Running(Box::new(frame(1)));
    assert_snapshot!(drawn(&state, &View::default(), (80, 24)));
}

#[test]
fn many_ranks_at_80_columns_with_the_slowest_listed() {
    let state = State::Running(Box::new(frame(4096)));
    let mut view = after(&state, &[Action::Down]);
    view.ranks = true;
    assert_snapshot!(drawn(&state, &view, (80, 24)));
}

#[test]
fn one_rank_and_many_at_160_columns() {
    assert_snapshot!(drawn(&State::Ended(Box::new(frame(1))), &View::default(), (160, 50)));
    let state = State::Running(Box::new(frame(4096)));
    let mut view = after(&state, &[Action::Down, Action::Collapse]);
    (view.ranks, view.paused) = (true, true);
    assert_snapshot!(drawn(&state, &view, (160, 50)));
}

#[test]
fn why_ranks_wait_is_a_line_and_a_page() {
    let state = State::Running(Box::new(Frame::new(waiting(), None)));
    assert_snapshot!(drawn(&state, &View::default(), (80, 12)));
    assert_snapshot!(drawn(&state, &View { why: true, ..View::default() }, (80, 12)));
}

#[test]
fn waiting_choosing_and_help() {
    let waiting = State::Waiting("Nothing to watch in runs yet; waiting for a job".to_owned());
    assert_snapshot!(drawn(&waiting, &View::default(), (60, 4)));
    let jobs = [("4711", "heat.tprof, 4 processes"), ("4720", "a\u{1b}]0;b.tprof, 1 process")];
    let jobs = jobs.map(|(id, what)| JobLine { id: id.to_owned(), what: what.to_owned() });
    let choosing = State::Choosing(jobs.to_vec());
    assert_snapshot!(drawn(&choosing, &View { choice: 1, ..View::default() }, (60, 6)));
    assert_snapshot!(drawn(&waiting, &View { help: true, ..View::default() }, (80, 24)));
}

#[test]
fn no_size_is_too_small_and_no_color_means_none() {
    let state = State::Running(Box::new(frame(70)));
    let view = View { ranks: true, ..View::default() };
    for width in [0, 1, 7, 30, 81] {
        for height in [0, 1, 2, 3, 5, 7, 9] {
            let mut buffer = Buffer::empty(ratatui_core::layout::Rect::new(0, 0, width, height));
            Screen { state: &state, view: &view, trouble: Some("why"), colored: true }
                .draw(&mut buffer);
        }
    }
    let colored = |colored: bool| {
        let mut buffer = Buffer::empty(ratatui_core::layout::Rect::new(0, 0, 80, 24));
        Screen { state: &state, view: &view, trouble: None, colored }.draw(&mut buffer);
        buffer.content().iter().any(|cell| cell.fg != Color::Reset)
    };
    assert!(colored(true) && !colored(false));
}
