//! `split = expression`: the text that distinguishes the visits of a region.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::parse::{ParseStream, Result};
use syn::spanned::Spanned;
use syn::{Error, LitStr};

use crate::metric::parse_expression;

/// Reads the expression after the `=`.
pub(crate) fn parse(input: ParseStream<'_>) -> Result<TokenStream> {
    let expression = parse_expression(input)?;
    if let Ok(text) = syn::parse2::<LitStr>(expression.clone()) {
        let message = "a text that never changes splits nothing: `split` takes an expression, as in `split = T::NAME`";
        return Err(Error::new(text.span(), message));
    }
    Ok(expression)
}

/// Returns the text as a `&str`. Type errors in the expression are reported at its place.
pub(crate) fn text(private: &TokenStream, expression: &TokenStream) -> TokenStream {
    let at = Span::mixed_site().located_at(expression.span());
    let reference = quote_spanned!(at=> &(#expression));
    quote_spanned!(Span::mixed_site()=> #private::key(#reference))
}
