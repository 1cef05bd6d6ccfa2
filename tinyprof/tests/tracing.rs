//! Spans of `tracing` as regions: in their callpaths, with exact counts, mixed with regions of
//! TinyProf.

use tinyprof::profile;
use tinyprof::tracing::Subscriber;
use tinyprof_format::model::EventMap;
use tracing::{info, info_span};

#[profile]
fn annotated(n: u32) {
    let span = info_span!("inside", n);
    for _ in 0..n {
        let _entered = span.enter();
        info!("events are not recorded");
    }
}

/// Calls itself, and another span in between, with the same span every time.
fn recurse(depth: u32) {
    let _entered = info_span!("deep").entered();
    if depth > 0 {
        info_span!("leaf").in_scope(|| ());
        recurse(depth - 1);
        info_span!("leaf").in_scope(|| ());
    }
}

fn visits(map: &EventMap) -> Vec<(String, u64)> {
    let rows = map.callpaths.iter();
    let mut all: Vec<_> =
        rows.map(|(i, _)| (map.callpaths.path(i), map.values[i.row()].visits())).collect();
    all.sort();
    all
}

#[test]
fn spans_and_regions_make_one_tree() {
    assert!(
        tinyprof::collect::take_over(tinyprof::collect::Ending::default),
        "this test looks at the event map, no profile is to be written"
    );
    tracing_core::dispatcher::set_global_default(tracing_core::Dispatch::new(Subscriber)).unwrap();
    for _ in 0..3 {
        info_span!("outer").in_scope(|| {
            annotated(5);
            info_span!("outer").in_scope(|| annotated(2));
        });
    }
    std::thread::spawn(|| info_span!("elsewhere").in_scope(|| ())).join().unwrap();
    info_span!("around").in_scope(|| recurse(3));
    // Leaving a span while another is open inside it closes that one too.
    let (first, second) = (info_span!("first"), info_span!("second"));
    let entered = first.enter();
    let inner = second.enter();
    drop(entered);
    drop(inner);
    let map = tinyprof::collect::snapshot();
    let expected = [
        ("around", 1),
        ("around<deep", 4),
        ("around<deep<leaf", 3),
        ("around<deep<leaf", 3),
        ("elsewhere", 1),
        ("first", 1),
        ("first<second", 0),
        ("outer", 3),
        ("outer<annotated", 3),
        ("outer<annotated<inside", 15),
        ("outer<outer", 3),
        ("outer<outer<annotated", 3),
        ("outer<outer<annotated<inside", 6),
    ];
    assert_eq!(visits(&map), expected.map(|(path, n)| (path.to_owned(), n)));
    assert_eq!(map.facts.losses.visits_unbalanced, 1);
    let inclusive = |path: &str| {
        let row = map.callpaths.iter().find(|(i, _)| map.callpaths.path(*i) == path).unwrap().0;
        map.values[row.row()].inclusive_ns()
    };
    assert!(
        inclusive("around<deep") <= inclusive("around"),
        "only the outermost call counts its time"
    );
    assert!(inclusive("around<deep<leaf") <= inclusive("around<deep"));
    assert_eq!(map.facts.losses.visits_open, 0);
}
