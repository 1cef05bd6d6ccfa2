//! Lanes of known events, and the page that the browser tests read.

use std::path::Path;
use std::sync::Arc;

use tinyprof_format::model::{EventPolicy, MessageEnd, MessageEvent, Profile, VisitEvent};
use tinyprof_rules::Rules;

use super::*;
use crate::events::{EventSelection, EventVisitor, EventsProfile, RankChoice, each_of};
use crate::html::page;
use crate::html::payload::Shown;
use crate::messages_example as example;

/// Returns a profile whose ranks make `steps` steps. Each step takes 100 µs in `exchange`: 40 µs
/// receiving, and 1 µs sending: to the next rank, which receives it in its next step.
fn profile(ranks: u32, steps: u64) -> Profile {
    let mut profile = example::profile(ranks);
    let names =
        ["main", "main<exchange", "main<exchange<MPI_Recv", "main<exchange<MPI_Send"].map(|path| {
            let mut rows = profile.callpaths.iter();
            let found = rows.find(|(index, _)| profile.callpaths.path(*index) == path);
            found.expect("it is there").1.id
        });
    for (rank, facts) in (0_u64..).zip(&mut profile.ranks) {
        let visit = |level: usize, depth, begin_ns, duration_ns| VisitEvent {
            callpath: names[level],
            depth,
            begin_ns,
            duration_ns,
        };
        let mut visits = vec![visit(0, 1, 0, 100_000 * steps + 5_000)];
        for begin_ns in (0..steps).map(|step| 5_000 + 100_000 * step) {
            visits.push(visit(1, 2, begin_ns, 100_000));
            visits.push(visit(2, 3, begin_ns + 10_000, 40_000));
            visits.push(visit(3, 3, begin_ns + 60_000, 1_000));
        }
        let of_step = |step: u64| 5_000 + 100_000 * step;
        let next = i32::try_from((rank + 1) % u64::from(ranks)).expect("few ranks");
        let before = i32::try_from((rank + u64::from(ranks) - 1) % u64::from(ranks));
        let own = i32::try_from(rank).expect("few ranks");
        let before = before.expect("few ranks");
        let message = |level: usize, at_ns, partner, number| MessageEvent {
            callpath: names[level],
            at_ns,
            end: MessageEnd {
                is_receive: level == 2,
                partner: partner - own,
                communicator: 0,
                tag: 7,
                number,
                bytes: 8,
            },
        };
        let mut messages = Vec::new();
        for step in 0..steps {
            if step > 0 {
                messages.push(message(2, of_step(step) + 50_000, before, step - 1));
            }
            messages.push(message(3, of_step(step) + 60_000, next, step));
        }
        let thread = ThreadEvents {
            thread: 0,
            policy: EventPolicy::Window,
            memory_bytes: 1 << 20,
            stopped_ns: None,
            cut: 0,
            cells: Vec::new(),
            visits,
            messages,
        };
        let origin_ns = 1_000_000 + 20_000 * rank;
        let events = RankEvents { origin_ns, threads_without_memory: 0, threads: vec![thread] };
        facts.events = Some(Arc::new(events));
    }
    profile
}

fn timeline(profile: &Profile, visits_max: u64) -> Timeline {
    let each = |is_chosen: &RankChoice<'_>, visit: &mut EventVisitor<'_>| {
        each_of(profile, is_chosen, visit)
    };
    let (callpaths, facts) = (&profile.callpaths, profile.ranks.as_slice());
    let of = EventsProfile { callpaths, is_whole: true, facts };
    let shown = ShownEvents::of(&EventSelection::default(), of, &each).unwrap();
    let totals = Totals::of_profile(profile);
    let ranks: Vec<usize> = (0..profile.ranks.len()).collect();
    let subject = Subject { callpaths, in_page: callpaths, totals: &totals, ranks: &ranks };
    Timeline::of_at_most(&subject, &shown, visits_max).unwrap().expect("there are events")
}

/// Returns the numbers of a column.
fn numbers(timeline: &Timeline, column: &Value) -> Vec<u64> {
    let number = |key: &str| usize::try_from(column[key].as_u64().unwrap()).unwrap();
    let mut bytes = timeline.bytes[number("at")..].iter();
    let mut next = || {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = bytes.next().expect("a byte");
            number |= u64::from(byte & 127) << shift;
            shift += 7;
            if *byte < 128 {
                return number;
            }
        }
    };
    (0..number("count")).map(|_| next()).collect()
}

