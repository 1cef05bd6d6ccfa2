//! Every form of a region, under the strictest lints a user may have: all of it compiles, and
//! computes the same as without the macros.

#![deny(warnings)]
#![forbid(unsafe_code)]

use std::cell::{Cell, RefCell};
use std::panic::catch_unwind;

use tinyprof::{profile, profile_loop, profile_scope};

// ---- functions

#[profile]
fn one_expression(x: u32) -> u32 {
    x + 1
}

#[profile()]
fn empty() {}

#[profile(name = "solve", mode = each, crate = ::tinyprof)]
fn with_arguments(_guard: u32, __guard: u32) -> u32 {
    _guard + __guard
}

#[profile(mode = total,)]
fn fails_early(text: &str) -> Result<i64, std::num::ParseIntError> {
    let number: i64 = text.parse()?;
    Ok(number * 2)
}

#[profile]
fn never_returns() -> ! {
    panic!("as it should")
}

#[profile]
fn recurses(n: u64) -> u64 {
    if n < 2 { n } else { recurses(n - 1) + recurses(n - 2) }
}

#[profile]
fn r#loop<'a, T, const N: usize>(all: &'a [T; N], wanted: &T) -> Option<&'a T>
where
    T: PartialEq,
{
    all.iter().find(|one| *one == wanted)
}

#[profile]
fn returns_impl<'a>(words: &'a [&'a str]) -> impl Iterator<Item = usize> + 'a {
    words.iter().map(|word| word.len())
}

#[profile]
fn takes_patterns((a, b): (u8, u8), [c, ..]: [u8; 2], mut d: u8) -> u8 {
    d += 1;
    a + b + c + d
}

#[profile]
fn last_expression_borrows_a_local() -> usize {
    let cell = RefCell::new(vec![1, 2]);
    cell.borrow().len()
}

#[profile]
fn starts_with_an_inner_attribute() -> u8 {
    #![allow(clippy::let_and_return, reason = "an inner attribute must stay in front")]
    let x = 3;
    x
}

/// A doc comment, and attributes before and after.
#[must_use]
#[profile]
#[inline]
#[track_caller]
fn with_other_attributes() -> u32 {
    std::panic::Location::caller().line()
}

#[profile]
extern "C" fn of_another_abi(x: i32) -> i32 {
    x
}

#[profile]
#[deny(
    clippy::items_after_statements,
    reason = "the macro's statement comes before the user's items"
)]
fn holds_an_inner_function() -> u8 {
    const ONE: u8 = 1;
    #[profile]
    fn inner() -> u8 {
        ONE
    }
    inner()
}

#[test]
#[profile]
fn functions_compute_what_they_did() {
    empty();
    assert_eq!(one_expression(1), 2);
    assert_eq!(with_arguments(1, 2), 3);
    assert_eq!(fails_early("4"), Ok(8));
    assert!(fails_early("four").is_err());
    assert_eq!(recurses(10), 55);
    assert_eq!(r#loop(&[1, 2, 3], &2), Some(&2));
    assert_eq!(returns_impl(&["a", "bc"]).sum::<usize>(), 3);
    assert_eq!(takes_patterns((1, 2), [3, 4], 5), 12);
    assert_eq!(last_expression_borrows_a_local(), 2);
    assert_eq!(starts_with_an_inner_attribute(), 3);
    assert_eq!(with_other_attributes(), line!());
    assert_eq!(of_another_abi(5), 5);
    assert_eq!(holds_an_inner_function(), 1);
    let panic = catch_unwind(|| never_returns()).unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"as it should"));
}

// ---- methods

struct Field<T> {
    values: Vec<T>,
}

impl<T: Clone + Default> Field<T> {
    #[profile]
    fn new(n: usize) -> Self {
        Self { values: vec![T::default(); n] }
    }

    #[profile(name = "Field::set")]
    pub(crate) fn set(&mut self, i: usize, value: T) -> &mut T {
        self.values[i] = value;
        &mut self.values[i]
    }

    #[profile]
    fn into_values(self) -> Vec<T> {
        self.values
    }
}

