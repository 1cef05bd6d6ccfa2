//! The arguments of a region:
//! `name = "solve", mode = each, tag = "COMP", mem = bytes(), crate = path`, in any order.
//!
//! One parser serves the attribute and both macros. They differ in the keys they know and in the
//! place of the name.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Result};
use syn::token::Paren;
use syn::{Error, LitStr, Path, Token};

use crate::key::Key;
use crate::metric::{Metric, Value, Varying};
use crate::near;
use crate::selection::Selection;
use crate::split;

/// The amount of detail kept about a region's visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Total,
    Each,
}

/// The arguments of a region; `None` means the default.
#[derive(Clone, Default)]
pub(crate) struct Arguments {
    pub(crate) name: Option<LitStr>,
    pub(crate) mode: Option<Mode>,
    pub(crate) rank_local: bool,
    /// Exclude the item that has the attribute.
    pub(crate) skip: bool,
    /// The functions of a block to measure, if not all.
    pub(crate) selection: Option<Selection>,
    /// The text that distinguishes visits, an expression.
    pub(crate) split: Option<TokenStream>,
    /// The loop has a flush point between two iterations, at which an interim profile may be
    /// written.
    pub(crate) flush_point: bool,
    /// All other arguments, in order.
    metrics: Vec<Metric>,
    krate: Option<Path>,
    seen: Vec<Ident>,
}

impl Arguments {
    /// Reads arguments with a comma between them (and optionally after the last) up to the end of
    /// the input.
    pub(crate) fn parse_all(&mut self, input: ParseStream<'_>, known: &[Key]) -> Result<()> {
        while !input.is_empty() {
            self.parse_one(input, known)?;
            if input.is_empty() {
                break;
            }
            input.parse::<Token![,]>()?;
        }
        Ok(())
    }

    /// Reads one `key = value`.
    pub(crate) fn parse_one(&mut self, input: ParseStream<'_>, known: &[Key]) -> Result<()> {
        if input.peek(LitStr) && known.contains(&Key::Name) {
            let name: LitStr = input.parse()?;
            return Err(Error::new(
                name.span(),
                format!("write `name = {}`", name.to_token_stream()),
            ));
        }
        let ident = input.call(Ident::parse_any)?.unraw();
        let key = Key::of(&ident);
        if key == Some(Key::FlushPoint) && !known.contains(&Key::FlushPoint) {
            let message = "`flush_point` is for loops, as in `profile_loop!(\"step\", flush_point, for ...)`; the end of \
                           a root region is a flush point without it";
            return Err(Error::new(ident.span(), message));
        }
        let is_metric = key.is_none() && input.peek(Token![=]);
        if !is_metric && !key.is_some_and(|key| known.contains(&key)) {
            return Err(near::unknown(&ident, known));
        }
        if self.seen.contains(&ident) {
            return Err(Error::new(ident.span(), format!("`{ident}` is given twice")));
        }
        self.seen.push(ident.clone());
        match key {
            None => {
                let metric = Metric::parse_value(ident, input)?;
                near::check_key(&metric, known)?;
                self.metrics.push(metric);
                Ok(())
            }
            Some(Key::Only) => self.set_selection(&ident, input),
            Some(Key::Skip) if input.peek(Paren) => self.set_selection(&ident, input),
            Some(Key::RankLocal) => self.set_flag(Key::RankLocal, input),
            Some(Key::Skip) => self.set_flag(Key::Skip, input),
            Some(Key::FlushPoint) => self.set_flag(Key::FlushPoint, input),
            Some(key) => self.parse_value(key, &ident, input),
        }
    }

    fn set_flag(&mut self, key: Key, input: ParseStream<'_>) -> Result<()> {
        if input.peek(Token![=]) {
            return Err(input.error(format_args!("{} takes no value", key.usage())));
        }
        match key {
            Key::Skip => self.skip = true,
            Key::FlushPoint => self.flush_point = true,
            _ => self.rank_local = true,
        }
        Ok(())
    }

    fn set_selection(&mut self, ident: &Ident, input: ParseStream<'_>) -> Result<()> {
        if !input.peek(Paren) {
            let message =
                format!("`{ident}` needs the names of functions: `{ident}(advance, deposit)`");
            return Err(Error::new(ident.span(), message));
        }
        let selection = Selection::parse(ident.clone(), input)?;
        if let Some(other) = self.selection.replace(selection) {
            let message = format!(
                "`only(...)` and `skip(...)` exclude each other: `{}` stands before",
                other.word()
            );
            return Err(Error::new(ident.span(), message));
        }
        Ok(())
    }

    fn parse_value(&mut self, key: Key, ident: &Ident, input: ParseStream<'_>) -> Result<()> {
        if input.parse::<Option<Token![=]>>()?.is_none() || input.is_empty() {
            return Err(Error::new(
                ident.span(),
                format!("`{ident}` needs a value: {}", key.usage()),
            ));
        }
        match key {
            Key::Name => self.name = Some(parse_name(input)?),
            Key::Mode => self.mode = Some(parse_mode(input)?),
            Key::Split => self.split = Some(split::parse(input)?),
            _ => self.krate = Some(input.call(Path::parse_mod_style)?),
        }
        Ok(())
    }

