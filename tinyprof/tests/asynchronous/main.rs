//! Async functions as regions: the tree and the counts are exact, no matter which thread polls
//! them.

#![expect(clippy::unwrap_used, reason = "a test that cannot run must fail")]

mod executor;

use std::collections::BTreeMap;
use std::future::{Future, pending};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use executor::{give_way, poll_once, run};
use tinyprof::{profile, profile_scope};
use tinyprof_format::model::{EventMap, Losses};

/// Serializes the tests that look at losses, since all tests of a process share one event map.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the visits of each callpath below the root of this name, `root<child`.
fn visits_below(map: &EventMap, root: &str) -> BTreeMap<String, u64> {
    let mut paths: Vec<String> = Vec::new();
    let mut visits = BTreeMap::new();
    for (row, values) in map.callpaths.rows().iter().zip(&map.values) {
        let name = &row.region.name;
        paths.push(
            row.parent.map_or(name.clone(), |parent| format!("{}<{name}", paths[parent.row()])),
        );
        let path = &paths[paths.len() - 1];
        if path == root || path.starts_with(&format!("{root}<")) {
            assert!(
                visits.insert(path.clone(), values.visits()).is_none(),
                "{path} is there twice"
            );
        }
    }
    visits
}

fn check(root: &str, expected: &[(&str, u64)]) {
    let expected: BTreeMap<_, _> = expected.iter().map(|&(path, n)| (path.to_owned(), n)).collect();
    assert_eq!(visits_below(&tinyprof::collect::snapshot(), root), expected);
}

fn losses() -> Losses {
    tinyprof::collect::snapshot().facts.losses
}

#[profile]
fn step(n: u64) -> u64 {
    n + 1
}

#[profile]
async fn fetch(n: u64) -> u64 {
    let n = {
        profile_scope!("send");
        step(n)
    };
    give_way().await;
    step(n)
}

#[profile]
async fn task(n: u64, sum: &Mutex<u64>) {
    let mut value = n;
    for _ in 0..3 {
        value = fetch(value).await;
        give_way().await;
        value = step(value);
    }
    *sum.lock().unwrap() += value;
}

#[test]
fn hundreds_of_tasks_on_several_threads() {
    const TASKS: u64 = 400;
    static SUM: Mutex<u64> = Mutex::new(0);
    let _alone = alone();
    let before = losses();
    run(4, (0..TASKS).map(|n| Box::pin(task(n, &SUM)) as Pin<Box<_>>));
    assert_eq!(*SUM.lock().unwrap(), TASKS * (TASKS - 1) / 2 + 9 * TASKS);
    check(
        "task",
        &[
            ("task", TASKS),
            ("task<fetch", 3 * TASKS),
            ("task<fetch<send", 3 * TASKS),
            ("task<fetch<send<step", 3 * TASKS),
            ("task<fetch<step", 3 * TASKS),
            ("task<step", 3 * TASKS),
        ],
    );
    let map = tinyprof::collect::snapshot();
    for root in ["fetch", "send", "step"] {
        assert!(visits_below(&map, root).is_empty(), "{root} was entered outside of a task");
    }
    assert_eq!(losses(), before);
}

#[profile]
async fn halves() {
    half("first half");
    give_way().await;
    half("second half");
}

#[profile]
fn half(which: &str) {
    assert!(which.ends_with("half"));
}

#[test]
fn the_callpath_is_that_of_the_first_poll() {
    let _alone = alone();
    let mut future: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(halves());
    let first_poll = |future: &mut _| {
        profile_scope!("first");
        assert!(!poll_once(future));
    };
    first_poll(&mut future);
    thread::spawn(move || {
        profile_scope!("elsewhere");
        assert!(poll_once(&mut future));
        profile_scope!("behind");
    })
    .join()
    .unwrap();
    check("first", &[("first", 1), ("first<halves", 1), ("first<halves<half", 2)]);
    check("elsewhere", &[("elsewhere", 1), ("elsewhere<behind", 1)]);
}

#[profile]
async fn waits_forever() {
    pending::<()>().await;
}

#[test]
fn what_is_dropped_before_its_end_is_a_visit_if_it_was_polled() {
    let _alone = alone();
    let open = losses().visits_open;
    let begin = || -> Pin<Box<dyn Future<Output = ()> + Send>> { Box::pin(waits_forever()) };
    drop(begin());
    let (mut here, mut there) = (begin(), begin());
    assert!(!poll_once(&mut here) && !poll_once(&mut there));
    assert_eq!(losses().visits_open, open + 2);
    drop(here);
    check("waits_forever", &[("waits_forever", 1)]);
    // A thread without an open region.
    thread::spawn(move || drop(there)).join().unwrap();
    check("waits_forever", &[("waits_forever", 2)]);
    assert_eq!(losses().visits_open, open);
}

#[profile]
async fn panics() {
    profile_scope!("inside");
    panic!("as it should");
}

#[test]
fn a_panic_ends_the_visit() {
    let _alone = alone();
    let before = losses();
    let mut future: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(panics());
    assert!(catch_unwind(AssertUnwindSafe(|| poll_once(&mut future))).is_err());
    drop(future);
    {
        profile_scope!("after a panic");
    }
    check("panics", &[("panics", 1), ("panics<inside", 1)]);
    check("after a panic", &[("after a panic", 1)]);
    assert_eq!(losses(), before);
}

#[profile]
async fn countdown(n: u32) -> u32 {
    give_way().await;
    if n == 0 { 0 } else { Box::pin(countdown(n - 1)).await + 1 }
}

#[test]
fn a_future_that_awaits_itself_is_one_callpath() {
    let _alone = alone();
    let mut future: Pin<Box<dyn Future<Output = u32> + Send>> = Box::pin(countdown(5));
    while !poll_once(&mut future) {}
    check("countdown", &[("countdown", 6)]);
}
