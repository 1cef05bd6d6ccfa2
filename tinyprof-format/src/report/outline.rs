//! The callpath tree alone: who calls whom, and how often. Nothing is folded.

use serde_json::{Value, json};

use super::Report;
use super::names::{columns, cut, shown, wrapped};
use super::text::indent;
use super::tree::{Line, lines};
use crate::model::CallpathIndex;

/// What heads the two columns of numbers.
const VISITS: &str = "visits";
const RANKS: &str = "ranks";

impl Report {
    /// The callpath tree for people, in `width_columns` columns: every callpath with its visits on all ranks together and
    /// the number of ranks that visited it. Siblings are in the order of their inclusive times.
    ///
    /// Columns align, control characters in names are escaped, and every line ends in a newline.
    #[must_use]
    pub fn to_tree_text(&self, width_columns: u16) -> String {
        let width = usize::from(width_columns);
        let mut text = wrapped(&self.head(width), ", ", width);
        let rows = self.in_tree_order();
        let counts = |index: &CallpathIndex| {
            let row = &self.statistics.rows()[index.row()];
            (row.visits.to_string(), row.ranks.to_string())
        };
        let counts: Vec<(String, String)> = rows.iter().map(counts).collect();
        let visits_width = counts.iter().map(|(visits, _)| visits.len()).max().unwrap_or(0).max(VISITS.len());
        let ranks_width = counts.iter().map(|(_, ranks)| ranks.len()).max().unwrap_or(0).max(RANKS.len());
        let tree_width = width.saturating_sub(visits_width + ranks_width + 4).max(20);
        text.push_str(&format!("{VISITS:>visits_width$}  {RANKS:>ranks_width$}  callpath\n"));
        for (index, (visits, ranks)) in rows.into_iter().zip(counts) {
            let callpath = self.callpaths.get(index);
            let indent = indent(callpath.depth as usize, tree_width);
            let name = cut(&shown(&callpath.region.name), tree_width.saturating_sub(columns(&indent)));
            text.push_str(&format!("{visits:>visits_width$}  {ranks:>ranks_width$}  {indent}{name}\n"));
        }
        text
    }

    /// The same as JSON: `callpaths` in the order of the tree, with `path`, `name`, `depth`, `ranks` and `visits`. `path` is
    /// null where it would be longer than 16 KiB.
    #[must_use]
    pub fn to_tree_json(&self) -> Value {
        let paths = self.paths();
        let callpaths: Vec<Value> = self
            .in_tree_order()
            .into_iter()
            .map(|index| {
                let callpath = self.callpaths.get(index);
                let row = &self.statistics.rows()[index.row()];
                json!({
                    "path": paths[index.row()],
                    "name": callpath.region.name,
                    "depth": callpath.depth,
                    "ranks": row.ranks,
                    "visits": row.visits,
                })
            })
            .collect();
        json!({ "name": self.name, "ranks": self.ranks, "callpaths": callpaths })
    }

    fn in_tree_order(&self) -> Vec<CallpathIndex> {
        let callpath = |line| match line {
            Line::Callpath(index) => Some(index),
            Line::Folded(_) => None,
        };
        lines(self, None).into_iter().filter_map(callpath).collect()
    }
}
