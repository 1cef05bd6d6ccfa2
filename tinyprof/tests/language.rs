//! The attributes of a region in the event map: names, hints, metrics, and settings inherited from
//! a block.

#![deny(warnings)]
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use tinyprof::{profile, profile_loop, profile_scope};
use tinyprof_format::model::{Mode, Region};

#[profile(rank_local, tag = "COMP", r#type = "\u{1F980}")]
fn function() -> u32 {
    profile_scope!("scope", tag = "COMM", rank_local);
    let mut n = 0;
    profile_loop!(
        "loop",
        kernel = "stencil",
        for i in 0..3 {
            n += i;
        }
    );
    n
}

struct Field<T>(Vec<T>);

#[profile(mode = each, tag = "FIELD")]
impl<T: Clone> Field<T> {
    const EMPTY: usize = { 0 };

    fn new(value: T) -> Self {
        Self(vec![value; Self::one()])
    }

    const fn one() -> usize {
        1 + Self::EMPTY
    }

    #[profile(skip)]
    fn len(&self) -> usize {
        self.0.len()
    }

    #[profile(name = "Field(T)::first", mode = total)]
    fn first<const N: usize>(&self) -> [T; N]
    where
        [u8; N]: Sized,
    {
        std::array::from_fn(|_| self.0[0].clone())
    }

    async fn later(&self) -> usize {
        std::future::ready(self.len()).await
    }

    #[profile(tag = "OWN")]
    #[must_use]
    fn last(&self) -> Option<&T> {
        self.0.last()
    }
}

#[profile]
trait Norm {
    fn squares(&self) -> f64;

    fn norm(&self) -> f64 {
        self.squares().sqrt()
    }
}

#[profile(rank_local)]
mod inner {
    use super::Norm;

    pub(super) struct Pair(pub(super) f64, pub(super) f64);

    impl Norm for Pair {
        fn squares(&self) -> f64 {
            product(self.0, self.0) + deeper::square(self.1)
        }
    }

    macro_rules! made {
        ($visibility:vis $name:ident, $body:block) => {
            $visibility fn $name(_a: f64, _b: f64) -> f64 $body
        };
    }

    fn product(a: f64, b: f64) -> f64 {
        by_macro(a, b)
    }

    made!(pub(super) by_macro, { 2.0 });

    mod deeper {
        #[tinyprof::profile(tag = "deep")]
        pub(super) fn square(x: f64) -> f64 {
            x * x
        }
    }
}

macro_rules! block {
    ($visibility:vis $name:ident, $body:block, $item:item) => {
        #[profile(crate = ::tinyprof)]
        mod by_macro {
            $visibility fn $name() -> u32 $body
            $item
        }
    };
}

block!(pub(super) from_macro, { 7 }, pub(super) fn whole() -> u32 { 8 });

fn constants(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect()
}

#[test]
fn what_is_said_of_a_region_is_in_the_event_map() {
    assert_eq!(function(), 3);
    let field = Field::new(5);
    assert_eq!((field.len(), field.first(), field.last()), (1, [5, 5], Some(&5)));
    let later = pin!(field.later()).poll(&mut Context::from_waker(Waker::noop()));
    assert_eq!(later, Poll::Ready(1));
    assert_eq!(
        inner::Pair(1.0, 3.0_f64.sqrt()).norm().to_bits(),
        (2.0 + 3.0_f64.sqrt().powi(2)).sqrt().to_bits()
    );
    assert_eq!((by_macro::from_macro(), by_macro::whole()), (7, 8));

    let map = tinyprof::collect::snapshot();
    let regions: BTreeMap<&str, &Region> =
        map.callpaths.rows().iter().map(|row| (&*row.region.name, &*row.region)).collect();
    if !tinyprof::collect::ENABLED {
        assert!(regions.is_empty());
        return;
    }
    let check = |name: &str, mode, rank_local, pairs: &[(&str, &str)]| {
        let region = regions.get(name).unwrap_or_else(|| panic!("{name}: {:?}", regions.keys()));
        assert_eq!((region.mode, region.rank_local), (mode, rank_local), "{name}");
        assert_eq!(region.constants, constants(pairs), "{name}");
    };
    check("function", Mode::Total, true, &[("tag", "COMP"), ("type", "\u{1F980}")]);
    check("scope", Mode::Total, true, &[("tag", "COMM")]);
    check("loop", Mode::Each, false, &[("kernel", "stencil")]);
    check("Field::new", Mode::Each, false, &[("tag", "FIELD")]);
    check("Field(T)::first", Mode::Total, false, &[("tag", "FIELD")]);
    check("Field::later", Mode::Each, false, &[("tag", "FIELD")]);
    check("Field::last", Mode::Each, false, &[("tag", "OWN")]);
    check("Norm::norm", Mode::Total, false, &[]);
    check("Pair::squares", Mode::Total, true, &[]);
    check("product", Mode::Total, true, &[]);
    check("square", Mode::Total, true, &[("tag", "deep")]);
    check("from_macro", Mode::Total, false, &[]);
    check("whole", Mode::Total, false, &[]);
    assert_eq!(regions.len(), 13, "{:?}", regions.keys());
}
