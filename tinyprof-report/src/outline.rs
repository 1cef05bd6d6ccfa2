//! The callpath tree alone: regions, their callers and visits. Nothing is folded.

use serde_json::json;

use super::names::{columns, cut, shown, wrapped};
use super::text::indent;
use super::tree::{Line, lines};
use super::{LongJson, Report, SortKey};
use tinyprof_format::model::CallpathIndex;

/// The headings of the two columns of numbers.
const VISITS: &str = "visits";
const RANKS: &str = "ranks";

/// The maximum width of a heading, in columns: keys may be long.
const HEADING_MAX: usize = 20;

impl Report {
    /// Returns the callpath tree as text of `width_columns` columns: every callpath with its visits
    /// on all ranks together and the number of ranks that visited it. Siblings are sorted by
    /// inclusive time, or by the requested [metric](Self::by_metric), which then has a column too.
    ///
    /// Columns are aligned, control characters in names are escaped, and every line ends in a
    /// newline.
    #[must_use]
    pub fn to_tree_text(&self, width_columns: u16) -> String {
        let width = usize::from(width_columns);
        let mut text = wrapped(&self.head(width), ", ", width);
        let rows = self.in_tree_order();
        let counts = |index: &CallpathIndex| {
            let row = &self.statistics.row(index.row());
            (row.visits.to_string(), row.ranks.to_string())
        };
        let counts: Vec<(String, String)> = rows.iter().map(counts).collect();
        let visits_width =
            counts.iter().map(|(visits, _)| visits.len()).max().unwrap_or(0).max(VISITS.len());
        let ranks_width =
            counts.iter().map(|(_, ranks)| ranks.len()).max().unwrap_or(0).max(RANKS.len());
        let values = self.value_column(&rows);
        let value_width = values.first().map_or(0, |heading| columns(heading));
        let tree_width = width.saturating_sub(visits_width + ranks_width + value_width + 4).max(20);
        let mut values = values.into_iter();
        let mut value = || values.next().unwrap_or_default();
        text.push_str(&format!(
            "{VISITS:>visits_width$}  {RANKS:>ranks_width$}  {}callpath\n",
            value()
        ));
        for (index, (visits, ranks)) in rows.into_iter().zip(counts) {
            let callpath = self.callpaths.get(index);
            let indent = indent(callpath.depth as usize, tree_width);
            let name =
                cut(&shown(&callpath.region.name), tree_width.saturating_sub(columns(&indent)));
            text.push_str(&format!(
                "{visits:>visits_width$}  {ranks:>ranks_width$}  {}{indent}{name}\n",
                value()
            ));
        }
        text
    }

    /// Returns the callpath tree as JSON that is generated while it is written: `callpaths` in the
    /// order of the tree, with `path`, `name`, `depth`, `ranks` and `visits`, and `value` if there
    /// is a [metric](Self::by_metric). `path` is null if it would be longer than 16 KiB.
    #[must_use]
    pub fn tree_json(&self) -> LongJson<'_> {
        let metric = self.metric.as_ref().map(ToString::to_string);
        let members = json!({ "name": self.name, "ranks": self.ranks, "metric": metric });
        let order = self.in_tree_order();
        let callpath = |index: CallpathIndex| {
            let callpath = self.callpaths.get(index);
            let row = &self.statistics.row(index.row());
            let mut entry = json!({
                "path": self.path(index),
                "name": callpath.region.name,
                "depth": callpath.depth,
                "ranks": row.ranks,
                "visits": row.visits,
            });
            if let Some(metric) = &self.metric {
                entry["value"] =
                    serde_json::from_str(&self.metric_number(index, metric)).unwrap_or_default();
            }
            entry
        };
        LongJson::new(members, "callpaths", move || order.clone().into_iter().map(callpath))
    }

    /// Returns the heading and the values of the metric, aligned, each followed by a gap; empty if
    /// there is no metric.
    fn value_column(&self, rows: &[CallpathIndex]) -> Vec<String> {
        let Some(metric) = &self.metric else { return Vec::new() };
        // Visits have a column already.
        if *metric == SortKey::Visits {
            return Vec::new();
        }
        let heading = cut(&shown(&metric.to_string()), HEADING_MAX);
        let cells: Vec<String> = std::iter::once(heading)
            .chain(rows.iter().map(|index| self.metric_cell(*index, metric)))
            .collect();
        let width = cells.iter().map(|cell| columns(cell)).max().unwrap_or(0);
        cells.iter().map(|cell| format!("{}{cell}  ", " ".repeat(width - columns(cell)))).collect()
    }

    pub(super) fn in_tree_order(&self) -> Vec<CallpathIndex> {
        let callpath = |line| match line {
            Line::Callpath(index) => Some(index),
            Line::Folded(_) => None,
        };
        lines(self).into_iter().filter_map(callpath).collect()
    }
}
