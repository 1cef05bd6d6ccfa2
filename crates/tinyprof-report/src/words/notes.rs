//! Sentences about losses.

use tinyprof_format::model::{Losses, RunMetadata};

use crate::words::names::escaped;

/// The maximum number of filtered regions named; the others are only counted.
const FILTERED_NAMED: usize = 4;

/// The note about times in a profile of reduced precision.
pub const ROUNDED: &str = "are rounded to 8 bits: each is off by at most 0.4 %; counts are exact";

/// The note about waiting in a wide run, whose ranks may have been joined: see
/// [`join_alike`](tinyprof_format::file::join_alike).
pub(crate) const JOINED: &str = "waiting of a single rank may be the mean of ranks that are alike: \
    off by at most 2 %, 2 us each time, and 1/128 of the run; sums over ranks are exact";

/// The words by which the loss is known that may have a reason.
const IN_PRIVATE_MEMORY: &str = "recorded in private memory";

/// Returns a sentence on the regions that a filter removed; none if there was no filter.
#[must_use]
pub fn filtered(run: &RunMetadata) -> Option<String> {
    let filter = match (&run.filter, &run.regions_filtered) {
        (Some(filter), _) => format!("TINYPROF_FILTER={filter}"),
        (None, Some(_)) => "tinyprof ctl filter".to_owned(),
        (None, None) => return None,
    };
    let Some(regions) = &run.regions_filtered else {
        return Some(escaped(&format!(
            "there was a filter, and the regions that it took out are not known: {filter}"
        )));
    };
    if regions.is_empty() {
        return Some(escaped(&format!("the filter took out no region that was visited: {filter}")));
    }
    let (regions_were, count) =
        (if regions.len() == 1 { "region was" } else { "regions were" }, regions.len());
    let named =
        regions.iter().take(FILTERED_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = match count.saturating_sub(FILTERED_NAMED) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    Some(escaped(&format!("{count} {regions_were} filtered out by {filter}: {named}{more}")))
}

/// Returns a sentence for each loss that is not zero. No loss is silent: a loss without a sentence
/// does not compile. `segments_refused` is the reason why threads recorded in private memory.
#[must_use]
pub fn sentences(losses: &Losses, segments_refused: Option<&str>) -> Vec<String> {
    let &Losses {
        visits_not_recorded,
        visits_in_other,
        visits_open,
        visits_unbalanced,
        clock_steps_back,
        records_unreadable,
        records_torn,
        segments_not_mapped,
        series_buckets_folded,
        executions_folded,
        visits_not_timed,
        values_not_recorded,
        visits_kept_out,
        visits_too_deep,
        visits_without_key,
        messages_without_partner,
        edges_without_partner,
    } = losses;
    let told = [
        (
            visits_not_recorded,
            "visit found no memory to be recorded in; it is not in this profile",
            "visits found no memory to be recorded in; they are not in this profile",
        ),
        (
            visits_in_other,
            "visit was added to [other] because the table of callpaths was full",
            "visits were added to [other] because the table of callpaths was full",
        ),
        (
            visits_open,
            "visit was still open at the end; its time so far is included",
            "visits were still open at the end; their time so far is included",
        ),
        (
            visits_unbalanced,
            "visit did not end in its turn; it is counted, its time is unknown",
            "visits did not end in their turn; they are counted, their time is unknown",
        ),
        (
            clock_steps_back,
            "visit ended before it began by the clock; it counts as 0 ns",
            "visits ended before they began by the clock; they count as 0 ns",
        ),
        (
            records_unreadable,
            "record kept changing while it was copied; it is not in this profile",
            "records kept changing while they were copied; they are not in this profile",
        ),
        (
            records_torn,
            "record was being changed when the process died; one of its visits may be missing or have no time",
            "records were being changed when the process died; one visit of each may be missing or have no time",
        ),
        (
            segments_not_mapped,
            "thread recorded in private memory; had the process been killed, its visits would be lost",
            "threads recorded in private memory; had the process been killed, their visits would be lost",
        ),
        (
            series_buckets_folded,
            "value of a long series stands for several visits; sums are exact",
            "values of long series stand for several visits each; sums are exact",
        ),
        (
            executions_folded,
            "summary covers several executions because there were so many; sums are exact",
            "summaries cover several executions each because there were so many; sums are exact",
        ),
        (
            visits_not_timed,
            "visit was counted but not timed, as the budget demands; its callpath's times are estimates",
            "visits were counted but not timed, as the budget demands; their callpaths' times are estimates",
        ),
        (
            values_not_recorded,
            "value of a metric was outside of all regions, not a number, or found no memory; it is not in this profile",
            "values of metrics were outside of all regions, not a number, or found no memory; they are not in this profile",
        ),
        (
            visits_kept_out,
            "visit was not recorded: a signal handler or an allocator entered it inside of the recorder, or its thread had ended",
            "visits were not recorded: signal handlers or allocators entered them inside of the recorder, or their threads had ended",
        ),
        (
            visits_too_deep,
            "visit was added to [other] because it was too deep inside of other regions",
            "visits were added to [other] because they were too deep inside of other regions",
        ),
        (
            visits_without_key,
            "visit was added to its region without a key because the key had too many values",
            "visits were added to their regions without a key because the keys had too many values",
        ),
        (
            messages_without_partner,
            "message was counted without its partner, or not at all, because the table of partners was full",
            "messages were counted without their partners, or not at all, because the table of partners was full",
        ),
        (
            edges_without_partner,
            "wait or step between calls was counted without its partner, or not at all, because the table of edges was full",
            "waits or steps between calls were counted without their partners, or not at all, because the table of edges was full",
        ),
    ];
    let lost = told.into_iter().filter(|(n, ..)| *n > 0);
    let sentence = |(n, one, many)| format!("{n} {}", if n == 1 { one } else { many });
    let mut told: Vec<String> = lost.map(sentence).collect();
    let private = told.iter_mut().find(|sentence| sentence.contains(IN_PRIVATE_MEMORY));
    if let (Some(sentence), Some(reason)) = (private, segments_refused) {
        sentence.push_str(&format!(" ({})", escaped(reason)));
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_told_with_what_it_took_out() {
        let told = |filter: Option<&str>, regions: Option<&[&str]>| {
            filtered(&RunMetadata {
                filter: filter.map(str::to_owned),
                regions_filtered: regions
                    .map(|names| names.iter().map(|&name| name.to_owned()).collect()),
                ..RunMetadata::default()
            })
        };
        assert_eq!(told(None, None), None);
        let expected = "1 region was filtered out by tinyprof ctl filter: pic::fields_at";
        assert_eq!(told(None, Some(&["pic::fields_at"])).unwrap(), expected);
        let expected = "1 region was filtered out by TINYPROF_FILTER=-*fields_at*: pic::fields_at";
        assert_eq!(told(Some("-*fields_at*"), Some(&["pic::fields_at"])).unwrap(), expected);
        let expected = "6 regions were filtered out by TINYPROF_FILTER=-*: a, b, c, d, and 2 more";
        assert_eq!(told(Some("-*"), Some(&["a", "b", "c", "d", "e", "f"])).unwrap(), expected);
        assert!(told(Some("-x"), Some(&[])).unwrap().starts_with("the filter took out no region"));
        assert!(told(Some("-x\n"), None).unwrap().ends_with(r"not known: TINYPROF_FILTER=-x\n"));
    }

    #[test]
    fn every_loss_has_a_sentence_and_none_is_told_of_nothing() {
        assert!(sentences(&Losses::default(), Some("a reason")).is_empty());
        let all = Losses::from_numbers([1; Losses::COUNT]);
        assert_eq!(sentences(&all, None).len(), Losses::COUNT);
        let two = sentences(&Losses { visits_open: 2, ..Losses::default() }, None);
        assert_eq!(two, ["2 visits were still open at the end; their time so far is included"]);
        let losses = Losses { visits_open: 1, segments_not_mapped: 3, ..Losses::default() };
        let told = sentences(&losses, Some("/tmp/x: it belongs to user 7\n"));
        assert!(told[1].ends_with(r"would be lost (/tmp/x: it belongs to user 7\n)"), "{told:?}");
        assert!(!told[0].contains("user 7"));
    }
}
