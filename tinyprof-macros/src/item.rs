//! What an item is, found out from the words before its name. The rest of it is not read.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser, Result};
use syn::{Attribute, Error, Generics, LitStr, Token, Type, Visibility};

use crate::body;

/// What the attribute goes on.
pub(crate) enum Item {
    Function(Function),
    Block(Block),
}

/// A function taken apart.
pub(crate) struct Function {
    /// All before the body.
    pub(crate) head: TokenStream,
    pub(crate) name: Ident,
    pub(crate) body: Group,
}

/// An `impl`, a trait, or an inline module, taken apart.
pub(crate) struct Block {
    /// All before the body.
    pub(crate) head: TokenStream,
    pub(crate) body: Group,
    /// What stands before `::` in the names of the functions inside: the type or the trait.
    pub(crate) prefix: Option<String>,
}

impl Item {
    /// Takes the item apart, or says why it cannot be measured.
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
            (Head::Function { name }, Some(body)) => Ok(Item::Function(Function { head, name, body })),
            (Head::Function { name }, None) => Err(Error::new(
                name.span(),
                format!("`{name}` has no body to measure: put `#[profile]` on its implementations"),
            )),
            (Head::Block { prefix, .. }, Some(body)) => Ok(Item::Block(Block { head, body, prefix })),
            (Head::Block { at, .. }, None) => {
                Err(Error::new(at, "there is nothing inside to measure: put `#[profile]` on functions"))
            }
        }
    }
}

enum Head {
    Function { name: Ident },
    Block { at: Span, prefix: Option<String> },
}

/// Reads attributes, visibility, and the words up to the item's name; refuses what cannot be measured.
fn parse_head(input: ParseStream<'_>) -> Result<Head> {
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
        let at = word.span();
        match word.to_string().as_str() {
            "const" => constness = Some(word),
            "async" => asyncness = Some(word),
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
    if let Some(word) = asyncness {
        return Err(Error::new(
            word.span(),
            "a region cannot yet be held across `.await`: profile the synchronous parts with `profile_scope!` inside",
        ));
    }
    input.parse::<Token![fn]>()?;
    Ok(Head::Function { name: input.call(Ident::parse_any)? })
}

/// Behind `impl`: the last name in the path of the type, if it has one.
fn parse_self_type(input: ParseStream<'_>) -> Result<Option<String>> {
    // `impl <T as Trait>::Type` is the other thing that may follow.
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
        Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.unraw().to_string()),
        Type::Reference(reference) => last_name(&reference.elem),
        Type::Group(group) => last_name(&group.elem),
        Type::Paren(paren) => last_name(&paren.elem),
        _ => None,
    }
}

/// The error for any other item, at the word that says what it is.
fn not_a_function(item: ParseStream<'_>) -> Error {
    const GOES_ON: &str =
        "`#[profile]` goes on functions, and on an `impl`, a trait or a module full of them";
    let at = item.span();
    while let Ok(word) = item.call(Ident::parse_any) {
        match word.to_string().as_str() {
            "struct" | "enum" | "union" | "static" | "type" | "use" | "const" | "macro_rules" => {
                return Error::new(word.span(), format!("{GOES_ON}: this item has no body that runs"));
            }
            _ => {}
        }
    }
    Error::new(at, GOES_ON)
}

/// Takes the content of a block apart into its items, each with its attributes. What is no item (a `;`, or an inner
/// attribute) is a piece of its own; put together again, the pieces are the content.
pub(crate) fn pieces(content: TokenStream) -> Vec<TokenStream> {
    let mut rest: &[TokenTree] = &content.into_iter().collect::<Vec<_>>();
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(first_piece(rest));
        pieces.push(piece.iter().cloned().collect());
        rest = behind;
    }
    pieces
}

