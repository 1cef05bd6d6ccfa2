//! The answer as text: the verdict in one line, the findings, and the waiting by cause.

use std::fmt::Write as _;

use tinyprof_report::Certainty;
use tinyprof_report::cells::{columns, counted, percent_cell};

use crate::facts::calls::is_test;
use crate::finding::Finding;
use crate::findings::FINDING_PART;
use crate::phrases::{capital, ns, ranks};
use crate::place::sampled_name;
use crate::why::Why;

/// The ranks that the line of waiting names.
const RANKS_NAMED: usize = 3;

/// The part of the run that has to be in calls that are not followed, to be told.
const NOT_FOLLOWED_PART: f64 = 0.01;

/// The part of the run that waiting through which the critical path cannot be followed has to be,
/// to be told.
const PATH_UNSURE_PART: f64 = 0.05;

/// The option that tells who waits for whom.
const MORE: &str = "who waits for whom is not known: measure with -o mpi=messages";

impl Why {
    /// Returns the verdict: the first finding in a line, with its share of the run and advice; or
    /// that there is none, and what was looked at.
    #[must_use]
    pub fn verdict(&self) -> String {
        match self.findings.first() {
            Some(finding) => self.line(finding),
            None => self.nothing(),
        }
    }

    /// Returns the line of waiting by cause: none if it is not known.
    #[must_use]
    pub fn waiting_line(&self) -> Option<String> {
        if !self.has_calls || self.ranks < 2 {
            return None;
        }
        if !self.has_messages {
            return (self.mpi_ns > 0.0).then(|| {
                format!("time in MPI: {}; {MORE}", percent_cell(self.share(self.mpi_ns)))
            });
        }
        let named = self.by_rank.iter().take(RANKS_NAMED);
        let mut parts: Vec<String> = named
            .filter(|(_, ns)| self.share(*ns) >= 0.001)
            .map(|(of, ns)| format!("{} {}", ranks(of), percent_cell(self.share(*ns))))
            .collect();
        let others: f64 = self.by_rank.iter().skip(RANKS_NAMED).map(|(_, ns)| ns).sum();
        if self.share(others) >= 0.001 {
            parts.push(format!("other ranks {}", percent_cell(self.share(others))));
        }
        if self.share(self.no_processor_ns) >= 0.001 {
            let share = percent_cell(self.share(self.no_processor_ns));
            parts.push(format!("ranks without a processor {share}"));
        }
        if self.share(self.unexplained_ns) >= 0.001 {
            parts.push(format!("unexplained {}", percent_cell(self.share(self.unexplained_ns))));
        }
        let for_whom =
            if parts.is_empty() { String::new() } else { format!("; for {}", parts.join(", ")) };
        let elsewhere = if self.share(self.estimated_ns) >= NOT_FOLLOWED_PART {
            let share = percent_cell(self.share(self.estimated_ns));
            format!(
                "; {share} is for ranks of other hosts that did not say what they did: the causes of that are estimated from sums over the run"
            )
        } else {
            String::new()
        };
        let more = if self.share(self.not_followed_ns) >= NOT_FOLLOWED_PART {
            let share = percent_cell(self.share(self.not_followed_ns));
            format!("; {share} more is in calls that are not followed")
        } else {
            String::new()
        };
        Some(format!(
            "waiting: {} of the time{for_whom}{elsewhere}{more}",
            percent_cell(self.share(self.waiting_ns))
        ))
    }

    /// Returns the line of the critical path: none if it is not known.
    #[must_use]
    pub fn path_line(&self) -> Option<String> {
        let path = self.path.as_ref().filter(|path| path.ns > 0.0 && self.ranks > 1)?;
        let named = path.by_rank.iter().take(RANKS_NAMED);
        let parts: Vec<String> = named
            .map(|(of, part)| format!("{} {}", ranks(of), percent_cell(part / path.ns)))
            .collect();
        let place =
            path.place.as_ref().map_or_else(String::new, |at| format!(", most at {}", at.name()));
        let excess = match path.imbalance_ns / path.ns {
            part if part < 0.001 => String::new(),
            _ => format!("; {} longer than balanced{place}", ns(path.imbalance_ns)),
        };
        let unsure = if self.is_path_unsure() {
            "; the path is unsure: where it is not known why a rank waits, or a rank tests, it stays with that rank"
        } else {
            ""
        };
        Some(format!("critical path: {}; {}{excess}{unsure}", ns(path.ns), parts.join(", ")))
    }

