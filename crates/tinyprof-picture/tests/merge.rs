//! Pictures of random jobs: whatever the order of merging, the result is that of all ranks at once,
//! and what was changed on the way is refused or harmless.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use tinyprof_format::model::{
    CallpathId, CallpathValues, EventMap, ExecutionSummary, RankFacts, Region, SiteId,
};
use tinyprof_picture::frame::{Measurements, Sent};
use tinyprof_picture::{BINS, Few, Missing, Picture, SameRanks, frame};

/// A generator of numbers that looks random.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (self.0 >> 33) % limit
    }
}

/// Returns the ranks of a job, each with some of five callpaths.
fn job(ranks: u32, hosts: u32, random: &mut Random) -> Vec<EventMap> {
    let rank = |rank: u32| {
        let main = CallpathId::root(SiteId::from_bits(1));
        let mut records = Vec::new();
        for site in 1..=5 {
            if site > 1 && random.below(3) == 0 {
                continue;
            }
            let id = SiteId::from_bits(site);
            let ns = 1_000 * (random.below(100) + 1);
            let executions = vec![ExecutionSummary::of_one_visit(0, ns)];
            let values = CallpathValues { executions, ..CallpathValues::default() };
            let (callpath, parent) =
                if site == 1 { (main, None) } else { (main.child(id), Some(main)) };
            let region = Region::named(id, format!("region {site}"));
            records.push((callpath, parent, region, values));
        }
        let facts = RankFacts { host: format!("n{}", rank % hosts), ..RankFacts::default() };
        EventMap::from_records(records, facts)
    };
    (0..ranks).map(rank).collect()
}

/// Returns what the agent of a host sees.
fn of_host(job: &[EventMap], host: &str) -> Picture {
    let seen = |rank: &EventMap| {
        if rank.facts.host == host { rank.clone() } else { EventMap::default() }
    };
    Picture::of_ranks(&job.iter().map(seen).collect::<Vec<_>>())
}

/// Returns the numbers of a picture by name of the callpath, whatever the order of rows.
fn numbers(picture: &Picture) -> BTreeMap<String, String> {
    let rows = picture.callpaths.iter().zip(&picture.places);
    rows.map(|((index, callpath), places)| {
        let row = picture.statistics.row(index.row());
        let shown = format!(
            "{} {} {:?} {:?} {places:?}",
            row.ranks, row.visits, row.inclusive, row.exclusive
        );
        (callpath.region.name.clone(), shown)
    })
    .collect()
}

/// Sends a picture through a pipe.
fn sent(picture: &Picture) -> Picture {
    let mut bytes = Vec::new();
    frame::write(&mut bytes, picture).expect("it is short");
    frame::read(&mut bytes.as_slice())
        .expect("it is read")
        .and_then(Sent::picture)
        .expect("it is there")
}

#[test]
fn the_order_of_merging_does_not_matter() {
    let mut random = Random(1);
    for round in 0..60 {
        let ranks = u32::try_from(1 + random.below(300)).expect("few");
        let hosts = u32::try_from(1 + random.below(9)).expect("few").min(ranks);
        let job = job(ranks, hosts, &mut random);
        let all = Picture::of_ranks(&job);
        let mut parts: Vec<Picture> =
            (0..hosts).map(|host| of_host(&job, &format!("n{host}"))).collect();
        while parts.len() > 1 {
            let at = usize::try_from(random.below(parts.len() as u64)).expect("few");
            let one = sent(&parts.swap_remove(at));
            let into = usize::try_from(random.below(parts.len() as u64)).expect("few");
            parts[into].merge(&one).expect("other ranks");
        }
        let merged = &parts[0];
        assert_eq!(numbers(merged), numbers(&all), "round {round}");
        assert_eq!((merged.size, &merged.ranks, merged.hosts), (ranks, &all.ranks, hosts));
        assert_eq!(merged.statistics.times(), all.statistics.times());
    }
}

