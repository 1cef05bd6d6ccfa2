//! Public items, and who names them.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::source::Source;

/// Finds public items of `defined` that no other code of `used` names. Code for tests does not
/// count: it is to be left out of both, and left out here is what is under `#[cfg(test)]`.
#[must_use]
pub fn unused(defined: &[&Source], used: &[&Source]) -> Vec<String> {
    let mut words = BTreeMap::<String, usize>::new();
    for source in used {
        if let Ok(tokens) = source.text.parse() {
            each_word(tokens, &mut |word| *words.entry(word).or_default() += 1);
        }
    }
    let mut complaints = Vec::new();
    for source in defined {
        let Ok(tokens) = source.text.parse() else { continue };
        for (name, line) in public_items(tokens) {
            if words.get(&name).is_none_or(|count| *count < 2) {
                let path = &source.path;
                complaints.push(format!("{path}:{line}: only tests name the public item {name}"));
            }
        }
    }
    complaints
}

/// Returns the tokens without items that are there for tests.
fn without_tests(tokens: TokenStream) -> Vec<TokenTree> {
    let mut kept = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_mark = matches!(&token, TokenTree::Punct(mark) if mark.as_char() == '#');
        let is_test = |next: &TokenTree| next.to_string().replace(' ', "") == "[cfg(test)]";
        if is_mark && tokens.peek().is_some_and(is_test) {
            // Up to the end of the item.
            for skipped in tokens.by_ref() {
                match &skipped {
                    TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => break,
                    TokenTree::Punct(mark) if mark.as_char() == ';' => break,
                    _ => {}
                }
            }
        } else {
            kept.push(token);
        }
    }
    kept
}

fn each_word(tokens: TokenStream, work: &mut impl FnMut(String)) {
    for token in without_tests(tokens) {
        match token {
            TokenTree::Ident(word) => work(word.to_string()),
            TokenTree::Group(group) => each_word(group.stream(), work),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// Returns the names and lines of public items and methods.
fn public_items(tokens: TokenStream) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    let (mut is_public, mut is_named) = (false, false);
    for token in without_tests(tokens) {
        match token {
            TokenTree::Ident(word) => match word.to_string().as_str() {
                "pub" => (is_public, is_named) = (true, false),
                "fn" | "struct" | "enum" | "trait" | "static" | "type" if is_public => {
                    is_named = true;
                }
                "const" | "unsafe" | "async" | "extern" | "mut" if is_public => {
                    is_named |= word == "const";
                }
                name => {
                    if is_public && is_named {
                        found.push((name.to_owned(), word.span().start().line));
                    }
                    (is_public, is_named) = (false, false);
                }
            },
            TokenTree::Group(group) => {
                // `pub(crate)`, or the inside of an item.
                (is_public, is_named) = (false, false);
                found.extend(public_items(group.stream()));
            }
            TokenTree::Punct(_) => (is_public, is_named) = (false, false),
            TokenTree::Literal(_) => {}
        }
    }
    found
}