#[test]
fn times_of_all_lanes_are_exact_and_on_one_clock() {
    let found = timeline(&profile(4, 3), 1_000);
    let lanes = found.json["lanes"].as_array().unwrap();
    assert_eq!((lanes.len(), found.json["left_out"].as_u64()), (4, Some(0)));
    assert_eq!(found.json["from_ns"], json!(0.0));
    assert_eq!(found.json["to_ns"], json!(3.0 * 20_000.0 + 305_000.0));
    let lane = &lanes[2];
    let gaps = numbers(&found, &lane["gaps"]);
    assert_eq!(gaps[..5], [40_000, 5_000, 10_000, 50_000, 40_000]);
    assert_eq!(numbers(&found, &lane["durations"])[..4], [305_000, 100_000, 40_000, 1_000]);
    assert_eq!(numbers(&found, &lane["depths"])[..4], [1, 2, 3, 3]);
    let callpaths = numbers(&found, &lane["callpaths"]);
    let name =
        |at: usize| &found.json["callpaths"][usize::try_from(callpaths[at]).unwrap()]["name"];
    assert_eq!((name(0), name(3)), (&json!("main"), &json!("MPI_Send")));
}

#[test]
fn messages_lead_from_lane_to_lane() {
    let found = timeline(&profile(4, 3), 1_000);
    let messages = &found.json["messages"];
    let of = |key: &str| numbers(&found, &messages[key]);
    // The last step's are not received.
    assert_eq!((of("from").len(), messages["left_out"].as_u64()), (2 * 4, Some(0)));
    let sent: Vec<u64> = of("gaps")
        .iter()
        .scan(0, |at, gap| {
            *at += gap;
            Some(*at)
        })
        .collect();
    assert_eq!(sent[..4], [65_000, 85_000, 105_000, 125_000]);
    assert_eq!((&of("from")[..4], &of("to")[..4]), (&[0, 1, 2, 3][..], &[1, 2, 3, 0][..]));
    assert_eq!(of("durations")[..4], [110_000, 110_000, 110_000, 30_000]);
    assert_eq!((of("bytes")[0], of("tags")[0]), (8, 7));
}

#[test]
fn of_many_visits_the_shortest_are_added_up_and_counted() {
    let steps = 500;
    let found = timeline(&profile(2, steps), 2 * steps + 10);
    assert_eq!(found.json["left_out"].as_u64(), Some(2 * 2 * steps));
    assert_eq!(found.told.kept, 2 * (3 * steps + 1));
    for lane in found.json["lanes"].as_array().unwrap() {
        assert_eq!(lane["gaps"]["count"].as_u64(), Some(steps + 1));
        let sum = |key: &str| numbers(&found, &lane["parts"][key]).iter().sum::<u64>();
        assert_eq!(sum("visits"), 2 * steps);
        assert_eq!((sum("times"), sum("in_calls")), (41_000 * steps, 41_000 * steps));
    }
}

#[test]
fn of_many_ranks_64_are_shown() {
    let found = timeline(&profile(70, 1), 1_000);
    assert_eq!(found.json["lanes"].as_array().unwrap().len(), LANES_MAX);
    assert_eq!(found.json["ranks_omitted"].as_u64(), Some(6));
}

/// Writes pages for `web/tests/timeline.test.js`.
#[test]
#[ignore = "writes the pages that scripts/browser.sh tests, into TINYPROF_PAGES"]
fn pages_with_events() {
    let folder = std::env::var_os("TINYPROF_PAGES").expect("TINYPROF_PAGES is set");
    for (name, ranks, steps, visits_max) in
        [("events", 4, 40, 100_000), ("many-events", 64, 300, 2_000)]
    {
        let profile = profile(ranks, steps);
        let found = timeline(&profile, visits_max);
        let (totals, regions) = (&Totals::of_profile(&profile), &json!([]));
        let (profile, rules, timeline) = (&profile, &Rules::default(), Some(&found));
        let (opens_timeline, whole) = (ranks == 4, None);
        let shown =
            Shown { name, profile, totals, regions, timeline, opens_timeline, rules, whole };
        let page = page::of_profiles(&[shown], None).expect("a small profile");
        let file = Path::new(&folder).join(name).with_extension("html");
        std::fs::write(file, page).expect("it is written");
    }
}