    /// Returns whether the critical path cannot be followed through much of the run's waiting.
    fn is_path_unsure(&self) -> bool {
        let waits_in_test = |one: &Finding| {
            let call = one.waits_at.as_ref().and_then(|place| place.call.as_deref());
            call.is_some_and(is_test)
        };
        let guessed_ns = if self.is_measured { self.estimated_ns } else { self.waiting_ns };
        self.share(self.not_followed_ns + guessed_ns) >= PATH_UNSURE_PART
            || self.findings.iter().any(waits_in_test)
    }

    /// Returns the lines that reports begin with: the verdict, the other findings, and the line of
    /// waiting, in lines of `width` columns. Empty where nothing of ranks is known.
    #[must_use]
    pub fn first_lines(&self, width: u16) -> String {
        if !self.is_known() {
            return String::new();
        }
        let mut text = String::new();
        let mut add = |line: &str| text.push_str(&paragraph(line, "  ", usize::from(width)));
        add(&self.verdict());
        if let Some(first) = self.findings.first() {
            add(&format!("  do: {}", first.advice));
        }
        for finding in self.findings.iter().skip(1) {
            add(&format!("also: {}", self.line(finding)));
        }
        for line in self.waiting_line().into_iter().chain(self.path_line()) {
            add(&line);
        }
        text
    }

    /// Returns all that is known as text, in lines of `width` columns.
    #[must_use]
    pub fn to_text(&self, width: u16) -> String {
        let width = usize::from(width);
        let mut text = paragraph(&self.verdict(), "  ", width);
        for (number, finding) in (1..).zip(&self.findings) {
            text.push('\n');
            if number > 1 {
                text.push_str(&paragraph(
                    &format!("{number}. {}", self.line(finding)),
                    "   ",
                    width,
                ));
            }
            self.write_details(number, finding, width, &mut text);
        }
        if let Some(line) = self.waiting_line() {
            text.push('\n');
            text.push_str(&paragraph(&line, "  ", width));
        }
        if let Some(line) = self.path_line() {
            text.push_str(&paragraph(&line, "  ", width));
        }
        text
    }

    /// Returns what would be gained, and why a finding comes so late in the list if that is more
    /// than above.
    fn to_gain(&self, number: usize, finding: &Finding) -> String {
        let certainty = match finding.certainty {
            Certainty::Measured => "measured",
            Certainty::AtMost => "at most",
            _ => "estimated from sums over the run",
        };
        let above = self.findings.iter().take(number - 1);
        let is_behind = finding.is_chance()
            && above.filter(|one| !one.is_chance()).any(|one| one.lost_ns < finding.lost_ns);
        let behind = if is_behind { "; chance, and so behind what has a cause" } else { "" };
        format!(
            "   to gain: {} of each rank's time ({certainty}{behind}); kind: {}",
            ns(finding.lost_ns),
            finding.word()
        )
    }

    fn write_details(&self, number: usize, finding: &Finding, width: usize, text: &mut String) {
        text.push_str(&paragraph(&self.to_gain(number, finding), "   ", width));
        for link in &finding.chain {
            let place = link.place.as_ref().filter(|place| !link.why.contains(&place.name()));
            let mut line = format!("   - {}: ", ns(link.ns));
            // Writing to a string cannot fail.
            let _ = match place {
                Some(place) => {
                    write!(line, "{}, {}: {}", ranks(&link.ranks), place.name(), link.why)
                }
                None => write!(line, "{} {}", ranks(&link.ranks), link.why),
            };
            text.push_str(&paragraph(&line, "     ", width));
        }
        if let Some(place) = &finding.sampled {
            let others = place.elsewhere_ns.map_or_else(String::new, |elsewhere_ns| {
                format!(", the others {}", ns(elsewhere_ns))
            });
            let line = format!(
                "   by samples: {} {}{others}",
                sampled_name(&place.name),
                ns(place.here_ns)
            );
            text.push_str(&paragraph(&line, "     ", width));
        }
        if let Some(place) = &finding.waits_at {
            let line =
                format!("   {} there: {}", capital(&ranks(&finding.waiting_ranks)), place.name());
            text.push_str(&paragraph(&line, "     ", width));
        }
        text.push_str(&paragraph(&format!("   do: {}", finding.advice), "   ", width));
    }

    /// Returns a finding in a line.
    pub(crate) fn line(&self, finding: &Finding) -> String {
        let at_most = if finding.certainty == Certainty::AtMost { "Up to " } else { "" };
        format!(
            "{}. {at_most}{} of the run.",
            finding.sentence,
            percent_cell(self.share_of(finding))
        )
    }

