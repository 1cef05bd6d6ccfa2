//! `profile_scope!`: from here to the end of the enclosing block is a region.

use proc_macro2::TokenStream;
use syn::parse::{ParseStream, Parser, Result};
use syn::{LitStr, Token};

use crate::arguments::{Arguments, parse_name};
use crate::key::Key;
use crate::site::{Region, RegionKind};
use crate::{Emit, error};

/// The guard lives to the end of the block that the macro stands in.
pub(crate) fn expand(input: TokenStream, emit: Emit) -> TokenStream {
    match (parse.parse2(input), emit) {
        (Ok(region), Emit::Measured) => region.guard(),
        (Ok(region), Emit::Plain) => {
            let (path, checked) = region.arguments.unmeasured();
            path.into_iter().chain([checked]).collect()
        }
        (Err(error), _) => error::beside(&error, TokenStream::new()),
    }
}

/// `"name"`, then perhaps `, key = value` any number of times.
fn parse(input: ParseStream<'_>) -> Result<Region> {
    if !input.peek(LitStr) {
        return Err(input.error("a region needs a name first: `profile_scope!(\"name\");`"));
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
        assert_eq!(expand(quote!("a b", mode = each,), Emit::Measured).to_string(), expected.to_string());
    }

    #[test]
    fn what_else_is_said_of_a_region_is_said_of_its_static() {
        let text = expand(quote!("a", rank_local, tag = "COMP", r#type = "x"), Emit::Measured).to_string();
        let expected =
            quote!(.with_rank_local().with_constants(&[("tag", "COMP"), ("type", "x")]);).to_string();
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
