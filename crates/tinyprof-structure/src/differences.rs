//! Where classes of a phase differ, in words.

use serde_json::{Value, json};
use tinyprof_messages::graph::{
    Class, Difference, Direction, NodeKey, Part, Phase, RankSet, Tag, Tally,
};

use super::Structure;
use tinyprof_report::cells::{count_cell, shown, time};

/// The number of classes of a phase up to which differences are searched for.
const CLASSES_MAX: usize = 32;

/// The number of other classes that a class is compared with, the largest ones.
const COMPARED_MAX: usize = 8;

/// The number of differences of a class that are told.
const TOLD_MAX: usize = 20;

/// The differences of a class to the class that is most like it.
#[derive(Clone, Debug)]
pub(super) struct Differs {
    /// The ranks of the other class.
    pub(super) from: RankSet,
    /// The most important first.
    pub(super) told: Vec<Told>,
    /// The number of all.
    pub(super) all: usize,
}

/// A difference.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) text: String,
    pub(super) json: Value,
}

impl Structure {
    /// Returns where a class differs from the one that is most like it. None if it is the only one,
    /// or there are too many.
    pub(super) fn differs(&self, phase: &Phase, class: &Class) -> Option<Differs> {
        if phase.classes.len() > CLASSES_MAX {
            return None;
        }
        let mut others: Vec<&Class> =
            phase.classes.iter().filter(|other| other.ranks != class.ranks).collect();
        others.sort_by_key(|other| std::cmp::Reverse(other.ranks.len()));
        others.truncate(COMPARED_MAX);
        let tag = |class: &Class| self.tags.get(&class.representative);
        let compared = others.into_iter().filter_map(|other| {
            let found = self.comparison.differences(tag(other)?, tag(class)?, &phase.section);
            Some((other, found))
        });
        let (other, found) = compared.min_by(|(_, a), (_, b)| {
            let weight = |found: &[Difference]| {
                let structural = found.iter().filter(|one| one.apart_ns == 0.0).count();
                (structural, found.iter().map(|one| one.apart_ns).sum::<f64>())
            };
            let (a, b) = (weight(a), weight(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        })?;
        let tags = [tag(class)?, tag(other)?];
        let found = without_consequences(found);
        let told = found.iter().take(TOLD_MAX).map(|one| self.told(one, &other.ranks, tags));
        Some(Differs { from: other.ranks.clone(), told: told.collect(), all: found.len() })
    }

    fn told(&self, found: &Difference, others: &RankSet, tags: [&Tag; 2]) -> Told {
        // The other class is the first of both.
        let [there, here] = found.times;
        let what = match (here, there) {
            _ if matches!(found.part, Part::Messages(..)) => "partners",
            (Some(_), None) => "only here",
            (None, Some(_)) => "missing here",
            _ if found.apart_ns > 0.0 => "time",
            _ => "count",
        };
        let (kind, subject, from, to) = match found.part {
            Part::Node(key) => ("call", self.distinct_name(key), None, Some(key)),
            Part::Flow(from, to) => {
                let subject = match what {
                    "time" => format!("the computation before {}", self.distinct_name(to)),
                    _ => format!(
                        "the way from {} to {}",
                        self.distinct_name(from),
                        self.distinct_name(to)
                    ),
                };
                ("computation", subject, Some(from), Some(to))
            }
            Part::Completion(from, to) => {
                let subject = format!(
                    "the completion of {} by {}",
                    self.distinct_name(from),
                    self.distinct_name(to)
                );
                ("completion", subject, Some(from), Some(to))
            }
            Part::Messages(key, direction) => {
                let subject = match direction {
                    Direction::Out => format!("the messages sent by {}", self.distinct_name(key)),
                    Direction::In => {
                        format!("the messages received by {}", self.distinct_name(key))
                    }
                    Direction::Root | Direction::Rooted => {
                        format!("the root of {}", self.distinct_name(key))
                    }
                };
                ("messages", subject, None, Some(key))
            }
        };
        let counts = [here, there].map(|times| times.map_or(0, |times| times.count));
        let numbers = |times: Option<Tally>| match what {
            "time" => time(times.map_or(0, |times| times.sum).into()),
            _ => count_cell(times.map_or(0, |times| times.count)),
        };
        let text = match what {
            "only here" => format!("{subject}: {} here, none on {others}", count_cell(counts[0])),
            "missing here" => {
                format!("{subject}: none here, {} on {others}", count_cell(counts[1]))
            }
            "partners" => format!("{subject}: other partners than on {others}"),
            _ => format!("{subject}: {} here, {} on {others}", numbers(here), numbers(there)),
        };
        let path = |key: Option<NodeKey>| key.and_then(|key| self.path(key));
        // The times of messages are their sizes.
        let of_side = |times: Option<Tally>| {
            times.map(|times| match found.part {
                Part::Messages(..) => json!({ "count": times.count, "bytes": times.sum }),
                _ => json!({ "count": times.count, "ns": times.sum }),
            })
        };
        let json = json!({
            "part": kind,
            "what": what,
            "callpath": path(to),
            "from_callpath": path(from),
            "here": of_side(here),
            "there": of_side(there),
            "ranks": tags.map(|tag| tag.rank),
            "text": text,
        });
        Told { text, json }
    }

    /// Returns the name of a node for people.
    pub(super) fn name(&self, key: NodeKey) -> String {
        let node = self.nodes.of_key(key);
        node.map_or_else(|| "the begin".to_owned(), |node| shown(&self.nodes.get(node).name))
    }

    /// Returns the name of a node, or its path if others have this name: a call that is missing in
    /// one place is not missing everywhere.
    fn distinct_name(&self, key: NodeKey) -> String {
        let name = self.name(key);
        let of_name = self.nodes.iter().filter(|(_, info)| shown(&info.name) == name).count();
        self.path(key).filter(|_| of_name > 1).map_or(name, shown)
    }

    /// Returns the path of a node; none for the begin of a phase.
    pub(super) fn path(&self, key: NodeKey) -> Option<&str> {
        Some(&self.nodes.get(self.nodes.of_key(key)?).path)
    }
}

/// Returns the differences without those that follow from others: if a call is missing, so are the
/// ways to it, and its messages.
fn without_consequences(found: Vec<Difference>) -> Vec<Difference> {
    let is_one_sided = |one: &Difference| one.times[0].is_some() != one.times[1].is_some();
    if !found.iter().any(|one| matches!(one.part, Part::Node(_)) && is_one_sided(one)) {
        return found;
    }
    let is_told = |one: &Difference| match one.part {
        Part::Node(_) => true,
        Part::Flow(..) => one.apart_ns > 0.0,
        Part::Completion(..) => false,
        Part::Messages(..) => !is_one_sided(one),
    };
    found.into_iter().filter(is_told).collect()
}
