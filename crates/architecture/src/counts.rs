//! Numbers that say how large and how tangled the code is.

use std::collections::BTreeMap;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use crate::source::Source;

/// The lines above which a file is long.
pub const FILE_LINES: usize = 300;

/// The lines above which a function is long, with its signature.
pub const FUNCTION_LINES: usize = 40;

/// Numbers of the sources, apart from tests. Lists have the largest first, or are in the order of
/// the sources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Rust files, also of tests, and their lines.
    pub files: usize,
    /// See `files`.
    pub lines: usize,
    /// Files above [`FILE_LINES`].
    pub long_files: Vec<Count>,
    /// Functions above [`FUNCTION_LINES`].
    pub long_functions: Vec<Count>,
    /// Parameters of functions that are tuples: each of them hides several.
    pub tuple_parameters: Vec<Count>,
    /// Rust files directly in a folder of sources.
    pub folders: Vec<Count>,
    /// Items and methods that are `pub`, outside of tests.
    pub public_items: usize,
}

/// A number, and what has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// The number.
    pub number: usize,
    /// A path, for functions with a line and a name.
    pub of: String,
}

impl Counts {
    /// Counts in these Rust files. One that cannot be parsed counts as a file alone.
    #[must_use]
    pub fn of(sources: &[Source]) -> Self {
        let mut counts = Self::default();
        let mut folders = BTreeMap::<&str, usize>::new();
        for source in sources {
            let lines = source.text.lines().count();
            let is_test = source.path.contains("/tests") || source.path.contains("/benches/");
            counts.files += 1;
            counts.lines += lines;
            if is_test {
                continue;
            }
            if lines > FILE_LINES {
                counts.long_files.push(Count { number: lines, of: source.path.clone() });
            }
            if source.path.contains("/src/")
                && let Some((folder, _)) = source.path.rsplit_once('/')
            {
                *folders.entry(folder).or_default() += 1;
            }
            if let Ok(parsed) = syn::parse_file(&source.text) {
                Items { counts: &mut counts, path: &source.path, is_test: false }
                    .visit_file(&parsed);
            }
        }
        let count = |(folder, number): (&str, usize)| Count { number, of: folder.to_owned() };
        counts.folders = folders.into_iter().map(count).collect();
        for list in [&mut counts.long_files, &mut counts.long_functions, &mut counts.folders] {
            list.sort_by(|a, b| b.number.cmp(&a.number).then_with(|| a.of.cmp(&b.of)));
        }
        counts
    }
}

/// Returns the paths of the sources that contain one of the words.
#[must_use]
pub fn files_that_name(words: &[&str], sources: &[Source]) -> Vec<String> {
    let names = |source: &&Source| words.iter().any(|word| source.text.contains(word));
    sources.iter().filter(names).map(|source| source.path.clone()).collect()
}

struct Items<'a> {
    counts: &'a mut Counts,
    path: &'a str,
    is_test: bool,
}

impl Items<'_> {
    fn function(&mut self, signature: &syn::Signature, end: usize) {
        let start = signature.span().start().line;
        let of = format!("{}:{start} {}", self.path, signature.ident);
        let lines = end + 1 - start;
        if lines > FUNCTION_LINES && !self.is_test {
            self.counts.long_functions.push(Count { number: lines, of: of.clone() });
        }
        let is_tuple = |argument: &&syn::FnArg| match argument {
            syn::FnArg::Typed(typed) => match &*typed.ty {
                syn::Type::Tuple(tuple) => !tuple.elems.is_empty(),
                _ => false,
            },
            syn::FnArg::Receiver(_) => false,
        };
        let number = signature.inputs.iter().filter(is_tuple).count();
        if number > 0 && !self.is_test {
            self.counts.tuple_parameters.push(Count { number, of });
        }
    }

    fn item(&mut self, visibility: &syn::Visibility) {
        if matches!(visibility, syn::Visibility::Public(_)) && !self.is_test {
            self.counts.public_items += 1;
        }
    }
}

impl<'ast> Visit<'ast> for Items<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.item(&item.vis);
        self.function(&item.sig, item.block.span().end().line);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.item(&item.vis);
        self.function(&item.sig, item.block.span().end().line);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        let end = item.default.as_ref().map_or(item.sig.span(), Spanned::span).end().line;
        self.function(&item.sig, end);
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_item(&mut self, item: &'ast syn::Item) {
        let visibility = match item {
            syn::Item::Const(item) => &item.vis,
            syn::Item::Enum(item) => &item.vis,
            syn::Item::Mod(item) => &item.vis,
            syn::Item::Static(item) => &item.vis,
            syn::Item::Struct(item) => &item.vis,
            syn::Item::Trait(item) => &item.vis,
            syn::Item::Type(item) => &item.vis,
            // Functions have a method of their own, and other items have no name.
            _ => &syn::Visibility::Inherited,
        };
        self.item(visibility);
        visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let is_test = self.is_test;
        self.is_test |= item.ident == "tests";
        visit::visit_item_mod(self, item);
        self.is_test = is_test;
    }
}
