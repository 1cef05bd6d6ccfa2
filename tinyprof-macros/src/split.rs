//! `split = expression`: the text by which the visits of a region are told apart.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::parse::{ParseStream, Result};
use syn::spanned::Spanned;
use syn::{Error, LitStr};

use crate::metric::parse_expression;

/// Reads the expression behind the `=`.
pub(crate) fn parse(input: ParseStream<'_>) -> Result<TokenStream> {
    let expression = parse_expression(input)?;
    if let Ok(text) = syn::parse2::<LitStr>(expression.clone()) {
        let message = "a text that never changes splits nothing: `split` takes an expression, as in `split = T::NAME`";
        return Err(Error::new(text.span(), message));
    }
    Ok(expression)
}

/// The text as a `&str`. Mistakes in the type of the expression are told where that stands.
pub(crate) fn text(private: &TokenStream, expression: &TokenStream) -> TokenStream {
    let at = Span::mixed_site().located_at(expression.span());
    let reference = quote_spanned!(at=> &(#expression));
    quote_spanned!(Span::mixed_site()=> #private::key(#reference))
}
