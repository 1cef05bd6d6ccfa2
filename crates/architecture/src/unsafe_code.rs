//! Where unsafe code is.

use proc_macro2::{TokenStream, TokenTree};

use crate::source::Source;

/// Finds the first use of `unsafe` in each Rust file outside of `rooms`, prefixes of paths.
#[must_use]
pub fn outside_of(rooms: &[&str], sources: &[Source]) -> Vec<String> {
    let outside =
        sources.iter().filter(|source| !rooms.iter().any(|room| source.path.starts_with(room)));
    outside
        .filter_map(|source| {
            let tokens: TokenStream = source.text.parse().ok()?;
            let line = first(tokens)?;
            Some(format!(
                "{}:{line}: unsafe code; ARCHITECTURE.md says where it may be",
                source.path
            ))
        })
        .collect()
}

/// Returns the line of the first `unsafe` that is in no attribute, such as `#[unsafe(no_mangle)]`.
fn first(tokens: TokenStream) -> Option<usize> {
    let mut is_attribute = false;
    for token in tokens {
        match token {
            TokenTree::Ident(word) if word == "unsafe" => return Some(word.span().start().line),
            TokenTree::Group(group) if !is_attribute => {
                if let Some(line) = first(group.stream()) {
                    return Some(line);
                }
            }
            TokenTree::Punct(mark) if mark.as_char() == '#' => {
                is_attribute = true;
                continue;
            }
            // As in `#![..]`.
            TokenTree::Punct(mark) if mark.as_char() == '!' && is_attribute => continue,
            _ => {}
        }
        is_attribute = false;
    }
    None
}
