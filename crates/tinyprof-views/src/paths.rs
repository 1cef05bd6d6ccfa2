//! Paths of callpaths.

use tinyprof_format::model::CallpathIndex;
use tinyprof_report::Report;
use tinyprof_report::cells::{columns, shown};

/// The maximum length of a path; longer ones are omitted. In a hostile profile the total size of
/// all paths would be quadratic.
const LONGEST_PATH_BYTES: usize = 16_384;

/// Returns a callpath's path as [`CallpathTable::path`](tinyprof_format::model::CallpathTable)
/// writes it; none if it is too long.
pub(crate) fn path(report: &Report, index: CallpathIndex) -> Option<String> {
    let (mut names, mut bytes) = (Vec::new(), 0);
    let mut at = Some(index);
    while let Some(here) = at {
        let callpath = report.callpaths.get(here);
        bytes += callpath.region.name.len() + usize::from(!names.is_empty());
        if bytes > LONGEST_PATH_BYTES {
            return None;
        }
        names.push(callpath.region.name.as_str());
        at = callpath.parent;
    }
    names.reverse();
    Some(names.join("<"))
}

/// Returns the path of a callpath for a table. If it is longer than `room`, the outermost regions
/// are left out first: the region's own name matters most.
pub(crate) fn shown_path(report: &Report, index: CallpathIndex, room: usize) -> String {
    let callpath = report.callpaths.get(index);
    let (mut path, mut above) = (shown(&callpath.region.name), callpath.parent);
    while let Some(at) = above {
        let parent = report.callpaths.get(at);
        let longer = format!("{}<{path}", shown(&parent.region.name));
        if columns(&longer) > room {
            let shortened = format!("...<{path}");
            return if columns(&shortened) <= room { shortened } else { path };
        }
        (path, above) = (longer, parent.parent);
    }
    path
}
