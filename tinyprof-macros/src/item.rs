//! The kind of an item, determined from the words before its name; the tokens after the name are
//! not read.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser, Result};
use syn::{Attribute, Error, Generics, LitStr, ReturnType, Token, Type, Visibility};

use crate::body;

/// The item that has the attribute.
pub(crate) enum Item {
    Function(Function),
    Block(Block),
}

/// A function split into its parts.
pub(crate) struct Function {
    /// Everything before the body.
    pub(crate) head: TokenStream,
    pub(crate) name: Ident,
    pub(crate) body: Group,
    /// The future, for an `async fn`.
    pub(crate) future: Option<Future>,
}

/// The future that an `async fn` returns, as far as it is known.
pub(crate) struct Future {
    /// The type of its output, if it can be written inside of the function: `impl Trait` and `!`
    /// cannot.
    pub(crate) output: Option<TokenStream>,
}

/// An `impl`, a trait, or an inline module, split into its parts.
pub(crate) struct Block {
    /// Everything before the body.
    pub(crate) head: TokenStream,
    pub(crate) body: Group,
    /// The part before `::` in the names of the functions inside: the type or the trait.
    pub(crate) prefix: Option<String>,
}

impl Item {
    /// Splits the item into its parts, or returns the reason why it cannot be measured.
    pub(crate) fn split(item: &TokenStream) -> Result<Item> {
        let item = body::unwrapped(item.clone());
        let parse = |input: ParseStream<'_>| {
            let head = parse_head(input)?;
            input.parse::<TokenStream>()?;
            Ok(head)
        };
        let what = parse.parse2(item.clone())?;
        let mut head: Vec<TokenTree> = item.into_iter().collect();
        let body = head.pop().as_ref().and_then(body::braces);
        let head: TokenStream = head.into_iter().collect();
        match (what, body) {
            (Head::Function { name, future }, Some(body)) => {
                Ok(Item::Function(Function { head, name, body, future }))
            }
            (Head::Function { name, .. }, None) => Err(Error::new(
                name.span(),
                format!("`{name}` has no body to measure: put `#[profile]` on its implementations"),
            )),
            (Head::Block { prefix, .. }, Some(body)) => {
                Ok(Item::Block(Block { head, body, prefix }))
            }
            (Head::Block { at, .. }, None) => Err(Error::new(
                at,
                "there is nothing inside to measure: put `#[profile]` on functions",
            )),
        }
    }
}

enum Head {
    Function { name: Ident, future: Option<Future> },
    Block { at: Span, prefix: Option<String> },
}

/// Reads attributes, visibility, and the words up to the item's name; rejects items that cannot be
/// measured.
fn parse_head(input: ParseStream<'_>) -> Result<Head> {
    input.call(Attribute::parse_outer)?;
    input.parse::<Visibility>()?;
    let start = input.fork();
    let (mut constness, mut is_async) = (None, false);
    while !input.peek(Token![fn]) {
        if input.peek(LitStr) {
            input.parse::<LitStr>()?; // The name of an ABI.
            continue;
        }
        if !input.peek(Ident::peek_any) {
            return Err(not_a_function(&start));
        }
        let word = input.call(Ident::parse_any)?;
        let at = word.span();
        match word.to_string().as_str() {
            "const" => constness = Some(word),
            "async" => is_async = true,
            "unsafe" | "safe" | "extern" | "default" => {}
            "impl" => return Ok(Head::Block { at, prefix: parse_self_type(input)? }),
            "trait" => {
                let name = input.call(Ident::parse_any)?;
                return Ok(Head::Block { at, prefix: Some(name.unraw().to_string()) });
            }
            "mod" => return Ok(Head::Block { at, prefix: None }),
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
    input.parse::<Token![fn]>()?;
    let name = input.call(Ident::parse_any)?;
    let future = if is_async { Some(Future { output: parse_output(input)? }) } else { None };
    Ok(Head::Function { name, future })
}

/// Reads the output type after the name of an `async fn`, if it can be written inside of the
/// function.
fn parse_output(input: ParseStream<'_>) -> Result<Option<TokenStream>> {
    input.parse::<Generics>()?;
    let arguments;
    syn::parenthesized!(arguments in input);
    arguments.parse::<TokenStream>()?;
    Ok(match input.parse()? {
        ReturnType::Default => Some(quote_spanned!(Span::mixed_site()=> ())),
        ReturnType::Type(_, output) => match *output {
            Type::Never(_) => None,
            output => Some(output.into_token_stream()).filter(|tokens| !has_impl(tokens)),
        },
    })
}

fn has_impl(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Ident(word) => word == "impl",
        TokenTree::Group(group) => has_impl(&group.stream()),
        _ => false,
    })
}

