//! Arrows between neighbouring modules, which make no circle, and between crates, which point down.

use std::collections::{BTreeMap, BTreeSet};

use crate::modules::{Crate, ModulePath};

/// An arrow, and the files that draw it.
type Arrows = BTreeMap<(String, String), BTreeSet<String>>;

/// Finds circles among the modules that have the same parent: a module counts with all that is
///          below
/// it. Returns a complaint for each circle, with the files of its arrows.
#[must_use]
pub fn circles(name: &str, found: &Crate) -> Vec<String> {
    let mut families: BTreeMap<ModulePath, Arrows> = BTreeMap::new();
    for (from, module) in &found.modules {
        for to in found.named_by(from) {
            let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
            // A parent and what is below it may name each other.
            if let (Some(a), Some(b)) = (from.get(common), to.get(common)) {
                let family = families.entry(from[..common].to_vec()).or_default();
                family.entry((a.clone(), b.clone())).or_default().insert(module.file.clone());
            }
        }
    }
    let mut complaints = Vec::new();
    for (parent, arrows) in &families {
        for circle in circles_of(arrows) {
            let within = [&[name.to_owned()], parent.as_slice()].concat().join("::");
            let is_inside = |(a, b): &&(String, String)| circle.contains(a) && circle.contains(b);
            let drawn: Vec<String> = arrows
                .keys()
                .filter(is_inside)
                .map(|arrow| {
                    let files: Vec<&str> = arrows[arrow].iter().map(String::as_str).collect();
                    format!("  {} -> {}: {}", arrow.0, arrow.1, files.join(", "))
                })
                .collect();
            let members: Vec<&str> = circle.iter().map(String::as_str).collect();
            complaints.push(format!(
                "circle in {within}: {}\n{}",
                members.join(", "),
                drawn.join("\n")
            ));
        }
    }
    complaints
}

/// The sets of modules each of which reaches each other one.
fn circles_of(arrows: &Arrows) -> Vec<BTreeSet<String>> {
    let nodes: BTreeSet<&String> = arrows.keys().flat_map(|(a, b)| [a, b]).collect();
    let reachable = |start: &String| {
        let (mut seen, mut waiting) = (BTreeSet::new(), vec![start.clone()]);
        while let Some(at) = waiting.pop() {
            for (from, to) in arrows.keys() {
                if *from == at && seen.insert(to.clone()) {
                    waiting.push(to.clone());
                }
            }
        }
        seen
    };
    let reach: BTreeMap<&String, BTreeSet<String>> =
        nodes.iter().map(|node| (*node, reachable(node))).collect();
    let mut circles: Vec<BTreeSet<String>> = Vec::new();
    for (node, reached) in &reach {
        if !reached.contains(*node) || circles.iter().any(|circle| circle.contains(*node)) {
            continue;
        }
        let circle = reached.iter().filter(|other| reach[other].contains(*node)).cloned().collect();
        circles.push(circle);
    }
    circles
}

/// Finds dependencies between crates of the workspace that do not point down. `floors` has each
/// crate with its floor, `dependencies` what a crate depends on outside of its tests.
#[must_use]
pub fn arrows_up(
    floors: &BTreeMap<&str, u32>,
    dependencies: &BTreeMap<String, Vec<String>>,
) -> Vec<String> {
    let mut complaints = Vec::new();
    for (from, targets) in dependencies {
        let Some(floor) = floors.get(from.as_str()) else {
            complaints.push(format!("{from}: has no floor in ARCHITECTURE.md and in this test"));
            continue;
        };
        for to in targets {
            if let Some(below) = floors.get(to.as_str())
                && below >= floor
            {
                complaints
                    .push(format!("arrow up: {from} (floor {floor}) -> {to} (floor {below})"));
            }
        }
    }
    complaints
}
