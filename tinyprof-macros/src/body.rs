//! Braces: a statement is put first into a body without parsing it.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::quote_spanned;

/// Returns the body in its own braces, with `first` before everything but inner attributes.
///
/// The original pair is reused. A second pair inside it would be reported to the user as
/// `unused_braces`, and the span of the braces carries the edition, which decides when the
/// temporaries of the last expression are dropped.
///
/// After the statement comes an item without name or code. Items at the start of the user's body
/// now follow a statement; clippy's lint `items_after_statements` looks no further than an item
/// made by a macro.
pub(crate) fn with_first(body: &Group, first: TokenStream) -> Group {
    if first.is_empty() {
        return body.clone();
    }
    around(body, |rest| {
        let item = quote_spanned!(Span::mixed_site()=> const _: () = (););
        first.into_iter().chain(item).chain(rest).collect()
    })
}

/// Returns the body's own braces and inner attributes, with `inside` applied to the other tokens.
pub(crate) fn around(body: &Group, inside: impl FnOnce(TokenStream) -> TokenStream) -> Group {
    let mut rest = body.stream().into_iter().peekable();
    let mut content = TokenStream::new();
    while let Some(attribute) = inner_attribute(&mut rest) {
        content.extend(attribute);
    }
    content.extend(inside(rest.collect()));
    braced(content, body.span())
}

/// Returns the content in braces with this span.
pub(crate) fn braced(content: TokenStream, span: Span) -> Group {
    let mut group = Group::new(Delimiter::Brace, content);
    group.set_span(span);
    group
}

/// Returns the braces that a token consists of, even if a `macro_rules!` variable (`$body:block`)
/// has put an invisible pair around them.
pub(crate) fn braces(token: &TokenTree) -> Option<Group> {
    let TokenTree::Group(group) = token else { return None };
    match group.delimiter() {
        Delimiter::Brace => Some(group.clone()),
        Delimiter::None => braces(&only(group.stream())?),
        _ => None,
    }
}

/// Removes invisible pairs around all of the tokens (`$item:item`, `$loop:expr`).
pub(crate) fn unwrapped(tokens: TokenStream) -> TokenStream {
    match only(tokens.clone()) {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::None => {
            unwrapped(group.stream())
        }
        _ => tokens,
    }
}

fn only(tokens: TokenStream) -> Option<TokenTree> {
    let mut tokens = tokens.into_iter();
    let token = tokens.next()?;
    tokens.next().is_none().then_some(token)
}

/// Takes `#![...]` off the front. Nothing else in a body begins with `#!`.
fn inner_attribute(
    tokens: &mut std::iter::Peekable<proc_macro2::token_stream::IntoIter>,
) -> Option<[TokenTree; 3]> {
    let is =
        |token: &TokenTree, c| matches!(token, TokenTree::Punct(punct) if punct.as_char() == c);
    if !is(tokens.peek()?, '#') || !is(&tokens.clone().nth(1)?, '!') {
        return None;
    }
    Some([tokens.next()?, tokens.next()?, tokens.next()?])
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    fn check(body: TokenStream, expected: &TokenStream) {
        let body = braces(&only(body).unwrap()).unwrap();
        assert_eq!(with_first(&body, quote!(first;)).to_string(), expected.to_string());
    }

    fn invisible(tokens: TokenStream) -> TokenStream {
        TokenTree::from(Group::new(Delimiter::None, tokens)).into()
    }

    #[test]
    fn the_statement_comes_first_but_after_inner_attributes() {
        check(
            quote!({}),
            &quote!({
                first;
                const _: () = ();
            }),
        );
        check(
            quote!({
                a;
                b
            }),
            &quote!({
                first;
                const _: () = ();
                a;
                b
            }),
        );
        check(
            quote!(
                {
                    #![allow(x)]
                    #![doc = "y"]
                    #[z]
                    a
                }
            ),
            &quote!(
                {
                    #![allow(x)]
                    #![doc = "y"]
                    first;
                    const _: () = ();
                    #[z]
                    a
                }
            ),
        );
    }

    #[test]
    fn invisible_pairs_are_taken_off() {
        check(
            invisible(invisible(quote!({ a }))),
            &quote!({
                first;
                const _: () = ();
                a
            }),
        );
        assert_eq!(unwrapped(invisible(invisible(quote!(a b)))).to_string(), "a b");
        assert_eq!(unwrapped(quote!((a b))).to_string(), quote!((a b)).to_string());
        assert!(braces(&only(quote!((a))).unwrap()).is_none());
        assert!(braces(&only(invisible(quote!({} {}))).unwrap()).is_none());
    }
}
