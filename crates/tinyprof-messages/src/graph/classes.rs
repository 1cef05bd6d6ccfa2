//! Phases of a program, and the classes of ranks that did the same in them.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use super::compare::{Comparison, Time, Times};
use super::digest::Digest;
use super::peers::{Absolute, Distinct, Peers, Slot, by_slot, wildcards};
use super::{NodeKey, NodeKind, RankSet, Section, Tag};

/// A section of the program: a phase if it is outermost, or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Its place.
    pub section: Section,
    /// The ranks that have it, by what they do. The class of the lowest rank is first.
    pub classes: Vec<Class>,
    /// Loops, and straight parts between them, if there are several.
    pub inner: Vec<Phase>,
}

/// Ranks that do the same in a section.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// The ranks.
    pub ranks: RankSet,
    /// The rank with which the others were compared.
    pub representative: u32,
}

/// Returns the phases of a program, in the order in which they begin, with the classes of ranks.
///
/// Two ranks are alike in a section if their nodes and edges correspond, with equal counts (at
/// wildcards: within 1, or 1 %), and if their times are within the tolerance. A rank joins the
/// first class whose first rank is like it.
///
/// # Cost
///
/// 4,096 ranks with 200 nodes each: see `benches/results`.
#[must_use]
pub fn phases(tags: &[Tag], comparison: &Comparison) -> Vec<Phase> {
    phases_of(tags.len(), |rank| Cow::Borrowed(&tags[rank]), comparison)
}

