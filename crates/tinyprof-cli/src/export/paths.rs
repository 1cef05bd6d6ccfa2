//! Callpaths written out, for formats that have no tree.

use tinyprof_format::model::{CallpathIndex, CallpathTable};

/// The most bytes that all paths of a profile may have together, since those of a hostile tree are
/// of quadratic size.
const MOST_BYTES: usize = 1 << 28;

/// Returns the names from the root region to each callpath, by row. `names` has the name of each
/// row.
///
/// # Errors
/// If the total length of the paths exceeds the limit.
pub(super) fn joined(
    table: &CallpathTable,
    separator: &str,
    names: impl Iterator<Item = String>,
) -> Result<Vec<String>, String> {
    let mut paths: Vec<String> = Vec::with_capacity(table.len());
    let mut bytes = 0;
    for (callpath, name) in table.rows().iter().zip(names) {
        let path = match callpath.parent {
            None => name,
            Some(parent) => {
                let above = &paths[parent.row()];
                if above.len() + bytes > MOST_BYTES {
                    return Err(too_deep(table));
                }
                format!("{above}{separator}{name}")
            }
        };
        bytes += path.len();
        paths.push(path);
    }
    Ok(paths)
}

/// Returns the paths as the report writes them: `main<exchange`.
pub(super) fn plain(table: &CallpathTable) -> Result<Vec<String>, String> {
    joined(table, "<", table.rows().iter().map(|callpath| callpath.region.name.clone()))
}

/// Returns the rows from the root region to each callpath, by row.
///
/// # Errors
/// If the total length of the stacks exceeds the limit.
pub(super) fn stacks(table: &CallpathTable) -> Result<Vec<Vec<usize>>, String> {
    let mut stacks: Vec<Vec<usize>> = Vec::with_capacity(table.len());
    let mut rows = 0;
    for (index, callpath) in table.iter() {
        let above = callpath.parent.map_or(&[][..], |parent| &stacks[parent.row()]);
        rows += above.len() + 1;
        if rows > MOST_BYTES / size_of::<usize>() {
            return Err(too_deep(table));
        }
        let stack = above.iter().copied().chain([index.row()]).collect();
        stacks.push(stack);
    }
    Ok(stacks)
}

/// Returns the callpaths in preorder: each before its children, siblings in table order.
pub(super) fn preorder(table: &CallpathTable) -> Vec<CallpathIndex> {
    let children = table.children();
    // An explicit stack, since a hostile tree may be deeper than the thread's stack allows.
    let mut waiting: Vec<CallpathIndex> = children[table.len()].iter().rev().copied().collect();
    let mut order = Vec::with_capacity(table.len());
    while let Some(index) = waiting.pop() {
        order.push(index);
        waiting.extend(children[index.row()].iter().rev());
    }
    order
}

fn too_deep(table: &CallpathTable) -> String {
    let depth = table.rows().last().map_or(0, |callpath| callpath.depth);
    format!(
        "this format spells out every path, and the callpaths are up to {depth} regions deep: more than {} MiB; \
         choose a part of the tree with --path, or a format with a tree, such as hatchet",
        MOST_BYTES >> 20
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use tinyprof_format::model::{CallpathId, Region, SiteId};

    fn chain(depth: u64, name: &str) -> CallpathTable {
        let region = Region::named(SiteId::from_bits(1), name);
        let id = CallpathId::from_bits;
        let below = |at: u64| (id(at), at.checked_sub(1).map(id), region.clone());
        CallpathTable::from_parents((0..depth).map(below))
    }

    #[test]
    fn paths_and_stacks_go_from_the_root() {
        let table = chain(3, "a");
        let paths = joined(&table, ";", ["r", "s", "t"].into_iter().map(str::to_owned)).unwrap();
        assert_eq!(paths[2], "r;s;t");
        assert_eq!(plain(&table).unwrap()[1], "a<a");
        assert_eq!(stacks(&table).unwrap()[2], [0, 1, 2]);
    }

    #[test]
    fn a_hostile_depth_is_refused() {
        let table = chain(30_000, "a-name-of-some-length");
        let message = plain(&table).unwrap_err();
        assert!(message.contains("29999 regions deep"), "{message}");
        assert!(stacks(&table).is_err());
    }
}
