//! The call tree as CubeX numbers it.

use tinyprof_format::model::{CallpathIndex, CallpathTable};

/// Whether a value counts what is below the callpath.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Inclusive,
    Exclusive,
}

/// The nodes, numbered by a walk into depth. There is exactly one root, as readers want: where a
/// profile has several, or none, a node without a callpath joins them.
pub(super) struct Tree {
    /// The row of each node; none for the root that joins.
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

    /// The row of the callpath table; none for the root that joins.
    pub(super) fn row(&self, node: usize) -> Option<usize> {
        self.rows[node]
    }

    pub(super) fn roots(&self) -> &[usize] {
        &self.roots
    }

    pub(super) fn children(&self, node: usize) -> &[usize] {
        &self.children[node]
    }

    /// The nodes in the order in which a metric of this kind has its rows.
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
