//! The callpaths that a user means by a path: a whole one, the end of one, or a single name.

use std::collections::BTreeSet;

use tinyprof_format::model::{CallpathIndex, CallpathTable};
use tinyprof_report::escaped;

use crate::near::{changes, is_near};

/// The number of paths that a message lists.
const LISTED: usize = 5;

/// Returns the callpaths with this path. Names may be separated by `/` as well as by `<`, and the
/// outermost ones may be missing if only one callpath ends like that.
///
/// # Errors
/// If there is none, with similar ones; or if there are several, with their paths.
pub(super) fn find(table: &CallpathTable, path: &str) -> Result<Vec<CallpathIndex>, String> {
    let slashed = path.replace('/', "<");
    for text in [path, &slashed] {
        let whole = matching(table, text, true);
        if !whole.is_empty() {
            return Ok(whole);
        }
    }
    for text in [path, &slashed] {
        let ends = matching(table, text, false);
        match ends.as_slice() {
            [] => {}
            [_] => return Ok(ends),
            _ => {
                return Err(format!(
                    "{} callpaths end with {}: {}; name one of them, or use --by region",
                    ends.len(),
                    escaped(path),
                    listed(ends.iter().map(|index| table.path(*index)))
                ));
            }
        }
    }
    let similar = similar(table, &slashed);
    let advice = if similar.is_empty() {
        "expected names from a root region on, joined by < or /, as in main<exchange; or one name"
            .to_owned()
    } else {
        format!("did you mean {}?", listed(similar.into_iter()))
    };
    Err(format!("there is no callpath {}: {advice}", escaped(path)))
}

/// Returns the outermost callpaths whose path is `text`, or ends with it.
fn matching(table: &CallpathTable, text: &str, whole: bool) -> Vec<CallpathIndex> {
    let mut inside = vec![false; table.len()];
    let mut found = Vec::new();
    for (index, callpath) in table.iter() {
        let is_below = callpath.parent.is_some_and(|parent| inside[parent.row()]);
        let is_found = !is_below && is_path(table, index, text, whole);
        inside[index.row()] = is_below || is_found;
        found.extend(is_found.then_some(index));
    }
    found
}

/// Returns `true` if `text` is the path of the callpath, or its end if that is enough. Compares
/// names from the end, so that a deep tree costs no more than the text.
fn is_path(table: &CallpathTable, index: CallpathIndex, text: &str, whole: bool) -> bool {
    let (mut rest, mut at) = (text, index);
    loop {
        let callpath = table.get(at);
        let Some(above) = rest.strip_suffix(callpath.region.name.as_str()) else { return false };
        if above.is_empty() && !whole {
            return true;
        }
        let Some(parent) = callpath.parent else { return above.is_empty() };
        let Some(above) = above.strip_suffix('<') else { return false };
        (rest, at) = (above, parent);
    }
}

/// Returns the paths of callpaths whose name is similar to the last one of `text`, or contains it.
fn similar(table: &CallpathTable, text: &str) -> BTreeSet<String> {
    let name = text.rsplit('<').next().unwrap_or(text).to_lowercase();
    let is_similar = |other: &str| {
        let other = other.to_lowercase();
        (!name.is_empty() && other.contains(&name)) || is_near(changes(&name, &other), &name)
    };
    let paths = table.iter().filter(|(_, callpath)| is_similar(&callpath.region.name));
    paths.map(|(index, _)| table.path(index)).take(2 * LISTED).collect()
}

fn listed(paths: impl ExactSizeIterator<Item = String>) -> String {
    let more = paths.len().saturating_sub(LISTED);
    let first: Vec<String> = paths.take(LISTED).map(|path| escaped(&path)).collect();
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    first.join(", ") + &more
}
