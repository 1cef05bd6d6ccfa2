//! Every form of a varying metric, under the strictest lints a user may have, and the moment when
//! its value is taken.

#![deny(warnings)]
#![deny(clippy::all, clippy::pedantic, clippy::allow_attributes, clippy::let_underscore_untyped)]
#![forbid(unsafe_code)]

use std::cell::RefCell;

use tinyprof::{profile, profile_loop, profile_scope, record};

// ---- values

#[profile(bytes = field.len(), tag = "COMM", ratio = 0.5_f32, steps = &steps)]
fn arguments(field: &[u8], steps: u64) -> u64 {
    steps + field.len() as u64
}

fn added<A: Into<u64>, B: Into<u64>>(a: A, b: B) -> u64 {
    a.into() + b.into()
}

#[profile(most = added::<u32, _>(a, b), listed = vec![a, b].len(), closure = [a].map(|x: u32| x + 1)[0])]
fn commas(a: u32, b: u32) -> u32 {
    a + b
}

#[profile(bytes = only_in_the_metric)]
fn only_in_the_metric(only_in_the_metric: usize) {}

struct Field {
    values: RefCell<Vec<f64>>,
}

#[profile(values = self.values.borrow().len())]
impl Field {
    fn push(&self, value: f64) {
        self.values.borrow_mut().push(value);
    }

    #[profile(values = "unknown")]
    fn new() -> Self {
        Self { values: RefCell::default() }
    }

    fn into_values(self) -> Vec<f64> {
        self.values.into_inner()
    }
}

trait Norm {
    fn squares(&self) -> f64;

    #[profile(squares = self.squares())]
    fn norm(&self) -> f64 {
        self.squares().sqrt()
    }
}

impl Norm for Field {
    fn squares(&self) -> f64 {
        self.values.borrow().iter().map(|x| x * x).sum()
    }
}

#[profile(first = *first, items = { let items = rest; items.len() })]
fn takes_a_reference<'a>(first: &'a mut u8, rest: &'a [u8]) -> &'a mut u8 {
    *first += u8::try_from(rest.len()).unwrap_or(u8::MAX);
    first
}

#[test]
fn values_may_be_any_expression() {
    assert_eq!(arguments(&[1, 2], 3), 5);
    assert_eq!(commas(1, 2), 3);
    only_in_the_metric(3);
    let field = Field::new();
    field.push(3.0);
    field.push(4.0);
    assert_eq!(field.norm().to_bits(), 5.0_f64.to_bits());
    assert_eq!(field.into_values(), [3.0, 4.0]);
    assert_eq!(*takes_a_reference(&mut 1, &[2, 3]), 3);
}

// ---- exits

#[profile(value = text.parse::<u32>()?)]
fn question_mark(text: &str) -> Result<usize, std::num::ParseIntError> {
    Ok(text.len())
}

#[profile(value = if let Some(value) = value { value } else { return 0 })]
fn returns(value: Option<u32>) -> u32 {
    value.unwrap_or(7)
}

fn leaves_a_loop(words: &[&str]) -> usize {
    let mut seen = 0;
    profile_loop!(
        "words",
        value = if let Ok(value) = word.parse::<i32>() { value } else { break },
        for word in words {
            seen += word.len();
        }
    );
    seen
}

#[test]
fn a_value_may_leave_the_function_or_the_loop() {
    let taken = tinyprof::collect::ENABLED;
    assert_eq!(question_mark("12"), Ok(2));
    assert_eq!(question_mark("x").is_err(), taken);
    assert_eq!((returns(Some(3)), returns(None)), (3, if taken { 0 } else { 7 }));
    assert_eq!(leaves_a_loop(&["12", "3", "x", "4"]), if taken { 3 } else { 5 });
    let map = tinyprof::collect::snapshot();
    let visits = |name| {
        let rows = map.callpaths.rows().iter().zip(&map.values);
        rows.filter(|(row, _)| row.region.name == name)
            .map(|(_, values)| values.visits())
            .sum::<u64>()
    };
    // A region is entered after its values are taken, an iteration before.
    let expected = if taken { (1, 1, 3) } else { (0, 0, 0) };
    assert_eq!((visits("question_mark"), visits("returns"), visits("words")), expected);
}

