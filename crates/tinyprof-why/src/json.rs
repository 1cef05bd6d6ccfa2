//! The answer as JSON.

use serde_json::{Value, json};
use tinyprof_report::Certainty;

use crate::finding::{Finding, Link};
use crate::place::Place;
use crate::why::{CriticalPath, Why};

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
            json!({ "ranks": ranks.to_string(), "seconds": ns * 1e-9, "share": self.share(*ns) })
        });
        json!({
            "verdict": self.verdict(),
            "findings": self.findings.iter().map(|one| self.finding_json(one)).collect::<Vec<_>>(),
            "waiting": {
                "is_known": self.has_messages,
                "seconds": self.waiting_ns * 1e-9,
                "share": self.share(self.waiting_ns),
                "unexplained_seconds": self.unexplained_ns * 1e-9,
                "for": by_rank.collect::<Vec<_>>(),
            },
            "critical_path": self.path.as_ref().map(path_json),
        })
    }

    /// Returns what the page shows of the answer: each finding as a line, with its advice, and the
    /// line of waiting.
    #[must_use]
    pub fn page_json(&self) -> Value {
        let line = |one: &Finding| json!({ "line": self.line(one), "advice": one.advice });
        json!({
            "verdict": self.verdict(),
            "findings": self.findings.iter().map(line).collect::<Vec<_>>(),
            "waiting": self.waiting_line(),
        })
    }

    fn finding_json(&self, finding: &Finding) -> Value {
        json!({
            "kind": finding.word(),
            "seconds": finding.seconds(),
            "share": self.share_of(finding),
            "certainty": certainty(finding.certainty),
            "ranks": finding.ranks.to_string(),
            "place": place_json(finding.place.as_ref()),
            "sampled": finding.sampled.as_ref().map(|place| json!({
                "name": place.name,
                "here_seconds": place.here_ns * 1e-9,
                "elsewhere_seconds": place.elsewhere_ns.map(|ns| ns * 1e-9),
            })),
            "waits_at": place_json(finding.waits_at.as_ref()),
            "waiting_ranks": finding.waiting_ranks.to_string(),
            "chain": finding.chain.iter().map(link_json).collect::<Vec<_>>(),
            "sentence": finding.sentence,
            "advice": finding.advice,
        })
    }
}

fn path_json(path: &CriticalPath) -> Value {
    let share = |ns: f64| if path.ns > 0.0 { ns / path.ns } else { 0.0 };
    let by_rank = path.by_rank.iter().take(16).map(|(ranks, ns)| {
        json!({ "ranks": ranks.to_string(), "seconds": ns * 1e-9, "share": share(*ns) })
    });
    json!({
        "seconds": path.ns * 1e-9,
        "of": by_rank.collect::<Vec<_>>(),
        "imbalance_seconds": path.imbalance_ns * 1e-9,
        "place": place_json(path.place.as_ref()),
    })
}

fn link_json(link: &Link) -> Value {
    json!({
        "ranks": link.ranks.to_string(),
        "place": place_json(link.place.as_ref()),
        "seconds": link.ns * 1e-9,
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

const fn certainty(of: Certainty) -> &'static str {
    match of {
        Certainty::Measured => "measured",
        Certainty::AtMost => "at most",
        _ => "estimated",
    }
}
