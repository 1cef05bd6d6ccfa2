//! The attribute and the macros of TinyProf. They name a region and open it. Use them through the
//! crate `tinyprof`.
//!
//! An internal crate of TinyProf: nothing here is stable. Programs use `tinyprof` and
//! `tinyprof-mpi`.
//!
//! Every region, and every metric of one, expands to one `static` and one call into
//! `::tinyprof::__private`; this crate does not know what happens there. It reads only the tokens
//! that it must (arguments, the head of a function or loop) and passes the others on unread, so
//! that code that compiles without the macro also compiles with it.
//!
//! | file | idea |
//! |---|---|
//! | `arguments.rs` | `name = ..., mode = ..., tag = ..., crate = ...` |
//! | `key.rs` | the names of the arguments |
//! | `near.rs` | typing errors |
//! | `metric.rs` | `key = "text"` and `key = expression` |
//! | `split.rs` | `split = expression` |
//! | `attribute.rs` | `#[profile]`: a region is a function |
//! | `block.rs` | `#[profile]` on an `impl`, a trait or a module: a region is each function inside |
//! | `selection.rs` | `only(...)` and `skip(...)`: the selected functions of a block |
//! | `item.rs` | the kind of an item, and its parts |
//! | `pieces.rs` | the ends of the items in a block |
//! | `function.rs` | one function with its guard |
//! | `asynchronous.rs` | the body of an `async fn` as one future |
//! | `scope.rs` | `profile_scope!`: a region is the rest of a block; `scope!`: the lifetime of a guard |
//! | `region_loop.rs` | `profile_loop!`: a region is a loop |
//! | `record.rs` | `record!`: numbers of the open region |
//! | `site.rs` | the `static` and the call of every region |
//! | `body.rs` | a statement put first into a pair of braces |
//! | `error.rs` | an error beside the unchanged program |

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

/// The expansion of a correct region; mistakes are reported either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Emit {
    /// Code that measures the region.
    Measured,
    /// The code as the user wrote it.
    Plain,
}

/// The choice of this build. It is a constant of this crate and not a `cfg` in the expansion, which
/// would ask for a feature of the user's crate.
const EMIT: Emit = if cfg!(feature = "enable") { Emit::Measured } else { Emit::Plain };

// `tinyprof` runs the examples. `cargo test --doc` does not go by `doctest` in Cargo.toml.
#[cfg_attr(not(doctest), doc = include_str!("../docs/profile.md"))]
#[proc_macro_attribute]
pub fn profile(arguments: TokenStream, item: TokenStream) -> TokenStream {
    attribute::expand(arguments.into(), item.into(), EMIT).into()
}

#[cfg_attr(not(doctest), doc = include_str!("../docs/profile_scope.md"))]
#[proc_macro]
pub fn profile_scope(input: TokenStream) -> TokenStream {
    scope::expand(input.into(), EMIT).into()
}

#[cfg_attr(not(doctest), doc = include_str!("../docs/scope.md"))]
#[proc_macro]
pub fn scope(input: TokenStream) -> TokenStream {
    scope::expand_guard(input.into(), EMIT).into()
}

#[cfg_attr(not(doctest), doc = include_str!("../docs/profile_loop.md"))]
#[proc_macro]
pub fn profile_loop(input: TokenStream) -> TokenStream {
    region_loop::expand(input.into(), EMIT).into()
}

#[cfg_attr(not(doctest), doc = include_str!("../docs/record.md"))]
#[proc_macro]
pub fn record(input: TokenStream) -> TokenStream {
    record::expand(input.into(), EMIT).into()
}