/// Like [`phases`], but makes each graph on demand, twice; holds at most two, and what classes
/// differ by.
#[must_use]
pub fn phases_of<'a>(
    graphs: usize,
    tag: impl Fn(usize) -> Cow<'a, Tag>,
    comparison: &Comparison,
) -> Vec<Phase> {
    let (mut sections, mut absolute) = (Sections::default(), Distinct::default());
    for number in 0..graphs {
        let tag = tag(number);
        sections.add(&tag);
        absolute.add(&by_slot(&tag, comparison.ranks));
    }
    let absolute = absolute.absolute();
    let mut of_sections: BTreeMap<Section, (Vec<bool>, Classes<'_>)> = BTreeMap::new();
    sections.each_below(&Section::default(), &mut |section| {
        let within = sections.of_nodes.iter().map(|node| node.is_within(section)).collect();
        of_sections.insert(section.clone(), (within, Classes::new(comparison)));
    });
    for number in 0..graphs {
        let tag = tag(number);
        let items = items(&tag, &by_slot(&tag, comparison.ranks), &absolute, &sections);
        for (within, classes) in of_sections.values_mut() {
            classes.add(tag.rank, Shape::of(&items, within));
        }
    }
    let mut found: BTreeMap<Section, Vec<Class>> = of_sections
        .into_iter()
        .map(|(section, (_, classes))| (section, classes.into_classes()))
        .collect();
    sections.phases(&Section::default(), &mut found)
}

/// The number of sections up to which one is found by comparing it with all.
const COMPARED_MAX: usize = 16;

/// All sections.
#[derive(Default)]
struct Sections {
    /// The sections of nodes, by their numbers.
    of_nodes: Vec<Section>,
    numbers: HashMap<Section, u32>,
    /// All of them, and all around them, with the first node in it.
    first: BTreeMap<Section, u32>,
}

impl Sections {
    fn add(&mut self, tag: &Tag) {
        for (key, node) in &tag.nodes {
            if self.number(&node.section).is_none() {
                let number = u32::try_from(self.of_nodes.len()).unwrap_or(u32::MAX);
                self.numbers.insert(node.section.clone(), number);
                self.of_nodes.push(node.section.clone());
            }
            // Begin and end alone are no phase.
            if matches!(key.kind, NodeKind::Begin | NodeKind::End) {
                continue;
            }
            let known = self.first.get(&node.section);
            if known.is_some_and(|known| *known <= node.order) {
                continue;
            }
            for length in 1..=node.section.places.len() {
                let section = Section { places: node.section.places[..length].to_vec() };
                let known = self.first.entry(section).or_insert(u32::MAX);
                *known = (*known).min(node.order);
            }
        }
    }

    /// Returns the number of a section. Few sections are compared faster than hashed.
    fn number(&self, section: &Section) -> Option<u32> {
        if self.of_nodes.len() > COMPARED_MAX {
            return self.numbers.get(section).copied();
        }
        let found = self.of_nodes.iter().position(|other| other == section)?;
        u32::try_from(found).ok()
    }

    /// The sections directly below another, in order. A single straight part is not told apart from
    /// the loop around it.
    fn below(&self, outer: &Section) -> Vec<&Section> {
        let length = outer.places.len() + 1;
        let inner = self
            .first
            .iter()
            .filter(|(section, _)| section.places.len() == length && section.is_within(outer));
        let mut inner: Vec<(u32, &Section)> =
            inner.map(|(section, first)| (*first, section)).collect();
        inner.sort_unstable();
        if inner.len() == 1 && length > 1 {
            return Vec::new();
        }
        inner.into_iter().map(|(_, section)| section).collect()
    }

    /// Passes all sections below another, and those below them.
    fn each_below(&self, outer: &Section, visit: &mut impl FnMut(&Section)) {
        for section in self.below(outer) {
            visit(section);
            self.each_below(section, visit);
        }
    }

    fn phases(&self, outer: &Section, classes: &mut BTreeMap<Section, Vec<Class>>) -> Vec<Phase> {
        let mut phases = Vec::new();
        for section in self.below(outer) {
            phases.push(Phase {
                section: section.clone(),
                classes: classes.remove(section).unwrap_or_default(),
                inner: self.phases(section, classes),
            });
        }
        phases
    }
}

/// A node or an edge of a rank, ready to be compared.
#[derive(Clone, Copy, Debug)]
struct Item {
    section: u32,
    /// Its identity, and its count if that has to be equal.
    structure: u64,
    /// A count at a wildcard.
    loose: Option<u64>,
    /// The time, if it has one to compare.
    time: Option<Time>,
}

/// Returns the nodes and edges of a rank, in the order of their keys: ranks with equal structure
/// have them in equal order.
fn items(
    tag: &Tag,
    peers: &[(Slot, Peers)],
    absolute: &Absolute,
    sections: &Sections,
) -> Vec<Item> {
    // In the order of keys, as nodes are.
    let numbers: Vec<(NodeKey, u32)> = tag
        .nodes
        .iter()
        .filter_map(|(key, node)| Some((*key, sections.number(&node.section)?)))
        .collect();
    let section = |key: &NodeKey| {
        let at = numbers.binary_search_by_key(key, |(key, _)| *key).ok()?;
        Some(numbers[at].1)
    };
    let edges = tag.flows.len() + tag.completions.len() + peers.len();
    let mut items = Vec::with_capacity(tag.nodes.len() + edges);
    let mut add = |node: &NodeKey, structure: Digest, loose, time| {
        if let Some(section) = section(node) {
            items.push(Item { section, structure: structure.0, loose, time });
        }
    };
    // Counts at nodes with wildcards are close, others are equal.
    let wildcards = wildcards(tag);
    let count = |structure: Digest, ends: [&NodeKey; 2], count| {
        if ends.into_iter().any(|end| wildcards.contains(end)) {
            (structure, Some(count))
        } else {
            (structure.word(count), None)
        }
    };
    for (key, node) in &tag.nodes {
        let (structure, loose) = count(Digest::new(1).key(key), [key; 2], node.times.count);
        add(key, structure, loose, Some(Time::of(node.times)));
    }
    for ((from, to), flow) in &tag.flows {
        let structure = Digest::new(2).key(from).key(to);
        let (structure, loose) = count(structure, [from, to], flow.count);
        add(to, structure, loose, Some(Time::of(*flow)));
    }
    for ((from, to), completion) in &tag.completions {
        let structure = Digest::new(3).key(from).key(to);
        let (structure, loose) = count(structure, [from, to], completion.count);
        add(to, structure, loose, None);
    }
    for (slot, peers) in peers {
        let mut structure = Digest::new(4).key(&slot.node).word(slot.direction as u64);
        if let Some(sender) = &slot.sender {
            structure = structure.key(sender);
        }
        for (peer, count) in absolute.peers(slot, peers) {
            structure = structure.word(peer.cast_unsigned()).word(*count);
        }
        add(&slot.node, structure, slot.is_wildcard.then_some(peers.bytes.count), None);
    }
    items
}

/// A section of a rank, ready to be compared.
#[derive(Debug, Default)]
struct Shape {
    structure: (u64, u64),
    loose: Vec<u64>,
    times: Times,
}

impl Shape {
    fn of(items: &[Item], within: &[bool]) -> Self {
        let mut shape = Self::default();
        let (mut digest, mut length) = (Digest::new(0), 0);
        for item in items.iter().filter(|item| within[item.section as usize]) {
            digest = digest.word(item.structure);
            length += 1;
            shape.loose.extend(item.loose);
            shape.times.extend(item.time);
        }
        shape.structure = (length, digest.0);
        shape
    }
}

/// The classes of a section, as ranks are added.
struct Classes<'a> {
    comparison: &'a Comparison,
    found: Vec<(Shape, RankSet, u32)>,
    /// The classes with equal structure and counts.
    by_structure: HashMap<(u64, u64), Vec<usize>>,
}

impl<'a> Classes<'a> {
    fn new(comparison: &'a Comparison) -> Self {
        Self { comparison, found: Vec::new(), by_structure: HashMap::new() }
    }

    fn into_classes(self) -> Vec<Class> {
        let classes = self.found.into_iter();
        classes.map(|(_, ranks, representative)| Class { ranks, representative }).collect()
    }

    fn add(&mut self, rank: u32, shape: Shape) {
        if shape.structure.0 == 0 {
            return;
        }
        let alike = self.by_structure.entry(shape.structure).or_default();
        let is_like = |class: &&usize| {
            let (first, ..) = &self.found[**class];
            let mut loose = first.loose.iter().zip(&shape.loose);
            loose.all(|(a, b)| Comparison::are_close(*a, *b))
                && (!self.comparison.with_times
                    || self.comparison.are_near(&first.times, &shape.times))
        };
        if let Some(class) = alike.iter().find(is_like) {
            self.found[*class].1.insert(rank);
        } else {
            alike.push(self.found.len());
            self.found.push((shape, std::iter::once(rank).collect(), rank));
        }
    }
}