// ---- scopes, loops, and `record!`

fn scopes_and_loops(rows: &[Vec<u32>]) -> u32 {
    profile_scope!("scope", rows = rows.len());
    let mut sum = 0;
    profile_loop!(
        "rows",
        mode = total,
        row = index,
        columns = row.len(),
        for (index, row) in rows.iter().enumerate() {
            sum += row.iter().sum::<u32>();
        }
    );
    let mut stack = vec![1, 2];
    profile_loop!(
        "stack",
        top = top,
        while let Some(top) = stack.pop() {
            sum += top;
        }
    );
    record!(sum = sum);
    #[expect(clippy::semicolon_if_nothing_returned, reason = "as an expression")]
    if sum > 100 {
        record!(large = sum, rows = rows.len(), crate = tinyprof)
    }
    match sum {
        0 => record!(zero = 1),
        1 => {}
        _ => record!(r#type = -1,),
    }
    sum
}

#[test]
fn scopes_and_loops_compute_what_they_did() {
    assert_eq!(scopes_and_loops(&[vec![1, 2], vec![3]]), 9);
}

macro_rules! made {
    ($name:ident, $argument:ident, $key:ident = $value:expr, $text:literal) => {
        #[profile($key = $value, text = $text)]
        fn $name($argument: u32) -> u32 {
            profile_scope!("scope", $key = $value, text = $text);
            record!($key = $value);
            $value
        }
    };
}

made!(from_a_macro, argument, double = argument * 2, "text");

#[test]
fn macros_may_write_metrics() {
    assert_eq!(from_a_macro(3), 6);
}

// ---- the order

#[test]
fn values_are_taken_once_a_visit_in_order_and_never_when_switched_off() {
    let taken = RefCell::new(Vec::new());
    let take = |what: &'static str| {
        taken.borrow_mut().push(what);
        1
    };
    {
        profile_scope!("scope", b = take("first"), a = take("second"));
        taken.borrow_mut().push("scope");
    }
    profile_loop!(
        "loop",
        n = take("iteration"),
        for _ in 0..2 {
            taken.borrow_mut().push("body");
        }
    );
    record!(x = take("x"), y = take("y"));
    let expected: &[&str] = if tinyprof::collect::ENABLED {
        &["first", "second", "scope", "iteration", "body", "iteration", "body", "x", "y"]
    } else {
        &["scope", "body", "body"]
    };
    assert_eq!(taken.into_inner(), expected);
}

// ---- hostile surroundings

mod shadowed {
    #![expect(dead_code, non_camel_case_types, reason = "the names are here to be in the way")]

    mod core {}
    mod std {}
    mod tinyprof {}
    struct Option;
    struct Some;
    struct Number;
    struct Site;
    struct Guard;
    struct bool;
    struct f64;
    fn record() {}
    fn enter() {}
    pub(super) const SITE: i64 = 4;
    pub(super) const METRIC: i64 = 5;

    /// Every method call `guard.record()` would find this one first.
    trait Record {
        fn record(self);
        fn to_f64(self);
    }
    impl<T> Record for T {
        fn record(self) {
            panic!("the user's own");
        }
        fn to_f64(self) {
            panic!("the user's own");
        }
    }

    #[::tinyprof::profile(site = SITE, metric = METRIC)]
    pub(super) fn region() -> i64 {
        ::tinyprof::profile_scope!("scope", site = SITE, metric = METRIC);
        ::tinyprof::record!(site = SITE, metric = METRIC);
        ::tinyprof::profile_loop!("loop", site = SITE, metric = METRIC, for _ in 0..3 {});
        SITE + METRIC
    }
}

#[test]
fn names_in_the_way_do_not_matter() {
    assert_eq!(shadowed::region(), 9);
}

/// A module in which only `crate` arguments use the renamed crate.
mod renamed {
    use ::tinyprof as prof;
    use std::cell::Cell;

    #[::tinyprof::profile(crate = prof)]
    pub(super) fn region() {
        let calls = Cell::new(0);
        ::tinyprof::profile_scope!("scope", crate = prof);
        ::tinyprof::record!(calls = calls.get(), crate = prof);
    }
}

#[test]
fn a_path_may_be_named_by_arguments_alone() {
    renamed::region();
}
