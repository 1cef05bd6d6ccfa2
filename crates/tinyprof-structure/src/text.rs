//! Phases and classes as text.

use tinyprof_messages::graph::{Class, Phase};

use super::Structure;
use super::class::{ClassCall, Partners};
use super::places::is_loop;
use tinyprof_report::cells::{
    counted, cut, data_cell, number_cell, shown, time, time_cell, whole, wrapped,
};
use tinyprof_report::escaped;
use tinyprof_views::table::{Column, Line, Run, write_more, write_table};

type OfCall = Column<ClassCall, Structure>;

const COLUMNS: [OfCall; 6] = [
    OfCall::of_text().shown(1, "calls", 0, |_, call| number_cell(call.calls)),
    OfCall::of_text().shown(2, "time", 1, |_, call| time_cell(whole(call.ns))),
    OfCall::of_text().shown(3, "waiting", 3, |_, call| match whole(call.waiting_ns) {
        0 => "-".to_owned(),
        ns => time_cell(ns),
    }),
    OfCall::of_text().shown(4, "out", 4, |_, call| bytes_cell(call.bytes[0])),
    OfCall::of_text().shown(5, "in", 5, |_, call| bytes_cell(call.bytes[1])),
    OfCall::of_text()
        .shown_as_words(6, "partners", 2, |_, call| cut(&partners(call), PARTNERS_COLUMNS)),
];

/// The maximum width of partners, in columns.
const PARTNERS_COLUMNS: usize = 14;

/// The maximum width of a set of ranks in a line, in columns.
const RANKS_COLUMNS: usize = 40;

impl Structure {
    /// Returns the phases as text of `width_columns` columns: for each class what its ranks do, the
    /// `count` calls that take the longest, the ways through the iterations of a loop, and where it
    /// differs from the class most like it.
    #[must_use]
    pub fn to_text(&self, name: &str, count: usize, width_columns: u16) -> String {
        let width = usize::from(width_columns);
        let ranks = counted(self.observed.ranks.len() as u64, "rank");
        let phases = counted(self.phases.len() as u64, "phase");
        let name = cut(&escaped(name), (width / 2).max(20));
        let mut text = wrapped(&format!("{name}: {ranks}, {phases}"), ", ", width);
        if !self.is_recorded() {
            return text + &wrapped("the order of calls was not recorded", " ", width);
        }
        for (number, phase) in (1..).zip(&self.phases) {
            self.write_phase(&mut text, &format!("phase {number}"), phase, count, width);
        }
        text
    }

    fn write_phase(
        &self,
        text: &mut String,
        number: &str,
        phase: &Phase,
        count: usize,
        width: usize,
    ) {
        let name = shown(&self.phase_name(phase));
        let kind = if is_loop(phase) && !name.starts_with("loop") { "loop, " } else { "" };
        let classes = phase.classes.len() as u64;
        let classes =
            if classes == 1 { "1 class".to_owned() } else { format!("{classes} classes") };
        let head = format!("{number}: {name}, {kind}{classes}");
        text.push_str(&wrapped(&head, " ", width));
        for class in &phase.classes {
            self.write_class(text, phase, class, count, width);
        }
        for (inner, phase) in (1..).zip(&phase.inner) {
            self.write_phase(text, &format!("{number}.{inner}"), phase, count, width);
        }
    }

    fn write_class(
        &self,
        text: &mut String,
        phase: &Phase,
        class: &Class,
        count: usize,
        width: usize,
    ) {
        let facts = self.facts(phase, class);
        let size = class.ranks.len();
        let a_rank = if size > 1 { " a rank" } else { "" };
        let ranks = class.ranks.within(RANKS_COLUMNS);
        let noun =
            if size > 1 { format!("ranks {ranks} ({size})") } else { format!("rank {ranks}") };
        let head = format!(
            "{noun}: {} computing, {} in calls{a_rank}",
            time(whole(facts.computing_ns)),
            time(whole(facts.in_calls_ns)),
        );
        let head = match whole(facts.before_ns) {
            0 => head,
            ns => format!("{head}, {} computing before", time(ns)),
        };
        let inside = width.saturating_sub(2);
        let mut lines = wrapped(&head, " ", inside);
        let mut longest: Vec<f64> = facts.calls.iter().map(|call| call.ns).collect();
        longest.sort_by(|a, b| b.total_cmp(a));
        let least_ns = longest.get(count.saturating_sub(1)).copied().unwrap_or(0.0);
        let shown = facts.calls.iter().filter(|call| call.ns >= least_ns).take(count);
        let calls: Vec<Line<'_, ClassCall>> = shown.map(|call| self.line(call)).collect();
        let mut table = String::new();
        let room = inside.saturating_sub(2);
        write_table(&mut table, self, &COLUMNS, &calls, "call", room);
        write_more(&mut table, facts.calls.len(), calls.len(), "call");
        lines.extend(table.lines().map(|line| format!("  {line}\n")));
        for line in self.way_lines(phase, class, &facts) {
            lines.push_str(&wrapped(&line, " ", inside));
        }
        if let Some(differs) = self.differs(phase, class) {
            for told in differs.told.iter().take(count) {
                let line = format!("differs: {}", told.text);
                lines.push_str(&wrapped(&line, " ", inside));
            }
            write_more(&mut lines, differs.all, differs.told.len().min(count), "difference");
        }
        text.extend(lines.lines().map(|line| format!("  {line}\n")));
    }

    fn line<'a>(&'a self, call: &'a ClassCall) -> Line<'a, ClassCall> {
        let info = self.nodes.get(call.node);
        Line::new(call, |room| cut(&shown(&info.path), room))
    }
}

impl Run for Structure {
    fn ranks(&self) -> u32 {
        Self::ranks(self)
    }
}

fn bytes_cell(bytes: f64) -> String {
    match u64::try_from(whole(bytes)).unwrap_or(u64::MAX) {
        0 => "-".to_owned(),
        bytes => data_cell(bytes),
    }
}

/// Returns partners like `-1,+1`, or `0` for the rank 0 of the world.
pub(super) fn partners(call: &ClassCall) -> String {
    let known = match &call.partners {
        Partners::None => String::new(),
        Partners::Relative(offsets) => runs(offsets),
        Partners::Ranks(ranks) => format!("rank {ranks}"),
        Partners::Various => "various".to_owned(),
    };
    match (call.is_wildcard, known.is_empty()) {
        (true, true) => "any".to_owned(),
        (true, false) => format!("any,{known}"),
        (false, true) => "-".to_owned(),
        (false, false) => known,
    }
}

/// Returns offsets in order as text, with runs shortened: `-1,+1..+7`.
fn runs(offsets: &[i64]) -> String {
    let of_run = |run: &[i64]| match run {
        [only] => format!("{only:+}"),
        [first, .., last] => format!("{first:+}..{last:+}"),
        [] => String::new(),
    };
    let runs = offsets.chunk_by(|offset, next| offset + 1 == *next);
    runs.map(of_run).collect::<Vec<_>>().join(",")
}
