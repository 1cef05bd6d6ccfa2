//! The call tree with the numbers that CubeX gives its nodes.

use tinyprof_format::model::{CallpathIndex, CallpathTable};

/// The kind of a value: with or without the callpaths below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Inclusive,
    Exclusive,
}

/// The nodes, numbered depth first. There is exactly one root, as readers require: if a profile has
/// several roots, or none, a node without a callpath joins them.
pub(super) struct Tree {
    /// The row of each node; `None` for the root that joins several.
    rows: Vec<Option<usize>>,
    children: Vec<Vec<usize>>,
    /// The rows without a parent.
    roots: Vec<usize>,
}

impl Tree {
    pub(super) fn new(table: &CallpathTable) -> Self {
        let order = crate::export::paths::preorder(table);
        let of = |root: &CallpathIndex| root.row();
        let roots: Vec<usize> = table.children()[table.len()].iter().map(of).collect();
        let joins = usize::from(roots.len() != 1);
        let mut rows: Vec<Option<usize>> = vec![None; joins];
        rows.extend(order.iter().map(|index| Some(index.row())));
        let mut node_of_row = vec![0; table.len()];
        for (node, row) in rows.iter().enumerate() {
            if let Some(row) = row {
                node_of_row[*row] = node;
            }
        }
        let mut children = vec![Vec::new(); rows.len()];
        for (node, index) in
            order.into_iter().enumerate().map(|(place, index)| (place + joins, index))
        {
            match table.get(index).parent {
                Some(parent) => children[node_of_row[parent.row()]].push(node),
                None if joins == 1 => children[0].push(node),
                None => {}
            }
        }
        Self { rows, children, roots }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the row in the callpath table; `None` for the root that joins several.
    pub(super) fn row(&self, node: usize) -> Option<usize> {
        self.rows[node]
    }

    pub(super) fn roots(&self) -> &[usize] {
        &self.roots
    }

    pub(super) fn children(&self, node: usize) -> &[usize] {
        &self.children[node]
    }

    /// Returns the nodes in the order of the rows of a metric of this kind.
    pub(super) fn order(&self, kind: Kind) -> Vec<usize> {
        if kind == Kind::Exclusive {
            return (0..self.len()).collect();
        }
        let mut order = vec![0];
        let mut waiting = vec![0];
        while let Some(node) = waiting.pop() {
            order.extend(&self.children[node]);
            waiting.extend(self.children[node].iter().rev());
        }
        order
    }
}
