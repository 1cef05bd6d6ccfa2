//! `record!`: numbers of the innermost open region.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser, Result};
use syn::{Error, Token};

use crate::arguments::Arguments;
use crate::key::Key;
use crate::{Emit, error};

/// Returns an expression of type `()`.
pub(crate) fn expand(input: TokenStream, emit: Emit) -> TokenStream {
    match (parse.parse2(input), emit) {
        (Ok(arguments), Emit::Measured) => {
            let varying = arguments.varying();
            let values = varying.values();
            let records =
                varying.records(&quote_spanned!(Span::mixed_site()=> record), &TokenStream::new());
            quote_spanned!(Span::mixed_site()=> { #values #records })
        }
        (Ok(arguments), Emit::Plain) => {
            let (path, checked) = arguments.unmeasured();
            quote_spanned!(Span::mixed_site()=> { #path #checked })
        }
        (Err(error), _) => error::beside(&error, TokenStream::new()),
    }
}

/// Reads `key = expression` at least once, and optionally `crate = path`.
fn parse(input: ParseStream<'_>) -> Result<Arguments> {
    let mut arguments = Arguments::default();
    while !input.is_empty() {
        check_key(&input.fork())?;
        arguments.parse_one(input, &[Key::Crate])?;
        if let Some((key, text)) = arguments.constants().next() {
            let message = format!(
                "`record!` takes numbers: a text is said of the region, as in `#[profile({key} = {})]`",
                text.to_token_stream()
            );
            return Err(Error::new(text.span(), message));
        }
        if input.is_empty() {
            break;
        }
        input.parse::<Token![,]>()?;
    }
    if arguments.varying().metrics.is_empty() {
        return Err(Error::new(
            Span::call_site(),
            "there is nothing to record: `record!(key = a_number)`",
        ));
    }
    Ok(arguments)
}

/// Returns an error if the next token is not a key, or is a key with another meaning.
fn check_key(input: ParseStream<'_>) -> Result<()> {
    if !input.peek(Ident::peek_any) {
        return Err(input.error("a metric is a key and a number: `record!(key = a_number)`"));
    }
    let key = input.call(Ident::parse_any)?;
    if key == "crate" || !Key::is_reserved(&key) {
        let has_value = input.parse::<Option<Token![=]>>()?.is_some() && !input.is_empty();
        if key != "crate" && !has_value {
            let message = format!("`{key}` needs a value: `record!({key} = a_number)`");
            return Err(Error::new(key.span(), message));
        }
        return Ok(());
    }
    let message = format!("`{key}` is an argument of regions, not a metric: take another key");
    Err(Error::new(key.span(), message))
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    fn check_error(input: TokenStream, expected: &str) {
        let text = expand(input, Emit::Plain).to_string();
        assert!(text.contains("compile_error") && text.contains(expected), "{text}");
    }

    #[test]
    fn all_values_are_taken_before_the_first_is_recorded() {
        let expected = quote! {{
            let __value0 = ::tinyprof::__private::Number::to_f64(max::<u32, _>(a, b));
            let __value1 = ::tinyprof::__private::Number::to_f64(c);
            {
                #[used]
                #[cfg_attr(target_os = "linux", unsafe(link_section = "tinyprof_sites"))]
                static METRIC: ::tinyprof::__private::Site = ::tinyprof::__private::Site::metric("mem");
                ::tinyprof::__private::record(&METRIC, __value0)
            };
            {
                #[used]
                #[cfg_attr(target_os = "linux", unsafe(link_section = "tinyprof_sites"))]
                static METRIC: ::tinyprof::__private::Site = ::tinyprof::__private::Site::metric("type");
                ::tinyprof::__private::record(&METRIC, __value1)
            };
        }};
        let input = quote!(mem = max::<u32, _>(a, b), r#type = c,);
        assert_eq!(expand(input, Emit::Measured).to_string(), expected.to_string());
    }

    #[test]
    fn switched_off_values_are_checked_but_not_taken() {
        let expected = quote!({
            const _: () = {
                let _ = a::b::collect::ENABLED;
            };
            if false {
                a::b::__private::Number::to_f64(x);
                a::b::__private::Number::to_f64(y + 1);
            }
        });
        let input = quote!(mem = x, crate = a::b, tuples = y + 1);
        assert_eq!(expand(input, Emit::Plain).to_string(), expected.to_string());
    }

    #[test]
    fn mistakes_are_told() {
        check_error(quote!(), "there is nothing to record");
        check_error(quote!(crate = a), "there is nothing to record");
        check_error(quote!(mem), "`mem` needs a value: `record!(mem = a_number)`");
        check_error(quote!(mem =), "`mem` needs a value");
        check_error(quote!(mem = 1, mem = 2), "`mem` is given twice");
        check_error(quote!(mem = "a"), "`record!` takes numbers");
        check_error(quote!("mem", 1), "a metric is a key and a number");
        check_error(quote!(mode = each), "`mode` is an argument of regions");
        check_error(quote!(mem = 1, skip), "`skip` is an argument of regions");
        check_error(quote!(mem = 1 tuples = 2), "expected `,`");
    }
}
