//! The modules of a crate, and which of them each takes names from.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::Visit;
use syn::{Attribute, Item, ItemMod, ItemUse, UseTree};

use crate::source::Source;

/// The names of the modules on the way from the root of a crate; empty for the root itself.
pub type ModulePath = Vec<String>;

/// A module with a file of its own.
#[derive(Debug, Default)]
pub struct Module {
    /// The file.
    pub file: String,
    /// The child modules that are declared here, without those for tests.
    children: BTreeSet<String>,
    /// What names stand for that `use` brings here.
    uses: BTreeMap<String, Vec<String>>,
    /// The paths that the code names: its own `use`, and others that begin with a module.
    paths: Vec<Vec<String>>,
    /// True if there is more here than modules, names from elsewhere and documentation.
    pub computes: bool,
}

/// The modules of one crate.
#[derive(Debug, Default)]
pub struct Crate {
    /// Module by module, the root first.
    pub modules: BTreeMap<ModulePath, Module>,
    /// Files that could not be parsed, and why.
    pub complaints: Vec<String>,
}

impl Crate {
    /// Parses the modules of the crate whose root is the file `root`, out of `sources`.
    #[must_use]
    pub fn parse(root: &str, sources: &[Source]) -> Self {
        let mut found = Self::default();
        found.add(&[], root, sources);
        found
    }

    fn add(&mut self, path: &[String], file: &str, sources: &[Source]) {
        let Some(source) = sources.iter().find(|source| source.path == file) else {
            self.complaints.push(format!("{file}: declared, and not there"));
            return;
        };
        let parsed = match syn::parse_file(&source.text) {
            Ok(parsed) => parsed,
            Err(error) => {
                self.complaints.push(format!("{file}: {error}"));
                return;
            }
        };
        let mut module = Module { file: file.to_owned(), ..Module::default() };
        for item in &parsed.items {
            module.add(item);
        }
        let directory = directory_of(file);
        let children: Vec<String> = module.children.iter().cloned().collect();
        self.modules.insert(path.to_vec(), module);
        for child in children {
            let name = child.trim_start_matches("r#");
            let candidates =
                [format!("{directory}/{name}.rs"), format!("{directory}/{name}/mod.rs")];
            let file = candidates.iter().find(|file| sources.iter().any(|s| s.path == **file));
            let file = file.unwrap_or(&candidates[0]).clone();
            self.add(&[path, &[child]].concat(), &file, sources);
        }
    }

    /// The modules that `module` takes names from, without itself.
    #[must_use]
    pub fn named_by(&self, module: &ModulePath) -> BTreeSet<ModulePath> {
        let paths = self.modules.get(module).into_iter().flat_map(|found| &found.paths);
        let mut named: BTreeSet<ModulePath> =
            paths.filter_map(|path| self.resolve(module, path, 0)).collect();
        named.remove(module);
        named
    }

    /// The module in which what `path` names at `module` is defined; none for other crates.
    fn resolve(&self, module: &ModulePath, path: &[String], depth: usize) -> Option<ModulePath> {
        // A name that leads to itself, which does not compile.
        if depth > 16 {
            return None;
        }
        let mut at = module.clone();
        let mut is_ours = false;
        for (position, segment) in path.iter().enumerate() {
            match segment.as_str() {
                "crate" => at.clear(),
                "self" => {}
                "super" => drop(at.pop()),
                name => {
                    let here = self.modules.get(&at)?;
                    if here.children.contains(name) {
                        at.push(name.to_owned());
                    } else if let Some(target) = here.uses.get(name)
                        && !(position == 0 && at == *module && target == path)
                    {
                        let whole = [target.as_slice(), &path[position + 1..]].concat();
                        return self.resolve(&at, &whole, depth + 1);
                    } else {
                        return (is_ours || position > 0).then_some(at);
                    }
                }
            }
            is_ours = true;
        }
        Some(at)
    }
}

/// The directory in which the child modules of `file` are.
fn directory_of(file: &str) -> String {
    let (directory, name) = file.rsplit_once('/').unwrap_or(("", file));
    match name {
        "lib.rs" | "main.rs" | "mod.rs" => directory.to_owned(),
        _ => file.trim_end_matches(".rs").to_owned(),
    }
}

impl Module {
    fn add(&mut self, item: &Item) {
        match item {
            Item::Mod(ItemMod { attrs, .. }) if is_for_tests(attrs) => {}
            Item::Mod(ItemMod { content: None, ident, .. }) => {
                self.children.insert(ident.to_string());
            }
            Item::Use(item) => {
                let is_for_tests = is_for_tests(&item.attrs);
                if !is_for_tests {
                    self.add_use(item);
                }
            }
            item => {
                self.computes = true;
                if !is_for_tests(attributes(item)) {
                    Paths(&mut self.paths).visit_item(item);
                }
            }
        }
    }

    fn add_use(&mut self, item: &ItemUse) {
        let mut leaves = Vec::new();
        leaves_of(&item.tree, &mut Vec::new(), &mut leaves);
        let is_public = !matches!(item.vis, syn::Visibility::Inherited);
        for (path, name) in leaves {
            if let Some(name) = name {
                self.uses.insert(name, path.clone());
            }
            // To pass a name on is no use of it.
            if !is_public {
                self.paths.push(path);
            }
        }
    }
}

/// Appends each path of a `use`, with the name that it has here; none for `*` and `_`.
fn leaves_of(
    tree: &UseTree,
    before: &mut Vec<String>,
    leaves: &mut Vec<(Vec<String>, Option<String>)>,
) {
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            leaves_of(&path.tree, before, leaves);
            before.pop();
        }
        UseTree::Name(name) if name.ident == "self" => {
            leaves.push((before.clone(), before.last().cloned()));
        }
        UseTree::Name(name) => {
            let name = name.ident.to_string();
            leaves.push(([before.as_slice(), std::slice::from_ref(&name)].concat(), Some(name)));
        }
        UseTree::Rename(rename) => {
            let path = [before.as_slice(), &[rename.ident.to_string()]].concat();
            let name = Some(rename.rename.to_string()).filter(|name| name != "_");
            leaves.push((path, name));
        }
        UseTree::Glob(_) => leaves.push((before.clone(), None)),
        UseTree::Group(group) => {
            group.items.iter().for_each(|tree| leaves_of(tree, before, leaves));
        }
    }
}

/// Collects the paths of two segments and more.
struct Paths<'a>(&'a mut Vec<Vec<String>>);

impl<'ast> Visit<'ast> for Paths<'_> {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() && path.segments.len() > 1 {
            self.0.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        syn::visit::visit_path(self, path);
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !is_for_tests(&item.attrs) {
            syn::visit::visit_item_mod(self, item);
        }
    }
}

/// Whether something is there for tests alone.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let mut is_test = false;
        let nested = attribute.path().is_ident("cfg")
            && attribute
                .parse_nested_meta(|meta| {
                    is_test |= meta.path.is_ident("test");
                    // `any(test, ..)` is more than tests.
                    if meta.input.peek(syn::token::Paren) {
                        let content;
                        syn::parenthesized!(content in meta.input);
                        content.parse::<proc_macro2::TokenStream>()?;
                    } else if meta.input.peek(syn::Token![=]) {
                        meta.value()?.parse::<syn::Expr>()?;
                    }
                    Ok(())
                })
                .is_ok();
        nested && is_test
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        _ => &[],
    }
}
