//! Entries and exits, in the order in which programs make them.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Barrier;
use std::task::{Context, Poll, Waker};
use std::thread;

use tracing::subscriber::with_default;
use tracing::{Dispatch, Instrument, Subscriber, dispatcher, info_span};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::{fmt, registry};

use super::{Log, check, inclusive_ns, write_no_profile};
use tinyprof::tracing::layer;
use tinyprof::{collect, profile, profile_scope};

fn both() -> impl Subscriber + Send + Sync {
    write_no_profile();
    registry().with(fmt::layer().with_writer(Log::default())).with(layer())
}

#[profile]
fn annotated(n: u32) {
    let span = info_span!("inside", n);
    for _ in 0..n {
        let _entered = span.enter();
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

#[test]
fn spans_and_regions_make_one_tree() {
    with_default(both(), || {
        for _ in 0..3 {
            info_span!("tree").in_scope(|| {
                annotated(5);
                info_span!("tree").in_scope(|| annotated(2));
            });
        }
    });
    let expected = [
        ("tree", 3),
        ("tree<annotated", 3),
        ("tree<annotated<inside", 15),
        ("tree<tree", 3),
        ("tree<tree<annotated", 3),
        ("tree<tree<annotated<inside", 6),
    ];
    check("tree", &expected);
}

#[test]
fn recursion_is_one_callpath() {
    with_default(both(), || info_span!("around").in_scope(|| recurse(3)));
    let leaf = "around<deep<leaf";
    check("around", &[("around", 1), ("around<deep", 4), (leaf, 3), (leaf, 3)]);
    let map = collect::snapshot();
    assert!(
        inclusive_ns(&map, "around<deep") <= inclusive_ns(&map, "around"),
        "only the outermost counts its time"
    );
    assert!(inclusive_ns(&map, leaf) <= inclusive_ns(&map, "around<deep"));
}

#[test]
fn a_span_is_entered_again_and_inside_of_itself() {
    with_default(both(), || {
        let span = info_span!("again");
        for _ in 0..4 {
            span.in_scope(|| span.in_scope(|| info_span!("within").in_scope(|| ())));
        }
    });
    check("again", &[("again", 8), ("again<within", 4)]);
}

#[test]
fn threads_are_in_one_span_at_a_time() {
    let dispatch = Dispatch::new(both());
    let span = dispatcher::with_default(&dispatch, || info_span!("shared"));
    let all_are_in = Barrier::new(3);
    thread::scope(|threads| {
        for _ in 0..3 {
            threads.spawn(|| {
                dispatcher::with_default(&dispatch, || {
                    for _ in 0..10 {
                        let _in = span.enter();
                        all_are_in.wait();
                        info_span!("own").in_scope(|| ());
                        all_are_in.wait();
                    }
                });
            });
        }
    });
    drop(span);
    check("shared", &[("shared", 30), ("shared<own", 30)]);
}

#[test]
fn spans_are_left_in_any_order() {
    with_default(both(), || {
        profile_scope!("orders");
        let unbalanced = || collect::snapshot().facts.losses.visits_unbalanced;
        let span = || info_span!("one_place");
        // Two spans of one call site: the visit lasts until the last of them is exited.
        for _ in 0..2 {
            let (first, second) = (span().entered(), span().entered());
            drop(first);
            info_span!("before_the_last").in_scope(|| ());
            drop(second);
            info_span!("after_the_last").in_scope(|| ());
        }
        // Leaving a span while another is open inside it closes that one too. When the inner span
        // is exited later, it must not close a visit that was opened in between.
        let before = unbalanced();
        let outer = || info_span!("outer").entered();
        let inner = || info_span!("inner").entered();
        let (outside, late) = (outer(), inner());
        drop(outside);
        assert_eq!(unbalanced(), before + 1);
        let (outside, inside) = (outer(), inner());
        drop(late);
        info_span!("still_inside").in_scope(|| ());
        drop((inside, outside));
    });
    let expected = [
        ("orders", 1),
        ("orders<after_the_last", 2),
        ("orders<one_place", 4),
        ("orders<one_place<before_the_last", 2),
        ("orders<outer", 2),
        ("orders<outer<inner", 1),
        ("orders<outer<inner<still_inside", 1),
    ];
    check("orders", &expected);
}

#[test]
fn a_span_ends_before_what_came_of_it() {
    with_default(both(), || {
        // Its handle is gone, and a child that lives longer is entered on its own.
        let child = {
            let parent = info_span!("parent").entered();
            info_span!(parent: &parent, "child")
        };
        child.in_scope(|| ());
        drop(child);
    });
    check("parent", &[("parent", 1)]);
    check("child", &[("child", 1)]);
}

#[test]
fn spans_of_two_registries_share_ids_and_nothing_else() {
    write_no_profile();
    // The first span of each registry has the same id.
    let dispatches = [both(), both()].map(Dispatch::new);
    let [first, second] = &dispatches;
    let outer = dispatcher::with_default(first, || info_span!("first_registry"));
    let inner = dispatcher::with_default(second, || info_span!("second_registry"));
    assert_eq!(outer.id().map(|id| id.into_u64()), inner.id().map(|id| id.into_u64()));
    let entered = outer.enter();
    inner.in_scope(|| ());
    inner.in_scope(|| ());
    drop(entered);
    check("first_registry", &[("first_registry", 1), ("first_registry<second_registry", 2)]);
}

#[test]
fn guards_that_are_forgotten_close_no_later_visits() {
    #[profile]
    fn forgets() {
        // Never dropped, so never exited.
        let _forgotten = std::mem::ManuallyDrop::new(info_span!("forgotten").entered());
    }
    with_default(both(), || {
        for _ in 0..3 {
            forgets();
        }
        info_span!("afterwards").in_scope(|| ());
    });
    check("forgets", &[("forgets", 3), ("forgets<forgotten", 0)]);
    check("afterwards", &[("afterwards", 1)]);
}

/// A future that is ready at its `n`th poll.
struct Polls(u32);

impl Future for Polls {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        info_span!("poll").in_scope(|| self.0 -= 1);
        if self.0 == 0 { Poll::Ready(()) } else { Poll::Pending }
    }
}

#[test]
fn futures_count_while_they_are_polled_on_any_thread() {
    let dispatch = Dispatch::new(both());
    let poll = |future: Pin<&mut (dyn Future<Output = ()> + Send)>| {
        dispatcher::with_default(&dispatch, || {
            future.poll(&mut Context::from_waker(Waker::noop())).is_ready()
        })
    };
    dispatcher::with_default(&dispatch, || {
        let mut one = pin!(Polls(3).instrument(info_span!("future_one")));
        let mut two = pin!(Polls(2).instrument(info_span!("future_two")));
        // Alternately, and sometimes on another thread.
        assert!(!poll(one.as_mut()));
        assert!(!poll(two.as_mut()));
        assert!(!thread::scope(|threads| threads.spawn(|| poll(one.as_mut())).join().unwrap()));
        assert!(poll(one.as_mut()));
        assert!(thread::scope(|threads| threads.spawn(|| poll(two.as_mut())).join().unwrap()));
    });
    // A future is dropped inside its span: one visit more than polls.
    check("future_one", &[("future_one", 4), ("future_one<poll", 3)]);
    check("future_two", &[("future_two", 3), ("future_two<poll", 2)]);
}
