//! A function as a region: with a guard first in its body, or a future around its body.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::LitStr;
use syn::ext::IdentExt;

use crate::arguments::Arguments;
use crate::item::Function;
use crate::site::{Region, RegionKind};
use crate::{Emit, asynchronous, body};

/// Returns the function, measured or unchanged.
pub(crate) fn with_region(function: Function, arguments: Arguments, emit: Emit) -> TokenStream {
    let (name, at) = (&function.name, function.name.span());
    let name = arguments.name.as_ref().map_or_else(|| name.unraw().to_string(), LitStr::value);
    let region = Region { kind: RegionKind::Function, name, at, arguments };
    let body = match (emit, &function.future) {
        (Emit::Plain, _) => {
            let (path, checked) = region.arguments.unmeasured();
            body::with_first(&function.body, path.into_iter().chain([checked]).collect())
        }
        (Emit::Measured, None) => body::with_first(&function.body, region.guard()),
        (Emit::Measured, Some(future)) => asynchronous::body(&function.body, &region, future),
    };
    let mut tokens = function.head;
    body.to_tokens(&mut tokens);
    tokens
}