/// Reads the last name in the path of the type after `impl`, if it has one.
fn parse_self_type(input: ParseStream<'_>) -> Result<Option<String>> {
    // The other form that may follow is `impl <T as Trait>::Type`.
    let is_path = input.peek(Token![<]) && {
        let ahead = input.fork();
        ahead.parse::<Generics>().is_err()
    };
    if input.peek(Token![<]) && !is_path {
        input.parse::<Generics>()?;
    }
    input.parse::<Option<Token![const]>>()?;
    input.parse::<Option<Token![!]>>()?;
    let mut of: Type = input.parse()?;
    if input.parse::<Option<Token![for]>>()?.is_some() {
        of = input.parse()?;
    }
    Ok(last_name(&of))
}

fn last_name(of: &Type) -> Option<String> {
    match of {
        Type::Path(path) => {
            path.path.segments.last().map(|segment| segment.ident.unraw().to_string())
        }
        Type::Reference(reference) => last_name(&reference.elem),
        Type::Group(group) => last_name(&group.elem),
        Type::Paren(paren) => last_name(&paren.elem),
        _ => None,
    }
}

/// Returns the error for any other item, at the word that names its kind.
fn not_a_function(item: ParseStream<'_>) -> Error {
    const GOES_ON: &str =
        "`#[profile]` goes on functions, and on an `impl`, a trait or a module full of them";
    let at = item.span();
    while let Ok(word) = item.call(Ident::parse_any) {
        match word.to_string().as_str() {
            "struct" | "enum" | "union" | "static" | "type" | "use" | "const" | "macro_rules" => {
                return Error::new(
                    word.span(),
                    format!("{GOES_ON}: this item has no body that runs"),
                );
            }
            _ => {}
        }
    }
    Error::new(at, GOES_ON)
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    #[test]
    fn the_name_before_the_functions_is_that_of_the_type() {
        let check = |item: &TokenStream, expected: Option<&str>| match Item::split(item) {
            Ok(Item::Block(block)) => assert_eq!(block.prefix.as_deref(), expected, "{item}"),
            _ => panic!("{item}"),
        };
        check(&quote!(impl Field {}), Some("Field"));
        check(
            &quote!(
                unsafe impl<'a, T: X<{ 1 }>, const N: usize> a::X<T> for b::Field<'a, T> where T: Y {}
            ),
            Some("Field"),
        );
        check(&quote!(impl X for &mut [u8] {}), None);
        check(&quote!(impl X for &mut r#type {}), Some("type"));
        check(
            &quote!(
                impl<T> X for T {}
            ),
            Some("T"),
        );
        check(&quote!(impl X for <Y as Z>::Field {}), Some("Field"));
        check(
            &quote!(
                impl <Y as Z>::Field {}
            ),
            Some("Field"),
        );
        check(&quote!(impl X for (u8, u8) {}), None);
        check(&quote!(impl dyn X {}), None);
        check(
            &quote!(
                pub unsafe trait Norm: X
                where
                    Self: Sized,
                {
                }
            ),
            Some("Norm"),
        );
        check(
            &quote!(
                pub(crate) mod inner {}
            ),
            None,
        );
    }

    #[test]
    fn the_output_of_an_async_fn_is_known_if_it_can_be_written_inside() {
        let check = |head: &str, expected: Option<&str>| {
            let item: TokenStream = format!("{head} {{}}").parse().unwrap();
            match Item::split(&item) {
                Ok(Item::Function(function)) => {
                    let output =
                        function.future.expect(head).output.map(|output| output.to_string());
                    let without_spaces = |text: &str| text.replace(' ', "");
                    assert_eq!(
                        output.as_deref().map(without_spaces),
                        expected.map(without_spaces),
                        "{head}"
                    );
                }
                _ => panic!("{head}"),
            }
        };
        check("async fn f()", Some("()"));
        check("async fn f<F: Fn(u8) -> u8>(f: F) where F: Send", Some("()"));
        check(
            "pub async unsafe fn f<'a>(&'a self) -> Result<&'a Self, [u8; { 3 }]>",
            Some("Result<&'a Self, [u8; { 3 }]>"),
        );
        check(
            "async fn f<T>(t: T) -> (T, fn() -> u8) where T: Fn() -> u8",
            Some("(T, fn() -> u8)"),
        );
        check("async fn f() -> !", None);
        check("async fn f() -> impl X + 'static", None);
        check("async fn f() -> Result<Option<(u8, impl X)>, Y>", None);
        assert!(matches!(
            Item::split(&quote::quote!(
                fn f() {}
            )),
            Ok(Item::Function(Function { future: None, .. }))
        ));
    }
}