#[test]
fn the_slowest_ranks_and_the_row_of_ranks_are_those_of_the_job() {
    let job = job(1_000, 7, &mut Random(5));
    let picture = Picture::of_ranks(&job);
    let row = picture.callpaths.iter().position(|(_, path)| path.region.name == "region 2");
    let places = &picture.places[row.expect("some rank has it")];
    let time = |rank: usize| {
        let named = |at: &usize| job[rank].callpaths.rows()[*at].region.name == "region 2";
        let at = (0..job[rank].callpaths.len()).find(named)?;
        Some(job[rank].values[at].inclusive_ns())
    };
    let mut times: Vec<(u64, Reverse<usize>)> =
        (0..1_000).filter_map(|rank| Some((time(rank)?, Reverse(rank)))).collect();
    times.sort_unstable_by(|a, b| b.cmp(a));
    let slowest = places.slowest.iter().map(|slow| (slow.inclusive_ns, slow.rank.0 as usize));
    let expected = times.iter().take(8).map(|(ns, rank)| (*ns, rank.0));
    assert_eq!(slowest.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    let width = picture.ranks_a_bin();
    let bins = (0..1_000).collect::<Vec<_>>();
    let bins = bins.chunks(width).map(|ranks| ranks.iter().filter_map(|rank| time(*rank)).max());
    assert!(width == 16 && places.bins.len() <= BINS);
    assert_eq!(places.bins, bins.collect::<Vec<_>>());
}

#[test]
fn the_size_of_a_picture_does_not_grow_with_ranks() {
    let length = |ranks| {
        let mut bytes = Vec::new();
        let picture = Picture::of_ranks(&job(ranks, 4, &mut Random(9)));
        frame::write(&mut bytes, &picture).expect("it is short");
        bytes.len()
    };
    let (few, many) = (length(64), length(4_096));
    assert!(many < few + few / 8, "{few} bytes for 64 ranks, {many} for 4,096");
}

#[test]
fn ranks_that_two_tell_of_are_refused_and_nothing_is_added() {
    let job = job(8, 2, &mut Random(3));
    let mut picture = of_host(&job, "n0");
    let before = picture.clone();
    assert_eq!(picture.merge(&before.clone()), Err(SameRanks));
    let other = Picture { size: 9, ..of_host(&job, "n1") };
    assert_eq!(picture.merge(&other), Err(SameRanks), "another number of ranks");
    assert_eq!(picture, before);
}

#[test]
fn of_missing_hosts_some_are_named_and_all_are_counted() {
    let mut few = Few::default();
    for number in 0..20 {
        few.add(Missing { host: format!("n{number:02}"), why: "gone".to_owned() });
    }
    assert_eq!((few.count, few.worst.len(), few.worst[0].host.as_str()), (20, 8, "n19"));
}

#[test]
fn what_was_changed_on_the_way_is_refused_or_harmless() {
    let job = job(12, 3, &mut Random(7));
    let mut whole = Vec::new();
    frame::write(&mut whole, &of_host(&job, "n1")).expect("it is short");
    let mut random = Random(11);
    let (mut refused, mut taken) = (0, 0);
    for _ in 0..100_000 {
        let mut bytes = whole.clone();
        for _ in 0..=random.below(3) {
            let at = usize::try_from(random.below(bytes.len() as u64)).expect("short");
            bytes[at] = u8::try_from(random.below(256)).expect("a byte");
        }
        if random.below(4) == 0 {
            bytes.truncate(usize::try_from(random.below(bytes.len() as u64)).expect("short"));
        }
        match frame::read(&mut bytes.as_slice()) {
            Ok(Some(sent)) => {
                taken += 1;
                let mut all = of_host(&job, "n0");
                _ = sent.picture().map(|picture| all.merge(&picture));
                assert_eq!(all.places.len(), all.statistics.rows().len());
            }
            Ok(None) | Err(_) => refused += 1,
        }
    }
    println!("{refused} refused, {taken} taken");
    assert!(refused > 1_000 && taken > 1_000);
}

#[test]
fn measurements_travel_between_pictures() {
    let job = job(4, 2, &mut Random(3));
    let picture = of_host(&job, "n1");
    let measurements = Measurements { host: "n1".to_owned(), profile: vec![7; 300] };
    let mut bytes = Vec::new();
    frame::write(&mut bytes, &picture).expect("it is short");
    frame::write_measurements(&mut bytes, &measurements).expect("they are short");
    frame::write(&mut bytes, &picture).expect("it is short");
    let mut from = bytes.as_slice();
    let mut next = || frame::read(&mut from).expect("it is read");
    let picture = || Some(Sent::Picture(Box::new(picture.clone())));
    assert_eq!(next(), picture());
    assert_eq!(next(), Some(Sent::Measurements(measurements)));
    assert_eq!((next(), next()), (picture(), None));
}

#[test]
fn a_frame_is_read_whole_or_not_at_all() {
    let job = job(4, 1, &mut Random(7));
    let measurements = Measurements { host: "n1".to_owned(), profile: vec![1, 2, 3] };
    let (mut whole, mut ends) = (Vec::new(), vec![0]);
    frame::write_measurements(&mut whole, &measurements).expect("they are short");
    ends.push(whole.len());
    frame::write(&mut whole, &of_host(&job, "n1")).expect("it is short");
    ends.push(whole.len());
    for end in 0..=whole.len() {
        let mut from = &whole[..end];
        let complete = ends.iter().filter(|at| **at > 0 && **at <= end).count();
        for _ in 0..complete {
            assert!(frame::read(&mut from).is_ok_and(|sent| sent.is_some()), "{end}");
        }
        match frame::read(&mut from) {
            Ok(rest) => assert!(rest.is_none() && ends.contains(&end), "{end}: {rest:?}"),
            Err(_) => assert!(!ends.contains(&end), "{end}"),
        }
    }
}
