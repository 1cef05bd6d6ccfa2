//! Every form of an `async fn`, under the strictest lints a user may have: all of it computes the
//! same as without the attribute.

#![deny(warnings)]
#![deny(clippy::all, clippy::pedantic, clippy::allow_attributes, clippy::future_not_send)]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(feature = "enable"),
    expect(clippy::unused_async, reason = "switched off it is the function as it is written")
)]

use std::fmt::{Debug, Display};
use std::future::{Future, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use tinyprof::{profile, record};

/// Runs a future that is always ready, and checks that it may move to another thread.
fn run<F: Future + Send>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it was to be ready"),
    }
}

// ---- functions

#[profile]
async fn empty() {}

#[profile]
async fn one_expression(x: u32) -> u32 {
    ready(x).await + 1
}

#[profile]
async fn only_awaits(x: u32) -> u32 {
    one_expression(x).await
}

#[profile(name = "solve", mode = each, crate = ::tinyprof, bytes = text.len(), tag = "COMP")]
async fn with_arguments(text: &str, visit: u32) -> u32 {
    record!(visit = visit);
    visit
}

#[profile]
async fn converts_errors(text: &str) -> Result<i64, Box<dyn std::error::Error + Send + Sync>> {
    let number: i64 = text.parse()?;
    if number < 0 {
        return Err("negative".into());
    }
    Ok(ready(number).await)
}

#[profile(value = ready(text).await.parse::<u32>()?)]
async fn awaits_in_a_metric(text: &str) -> Result<usize, std::num::ParseIntError> {
    Ok(text.len())
}

#[profile]
async fn coerces(number: u32) -> Box<dyn Display + Send + Sync> {
    if ready(number).await == 0 {
        return Box::new("none");
    }
    Box::new(number)
}

#[profile]
async fn unit_and_question_mark(text: &str) -> Option<()> {
    text.chars().next()?;
    Some(())
}

#[profile]
async fn returns_early(x: u32) {
    if x == 0 {
        return;
    }
    ready(()).await;
}

#[profile]
async fn never_returns(why: &str) -> ! {
    ready(()).await;
    panic!("{why}")
}

#[profile]
async fn returns_impl<'a>(words: &'a [&'a str]) -> impl Iterator<Item = usize> + 'a {
    words.iter().map(|word| word.len())
}

#[profile]
async fn returns_a_future() -> std::future::Ready<u32> {
    ready(3)
}

#[profile]
async fn r#loop<'a, T, const N: usize>(all: &'a [T; N], wanted: &T) -> Option<&'a T>
where
    T: Sync + PartialEq + Fn(u32) -> u32,
{
    all.iter().find(|one| *one == wanted)
}

#[profile]
async fn borrows<'a, F: Fn(&'a str) -> usize>(text: &'a str, measure: F) -> (&'a str, usize) {
    (text, measure(text))
}

#[profile]
async fn borrows_mutably(values: &mut Vec<u32>) -> &mut u32 {
    values.push(ready(1).await);
    &mut values[0]
}

#[profile]
async fn takes_patterns(
    (a, b): (u8, u8),
    [c, ..]: [u8; 2],
    mut d: u8,
    _: u8,
    _unused: String,
) -> u8 {
    d += 1;
    a + b + c + d
}

#[profile]
async fn moves(text: String, values: Vec<u8>) -> (String, usize) {
    let values = ready(values).await;
    (text, values.len())
}

#[profile]
async fn starts_with_an_inner_attribute() -> u8 {
    #![expect(clippy::let_and_return, reason = "an inner attribute must stay in front")]
    let x = 3;
    x
}

/// A doc comment, and attributes before and after.
#[must_use]
#[profile]
#[inline]
pub(crate) async fn with_other_attributes() -> u32 {
    ready(5).await
}

#[profile]
async fn holds_items() -> u8 {
    const ONE: u8 = 1;
    #[profile]
    async fn inner() -> u8 {
        ready(ONE).await
    }
    inner().await
}

#[profile]
fn recurses(n: u32) -> Pin<Box<dyn Future<Output = u32> + Send>> {
    Box::pin(recurses_asynchronously(n))
}

#[profile]
async fn recurses_asynchronously(n: u32) -> u32 {
    if n < 2 { n } else { recurses(n - 1).await + recurses(n - 2).await }
}

