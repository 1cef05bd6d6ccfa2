//! `profile_loop!`: a loop is a region, and each of its iterations a visit.
//!
//! The loop's head is parsed only to find the beginning of its body; it is emitted unchanged.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::quote_spanned;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser, Result};
use syn::{Attribute, Error, Expr, Label, Lifetime, LitStr, Pat, Token};

use crate::arguments::{Arguments, parse_name};
use crate::key::Key;
use crate::site::{Region, RegionKind};
use crate::{Emit, body, error};

/// Returns a block with the loop's value. The guard takes a timestamp at the start of each
/// iteration and a last one when it is dropped at the end of the block: n + 1 for n iterations.
pub(crate) fn expand(input: TokenStream, emit: Emit) -> TokenStream {
    match (parse.parse2(input), emit) {
        (Ok((region, Loop { head, body })), Emit::Measured) => {
            let guard = Ident::new("__loop", Span::mixed_site());
            let (open, private) = (region.open(), region.arguments.private());
            let varying = region.arguments.varying();
            let values = varying.values();
            let records = varying.records(
                &quote_spanned!(Span::mixed_site()=> LoopGuard::record),
                &quote_spanned!(Span::mixed_site()=> &#guard,),
            );
            let flush_point = if region.arguments.flush_point {
                "next_iteration_at_flush_point"
            } else {
                "next_iteration"
            };
            let flush_point = Ident::new(flush_point, Span::mixed_site());
            // Called by the path of its type: as a method, a user's blanket trait with a
            // `flush_point(self)` would take precedence.
            let first = quote_spanned! {Span::mixed_site()=>
                #private::LoopGuard::#flush_point(&mut #guard);
                #values
                #records
            };
            let body = body::with_first(&body, first);
            quote_spanned! {Span::mixed_site()=>
                {
                    let mut #guard = #open;
                    #head #body
                }
            }
        }
        // In braces like the measured loop: attributes on a loop are allowed at the end of a block,
        // but not in every expression.
        (Ok((region, Loop { head, body })), Emit::Plain) => {
            let (path, checked) = region.arguments.unmeasured();
            let body = body::with_first(&body, checked);
            quote_spanned!(Span::mixed_site()=> { #path #head #body })
        }
        (Err(error), _) => error::beside(&error, TokenStream::new()),
    }
}

/// Reads `"name"`, then `key = value` any number of times, then the loop, each after a comma.
fn parse(input: ParseStream<'_>) -> Result<(Region, Loop)> {
    if !input.peek(LitStr) {
        return Err(input.error("a region needs a name first: `profile_loop!(\"name\", for ...)`"));
    }
    let name = parse_name(input)?;
    let mut arguments = Arguments::default();
    loop {
        if input.is_empty() {
            return Err(Error::new(Span::call_site(), NO_LOOP));
        }
        input.parse::<Token![,]>()?;
        if input.is_empty() || begins_loop(input) {
            break;
        }
        if !input.peek(Ident::peek_any) {
            return Err(input.error(NO_LOOP));
        }
        arguments.parse_one(input, Key::OF_A_LOOP)?;
    }
    let region = Region { kind: RegionKind::Loop, name: name.value(), at: name.span(), arguments };
    Ok((region, Loop::split(input.parse()?)?))
}

const NO_LOOP: &str = "after the name and the arguments comes the loop: `for`, `while` or `loop`";

fn begins_loop(input: ParseStream<'_>) -> bool {
    input.peek(Token![#])
        || input.peek(Lifetime)
        || input.peek(Token![for])
        || input.peek(Token![while])
        || input.peek(Token![loop])
}

/// A loop split into its parts.
struct Loop {
    /// Everything before the body: attributes, label, keyword, pattern and expression.
    head: TokenStream,
    body: Group,
}

impl Loop {
    fn split(tokens: TokenStream) -> Result<Loop> {
        let tokens = body::unwrapped(tokens);
        let (length, body) = (|input: ParseStream<'_>| {
            parse_head(input)?;
            let length_behind = input.cursor().token_stream().into_iter().count();
            Ok((length_behind, parse_body(input)?))
        })
        .parse2(tokens.clone())?;
        let before = tokens.clone().into_iter().count() - length;
        Ok(Loop { head: tokens.into_iter().take(before).collect(), body })
    }
}

/// Reads up to the beginning of the body.
fn parse_head(input: ParseStream<'_>) -> Result<()> {
    input.call(Attribute::parse_outer)?;
    input.parse::<Option<Label>>()?;
    if input.parse::<Option<Token![for]>>()?.is_some() {
        Pat::parse_multi_with_leading_vert(input)?;
        input.parse::<Token![in]>()?;
        Expr::parse_without_eager_brace(input)?;
    } else if input.parse::<Option<Token![while]>>()?.is_some() {
        Expr::parse_without_eager_brace(input)?;
    } else if input.parse::<Option<Token![loop]>>()?.is_none() {
        return Err(input.error(NO_LOOP));
    }
    Ok(())
}

/// Reads the body, and makes sure that only a comma (which formatting may add) follows it.
fn parse_body(input: ParseStream<'_>) -> Result<Group> {
    if input.is_empty() {
        return Err(input.error("the loop needs a body in braces"));
    }
    let at = input.span();
    let body = body::braces(&input.parse::<TokenTree>()?)
        .ok_or_else(|| Error::new(at, "here the loop's body in braces was expected"))?;
    input.parse::<Option<Token![,]>>()?;
    if input.is_empty() {
        Ok(body)
    } else {
        Err(input.error("one macro takes one loop: nothing may be behind it"))
    }
}

#[cfg(test)]
mod tests;
