//! The answer as JSON.

use serde_json::{Value, json};
use tinyprof_messages::graph::RankSet;
use tinyprof_report::Certainty;

use crate::finding::{Finding, Link};
use crate::place::Place;
use crate::why::{CriticalPath, Why};

/// The most links of a chain in the page.
const LINKS_DRAWN: usize = 4;

impl Why {
    /// Returns the answer as JSON: `verdict`, `findings`, `waiting` and `critical_path`.
    ///
    /// `seconds` of a finding are those of one rank's time that would be gained at most; `seconds`
    /// of the links of a `chain` are of all ranks together, and add up to the waiting that the
    /// finding explains. `ranks` are runs: `0-2,5`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let by_rank = self.by_rank.iter().take(16);
        let by_rank = by_rank.map(|(ranks, ns)| {
            json!({ "ranks": ranks.to_string(), "seconds": seconds(*ns), "share": self.share(*ns) })
        });
        json!({
            "verdict": self.verdict(),
            "findings": self.findings.iter().map(|one| self.finding_json(one)).collect::<Vec<_>>(),
            "waiting": {
                "is_known": self.has_messages,
                "seconds": seconds(self.waiting_ns),
                "share": self.share(self.waiting_ns),
                "no_processor_seconds": seconds(self.no_processor_ns),
                "unexplained_seconds": seconds(self.unexplained_ns),
                "not_followed_seconds": seconds(self.not_followed_ns),
                "for": by_rank.collect::<Vec<_>>(),
            },
            "critical_path": self.path.as_ref().map(path_json),
        })
    }

    /// Returns what the page shows of the answer: each finding as a line, with its advice, and the
    /// line of waiting.
    ///
    /// Where a cause is known, `chain` has its ranks and the rows of its callpaths, and `waits`
    /// those who wait for it.
    #[must_use]
    pub fn page_json(&self) -> Value {
        let line = |one: &Finding| {
            let chain = one.chain.iter().filter_map(|link| drawn(&link.ranks, link.place.as_ref()));
            json!({
                "line": self.line(one),
                "advice": one.advice,
                "chain": chain.take(LINKS_DRAWN).collect::<Value>(),
                "waits": drawn(&one.waiting_ranks, one.waits_at.as_ref()),
            })
        };
        json!({
            "verdict": self.verdict(),
            "findings": self.findings.iter().map(line).collect::<Vec<_>>(),
            "waiting": self.waiting_line(),
        })
    }

    fn finding_json(&self, finding: &Finding) -> Value {
        json!({
            "kind": finding.word(),
            "seconds": seconds(finding.lost_ns),
            "share": self.share_of(finding),
            "certainty": certainty(finding.certainty),
            "ranks": finding.ranks.to_string(),
            "place": place_json(finding.place.as_ref()),
            "sampled": finding.sampled.as_ref().map(|place| json!({
                "name": place.name,
                "here_seconds": seconds(place.here_ns),
                "elsewhere_seconds": place.elsewhere_ns.map(seconds),
            })),
            "waits_at": place_json(finding.waits_at.as_ref()),
            "waiting_ranks": finding.waiting_ranks.to_string(),
            "chain": finding.chain.iter().map(link_json).collect::<Vec<_>>(),
            "sentence": finding.sentence,
            "advice": finding.advice,
        })
    }
}

/// Returns ranks at a place; none if it is not known.
fn drawn(ranks: &RankSet, place: Option<&Place>) -> Option<Value> {
    let row = place?.index.row();
    (!ranks.is_empty()).then(|| json!({ "ranks": ranks.to_string(), "callpath": row }))
}

fn path_json(path: &CriticalPath) -> Value {
    let share = |ns: f64| if path.ns > 0.0 { ns / path.ns } else { 0.0 };
    let by_rank = path.by_rank.iter().take(16).map(|(ranks, ns)| {
        json!({ "ranks": ranks.to_string(), "seconds": seconds(*ns), "share": share(*ns) })
    });
    json!({
        "seconds": seconds(path.ns),
        "of": by_rank.collect::<Vec<_>>(),
        "imbalance_seconds": seconds(path.imbalance_ns),
        "place": place_json(path.place.as_ref()),
    })
}

fn link_json(link: &Link) -> Value {
    json!({
        "ranks": link.ranks.to_string(),
        "place": place_json(link.place.as_ref()),
        "seconds": seconds(link.ns),
        "why": link.why,
    })
}

fn place_json(place: Option<&Place>) -> Value {
    place.map_or(Value::Null, |place| {
        json!({
            "callpath": place.callpath,
            "function": place.function,
            "file": place.file,
            "line": place.line,
        })
    })
}

/// Returns seconds of whole ns, as the nearest number: 0.15, and not 0.15000000000000002.
fn seconds(ns: f64) -> f64 {
    ns.round() / 1e9
}

const fn certainty(of: Certainty) -> &'static str {
    match of {
        Certainty::Measured => "measured",
        Certainty::AtMost => "at most",
        _ => "estimated",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_printed_without_the_noise_of_sums() {
        let check = |ns: f64, printed: &str| assert_eq!(json!(seconds(ns)).to_string(), printed);
        check(150.000_000_000_000_03, "1.5e-7");
        check(1_110_000_000.000_000_2, "1.11");
        check(333_333_333.333, "0.333333333");
        check(3.0, "3e-9");
        check(0.0, "0.0");
    }
}
