//! A report that begins with the answer to why.

use tinyprof_report::{FindingKind, Report, TextOptions};

use crate::why::Why;

impl Why {
    /// Returns the text of a report, behind the verdict, the other findings, and the line of
    /// waiting. The hints of the report that say the same by other words are left out.
    #[must_use]
    pub fn report_text(&self, report: &Report, options: &TextOptions) -> String {
        let first = self.first_lines(options.width_columns);
        let report = self.without_told(report);
        if first.is_empty() {
            return report.to_text(options);
        }
        let lines = u16::try_from(first.lines().count()).unwrap_or(u16::MAX);
        let lines_max = options.lines_max.saturating_sub(lines);
        let mut options = *options;
        options.lines_max = lines_max;
        first + &report.to_text(&options)
    }

    /// Returns a report without the hints that the answer tells by other words: their advice does
    /// not know the cause, and could contradict it.
    #[must_use]
    pub fn without_told(&self, report: &Report) -> Report {
        let mut report = report.clone();
        report.findings.retain(|finding| !self.covers(finding.kind));
        report
    }

    /// Returns whether a hint of this kind is left out: rules of users take its place, or it is
    /// told by the findings, or by their absence, as its advice does not know the cause.
    #[must_use]
    pub fn covers(&self, kind: FindingKind) -> bool {
        self.replaced.contains(&kind) || (self.is_known() && !is_told_by_hints(kind))
    }
}

/// Returns whether only hints tell this, beside findings.
const fn is_told_by_hints(kind: FindingKind) -> bool {
    matches!(
        kind,
        FindingKind::Growth
            | FindingKind::Straggler
            | FindingKind::Imbalance
            | FindingKind::SlowFirst
            | FindingKind::TooSmall
            | FindingKind::ShortRun
            | FindingKind::InputOutput
    )
}
