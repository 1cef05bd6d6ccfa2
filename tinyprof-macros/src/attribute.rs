//! `#[profile]`: a function is a region, from entry to return, error or panic.
//!
//! Of the item only the words before `fn` and the name are read. Everything else (attributes, generics, where
//! clause, body) is carried over as it came.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser, Result};
use syn::{Attribute, Error, LitStr, Token, Visibility};

use crate::arguments::{Arguments, Key};
use crate::site::{Region, RegionKind};
use crate::{body, error};

/// The function with its guard, or an error beside the untouched item.
pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    profiled(arguments, &item).unwrap_or_else(|error| error::beside(&error, item))
}

fn profiled(arguments: TokenStream, item: &TokenStream) -> Result<TokenStream> {
    let parse = |input: ParseStream<'_>| {
        let mut arguments = Arguments::default();
        arguments.parse_all(input, Key::OF_THE_ATTRIBUTE)?;
        Ok(arguments)
    };
    let arguments = parse.parse2(arguments)?;
    let function = Function::split(item)?;
    let (name, at) = (&function.name, function.name.span());
    let name = arguments.name.as_ref().map_or_else(|| name.unraw().to_string(), LitStr::value);
    let region = Region { kind: RegionKind::Function, name, at, arguments };
    let guard = Ident::new("__guard", Span::mixed_site());
    let open = region.open();
    let first = quote_spanned!(Span::mixed_site()=> let #guard = #open;);
    let mut tokens = function.head;
    body::with_first(&function.body, first).to_tokens(&mut tokens);
    Ok(tokens)
}

/// A function taken apart.
struct Function {
    /// All before the body.
    head: TokenStream,
    name: Ident,
    body: Group,
}

impl Function {
    fn split(item: &TokenStream) -> Result<Function> {
        let item = body::unwrapped(item.clone());
        let parse = |input: ParseStream<'_>| {
            let name = parse_until_name(input)?;
            input.parse::<TokenStream>()?;
            Ok(name)
        };
        let name = parse.parse2(item.clone())?;
        let mut head: Vec<TokenTree> = item.into_iter().collect();
        match head.pop().as_ref().and_then(body::braces) {
            Some(body) => Ok(Function { head: head.into_iter().collect(), name, body }),
            None => Err(Error::new(
                name.span(),
                format!("`{name}` has no body to measure: put `#[profile]` on its implementations"),
            )),
        }
    }
}

/// Reads attributes, visibility, and the words up to the function's name; refuses what cannot be a region.
fn parse_until_name(input: ParseStream<'_>) -> Result<Ident> {
    input.call(Attribute::parse_outer)?;
    input.parse::<Visibility>()?;
    let start = input.fork();
    let (mut constness, mut asyncness) = (None, None);
    while !input.peek(Token![fn]) {
        if input.peek(LitStr) {
            input.parse::<LitStr>()?; // The name of an ABI.
            continue;
        }
        if !input.peek(Ident::peek_any) {
            return Err(not_a_function(&start));
        }
        let word = input.call(Ident::parse_any)?;
        match word.to_string().as_str() {
            "const" => constness = Some(word),
            "async" => asyncness = Some(word),
            "unsafe" | "safe" | "extern" | "default" => {}
            _ => return Err(not_a_function(&start)),
        }
    }
    if let Some(word) = constness {
        return Err(Error::new(
            word.span(),
            "a `const fn` cannot be a region, since it may run at compile time: remove `const`, or put `#[profile]` \
             on the function that calls it",
        ));
    }
    if let Some(word) = asyncness {
        return Err(Error::new(
            word.span(),
            "a region cannot yet be held across `.await`: profile the synchronous parts with `profile_scope!` inside",
        ));
    }
    input.parse::<Token![fn]>()?;
    input.call(Ident::parse_any)
}

/// The error for any other item, at the word that says what it is.
fn not_a_function(item: ParseStream<'_>) -> Error {
    let at = item.span();
    while let Ok(word) = item.call(Ident::parse_any) {
        let advice = match word.to_string().as_str() {
            "impl" => "put it on each method inside this `impl`",
            "trait" => "put it on the trait's default methods and on its implementations",
            "mod" => "put it on each function inside this module",
            "struct" | "enum" | "union" | "static" | "type" | "use" | "const" | "macro_rules" => {
                "this item has no body that runs"
            }
            _ => continue,
        };
        return Error::new(word.span(), format!("`#[profile]` goes on functions: {advice}"));
    }
    Error::new(at, "`#[profile]` goes on functions")
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    /// Expands, and replaces the emitted statement by `GUARD;`: what is around it is under test here.
    fn check(item: TokenStream, expected: &TokenStream) {
        let text = expand(TokenStream::new(), item).to_string();
        let (before, rest) = text.split_once("let __guard = ").expect(&text);
        let (_, after) = rest.split_once("enter (& SITE) } ;").expect(&text);
        assert_eq!(format!("{before}GUARD ;{after}"), expected.to_string());
    }

    fn check_error(item: &TokenStream, expected: &str) {
        let text = expand(TokenStream::new(), item.clone()).to_string();
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
        );
        assert_eq!(actual.to_string(), expected.to_string());
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
            let text = expand(TokenStream::new(), item).to_string();
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
                pub async fn f() {}
            ),
            "cannot yet be held across `.await`",
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
                unsafe impl X for S {}
            ),
            quote!(
                pub(crate) mod m {
                    fn f() {}
                }
            ),
            quote!(
                trait T {
                    fn f();
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