trait Norm {
    fn squares(&self) -> f64;

    #[profile]
    fn norm(&self) -> f64 {
        self.squares().sqrt()
    }
}

impl Norm for Field<f64> {
    #[profile]
    fn squares(&self) -> f64 {
        self.values.iter().map(|x| x * x).sum()
    }
}

#[test]
fn methods_compute_what_they_did() {
    let mut field = Field::new(2);
    *field.set(0, 1.0) = 3.0;
    field.set(1, 4.0);
    assert_eq!(field.norm().to_bits(), 5.0_f64.to_bits());
    assert_eq!(field.into_values(), [3.0, 4.0]);
}

// ---- scopes

fn scopes(flag: bool) -> u32 {
    profile_scope!("first");
    let __guard = 1;
    profile_scope!("second", mode = each);
    if flag {
        profile_scope!("third", mode = total, crate = tinyprof,);
        return __guard;
    }
    let from_closure = || {
        profile_scope!("in a closure: \"(|)\" \u{1F980}");
        2
    };
    #[rustfmt::skip]
    let on_one_line = { profile_scope!("a"); { profile_scope!("a"); 3 } };
    from_closure() + on_one_line
}

#[test]
fn scopes_compute_what_they_did() {
    assert_eq!(scopes(true), 1);
    assert_eq!(scopes(false), 5);
}

// ---- loops

fn for_loop(sum: &mut u32) {
    profile_loop!(
        "for",
        for i in 0..4 {
            *sum += i;
        }
    );
}

fn loop_with_a_value(mut n: u32) -> u32 {
    profile_loop!(
        "collatz",
        mode = total,
        loop {
            if n == 1 {
                break n;
            }
            n = if n.is_multiple_of(2) { n / 2 } else { 3 * n + 1 };
        }
    )
}

fn labels(rows: &[[i32; 3]]) -> Option<i32> {
    profile_loop!(
        "rows",
        'rows: for row in rows {
            profile_loop!(
                "columns",
                mode = each,
                for &x in row {
                    if x < 0 {
                        continue 'rows;
                    }
                    if x == 9 {
                        break 'rows;
                    }
                    if x == 7 {
                        return Some(x);
                    }
                },
            );
        }
    );
    None
}

fn question_mark(words: &[&str]) -> Result<u32, std::num::ParseIntError> {
    let mut sum = 0;
    profile_loop!(
        "words",
        for word in words {
            sum += word.parse::<u32>()?;
        }
    );
    Ok(sum)
}

fn while_loops(mut stack: Vec<u32>) -> u32 {
    let mut sum = 0;
    let mut n = 0;
    profile_loop!(
        "while",
        while n < 3 && { sum < 100 } {
            n += 1;
        }
    );
    profile_loop! { "while let", while let Some(x) = stack.pop() {
        sum += x;
    } }
    let __loop = 1;
    // In braces, which rustfmt leaves alone: in parentheses, it would drop the inner attribute.
    profile_loop! { "attributes", #[expect(unused_variables, reason = "passed through")] for unused in 0..2 {
        #![allow(unused_mut, reason = "passed through")]
        let mut x = __loop;
        sum += x;
    } }
    sum + n
}

fn attribute_on_a_loop() {
    profile_loop!(
        "attributes",
        #[expect(unused_variables, reason = "passed through")]
        for unused in 0..2 {}
    );
}

fn temporaries_in_the_head(cell: &RefCell<Vec<u32>>) -> usize {
    let mut n = 0;
    profile_loop!(
        "borrowed",
        for _ in cell.borrow().iter() {
            n += usize::from(cell.try_borrow_mut().is_err());
        }
    );
    // The head's temporary has been dropped: otherwise this would panic.
    cell.borrow_mut().clear();
    n
}

#[rustfmt::skip]
#[expect(clippy::semicolon_if_nothing_returned, reason = "it is the last expression that is under test")]
fn temporaries_in_the_head_of_a_last_expression() {
    let cell = RefCell::new(vec![1]);
    profile_loop!("borrowed", for _ in cell.borrow().iter() {})
}