    /// Returns an error if `skip` is not the only argument.
    pub(crate) fn check_skip(&self) -> Result<()> {
        match self.seen.iter().find(|ident| *ident != "skip") {
            Some(other) if self.skip => Err(Error::new(
                other.span(),
                "`skip` leaves the item out: nothing else can be said of it",
            )),
            _ => Ok(()),
        }
    }

    /// Takes over the arguments of `block`, on the block around, that this one lacks.
    pub(crate) fn inherit(&mut self, block: &Arguments) {
        self.mode = self.mode.or(block.mode);
        self.rank_local |= block.rank_local;
        if self.split.is_none() {
            self.split.clone_from(&block.split);
        }
        if self.krate.is_none() {
            self.krate.clone_from(&block.krate);
        }
        for metric in &block.metrics {
            if self.metrics.iter().all(|own| own.key != metric.key) {
                self.metrics.push(metric.clone());
            }
        }
    }

    /// Returns the consistent metrics: key and text.
    pub(crate) fn constants(&self) -> impl Iterator<Item = (&Ident, &LitStr)> {
        self.metrics.iter().filter_map(|metric| match &metric.value {
            Value::Constant(text) => Some((&metric.key, text)),
            Value::Varying(_) => None,
        })
    }

    /// Returns the varying metrics.
    pub(crate) fn varying(&self) -> Varying<'_> {
        let metrics =
            self.metrics.iter().filter(|metric| matches!(metric.value, Value::Varying(_)));
        Varying { metrics: metrics.collect(), private: self.private() }
    }

    /// Returns the arguments as they would be written.
    pub(crate) fn to_tokens(&self) -> TokenStream {
        let mut tokens = TokenStream::new();
        if let Some(name) = &self.name {
            tokens.extend(quote!(name = #name,));
        }
        match self.mode {
            Some(Mode::Total) => tokens.extend(quote!(mode = total,)),
            Some(Mode::Each) => tokens.extend(quote!(mode = each,)),
            None => {}
        }
        if self.rank_local {
            tokens.extend(quote!(rank_local,));
        }
        if let Some(selection) = &self.selection {
            tokens.extend(quote!(#selection,));
        }
        if let Some(split) = &self.split {
            tokens.extend(quote!(split = #split,));
        }
        for metric in &self.metrics {
            metric.to_tokens(&mut tokens);
            tokens.extend(quote!(,));
        }
        if let Some(path) = &self.krate {
            tokens.extend(quote!(crate = #path,));
        }
        tokens
    }

    /// Returns the path of crate `tinyprof`: as given, otherwise absolute, so that no name in the
    /// user's scope shadows it.
    fn crate_path(&self) -> TokenStream {
        match &self.krate {
            Some(path) => path.to_token_stream(),
            None => quote_spanned!(Span::mixed_site()=> ::tinyprof),
        }
    }

    /// Returns the path of the hidden module, which contains everything that an expansion names.
    pub(crate) fn private(&self) -> TokenStream {
        let krate = self.crate_path();
        quote_spanned!(Span::mixed_site()=> #krate::__private)
    }

    /// Returns the tokens for a region that is not measured: an item that names the given path, so
    /// that its import counts as used, and code that never runs, so that the names in metrics are
    /// checked and count as used. Neither leaves an instruction.
    pub(crate) fn unmeasured(&self) -> (Option<TokenStream>, TokenStream) {
        let path = self.krate.as_ref().map(
            |path| quote_spanned!(Span::mixed_site()=> const _: () = { let _ = #path::collect::ENABLED; };),
        );
        let private = self.private();
        let split = self.split.as_ref().map(|split| {
            let text = split::text(&private, split);
            quote_spanned!(Span::mixed_site()=> if false { let _ = #text; })
        });
        (path, split.into_iter().chain([self.varying().unmeasured()]).collect())
    }
}

/// Reads a region's name: a string literal that is not empty.
pub(crate) fn parse_name(input: ParseStream<'_>) -> Result<LitStr> {
    if !input.peek(LitStr) {
        return Err(input.error("a region's name is a string literal, as in \"solve\""));
    }
    let name: LitStr = input.parse()?;
    if name.value().is_empty() {
        return Err(Error::new(name.span(), "a region's name must not be empty"));
    }
    if name.value().contains('<') {
        let message = "a region's name must not contain `<`, which stands between the regions of a callpath, as in \
                       `solve<step`: write `(`, `[` or a word in its place";
        return Err(Error::new(name.span(), message));
    }
    Ok(name)
}

fn parse_mode(input: ParseStream<'_>) -> Result<Mode> {
    let usage = Key::Mode.usage();
    if !input.peek(syn::Ident::peek_any) {
        return Err(input.error(format_args!("a mode is a bare word: {usage}")));
    }
    let ident = input.call(Ident::parse_any)?;
    if ident == "total" {
        Ok(Mode::Total)
    } else if ident == "each" {
        Ok(Mode::Each)
    } else {
        Err(Error::new(ident.span(), format!("unknown mode `{ident}`: {usage}")))
    }
}

#[cfg(test)]
mod tests;
