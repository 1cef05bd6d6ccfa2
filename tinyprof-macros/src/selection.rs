//! `only(...)` and `skip(...)`: the functions of a block that are regions.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Result};
use syn::punctuated::Punctuated;
use syn::{Error, Path, Token};

use crate::near;

/// A list of functions, each as `function` or `Type::function`.
#[derive(Clone)]
pub(crate) struct Selection {
    /// `only` or `skip`, as it was written.
    word: Ident,
    functions: Vec<Path>,
}

/// A function inside of a block, with the properties that matter to a list.
pub(crate) struct Candidate {
    /// The type or trait around it.
    pub(crate) prefix: Option<String>,
    pub(crate) name: String,
    /// True if it has its own attribute, other than `#[profile(skip)]`.
    pub(crate) has_own_attribute: bool,
    /// The reason why it cannot be a region.
    pub(crate) obstacle: Option<String>,
}

impl Selection {
    /// Reads `(advance, Field::deposit)` after `only` or `skip`.
    pub(crate) fn parse(word: Ident, input: ParseStream<'_>) -> Result<Self> {
        let list;
        syn::parenthesized!(list in input);
        let functions =
            Punctuated::<Path, Token![,]>::parse_terminated_with(&list, Path::parse_mod_style)?;
        if functions.is_empty() {
            return Err(Error::new(
                word.span(),
                format!("`{word}(...)` names no function: write `{word}(advance, deposit)`"),
            ));
        }
        if let Some(long) = functions.iter().find(|path| path.segments.len() > 2) {
            return Err(Error::new_spanned(
                long,
                "a function is named as `function` or `Type::function`",
            ));
        }
        Ok(Self { word, functions: functions.into_iter().collect() })
    }

    pub(crate) fn word(&self) -> &Ident {
        &self.word
    }

    /// Returns the error for a list on a single function.
    pub(crate) fn not_on_a_function(&self) -> Error {
        let word = &self.word;
        let message = format!(
            "`{word}(...)` chooses functions of an `impl`, a trait or a module: on one function there is none to choose"
        );
        Error::new(word.span(), message)
    }

    fn is_only(&self) -> bool {
        self.word == "only"
    }

    /// Returns whether the list selects the function.
    pub(crate) fn takes(&self, prefix: Option<&str>, name: &str) -> bool {
        self.functions.iter().any(|path| is_named(path, prefix, name)) == self.is_only()
    }

    /// Returns an error at each name of the list that is not a function of the block, or that the
    /// list cannot select.
    pub(crate) fn check(&self, candidates: &[Candidate]) -> Result<()> {
        let errors = self.functions.iter().filter_map(|path| {
            let message = self.mistake(path, candidates)?;
            Some(Error::new_spanned(path, message))
        });
        let combined = errors.reduce(|mut all, error| {
            all.combine(error);
            all
        });
        combined.map_or(Ok(()), Err)
    }

    fn mistake(&self, path: &Path, candidates: &[Candidate]) -> Option<String> {
        let named = |c: &&Candidate| is_named(path, c.prefix.as_deref(), &c.name);
        let found: Vec<&Candidate> = candidates.iter().filter(named).collect();
        let (written, word) = (path.to_token_stream().to_string().replace(' ', ""), &self.word);
        if found.is_empty() {
            let last = path.segments.last().map(|segment| segment.ident.unraw().to_string());
            let names = candidates.iter().map(|c| c.name.as_str());
            let hint = match near::meant(&last.unwrap_or_default(), names) {
                Some(name) => format!("did you mean `{name}`?"),
                None => "it takes those that are written in it, not those that a macro makes or that are in a block \
                         with an attribute of its own"
                    .to_owned(),
            };
            return Some(format!("no function of this block is called `{written}`: {hint}"));
        }
        if self.is_only() {
            let obstacle = |c: &Candidate| c.obstacle.clone();
            let obstacles: Option<Vec<String>> = found.into_iter().map(obstacle).collect();
            return obstacles?.into_iter().next();
        }
        let own = found.iter().any(|c| c.has_own_attribute);
        own.then(|| {
            format!("`{written}` has `#[profile]` itself: take that away, or take it out of `{word}(...)`")
        })
    }
}

/// Returns whether `path`, written `function` or `Type::function`, names that function.
fn is_named(path: &Path, prefix: Option<&str>, name: &str) -> bool {
    let mut names = path.segments.iter().rev().map(|segment| segment.ident.unraw().to_string());
    names.next().is_some_and(|last| last == name)
        && names.next().is_none_or(|of| prefix.is_some_and(|prefix| of == prefix))
}

impl ToTokens for Selection {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { word, functions } = self;
        tokens.extend(quote!(#word(#(#functions),*)));
    }
}