fn diverges(steps: &Cell<u32>) -> ! {
    profile_loop!(
        "forever",
        loop {
            if steps.replace(steps.get() + 1) == 3 {
                panic!("out of steps");
            }
        }
    )
}

#[test]
#[expect(clippy::never_loop, reason = "a short way to write a loop with a value")]
fn loops_compute_what_they_did() {
    let mut sum = 0;
    for_loop(&mut sum);
    assert_eq!(sum, 6);
    assert_eq!(loop_with_a_value(27), 1);
    assert_eq!(
        1 + profile_loop!(
            "inline",
            loop {
                break 2;
            }
        ),
        3
    );
    assert_eq!(labels(&[[0, 1, 2], [-1, 7, 7], [5, 7, 9]]), Some(7));
    assert_eq!(labels(&[[9, 7, 7]]), None);
    assert_eq!(question_mark(&["1", "2"]), Ok(3));
    assert!(question_mark(&["1", "x"]).is_err());
    assert_eq!(while_loops(vec![1, 2]), 8);
    attribute_on_a_loop();
    assert_eq!(temporaries_in_the_head(&RefCell::new(vec![1, 2])), 2);
    temporaries_in_the_head_of_a_last_expression();
    let steps = std::panic::AssertUnwindSafe(Cell::new(0));
    assert!(catch_unwind(|| diverges(&steps)).is_err());
}

// ---- generated by `macro_rules!`

macro_rules! make {
    ($(#[$attribute:meta])* $visibility:vis $first:ident, $second:ident, $label:literal, $body:block) => {
        #[profile] $(#[$attribute])* $visibility fn $first() -> u32 $body
        #[profile(name = $label)] fn $second() -> u32 $body
    };
}

macro_rules! whole_item {
    ($item:item) => {
        #[profile]
        $item
    };
}

macro_rules! inside {
    ($name:literal, $range:expr, $body:block, $whole:expr) => {{
        profile_scope!($name);
        profile_scope!($name, crate = $crate::reexport::deep);
        profile_loop!($name, for _ in $range $body);
        profile_loop!($name, $whole)
    }};
}

mod reexport {
    pub(crate) use ::tinyprof as deep;
}

make!(#[inline] pub(crate) made_first, made_second, "second", { 7 });
whole_item! {
    fn made_third() -> u32 {
        8
    }
}

#[test]
#[expect(clippy::never_loop, reason = "a short way to write a loop with a value")]
fn macros_may_write_regions() {
    assert_eq!((made_first(), made_second(), made_third()), (7, 7, 8));
    let mut n = 0;
    let value = inside!(
        "made",
        0..3,
        { n += 1 },
        loop {
            break 5;
        }
    );
    assert_eq!((n, value), (3, 5));
}

// ---- hostile surroundings

mod shadowed {
    #![expect(
        dead_code,
        unused_macros,
        non_camel_case_types,
        reason = "the names are here to be in the way"
    )]
    #![expect(clippy::never_loop, reason = "a short way to write a loop with a value")]

    mod core {}
    mod std {}
    mod tinyprof {}
    struct Option;
    struct Some;
    struct None;
    struct Result;
    struct Drop;
    struct Site;
    struct Mode;
    struct RegionKind;
    struct u32;
    struct str;
    fn enter() {}
    fn enter_loop() {}
    pub(super) const SITE: i64 = 4;
    macro_rules! module_path {
        () => {
            compile_error!("not this one")
        };
    }
    macro_rules! file {
        () => {
            compile_error!("not this one")
        };
    }

    /// Every method call `guard.flush_point()` would find this one first.
    trait FlushPoint {
        fn flush_point(self);
    }
    impl<T> FlushPoint for T {
        fn flush_point(self) {
            panic!("the user's own");
        }
    }

    #[::tinyprof::profile]
    pub(super) fn region() -> i64 {
        ::tinyprof::profile_scope!("scope");
        ::tinyprof::profile_loop!(
            "loop",
            loop {
                break SITE;
            }
        )
    }
}

#[test]
fn names_in_the_way_do_not_matter() {
    assert_eq!(shadowed::region(), shadowed::SITE);
}
