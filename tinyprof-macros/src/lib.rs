//! The attribute and the macros of TinyProf: they name a region and open it. Use them through the crate `tinyprof`.
//!
//! Every expansion is one `static` and one call into `::tinyprof::__private`; what happens there is none of this
//! crate's business. It reads the tokens it must (arguments, the head of a function or loop) and carries the rest
//! unread, so that what compiles without the macro compiles with it.
//!
//! | file | idea |
//! |---|---|
//! | `arguments.rs` | `name = ..., mode = ..., crate = ...` |
//! | `attribute.rs` | `#[profile]`: a region is a function |
//! | `scope.rs` | `profile_scope!`: a region is the rest of a block |
//! | `region_loop.rs` | `profile_loop!`: a region is a loop |
//! | `site.rs` | the `static` and the call that all three emit |
//! | `body.rs` | one statement put first into a pair of braces |
//! | `error.rs` | an error, and the program left as it was |

mod arguments;
mod attribute;
mod body;
mod error;
mod region_loop;
mod scope;
mod site;

use proc_macro::TokenStream;

#[doc = include_str!("../docs/profile.md")]
#[proc_macro_attribute]
pub fn profile(arguments: TokenStream, item: TokenStream) -> TokenStream {
    attribute::expand(arguments.into(), item.into()).into()
}

#[doc = include_str!("../docs/profile_scope.md")]
#[proc_macro]
pub fn profile_scope(input: TokenStream) -> TokenStream {
    scope::expand(input.into()).into()
}

#[doc = include_str!("../docs/profile_loop.md")]
#[proc_macro]
pub fn profile_loop(input: TokenStream) -> TokenStream {
    region_loop::expand(input.into()).into()
}
