//! The causes of waiting and the events in the segments of a process, running or killed.

pub(crate) mod events;

use tinyprof_format::model::EventMap;
use tinyprof_format::segment::Segment;
use tinyprof_why::kept_causes;

/// Adds the causes of waiting that one of these segments has kept to the event map of their
/// process.
pub(crate) fn add_causes(map: &mut EventMap, segments: &[Segment<'_>]) {
    let kept = segments.iter().filter_map(Segment::kept_words);
    let found = kept.into_iter().find_map(|words| kept_causes(&words, map));
    map.facts.causes = found.map(Box::new);
}

/// Names the code that the process of these segments has made, by its file on this host. After all
/// else is added, as rows may become one.
pub(crate) fn name_made_code(map: &mut EventMap, segments: &[Segment<'_>]) {
    let began = segments.iter().map(|segment| segment.header().launch_date_s).min();
    tinyprof_symbols::name_made_code(map, began.unwrap_or(u64::MAX));
}
