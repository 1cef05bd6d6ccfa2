//! `profile_scope!`: a region from here to the end of the enclosing block. `scope!`: a region that
//! lasts as long as its guard.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::parse::{ParseStream, Parser, Result};
use syn::{LitStr, Token};

use crate::arguments::{Arguments, parse_name};
use crate::key::Key;
use crate::site::{Region, RegionKind};
use crate::{Emit, error};

/// Returns a statement whose guard lives to the end of the block around the macro call.
pub(crate) fn expand(input: TokenStream, emit: Emit) -> TokenStream {
    let parse = |input: ParseStream<'_>| parse(input, "profile_scope!(\"name\");");
    match (parse.parse2(input), emit) {
        (Ok(region), Emit::Measured) => region.guard(),
        (Ok(region), Emit::Plain) => {
            let (path, checked) = region.arguments.unmeasured();
            path.into_iter().chain([checked]).collect()
        }
        (Err(error), _) => error::beside(&error, TokenStream::new()),
    }
}

/// Returns an expression whose value is the guard.
pub(crate) fn expand_guard(input: TokenStream, emit: Emit) -> TokenStream {
    let parse = |input: ParseStream<'_>| parse(input, "let phase = scope!(\"name\");");
    match (parse.parse2(input), emit) {
        (Ok(region), Emit::Measured) => {
            let (guard, name) = (region.guard(), Ident::new("__guard", Span::mixed_site()));
            quote_spanned!(Span::mixed_site()=> { #guard #name })
        }
        (Ok(region), Emit::Plain) => {
            let (path, checked) = region.arguments.unmeasured();
            let private = region.arguments.private();
            quote_spanned!(Span::mixed_site()=> { #path #checked #private::Guard::of_nothing() })
        }
        (Err(error), _) => error.to_compile_error(),
    }
}

/// Reads `"name"`, then optionally `, key = value` any number of times.
fn parse(input: ParseStream<'_>, usage: &str) -> Result<Region> {
    if !input.peek(LitStr) {
        return Err(input.error(format_args!("a region needs a name first: `{usage}`")));
    }
    let name = parse_name(input)?;
    let mut arguments = Arguments::default();
    if !input.is_empty() {
        input.parse::<Token![,]>()?;
        arguments.parse_all(input, Key::AFTER_A_NAME)?;
    }
    Ok(Region { kind: RegionKind::Scope, name: name.value(), at: name.span(), arguments })
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    #[test]
    fn a_scope_is_one_static_and_one_call() {
        let expected = quote! {
            let __guard = {
                #[used]
                #[cfg_attr(target_os = "linux", unsafe(link_section = "tinyprof_sites"))]
                static SITE: ::tinyprof::__private::Site = ::tinyprof::__private::Site::new(
                    "a b",
                    ::tinyprof::__private::module_path!(),
                    "",
                    0u32,
                    0u32,
                    ::tinyprof::__private::RegionKind::Scope,
                    ::tinyprof::__private::Mode::Each,
                );
                ::tinyprof::__private::enter(&SITE)
            };
        };
        assert_eq!(
            expand(quote!("a b", mode = each,), Emit::Measured).to_string(),
            expected.to_string()
        );
    }

    #[test]
    fn a_guard_is_the_value_of_an_expression() {
        let text = expand_guard(quote!("a", mem = 1), Emit::Measured).to_string();
        let scope = expand(quote!("a", mem = 1), Emit::Measured).to_string();
        assert_eq!(text, format!("{{ {scope} __guard }}"));
        let plain = expand_guard(quote!("a", mem = 1), Emit::Plain).to_string();
        let expected = quote!({
            if false {
                ::tinyprof::__private::Number::to_f64(1);
            }
            ::tinyprof::__private::Guard::of_nothing()
        });
        assert_eq!(plain, expected.to_string());
    }

    #[test]
    fn with_a_key_the_site_is_one_of_a_table() {
        let text = expand(quote!("a", split = T::NAME), Emit::Measured).to_string();
        let begin = quote!(let __guard = match ::tinyprof::__private::key(&(T::NAME))).to_string();
        assert!(text.starts_with(&begin), "{text}");
        let end = quote! {
            static KEYS: ::tinyprof::__private::Keys = ::tinyprof::__private::Keys::new(&SITE);
            ::tinyprof::__private::enter(KEYS.site(__key))
        };
        assert!(text.ends_with(&format!("{end} }} }} ;")), "{text}");
        let plain = expand(quote!("a", split = T::NAME), Emit::Plain).to_string();
        assert_eq!(
            plain,
            quote!(if false {
                let _ = ::tinyprof::__private::key(&(T::NAME));
            })
            .to_string()
        );
    }

    #[test]
    fn what_else_is_said_of_a_region_is_said_of_its_static() {
        let text =
            expand(quote!("a", rank_local, tag = "COMP", r#type = "x"), Emit::Measured).to_string();
        let expected =
            quote!(.with_rank_local().with_constants(&[("tag", "COMP"), ("type", "x")]);)
                .to_string();
        assert!(text.contains(&format!("Mode :: Total ,) {expected}")), "{text}");
    }

    #[test]
    fn switched_off_a_scope_is_nothing_but_mistakes_are_told() {
        assert!(expand(quote!("a b", mode = each,), Emit::Plain).is_empty());
        assert!(expand(quote!(a), Emit::Plain).to_string().contains("needs a name first"));
    }

    #[test]
    fn a_crate_path_replaces_the_absolute_one_everywhere() {
        let text = expand(quote!("a", crate = crate::deps::prof), Emit::Measured).to_string();
        assert!(!text.contains(":: tinyprof"), "{text}");
        assert_eq!(text.matches("crate :: deps :: prof :: __private").count(), 6);
    }
}
