//! A function as a region: one statement, put first into its body.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::LitStr;
use syn::ext::IdentExt;

use crate::arguments::Arguments;
use crate::body;
use crate::item::Function;
use crate::site::{Region, RegionKind};

/// The function with its guard.
pub(crate) fn with_guard(function: Function, arguments: Arguments) -> TokenStream {
    let (name, at) = (&function.name, function.name.span());
    let name = arguments.name.as_ref().map_or_else(|| name.unraw().to_string(), LitStr::value);
    let region = Region { kind: RegionKind::Function, name, at, arguments };
    let guard = Ident::new("__guard", Span::mixed_site());
    let open = region.open();
    let first = quote_spanned!(Span::mixed_site()=> let #guard = #open;);
    let mut tokens = function.head;
    body::with_first(&function.body, first).to_tokens(&mut tokens);
    tokens
}
