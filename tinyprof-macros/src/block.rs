//! `#[profile]` on an `impl`, a trait or an inline module: every function inside is a region.
//!
//! Functions that cannot be regions (a `const fn`, a function without body) are left as they are. A
//! function or block inside that has its own attribute keeps it and inherits the arguments of the
//! block around it. Only lists of functions are not inherited: `only(...)` and `skip(...)` apply to
//! functions without an attribute of their own.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{LitStr, Path};

use crate::arguments::Arguments;
use crate::function::with_region;
use crate::item::{Block, Item};
use crate::key::Key;
use crate::pieces::pieces;
use crate::selection::Candidate;
use crate::{Emit, body};

/// Returns the block with the functions measured that its arguments select, or an error if they
/// name a function that does not exist.
pub(crate) fn expand(block: Block, arguments: &Arguments, emit: Emit) -> syn::Result<TokenStream> {
    if let Some(selection) = &arguments.selection {
        selection.check(&candidates(&block))?;
    }
    Ok(with_regions(block, arguments, emit))
}

/// Returns the functions inside that a list can name: all but those in blocks that have their own
/// attribute.
fn candidates(block: &Block) -> Vec<Candidate> {
    let mut all = Vec::new();
    for item in pieces(block.body.stream()) {
        let own = own_attribute(&item);
        let (name, obstacle) = match Item::split(&item) {
            Ok(Item::Block(inner)) if own.is_none() => {
                all.extend(candidates(&inner));
                continue;
            }
            Ok(Item::Block(_)) => continue,
            Ok(Item::Function(function)) => (Some(function.name), None),
            Err(error) => (name_of_function(&item), Some(error.to_string())),
        };
        let Some(name) = name else { continue };
        all.push(Candidate {
            prefix: block.prefix.clone(),
            name: name.unraw().to_string(),
            has_own_attribute: own.is_some_and(|own| !own.is_skip()),
            obstacle,
        });
    }
    all
}

/// Returns the name of a function that cannot be a region, or `None` if the item is not a function.
fn name_of_function(item: &TokenStream) -> Option<Ident> {
    let mut tokens = body::unwrapped(item.clone()).into_iter();
    tokens.find(|token| matches!(token, TokenTree::Ident(word) if word == "fn"))?;
    match tokens.next()? {
        TokenTree::Ident(name) => Some(name),
        _ => None,
    }
}

/// Returns the block with its functions measured, or unchanged.
fn with_regions(block: Block, arguments: &Arguments, emit: Emit) -> TokenStream {
    let inside = pieces(block.body.stream());
    let inside = inside
        .into_iter()
        .map(|item| with_region_inside(item, block.prefix.as_deref(), arguments, emit))
        .collect();
    let body = body::braced(inside, block.body.span());
    let mut tokens = block.head;
    body.to_tokens(&mut tokens);
    tokens
}

/// Returns an item of a block, measured if the arguments select it.
fn with_region_inside(
    item: TokenStream,
    prefix: Option<&str>,
    of_the_block: &Arguments,
    emit: Emit,
) -> TokenStream {
    let Ok(what) = Item::split(&item) else { return item };
    let mut arguments = Arguments::default();
    let own = own_attribute(&item);
    if let Some(own) = &own {
        let parse = |input: ParseStream<'_>| arguments.parse_all(input, Key::OF_THE_ATTRIBUTE);
        // A mistake is reported when that attribute is expanded.
        if parse.parse2(own.arguments.clone()).is_err() || arguments.skip {
            return item;
        }
    }
    if own.is_none() {
        arguments.selection.clone_from(&of_the_block.selection);
    }
    if let (Item::Function(function), Some(selection)) = (&what, &arguments.selection)
        && own.is_none()
        && !selection.takes(prefix, &function.name.unraw().to_string())
    {
        return item;
    }
    arguments.inherit(of_the_block);
    if let (Item::Function(function), None, Some(prefix)) = (&what, &arguments.name, prefix) {
        let name = format!("{prefix}::{}", function.name.unraw());
        arguments.name = Some(LitStr::new(&name, function.name.span()));
    }
    match (what, own) {
        (_, Some(own)) => own.with_arguments(&item, &arguments),
        (Item::Function(function), None) => with_region(function, arguments, emit),
        (Item::Block(block), None) => with_regions(block, &arguments, emit),
    }
}

/// The attribute `#[profile(...)]` of an item inside of a block.
struct OwnAttribute {
    /// The index of the attribute's brackets among the item's tokens.
    position: usize,
    path: Path,
    arguments: TokenStream,
}

fn own_attribute(item: &TokenStream) -> Option<OwnAttribute> {
    let tokens: Vec<TokenTree> = item.clone().into_iter().collect();
    let attributes = tokens.chunks_exact(2).map_while(|pair| match pair {
        [TokenTree::Punct(hash), TokenTree::Group(brackets)] if hash.as_char() == '#' => {
            Some(brackets)
        }
        _ => None,
    });
    attributes.enumerate().find_map(|(index, brackets)| {
        let (path, arguments) = parse_attribute.parse2(brackets.stream()).ok()?;
        is_ours(&path).then_some(OwnAttribute { position: 2 * index + 1, path, arguments })
    })
}

/// Reads `path` or `path(arguments)`.
fn parse_attribute(input: ParseStream<'_>) -> syn::Result<(Path, TokenStream)> {
    let path = input.call(Path::parse_mod_style)?;
    if input.is_empty() {
        return Ok((path, TokenStream::new()));
    }
    let arguments;
    syn::parenthesized!(arguments in input);
    Ok((path, arguments.parse()?))
}

/// Returns whether the path names our attribute. Names are not resolved yet when a macro runs, so
/// it is recognised by its last segment, alone or in a crate of ours.
fn is_ours(path: &Path) -> bool {
    let mut names = path.segments.iter().rev().map(|segment| segment.ident.to_string());
    names.next().is_some_and(|last| last == "profile")
        && names.next().is_none_or(|krate| krate == "tinyprof")
}

impl OwnAttribute {
    /// Returns whether it is `#[profile(skip)]`.
    fn is_skip(&self) -> bool {
        self.arguments.to_string() == "skip"
    }

    /// Returns the item with other arguments in this attribute.
    fn with_arguments(self, item: &TokenStream, arguments: &Arguments) -> TokenStream {
        let put = |(position, token): (usize, TokenTree)| match token {
            TokenTree::Group(old) if position == self.position => {
                let mut inside = self.path.to_token_stream();
                TokenTree::from(Group::new(Delimiter::Parenthesis, arguments.to_tokens()))
                    .to_tokens(&mut inside);
                let mut brackets = Group::new(Delimiter::Bracket, inside);
                brackets.set_span(old.span());
                brackets.into()
            }
            other => other,
        };
        item.clone().into_iter().enumerate().map(put).collect()
    }
}

#[cfg(test)]
mod tests;