fn first_piece(tokens: &[TokenTree]) -> usize {
    let is_punct = |at: usize, c| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == c);
    if is_punct(0, '#') && is_punct(1, '!') {
        return tokens.len().min(3);
    }
    let mut start = 0;
    while is_punct(start, '#') {
        start += 2;
    }
    let ends_with_semicolon = has_value(tokens.get(start..).unwrap_or_default());
    // A `{ 1 }` between angle brackets is an argument of a type. In a function's head they come in pairs, but for
    // those of arrows.
    let mut depth = 0_i32;
    for (at, token) in tokens.iter().enumerate().skip(start) {
        match token {
            TokenTree::Punct(punct) => match punct.as_char() {
                ';' => return at + 1,
                '<' => depth += 1,
                '>' if !is_punct(at.wrapping_sub(1), '-') && !is_punct(at.wrapping_sub(1), '=') => depth -= 1,
                _ => {}
            },
            // An item that a `macro_rules!` variable stands for.
            TokenTree::Group(group) if at == start && is_whole_item(group) => return at + 1,
            _ if !ends_with_semicolon && depth == 0 && body::braces(token).is_some() => return at + 1,
            _ => {}
        }
    }
    tokens.len()
}

/// Whether the item's braces, if it has any, are no body: it ends with a semicolon.
fn has_value(tokens: &[TokenTree]) -> bool {
    let mut words = tokens.iter().filter_map(|token| match token {
        TokenTree::Ident(ident) => Some(ident.to_string()),
        _ => None,
    });
    while let Some(word) = words.next() {
        match word.as_str() {
            "pub" | "unsafe" | "safe" | "default" => {}
            "const" => {
                return !words
                    .next()
                    .is_some_and(|word| matches!(word.as_str(), "fn" | "async" | "unsafe" | "extern"));
            }
            "static" | "type" | "use" => return true,
            _ => return false,
        }
    }
    false
}

fn is_whole_item(group: &Group) -> bool {
    let last = group.stream().into_iter().last();
    group.delimiter() == Delimiter::None
        && last.is_some_and(|last| {
            body::braces(&last).is_some() || matches!(&last, TokenTree::Punct(p) if p.as_char() == ';')
        })
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    fn check_pieces(content: TokenStream, expected: &[TokenStream]) {
        let pieces: Vec<String> = pieces(content).iter().map(ToString::to_string).collect();
        let expected: Vec<String> = expected.iter().map(ToString::to_string).collect();
        assert_eq!(pieces, expected);
    }

    #[test]
    fn a_block_falls_into_its_items() {
        let items = [
            quote!(#![inner]),
            quote!(
                use a::{b, c};
            ),
            quote!(
                #[x]
                pub(crate) fn f<T: X<{ 1 }>>(x: Y<Z<{ 2 }>>) -> [u8; { 3 }]
                where
                    T: Fn() -> Z<{ 4 }>,
                {
                    a < b;
                }
            ),
            quote!(
                pub const A: bool = { 1 } < 2;
            ),
            quote!(
                const fn g() {}
            ),
            quote!(
                const unsafe extern "C" fn h() {}
            ),
            quote!(
                type B = C<{ 1 }>;
            ),
            quote!(
                struct D;
            ),
            quote!(
                struct E {
                    x: u8,
                }
            ),
            quote!(m! {}),
            quote!(;),
            quote!(m!();),
            quote!(
                fn without_body(&self) -> u8;
            ),
            quote!(
                impl<T> X for Y<T> {}
            ),
            quote!(
                static mut S: u8 = { 1 };
            ),
            quote!(
                fn last() -> impl Fn(u8) -> u8 {}
            ),
        ];
        check_pieces(items.iter().cloned().collect(), &items);
    }

    #[test]
    fn variables_of_a_macro_are_seen_through() {
        let invisible =
            |tokens| -> TokenStream { TokenTree::from(Group::new(Delimiter::None, tokens)).into() };
        let (visibility, body) = (invisible(quote!(pub(crate))), invisible(quote!({ 1 })));
        let item = invisible(quote!(
            pub fn f() {}
        ));
        let items = [
            quote!(#visibility fn f() -> u8 #body),
            quote!(#[x] #item),
            quote!(#visibility const X: u8 = #body;),
        ];
        check_pieces(items.iter().cloned().collect(), &items);
    }

    #[test]
    fn what_is_cut_off_is_one_piece() {
        for content in [quote!(fn f()), quote!(#), quote!(#[x]), quote!(pub), quote!(const)] {
            check_pieces(content.clone(), &[content]);
        }
        check_pieces(quote!(), &[]);
    }

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
}
