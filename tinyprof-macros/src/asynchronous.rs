//! An `async fn` as a region: its body becomes a future whose polls are one visit.

use proc_macro2::{Group, Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;

use crate::body;
use crate::item::Future;
use crate::site::Region;

/// Returns the body of the measured function.
///
/// The values of metrics are taken at the first poll, before the visit begins. The future is passed
/// by reference, because an `async fn` keeps an argument twice, and nested futures would double in
/// size at each level.
pub(crate) fn body(body: &Group, region: &Region, future: &Future) -> Group {
    let private = region.arguments.private();
    let varying = region.arguments.varying();
    let values = varying.values();
    let records =
        varying.records(&quote_spanned!(Span::mixed_site()=> record), &TokenStream::new());
    // An `async` block does not know its output type. A return that is never reached fixes that
    // type before `?` has to convert an error to it.
    let output = future.output.as_ref().map(|output| {
        quote_spanned! {Span::mixed_site().located_at(output.span())=>
            if let #private::Some(output) = #private::no_output::<#output>() {
                return output;
            }
        }
    });
    let site = region.with_site(Clone::clone);
    // The key is a temporary of an earlier statement, because the future must not hold it.
    let (key, site) = match region.arguments.split {
        None => (None, site),
        Some(_) => {
            let name = Ident::new("__site", Span::mixed_site());
            (
                Some(quote_spanned!(Span::mixed_site()=> let #name = #site;)),
                name.into_token_stream(),
            )
        }
    };
    body::around(body, |rest| {
        let inside = quote_spanned!(Span::mixed_site()=> #records #output const _: () = (); #rest);
        let inside = body::braced(inside, body.span());
        // Clippy considers an `async` block that yields a future a mistake; in an `async fn` it
        // does not.
        quote_spanned! {Span::mixed_site()=>
            #![allow(clippy::async_yields_async)]
            #values
            #key
            #private::polled(#site, #private::pin!(async move #inside)).await
        }
    })
}