#[test]
fn functions_compute_what_they_did() {
    run(empty());
    assert_eq!(run(one_expression(1)), 2);
    assert_eq!(run(only_awaits(1)), 2);
    assert_eq!(run(with_arguments("text", 3)), 3);
    assert_eq!(run(converts_errors("4")).ok(), Some(4));
    assert_eq!(run(converts_errors("-4")).unwrap_err().to_string(), "negative");
    assert!(run(converts_errors("four")).is_err());
    assert_eq!(run(awaits_in_a_metric("12")), Ok(2));
    assert_eq!(run(awaits_in_a_metric("x")).is_err(), tinyprof::collect::ENABLED);
    assert_eq!([run(coerces(0)).to_string(), run(coerces(1)).to_string()], ["none", "1"]);
    assert_eq!(run(unit_and_question_mark("")), None);
    run(returns_early(0));
    assert_eq!(run(returns_impl(&["a", "bc"])).sum::<usize>(), 3);
    assert_eq!(run(run(returns_a_future())), 3);
    assert_eq!(run(borrows("abc", str::len)), ("abc", 3));
    let mut values = Vec::new();
    *run(borrows_mutably(&mut values)) += 2;
    assert_eq!(values, [3]);
    assert_eq!(run(takes_patterns((1, 2), [3, 4], 5, 6, String::new())), 12);
    assert_eq!(run(moves("a".to_owned(), vec![1, 2])), ("a".to_owned(), 2));
    assert_eq!(run(starts_with_an_inner_attribute()), 3);
    assert_eq!(run(with_other_attributes()), 5);
    assert_eq!(run(holds_items()), 1);
    assert_eq!(run(recurses(10)), 55);
    let found: [fn(u32) -> u32; 0] = [];
    assert_eq!(run(r#loop(&found, &(u32::reverse_bits as fn(u32) -> u32))), None);
    let panic = catch_unwind(|| run(never_returns("as it should"))).unwrap_err();
    assert_eq!(panic.downcast_ref::<String>().map(String::as_str), Some("as it should"));
}

// ---- methods

#[derive(Debug, Default)]
struct Field<T> {
    values: Vec<T>,
}

#[profile(values = self.values.len())]
impl<T: Clone + Send + Sync + Display> Field<T> {
    async fn push(&mut self, value: T) -> &mut Self {
        self.values.push(value);
        ready(self).await
    }

    async fn first(&self) -> Option<&T> {
        ready(self.values.first()).await
    }

    async fn into_values(self) -> Vec<T> {
        ready(self.values).await
    }

    async fn boxed(self: Box<Self>) -> Self
    where
        T: Debug,
    {
        ready(*self).await
    }

    async fn emptied(mut self) -> Self {
        self.values.clear();
        ready(self).await
    }
}

#[profile]
trait Norm {
    fn squares(&self) -> f64;

    async fn norm(&self) -> f64 {
        ready(self.squares()).await.sqrt()
    }
}

impl Norm for Field<f64> {
    fn squares(&self) -> f64 {
        self.values.iter().map(|x| x * x).sum()
    }
}

#[test]
fn methods_compute_what_they_did() {
    let mut field = Field::default();
    run(async { field.push(3.0).await.push(4.0).await.values.len() });
    assert_eq!(run(field.first()), Some(&3.0));
    assert_eq!(run(field.norm()).to_bits(), 5.0_f64.to_bits());
    let field = run(Box::new(field).boxed());
    assert_eq!(run(field.into_values()), [3.0, 4.0]);
    assert!(run(Field { values: vec![1] }.emptied()).values.is_empty());
}

// ---- dropped values

struct Drops<'a>(&'static str, &'a std::sync::Mutex<Vec<&'static str>>);

impl Drop for Drops<'_> {
    fn drop(&mut self) {
        self.1.lock().expect("nobody panics with it").push(self.0);
    }
}

#[profile]
async fn drops<'a>(
    _first: Drops<'a>,
    second: Drops<'a>,
    log: &'a std::sync::Mutex<Vec<&'static str>>,
) {
    let _local = Drops("local", log);
    ready(&second).await;
}

#[test]
fn everything_is_dropped_once_also_in_a_panic() {
    let log = std::sync::Mutex::new(Vec::new());
    run(drops(Drops("first", &log), Drops("second", &log), &log));
    assert_eq!(*log.lock().unwrap(), ["local", "second", "first"]);
    let panic = catch_unwind(AssertUnwindSafe(|| run(never_returns("again"))));
    assert!(panic.is_err());
}

// ---- sizes of futures

macro_rules! levels {
    ($(#[$attribute:meta] $function:item)*) => {
        mod plain {
            use super::ready;
            $($function)*
        }
        mod profiled {
            use super::ready;
            $(#[$attribute] $function)*
        }
    };
}

levels! {
    #[tinyprof::profile]
    async fn innermost() -> u8 {
        let kept = [1_u8; 1000];
        ready(()).await;
        kept[0]
    }
    #[tinyprof::profile]
    async fn e() -> u8 { innermost().await + 1 }
    #[tinyprof::profile]
    async fn d() -> u8 { e().await + 1 }
    #[tinyprof::profile]
    async fn c() -> u8 { d().await + 1 }
    #[tinyprof::profile]
    async fn b() -> u8 { c().await + 1 }
    #[tinyprof::profile]
    pub(crate) async fn outermost() -> u8 { b().await + 1 }
}

#[test]
fn futures_in_futures_do_not_double_in_size() {
    let (plain, profiled) = (plain::outermost(), profiled::outermost());
    let (plain_bytes, profiled_bytes) = (size_of_val(&plain), size_of_val(&profiled));
    assert!(
        profiled_bytes < plain_bytes + 6 * 256,
        "{profiled_bytes} bytes, {plain_bytes} without the attribute"
    );
    assert_eq!((run(plain), run(profiled)), (6, 6));
}
