//! The ends of the items inside of a block.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use crate::body;

/// Splits the content of a block into its items, each with its attributes. Other tokens (a `;`, or
/// an inner attribute) are pieces of their own. The pieces in order are the whole content.
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
    let is_punct =
        |at: usize, c| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == c);
    if is_punct(0, '#') && is_punct(1, '!') {
        return tokens.len().min(3);
    }
    let mut start = 0;
    while is_punct(start, '#') {
        start += 2;
    }
    let ends_with_semicolon = has_value(tokens.get(start..).unwrap_or_default());
    // A `{ 1 }` between angle brackets is an argument of a type. In a function's head, angle
    // brackets come in pairs, except in arrows.
    let mut depth = 0_i32;
    for (at, token) in tokens.iter().enumerate().skip(start) {
        match token {
            TokenTree::Punct(punct) => match punct.as_char() {
                ';' => return at + 1,
                '<' => depth += 1,
                '>' if !is_punct(at.wrapping_sub(1), '-') && !is_punct(at.wrapping_sub(1), '=') => {
                    depth -= 1;
                }
                _ => {}
            },
            // An item that was passed as a `macro_rules!` variable.
            TokenTree::Group(group) if at == start && is_whole_item(group) => return at + 1,
            _ if !ends_with_semicolon && depth == 0 && body::braces(token).is_some() => {
                return at + 1;
            }
            _ => {}
        }
    }
    tokens.len()
}

/// Returns whether braces in the item, if any, are not a body: the item then ends with a semicolon.
fn has_value(tokens: &[TokenTree]) -> bool {
    let mut words = tokens.iter().filter_map(|token| match token {
        TokenTree::Ident(ident) => Some(ident.to_string()),
        _ => None,
    });
    while let Some(word) = words.next() {
        match word.as_str() {
            "pub" | "unsafe" | "safe" | "default" => {}
            "const" => {
                return !words.next().is_some_and(|word| {
                    matches!(word.as_str(), "fn" | "async" | "unsafe" | "extern")
                });
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
            body::braces(&last).is_some()
                || matches!(&last, TokenTree::Punct(p) if p.as_char() == ';')
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
}
