//! The hottest callpaths by exclusive time: a flat list of the candidates for improvement.

use serde_json::json;

use super::json::integer;
use super::names::{columns, cut, shown, wrapped};
use super::units::{below, count_cell, number_cell, time_cell};
use super::{LongJson, Report, SortKey};
use tinyprof_format::model::CallpathIndex;

/// The maximum width of a heading, in columns: keys may be long.
const HEADING_MAX: usize = 20;

impl Report {
    /// Returns the `count` callpaths with the greatest exclusive time, or with the greatest value
    /// of the requested [metric](Self::by_metric), as text of `width_columns` columns.
    ///
    /// Times and visits are those of all ranks together; the share is a part of the roots'
    /// inclusive time. A time that is an estimate is marked with `~`. Columns are aligned, control
    /// characters in names are escaped, and every line ends in a newline.
    #[must_use]
    pub fn to_top_text(&self, count: usize, width_columns: u16) -> String {
        let width = usize::from(width_columns);
        let top = self.top(count);
        let headings = self.top_headings();
        let cells: Vec<[String; 4]> = top.iter().map(|index| self.top_cells(*index)).collect();
        let widths: [usize; 4] = std::array::from_fn(|column| {
            let widest = cells.iter().map(|cells| cells[column].len()).max();
            widest.unwrap_or(0).max(columns(&headings[column]))
        });
        let numbers = |cells: [&str; 4]| -> String {
            let padded = |(cell, width): (&&str, usize)| {
                format!("{}{cell}  ", " ".repeat(width.saturating_sub(columns(cell))))
            };
            cells.iter().zip(widths).map(padded).collect()
        };
        let headings = numbers(headings.each_ref().map(String::as_str));
        let room = width.saturating_sub(columns(&headings)).max(20);
        let mut text = wrapped(&self.head(width), ", ", width);
        text.push_str(&format!("{headings}{}\n", self.row_word()));
        for (index, cells) in top.into_iter().zip(&cells) {
            let path = cut(&self.shown_path(index, room), room);
            text.push_str(&format!(
                "{}{path}\n",
                numbers(std::array::from_fn(|column| cells[column].as_str()))
            ));
        }
        text
    }

    /// Returns the top callpaths as JSON that is generated while it is written: `callpaths`, the
    /// greatest exclusive time first, as in [`to_json`](Self::to_json) but without `parent`.
    #[must_use]
    pub fn top_json(&self, count: usize) -> LongJson<'_> {
        let members = json!({
            "name": self.name,
            "ranks": self.ranks,
            "total_inclusive_ns": integer(self.base.ns()),
            "startup_ns": integer(self.base.startup_ns()),
        });
        let top = self.top(count);
        let callpath = |index: CallpathIndex| {
            let mut callpath = self.callpath_json(index);
            if let Some(keys) = callpath.as_object_mut() {
                // `parent` is a position in a list that is not part of this JSON.
                keys.remove("parent");
            }
            callpath
        };
        LongJson::new(members, self.rows_key(), move || top.clone().into_iter().map(callpath))
    }

    /// Returns the callpaths that were visited, sorted by the metric, then in the order of the
    /// table.
    pub(super) fn top(&self, count: usize) -> Vec<CallpathIndex> {
        let visited = self
            .callpaths
            .iter()
            .map(|(index, _)| index)
            .filter(|index| self.statistics.row(index.row()).ranks > 0);
        let mut top: Vec<CallpathIndex> = match &self.metric {
            Some(SortKey::Key(key)) => self
                .callpaths
                .iter()
                .map(|(index, _)| index)
                .filter(|at| self.recorded(*at, key).is_some())
                .collect(),
            _ => visited.collect(),
        };
        let metric = self.metric.as_ref().unwrap_or(&SortKey::Exclusive);
        top.sort_by(|left, right| self.in_order_of(metric, *left, *right));
        top.truncate(count);
        top
    }

    fn top_headings(&self) -> [String; 4] {
        match &self.metric {
            Some(SortKey::Key(key)) => {
                [cut(&shown(key), HEADING_MAX), "mean".into(), "max".into(), "values".into()]
            }
            Some(SortKey::Inclusive) => {
                ["inclusive", "share", "per visit", "visits"].map(str::to_owned)
            }
            _ => ["exclusive", "share", "per visit", "visits"].map(str::to_owned),
        }
    }

    fn top_cells(&self, index: CallpathIndex) -> [String; 4] {
        let row = &self.statistics.row(index.row());
        let time = match &self.metric {
            Some(SortKey::Key(key)) => {
                let Some(recorded) = self.recorded(index, key) else { return Default::default() };
                return [
                    number_cell(recorded.sum),
                    recorded.mean().map_or_else(|| "-".to_owned(), number_cell),
                    number_cell(recorded.max),
                    count_cell(recorded.values),
                ];
            }
            Some(SortKey::Inclusive) => &row.inclusive,
            _ => &row.exclusive,
        };
        let startup_ns = match self.metric {
            Some(SortKey::Inclusive) => self.base.startup_in(index),
            _ => self.base.startup_itself(index),
        };
        let (mark, ns) = time.shown_ns(None);
        let visit_ns = ns.checked_div(u128::from(row.visits)).unwrap_or(0);
        [
            format!("{mark}{}", time_cell(ns)),
            below(mark, self.base.cell(ns, startup_ns)),
            format!("{mark}{}", time_cell(visit_ns)),
            count_cell(row.visits),
        ]
    }

    /// Returns the path of a callpath. If it is longer than `room`, the outermost regions are left
    /// out first: the region's own name matters most.
    pub(super) fn shown_path(&self, index: CallpathIndex, room: usize) -> String {
        let callpath = self.callpaths.get(index);
        let (mut path, mut above) = (shown(&callpath.region.name), callpath.parent);
        while let Some(at) = above {
            let parent = self.callpaths.get(at);
            let longer = format!("{}<{path}", shown(&parent.region.name));
            if columns(&longer) > room {
                let shortened = format!("...<{path}");
                return if columns(&shortened) <= room { shortened } else { path };
            }
            (path, above) = (longer, parent.parent);
        }
        path
    }
}
