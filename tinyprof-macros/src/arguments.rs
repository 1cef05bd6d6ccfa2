//! The arguments of a region: `name = "solve", mode = each, crate = path`, in any order.
//!
//! One parser serves the attribute and both macros: they differ in the keys they know and in where the name stands.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Result};
use syn::{Error, LitStr, Path, Token};

/// What of a region's visits is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Total,
    Each,
}

/// What one argument is called, and how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Name,
    Mode,
    Crate,
}

impl Key {
    /// The keys of `#[profile(...)]`.
    pub(crate) const OF_THE_ATTRIBUTE: &[Key] = &[Key::Name, Key::Mode, Key::Crate];
    /// The keys of `profile_scope!` and `profile_loop!`, where the name comes first and bare.
    pub(crate) const AFTER_A_NAME: &[Key] = &[Key::Mode, Key::Crate];

    fn text(self) -> &'static str {
        match self {
            Key::Name => "name",
            Key::Mode => "mode",
            Key::Crate => "crate",
        }
    }

    fn usage(self) -> &'static str {
        match self {
            Key::Name => "`name = \"...\"`",
            Key::Mode => "`mode = total` or `mode = each`",
            Key::Crate => "`crate = path::to::tinyprof`",
        }
    }
}

/// What was said about a region; `None` means that the default holds.
#[derive(Default)]
pub(crate) struct Arguments {
    pub(crate) name: Option<LitStr>,
    pub(crate) mode: Option<Mode>,
    krate: Option<Path>,
    seen: Vec<Key>,
}

impl Arguments {
    /// Reads arguments with a comma between them (and perhaps after the last) up to the end of the input.
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
            return Err(Error::new(name.span(), format!("write `name = {}`", name.to_token_stream())));
        }
        let ident = input.call(Ident::parse_any)?;
        let Some(&key) = known.iter().find(|key| ident == key.text()) else {
            let usages: Vec<&str> = known.iter().map(|key| key.usage()).collect();
            let message = format!("unknown argument `{ident}`: known are {}", usages.join(", "));
            return Err(Error::new(ident.span(), message));
        };
        if self.seen.contains(&key) {
            return Err(Error::new(ident.span(), format!("`{ident}` is given twice")));
        }
        self.seen.push(key);
        if input.parse::<Option<Token![=]>>()?.is_none() || input.is_empty() {
            return Err(Error::new(ident.span(), format!("`{ident}` needs a value: {}", key.usage())));
        }
        match key {
            Key::Name => self.name = Some(parse_name(input)?),
            Key::Mode => self.mode = Some(parse_mode(input)?),
            Key::Crate => self.krate = Some(input.call(Path::parse_mod_style)?),
        }
        Ok(())
    }

    /// The path of crate `tinyprof`: as given, otherwise absolute, so that no name in the user's scope shadows it.
    pub(crate) fn crate_path(&self) -> TokenStream {
        match &self.krate {
            Some(path) => path.to_token_stream(),
            None => quote_spanned!(Span::mixed_site()=> ::tinyprof),
        }
    }
}

/// Reads a region's name: a string literal with something in it.
pub(crate) fn parse_name(input: ParseStream<'_>) -> Result<LitStr> {
    if !input.peek(LitStr) {
        return Err(input.error("a region's name is a string literal, as in \"solve\""));
    }
    let name: LitStr = input.parse()?;
    if name.value().is_empty() {
        return Err(Error::new(name.span(), "a region's name must not be empty"));
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
mod tests {
    use syn::parse::Parser;

    use super::*;

    fn parsed(text: &str, known: &'static [Key]) -> Result<Arguments> {
        let parser = |input: ParseStream<'_>| {
            let mut arguments = Arguments::default();
            arguments.parse_all(input, known)?;
            Ok(arguments)
        };
        parser.parse_str(text)
    }

    fn check_error(text: &str, known: &'static [Key], expected: &str) {
        let error = parsed(text, known).err().expect(text).to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }

    #[test]
    fn arguments_come_in_any_order_with_or_without_a_last_comma() {
        for text in
            ["name = \"a\", mode = each, crate = crate::x", "crate = crate::x, mode = each, name = r#\"a\"#,"]
        {
            let arguments = parsed(text, Key::OF_THE_ATTRIBUTE).unwrap();
            assert_eq!(arguments.name.as_ref().unwrap().value(), "a");
            assert_eq!(arguments.mode, Some(Mode::Each));
            assert_eq!(arguments.crate_path().to_string(), "crate :: x");
        }
        let none = parsed("", Key::OF_THE_ATTRIBUTE).unwrap();
        assert!(none.name.is_none() && none.mode.is_none());
        assert_eq!(none.crate_path().to_string(), ":: tinyprof");
    }

    #[test]
    fn a_wrong_argument_is_told_what_is_known() {
        let attribute = Key::OF_THE_ATTRIBUTE;
        check_error("nam = \"a\"", attribute, "unknown argument `nam`: known are `name = \"...\"`, `mode =");
        check_error("name = \"a\"", Key::AFTER_A_NAME, "unknown argument `name`: known are `mode =");
        check_error("\"a\"", attribute, "write `name = \"a\"`");
        check_error("name = a", attribute, "string literal");
        check_error("name = \"\"", attribute, "must not be empty");
        check_error("name", attribute, "`name` needs a value: `name = \"...\"`");
        check_error("mode =", attribute, "`mode` needs a value: `mode = total` or `mode = each`");
        check_error("mode = \"each\"", attribute, "a mode is a bare word");
        check_error("mode = all", attribute, "unknown mode `all`");
        check_error("mode = each, mode = each", attribute, "`mode` is given twice");
        check_error("mode = each name = \"a\"", attribute, "expected `,`");
    }
}
