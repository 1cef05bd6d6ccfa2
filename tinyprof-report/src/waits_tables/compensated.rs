//! The times of ranks without measurement, as a table.

use crate::lines::{Column, Line, write_more, write_table};
use crate::names::wrapped;
use crate::units::time_cell;
use crate::{CompensatedRank, Report};

const COLUMNS: [Column; 7] = [
    Column::number("rank", 0),
    Column::number("measured", 0),
    Column::number("locally", 1),
    Column::number("in parallel", 0),
    Column::number("+-", 2),
    Column::number("of others", 4),
    Column::number("not followed", 3),
];

impl Report {
    /// Returns the times of the first `count` ranks as text of `width_columns` columns: measured,
    /// less what each rank's own measuring cost, and less all delays, also those through others.
    #[must_use]
    pub fn to_compensated_text(&self, count: usize, width_columns: u16) -> String {
        let width = usize::from(width_columns);
        let mut text = wrapped(&self.head(width), ", ", width);
        let Some(clock) = &self.clock else {
            return text + &wrapped(&self.unknown_waiting(), " ", width);
        };
        let lines: Vec<Line<'_>> = self.compensated.iter().take(count).map(line).collect();
        write_table(&mut text, &COLUMNS, "", &lines, width);
        write_more(&mut text, self.compensated.len(), count, "rank");
        for line in self.unfollowed_line().into_iter().chain([clock.sentence()]) {
            text.push_str(&wrapped(&line, " ", width));
        }
        text
    }
}

fn line(of_rank: &CompensatedRank) -> Line<'static> {
    let times = of_rank.cells().map(time_cell);
    let cells = std::iter::once(of_rank.rank.to_string()).chain(times).collect();
    Line { cells, name: Box::new(|_| String::new()) }
}
