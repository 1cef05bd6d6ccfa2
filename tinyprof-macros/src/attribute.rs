//! `#[profile]`: a function is a region, from entry to return, error or panic.
//!
//! Only the words before `fn` and the name of the item are read. Everything else (attributes,
//! generics, where clause, body) is passed on unchanged. For blocks of functions, see `block.rs`.

use proc_macro2::TokenStream;
use syn::Error;
use syn::parse::{ParseStream, Parser, Result};

use crate::arguments::Arguments;
use crate::function::with_region;
use crate::item::Item;
use crate::key::Key;
use crate::{Emit, block, error};

/// Returns the function with its guard, or an error beside the unchanged item.
pub(crate) fn expand(arguments: TokenStream, item: TokenStream, emit: Emit) -> TokenStream {
    match profiled(arguments, &item, emit) {
        Ok(profiled) => profiled,
        Err(error) => error::beside(&error, item),
    }
}

fn profiled(arguments: TokenStream, item: &TokenStream, emit: Emit) -> Result<TokenStream> {
    let parse = |input: ParseStream<'_>| {
        let mut arguments = Arguments::default();
        arguments.parse_all(input, Key::OF_THE_ATTRIBUTE)?;
        arguments.check_skip()?;
        Ok(arguments)
    };
    let arguments = parse.parse2(arguments)?;
    if arguments.skip {
        return Ok(item.clone());
    }
    match Item::split(item)? {
        Item::Function(function) => match &arguments.selection {
            None => Ok(with_region(function, arguments, emit)),
            Some(selection) => Err(selection.not_on_a_function()),
        },
        Item::Block(block) => match &arguments.name {
            None => block::expand(block, &arguments, emit),
            Some(name) => Err(Error::new(
                name.span(),
                "one name cannot be that of every function inside: put `#[profile(name = ...)]` on the function",
            )),
        },
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    /// Checks the expansion with the emitted statement replaced by `GUARD;`: only the code around
    /// it is tested here.
    fn check(item: TokenStream, expected: &TokenStream) {
        let text = expand(TokenStream::new(), item, Emit::Measured).to_string();
        let (before, rest) = text.split_once("let __guard = ").expect(&text);
        let (_, after) = rest.split_once("enter (& SITE) } ;").expect(&text);
        assert_eq!(format!("{before}GUARD ;{after}"), expected.to_string());
    }

    fn check_error(item: &TokenStream, expected: &str) {
        let text = expand(TokenStream::new(), item.clone(), Emit::Measured).to_string();
        assert!(text.contains(expected), "{text}");
        assert!(text.ends_with(&item.to_string()), "{text}");
        assert_eq!(text.matches("compile_error").count(), 1, "{text}");
    }

    #[test]
    fn a_function_is_one_static_and_one_call_and_otherwise_as_it_was() {
        let expected = quote! {
            fn f() {
                let __guard = {
                    #[used]
                    #[cfg_attr(target_os = "linux", unsafe(link_section = "tinyprof_sites"))]
                    static SITE: ::tinyprof::__private::Site = ::tinyprof::__private::Site::new(
                        "solve",
                        ::tinyprof::__private::module_path!(),
                        "",
                        0u32,
                        0u32,
                        ::tinyprof::__private::RegionKind::Function,
                        ::tinyprof::__private::Mode::Total,
                    );
                    ::tinyprof::__private::enter(&SITE)
                };
                const _: () = ();
                work();
            }
        };
        let actual = expand(
            quote!(name = "solve"),
            quote!(
                fn f() {
                    work();
                }
            ),
            Emit::Measured,
        );
        assert_eq!(actual.to_string(), expected.to_string());
    }

    #[test]
    fn switched_off_the_item_is_untouched_but_mistakes_are_told() {
        let item = quote!(
            #[inline]
            fn f() {
                work();
            }
        );
        assert_eq!(
            expand(quote!(mode = each), item.clone(), Emit::Plain).to_string(),
            item.to_string()
        );
        let text = expand(quote!(mode = all), item.clone(), Emit::Plain).to_string();
        assert!(text.contains("unknown mode `all`") && text.ends_with(&item.to_string()), "{text}");
    }

    #[test]
    fn all_but_the_body_stays_as_it_was() {
        check(
            quote! {
                /// Doc.
                #[inline]
                pub(in a::b) unsafe extern "C" fn f<'a, T: X<{ 1 }>>(#[cfg(x)] self: &'a T, _guard: u8) -> ! where T: { x }
            },
            &quote! {
                /// Doc.
                #[inline]
                pub(in a::b) unsafe extern "C" fn f<'a, T: X<{ 1 }>>(#[cfg(x)] self: &'a T, _guard: u8) -> ! where T: { GUARD; const _: () = (); x }
            },
        );
        check(quote!(default fn f() {}), &quote!(default fn f() { GUARD; const _: () = (); }));
        check(
            quote!(
                extern "C" fn f(_: ...) {}
            ),
            &quote!(
                extern "C" fn f(_: ...) {
                    GUARD;
                    const _: () = ();
                }
            ),
        );
    }

    #[test]
    fn the_name_is_the_functions_without_the_raw_mark() {
        for (item, name) in [
            (
                quote!(
                    fn solve() {}
                ),
                "\"solve\"",
            ),
            (
                quote!(
                    fn r#loop() {}
                ),
                "\"loop\"",
            ),
        ] {
            let text = expand(TokenStream::new(), item, Emit::Measured).to_string();
            assert!(text.contains(&format!("new ({name} ,")), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_a_region_is_one_error_beside_the_untouched_item() {
        check_error(
            &quote!(
                pub const unsafe fn f() {}
            ),
            "a `const fn` cannot be a region",
        );
        check_error(
            &quote!(
                fn f(&self) -> u8;
            ),
            "`f` has no body to measure",
        );
        for item in [
            quote!(
                pub struct S {
                    x: u8,
                }
            ),
            quote!(
                const X: u8 = 1;
            ),
            quote!(
                extern "C" {}
            ),
            quote!(
                extern crate x;
            ),
            quote!(m! {}),
        ] {
            check_error(&item, "`#[profile]` goes on functions");
        }
    }
}
