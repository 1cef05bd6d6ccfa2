//! Tests which functions of a block are regions, where a region ends, and its name. The argument is
//! `lists`, `guards`, `split`, `many` (values of a key) or `async`; without an argument, all of
//! them run.

use std::borrow::Cow;
use std::future::{Future, ready};
use std::pin::pin;
use std::task::{Context, Waker};

use tinyprof::{profile, profile_loop, profile_scope};

trait Named {
    const NAME: &'static str;
}

impl Named for f32 {
    const NAME: &'static str = "f32";
}

impl Named for f64 {
    const NAME: &'static str = "f64";
}

struct Field;

#[profile(only(advance, Field::deposit))]
impl Field {
    fn advance(&self) {
        (0..10).for_each(|_| self.rank());
        self.deposit();
    }

    fn deposit(&self) {}

    fn rank(&self) {}
}

#[profile(skip(quiet))]
mod inner {
    pub(crate) fn loud() {
        (0..10).for_each(|_| quiet());
    }

    fn quiet() {}
}

fn lists() {
    Field.advance();
    inner::loud();
}

fn guards() {
    let outer = tinyprof::scope!("outer");
    let phase = tinyprof::scope!("gather", items = 3);
    drop(phase);
    profile_scope!("push");
    let early: Option<tinyprof::Guard> = Some(tinyprof::scope!("inside"));
    drop(early);
    // Out of order: the regions inside end with it.
    let inner = tinyprof::scope!("forgotten");
    drop(outer);
    drop(inner);
}

#[profile(split = T::NAME)]
fn norm<T: Named>(n: u32) {
    for _ in 0..n {
        profile_scope!("part", split = if n > 2 { "large" } else { "small" });
    }
}

struct Solver<T>(T);

#[profile(split = T::NAME)]
impl<T: Named> Solver<T> {
    fn step(&self) {}

    #[profile(split = std::any::type_name::<Option<T>>(), mode = each)]
    fn each(&self) {}
}

fn split() {
    norm::<f32>(2);
    (0..3).for_each(|_| norm::<f64>(3));
    Solver(1_f32).step();
    Solver(1_f64).each();
    let owned = String::from("owned");
    profile_loop!("kinds", mode = total, split = owned, for _ in 0..5 {});
    let _guard = tinyprof::scope!("cow", split = Cow::from(&owned));
}

fn many() {
    for value in 0..200 {
        profile_scope!("many", split = format!("{:03}", value));
    }
}

#[profile(split = name)]
async fn later(name: String) -> usize {
    ready(name.len()).await
}

fn asynchronous() {
    fn is_send<T: Send>(future: T) -> T {
        future
    }
    for name in ["a", "b", "a"] {
        let poll =
            pin!(is_send(later(name.to_owned()))).poll(&mut Context::from_waker(Waker::noop()));
        assert!(poll.is_ready());
    }
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("lists") => lists(),
        Some("guards") => guards(),
        Some("split") => split(),
        Some("many") => many(),
        Some("async") => asynchronous(),
        _ => [lists, guards, split, many, asynchronous].iter().for_each(|part| part()),
    }
}
