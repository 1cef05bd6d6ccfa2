//! The nodes of a program: its callpaths that end in an MPI call, with recursion folded.

use std::collections::{BTreeMap, HashMap};

use tinyprof_format::model::{CallpathId, CallpathIndex, CallpathTable, RegionKind};
use tinyprof_messages::graph::{Folded, NodeKey, NodeKind, RECURSIVE, folded};

use super::local::is_local;
use tinyprof_report::MpiCall;

/// The region of visits for which the recorder had no room.
const OTHER: &str = "[other]";

/// All nodes, numbered in the order of their keys: lists in the order of numbers need no sorting
/// where they become graphs.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    of_row: Vec<Option<u32>>,
    of_id: HashMap<CallpathId, u32>,
    of_key: HashMap<NodeKey, u32>,
    all: Vec<NodeInfo>,
}

/// What is known of a node besides what ranks measured.
#[derive(Clone, Debug)]
pub(super) struct NodeInfo {
    pub(super) key: NodeKey,
    /// The path as text, with folded recursion as `[recursive]`.
    pub(super) path: String,
    /// The name of its last region.
    pub(super) name: String,
    /// The function: `MPI_Send`.
    pub(super) function: String,
    /// Whether it exchanges nothing with other ranks.
    pub(super) is_local: bool,
    /// The loops around it that are regions, from the outermost on, as their folded callpaths.
    pub(super) loops: Vec<u64>,
    /// The names of these loops.
    pub(super) loop_names: Vec<String>,
}

impl Nodes {
    pub(super) fn of_callpaths(table: &CallpathTable) -> Self {
        let mut functions: BTreeMap<&str, u16> = BTreeMap::new();
        for callpath in table.rows() {
            if let Some(call) = MpiCall::of_region(&callpath.region) {
                functions.insert(call.function, 0);
            }
        }
        for (number, function) in (0..).zip(functions.values_mut()) {
            *function = number;
        }
        let mut found: Vec<(NodeKey, CallpathIndex, NodeInfo)> = Vec::new();
        for (index, callpath) in table.iter() {
            let name = callpath.region.name.as_str();
            let kind = match MpiCall::of_region(&callpath.region) {
                Some(call) => NodeKind::Call(functions[call.function]),
                None if name == OTHER => NodeKind::Other,
                None => continue,
            };
            let info = NodeInfo::of(table, index, kind);
            found.push((info.key, index, info));
        }
        // The first callpath of a node gives its names.
        found.sort_by_key(|(key, ..)| *key);
        let mut nodes = Self { of_row: vec![None; table.len()], ..Self::default() };
        for (key, index, info) in found {
            let next = u32::try_from(nodes.all.len()).unwrap_or(u32::MAX);
            let number = *nodes.of_key.entry(key).or_insert(next);
            if number == next {
                nodes.all.push(info);
            }
            nodes.of_row[index.row()] = Some(number);
            nodes.of_id.insert(table.get(index).id, number);
        }
        nodes
    }

    pub(super) fn of_callpath(&self, callpath: CallpathIndex) -> Option<u32> {
        self.of_row.get(callpath.row()).copied().flatten()
    }

    /// Returns the row of the first callpath of a node.
    pub(super) fn first_row(&self, node: u32) -> Option<usize> {
        self.of_row.iter().position(|of_row| *of_row == Some(node))
    }

    pub(super) fn of_id(&self, id: CallpathId) -> Option<u32> {
        self.of_id.get(&id).copied()
    }

    pub(super) fn of_key(&self, key: NodeKey) -> Option<u32> {
        self.of_key.get(&key).copied()
    }

    pub(super) fn get(&self, node: u32) -> &NodeInfo {
        &self.all[node as usize]
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &NodeInfo)> {
        (0..).zip(&self.all)
    }
}

impl NodeInfo {
    fn of(table: &CallpathTable, index: CallpathIndex, kind: NodeKind) -> Self {
        let (mut chain, mut above) = (Vec::new(), Some(index));
        while let Some(at) = above {
            chain.push(at);
            above = table.get(at).parent;
        }
        chain.reverse();
        let region = |at: CallpathIndex| &table.get(at).region;
        let stack: Vec<u64> = chain.iter().map(|at| region(*at).site.to_bits()).collect();
        let names: HashMap<u64, &str> = chain
            .iter()
            .map(|at| (region(*at).site.to_bits(), region(*at).name.as_str()))
            .collect();
        let Folded { regions, depth } = folded(&stack);
        let name = |site: &u64| match *site {
            RECURSIVE => "[recursive]",
            site => names.get(&site).copied().unwrap_or_default(),
        };
        let path: Vec<&str> = regions.iter().map(name).collect();
        let id = Folded { regions, depth }.id();
        let key =
            if kind == NodeKind::Other { NodeKey::OTHER } else { NodeKey { callpath: id, kind } };
        let is_loop = |at: &CallpathIndex| region(*at).kind == RegionKind::Loop;
        // A loop that is entered again by recursion is one loop.
        let (mut loops, mut loop_names): (Vec<u64>, Vec<String>) = (Vec::new(), Vec::new());
        for (position, at) in chain.iter().enumerate().filter(|(_, at)| is_loop(at)) {
            let id = folded(&stack[..=position]).id();
            if !loops.contains(&id) {
                loops.push(id);
                loop_names.push(region(*at).name.clone());
            }
        }
        let own = region(index);
        let function = MpiCall::of_region(own)
            .map_or_else(|| own.name.clone(), |call| call.function.to_owned());
        Self {
            key,
            path: path.join("<"),
            name: own.name.clone(),
            is_local: is_local(&function),
            function,
            loops,
            loop_names,
        }
    }
}
