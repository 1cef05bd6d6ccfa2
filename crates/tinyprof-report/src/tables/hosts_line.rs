//! The line on the hosts of ranks, for tables without a column for them.

use crate::tables::columns::Placement;
use crate::words::names::{columns, cut, escaped};

/// The maximum width of a host name in the line, in columns.
const HOST_COLUMNS: usize = 20;

/// Returns `hosts: rank 3 on nid00012, rank 17 on nid00013`, with as many of the ranks as fit into
/// one line, in the given order. Empty if the table shows the hosts, or they are unknown.
pub(crate) fn hosts_line(placements: &[Placement], width: usize) -> String {
    let mut line = String::new();
    for (number, place) in placements.iter().enumerate() {
        let before = if number == 0 { "hosts: " } else { ", " };
        let next =
            format!("{before}rank {} on {}", place.rank, cut(&escaped(&place.host), HOST_COLUMNS));
        if number > 0 && columns(&line) + columns(&next) > width {
            break;
        }
        line.push_str(&next);
    }
    if !line.is_empty() {
        line.push('\n');
    }
    line
}
