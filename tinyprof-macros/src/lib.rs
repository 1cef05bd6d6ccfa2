//! The attribute and the macros of TinyProf: they name a region and open it. Use them through the
//! crate `tinyprof`.
//!
//! Every region, and every metric of one, is one `static` and one call into
//! `::tinyprof::__private`; what happens there is none of this crate's business. It reads the
//! tokens it must (arguments, the head of a function or loop) and carries the rest unread, so that
//! what compiles without the macro compiles with it.
//!
//! | file | idea |
//! |---|---|
//! | `arguments.rs` | `name = ..., mode = ..., tag = ..., crate = ...` |
//! | `key.rs` | which words are arguments |
//! | `near.rs` | slips of the keyboard |
//! | `metric.rs` | `key = "text"` and `key = expression` |
//! | `split.rs` | `split = expression` |
//! | `attribute.rs` | `#[profile]`: a region is a function |
//! | `block.rs` | `#[profile]` on an `impl`, a trait or a module: a region is each function inside |
//! | `selection.rs` | `only(...)` and `skip(...)`: which functions of a block |
//! | `item.rs` | what an item is |
//! | `pieces.rs` | where the items of a block end |
//! | `function.rs` | one function with its guard |
//! | `asynchronous.rs` | the body of an `async fn` as one future |
//! | `scope.rs` | `profile_scope!`: a region is the rest of a block; `scope!`: as long as a guard lives |
//! | `region_loop.rs` | `profile_loop!`: a region is a loop |
//! | `record.rs` | `record!`: numbers of the region that is open |
//! | `site.rs` | the `static` and the call that every region is |
//! | `body.rs` | one statement put first into a pair of braces |
//! | `error.rs` | an error, and the program left as it was |

mod arguments;
mod asynchronous;
mod attribute;
mod block;
mod body;
mod error;
mod function;
mod item;
mod key;
mod metric;
mod near;
mod pieces;
mod record;
mod region_loop;
mod scope;
mod selection;
mod site;
mod split;

use proc_macro::TokenStream;

/// What is made of a region that is written correctly; mistakes are told either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Emit {
    /// Code that measures it.
    Measured,
    /// What would stand there without us.
    Plain,
}

/// A constant of this crate, not a `cfg` in what is emitted: that would ask for a feature of the
/// user's crate.
const EMIT: Emit = if cfg!(feature = "enable") { Emit::Measured } else { Emit::Plain };

#[doc = include_str!("../docs/profile.md")]
#[proc_macro_attribute]
pub fn profile(arguments: TokenStream, item: TokenStream) -> TokenStream {
    attribute::expand(arguments.into(), item.into(), EMIT).into()
}

#[doc = include_str!("../docs/profile_scope.md")]
#[proc_macro]
pub fn profile_scope(input: TokenStream) -> TokenStream {
    scope::expand(input.into(), EMIT).into()
}

#[doc = include_str!("../docs/scope.md")]
#[proc_macro]
pub fn scope(input: TokenStream) -> TokenStream {
    scope::expand_guard(input.into(), EMIT).into()
}

#[doc = include_str!("../docs/profile_loop.md")]
#[proc_macro]
pub fn profile_loop(input: TokenStream) -> TokenStream {
    region_loop::expand(input.into(), EMIT).into()
}

#[doc = include_str!("../docs/record.md")]
#[proc_macro]
pub fn record(input: TokenStream) -> TokenStream {
    record::expand(input.into(), EMIT).into()
}
