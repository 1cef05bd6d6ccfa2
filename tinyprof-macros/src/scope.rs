//! `profile_scope!`: from here to the end of the enclosing block is a region.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::parse::{ParseStream, Parser, Result};
use syn::{LitStr, Token};

use crate::arguments::{Arguments, Key, parse_name};
use crate::error;
use crate::site::{Region, RegionKind};

/// One `let`: the guard lives to the end of the block that the macro stands in.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    match parse.parse2(input) {
        Ok(region) => {
            let guard = Ident::new("__guard", Span::mixed_site());
            let open = region.open();
            quote_spanned!(Span::mixed_site()=> let #guard = #open;)
        }
        Err(error) => error::beside(&error, TokenStream::new()),
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
        assert_eq!(expand(quote!("a b", mode = each,)).to_string(), expected.to_string());
    }

    #[test]
    fn a_crate_path_replaces_the_absolute_one_everywhere() {
        let text = expand(quote!("a", crate = crate::deps::prof)).to_string();
        assert!(!text.contains(":: tinyprof"), "{text}");
        assert_eq!(text.matches("crate :: deps :: prof :: __private").count(), 6);
    }
}
