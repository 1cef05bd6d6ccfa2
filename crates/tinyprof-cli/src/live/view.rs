//! The visible part of a frame: the selected callpath, folded subtrees, and the order. Keys change
//! it.

use std::collections::HashSet;

use tinyprof_format::model::Identity;

use super::frame::{Frame, Row};

/// The sort key of the children of a callpath, in descending order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sort {
    #[default]
    Inclusive,
    Exclusive,
    Now,
    Visits,
}

impl Sort {
    const fn next(self) -> Self {
        match self {
            Self::Inclusive => Self::Exclusive,
            Self::Exclusive => Self::Now,
            Self::Now => Self::Visits,
            Self::Visits => Self::Inclusive,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Inclusive => "inclusive",
            Self::Exclusive => "exclusive",
            Self::Now => "now",
            Self::Visits => "visits",
        }
    }
}

/// An action that a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Quit,
    Up,
    Down,
    PageUp,
    PageDown,
    Expand,
    Collapse,
    Enter,
    Sort,
    Ranks,
    Pause,
    Why,
    Help,
}

/// The state of the view.
#[derive(Clone, Debug, Default)]
pub(super) struct View {
    pub(super) selected: Option<Identity>,
    pub(super) collapsed: HashSet<Identity>,
    pub(super) sort: Sort,
    /// `true` if the slowest ranks are listed.
    pub(super) ranks: bool,
    pub(super) paused: bool,
    pub(super) help: bool,
    /// `true` if the causes of waiting take the place of the tree.
    pub(super) why: bool,
    /// The selected job if there are several.
    pub(super) choice: usize,
}

/// The number of rows in a page.
const PAGE: usize = 10;

impl View {
    /// Returns the visible rows, from top to bottom.
    pub(super) fn visible(&self, frame: &Frame) -> Vec<usize> {
        let mut seen = Vec::new();
        let mut open = self.sorted(frame, &frame.roots);
        open.reverse();
        while let Some(at) = open.pop() {
            seen.push(at);
            let row = &frame.rows[at];
            if !self.collapsed.contains(&row.identity) {
                let mut children = self.sorted(frame, &row.children);
                children.reverse();
                open.append(&mut children);
            }
        }
        seen
    }

    fn sorted(&self, frame: &Frame, rows: &[usize]) -> Vec<usize> {
        let mut rows = rows.to_vec();
        let now = |row: &Row| row.now().unwrap_or(0.0);
        rows.sort_by(|&left, &right| {
            let (a, b) = (&frame.rows[left], &frame.rows[right]);
            match self.sort {
                Sort::Inclusive => b.inclusive.sum_ns.cmp(&a.inclusive.sum_ns),
                Sort::Exclusive => b.exclusive.sum_ns.cmp(&a.exclusive.sum_ns),
                Sort::Now => now(b).total_cmp(&now(a)),
                Sort::Visits => b.visits.cmp(&a.visits),
            }
        });
        rows
    }

    pub(super) fn is_collapsed(&self, row: &Row) -> bool {
        self.collapsed.contains(&row.identity) && !row.children.is_empty()
    }

    /// Returns the position of the selected callpath among the visible rows: the first if it is not
    /// visible.
    pub(super) fn position(&self, frame: &Frame, visible: &[usize]) -> usize {
        let is_selected = |&at: &usize| Some(frame.rows[at].identity) == self.selected;
        visible.iter().position(is_selected).unwrap_or(0)
    }

    /// Applies a key's action to the tree of `frame`.
    pub(super) fn apply(&mut self, action: Action, frame: &Frame) {
        let visible = self.visible(frame);
        let at = self.position(frame, &visible);
        let Some(last) = visible.len().checked_sub(1) else { return };
        let row = &frame.rows[visible[at]];
        let to = match action {
            Action::Up => at.saturating_sub(1),
            Action::Down => (at + 1).min(last),
            Action::PageUp => at.saturating_sub(PAGE),
            Action::PageDown => (at + PAGE).min(last),
            _ => at,
        };
        match action {
            Action::Expand => drop(self.collapsed.remove(&row.identity)),
            Action::Enter if self.is_collapsed(row) => drop(self.collapsed.remove(&row.identity)),
            Action::Enter | Action::Collapse if !row.children.is_empty() => {
                self.collapsed.insert(row.identity);
            }
            Action::Sort => self.sort = self.sort.next(),
            _ => {}
        }
        self.selected = Some(frame.rows[visible[to]].identity);
    }
}

#[cfg(test)]
mod tests {
    use super::super::example::sample;
    use super::*;

    fn names(view: &View, frame: &Frame) -> Vec<String> {
        view.visible(frame)
            .iter()
            .map(|&at| frame.rows[at].name.chars().take(2).collect())
            .collect()
    }

    #[test]
    fn the_tree_folds_sorts_and_keeps_what_is_selected() {
        let frame = Frame::new(sample(4, 1), None);
        let mut view = View::default();
        // 4 x 31.5 ms of exchange on average, 2 x 50 ms of compute.
        assert_eq!(names(&view, &frame), ["ma", "ex", "pa", "co"]);
        let keys = |view: &mut View, actions: &[Action]| {
            actions.iter().for_each(|&action| view.apply(action, &frame));
        };
        keys(&mut view, &[Action::Down, Action::Collapse]);
        assert_eq!(names(&view, &frame), ["ma", "ex", "co"]);
        keys(&mut view, &[Action::Enter, Action::Enter, Action::Expand, Action::PageDown]);
        assert_eq!(names(&view, &frame), ["ma", "ex", "pa", "co"]);
        assert_eq!(view.position(&frame, &view.visible(&frame)), 3);
        // compute remains selected wherever it moves: it has 100 ms exclusive, exchange 106 ms
        // without pack.
        keys(&mut view, &[Action::Sort, Action::Sort, Action::Sort]);
        assert_eq!(view.sort, Sort::Visits);
        assert_eq!(names(&view, &frame), ["ma", "ex", "pa", "co"]);
        keys(&mut view, &[Action::PageUp, Action::Collapse, Action::Up]);
        assert_eq!(
            (names(&view, &frame), view.position(&frame, &view.visible(&frame))),
            (vec!["ma".to_owned()], 0)
        );
    }

    #[test]
    fn an_empty_frame_takes_every_key() {
        let frame = Frame::new(sample(0, 1), None);
        let mut view = View::default();
        for action in [Action::Up, Action::Down, Action::Enter, Action::Sort, Action::Expand] {
            view.apply(action, &frame);
        }
        assert!(view.visible(&frame).is_empty());
    }
}