    fn nothing(&self) -> String {
        if self.total_ns <= 0.0 {
            return "nothing was measured".to_owned();
        }
        let looked_at = if self.has_messages {
            format!(
                "waiting ({}{}), messages, balance and single visits of {}",
                percent_cell(self.share(self.waiting_ns)),
                if self.share(self.not_followed_ns) >= NOT_FOLLOWED_PART {
                    format!("; not followed {}", percent_cell(self.share(self.not_followed_ns)))
                } else {
                    String::new()
                },
                counted(self.ranks as u64, "rank")
            )
        } else if self.has_calls {
            format!("the balance of {}, messages and tests", counted(self.ranks as u64, "rank"))
        } else {
            "the times of regions; no calls of MPI were recorded".to_owned()
        };
        let lost = if self.share(self.may_be_lost_ns) >= FINDING_PART {
            let share = percent_cell(self.share(self.may_be_lost_ns));
            format!(
                "; ranks were ready to run without a processor for up to {share} of the time, which may \
                 hide causes: measure again where nothing else runs"
            )
        } else {
            String::new()
        };
        format!("no finding above 5%: looked at {looked_at}{lost}")
    }
}

/// Returns a text in lines of at most `width` columns, the second and later ones behind `indent`.
/// Spaces at its beginning are kept.
fn paragraph(text: &str, indent: &str, width: usize) -> String {
    let words = text.trim_start();
    let mut lines = text[..text.len() - words.len()].to_owned();
    let mut used = lines.len();
    let mut is_first = true;
    for word in words.split(' ') {
        if !is_first && used + 1 + columns(word) > width {
            lines.push('\n');
            lines.push_str(indent);
            used = indent.len();
        } else if !is_first {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(word);
        used += columns(word);
        is_first = false;
    }
    lines.push('\n');
    lines
}

#[cfg(test)]
mod tests {
    use tinyprof_format::text::read_text;

    use super::*;
    use crate::finding::Kind;

    #[test]
    fn what_was_looked_at_is_said_where_nothing_is_found() {
        let text = "id,parent,tag,is_loop,times\nmain,null,null,0,1|1\n";
        let profile = read_text(text.as_bytes()).expect("it is right").profile;
        let mut why = Why::of_profile(&profile);
        let begin = "no finding above 5%: looked at ";
        let regions = "the times of regions; no calls of MPI were recorded";
        assert_eq!(why.verdict(), format!("{begin}{regions}"));
        why.has_calls = true;
        let balance = "the balance of 2 ranks, messages and tests";
        assert_eq!(why.verdict(), format!("{begin}{balance}"));
        why.has_messages = true;
        (why.waiting_ns, why.not_followed_ns) = (0.4e9, 0.01e9);
        let waiting = "waiting (20.0%), messages, balance and single visits of 2 ranks";
        assert_eq!(why.verdict(), format!("{begin}{waiting}"));
        // What may hide causes is said, if it is enough for a finding.
        (why.not_followed_ns, why.may_be_lost_ns) = (0.1e9, 0.099e9);
        let waiting = waiting.replace("20.0%", "20.0%; not followed 5.0%");
        assert_eq!(why.verdict(), format!("{begin}{waiting}"));
        why.may_be_lost_ns = 0.1e9;
        assert_eq!(
            why.verdict(),
            format!(
                "{begin}{waiting}; ranks were ready to run without a processor for up to 5.0% of the \
                 time, which may hide causes: measure again where nothing else runs"
            )
        );
        why.total_ns = 0.0;
        assert_eq!(why.verdict(), "nothing was measured");
    }

    #[test]
    fn a_greater_gain_that_comes_later_is_explained() {
        let text = "id,parent,tag,is_loop,times\nmain,null,null,0,1|1\n";
        let profile = read_text(text.as_bytes()).expect("it is right").profile;
        let finding = |kind, ns| Finding::new(kind, ns, String::new(), String::new());
        let mut why = Why::of_profile(&profile);
        why.findings = vec![finding(Kind::LateSender, 1e9), finding(Kind::Oversubscription, 2e9)];
        let gain = |why: &Why, number: usize| why.to_gain(number, &why.findings[number - 1]);
        let last = "from sums over the run; chance, and so behind what has a cause); kind: over";
        assert!(gain(&why, 2).contains(last), "{}", gain(&why, 2));
        why.findings[1].lost_ns = 0.9e9;
        assert!(!gain(&why, 2).contains("chance"), "{}", gain(&why, 2));
        why.findings.reverse();
        assert!(!gain(&why, 1).contains("chance") && !gain(&why, 2).contains("chance"));
    }

    #[test]
    fn a_paragraph_is_broken_between_words() {
        assert_eq!(paragraph("  one two three", "    ", 9), "  one two\n    three\n");
        assert_eq!(paragraph("one two", "  ", 80), "one two\n");
        assert_eq!(paragraph("a-long-word b", "  ", 5), "a-long-word\n  b\n");
    }
}
