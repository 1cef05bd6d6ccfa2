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
mod tests {
    use quote::quote;

    use super::*;
    use crate::Emit;
    use crate::attribute::expand;

    /// Checks the block against `expected`, in which `NAME!(mode, and other arguments);` represents
    /// a guard.
    fn check(arguments: TokenStream, block: TokenStream, expected: &TokenStream) {
        let mut rest = expand(arguments, block, Emit::Measured).to_string();
        let mut text = String::new();
        while let Some((before, after)) = rest.split_once("let __guard = ") {
            let (site, after) =
                after.split_once("enter (& SITE) } ; const _ : () = () ;").expect(&rest);
            let (_, name) = site.split_once("Site :: new (").expect(site);
            let (name, _) = name.split_once(" ,").expect(name);
            let (_, said) = site.split_once("Mode :: ").expect(site);
            let (said, _) = said.split_once(" ;").expect(said);
            text.push_str(&format!("{before} guard!({name} {});", said.replace(",)", "")));
            rest = after.to_owned();
        }
        text.push_str(&rest);
        let without_spaces = |text: &str| text.replace([' ', '\n'], "");
        assert_eq!(without_spaces(&text), without_spaces(&expected.to_string()));
    }

    #[test]
    fn every_function_inside_that_can_be_a_region_is_one() {
        check(
            quote!(mode = each, tag = "COMP"),
            quote! {
                /// Doc.
                impl<T> Norm for Field<T> where T: X<{ 1 }> {
                    const X: u8 = { 1 };
                    #[inline]
                    fn norm<const N: usize>(&self) -> Y<{ N }> { 1 }
                    const fn constant() {}
                    async fn later() {}
                    m! {}
                    pub(crate) unsafe fn r#loop() {}
                }
            },
            &quote! {
                /// Doc.
                impl<T> Norm for Field<T> where T: X<{ 1 }> {
                    const X: u8 = { 1 };
                    #[inline]
                    fn norm<const N: usize>(&self) -> Y<{ N }> {
                        guard!("Field::norm" Each.with_constants(&[("tag", "COMP")])); 1
                    }
                    const fn constant() {}
                    async fn later() {
                        #![allow(clippy::async_yields_async)]
                        ::tinyprof::__private::polled(
                            {
                                #[used]
                                #[cfg_attr(target_os = "linux", unsafe(link_section = "tinyprof_sites"))]
                                static SITE: ::tinyprof::__private::Site = ::tinyprof::__private::Site::new(
                                    "Field::later",
                                    ::tinyprof::__private::module_path!(),
                                    "",
                                    0u32,
                                    0u32,
                                    ::tinyprof::__private::RegionKind::Function,
                                    ::tinyprof::__private::Mode::Each,
                                ).with_constants(&[("tag", "COMP")]);
                                &SITE
                            },
                            ::tinyprof::__private::pin!(async move {
                                if let ::tinyprof::__private::Some(output) = ::tinyprof::__private::no_output::<()>() {
                                    return output;
                                }
                                const _: () = ();
                            })
                        ).await
                    }
                    m! {}
                    pub(crate) unsafe fn r#loop() {
                        guard!("Field::loop" Each.with_constants(&[("tag", "COMP")]));
                    }
                }
            },
        );
    }

    #[test]
    fn blocks_inside_of_blocks_are_measured_too() {
        check(
            quote!(rank_local),
            quote! {
                mod inner {
                    //! Doc.
                    use a::{b, c};
                    fn f() { fn in_a_body() {} }
                    mod deeper { pub fn g() {} }
                    impl S { fn h() {} }
                    trait T { fn i(); fn j() {} }
                    extern "C" { fn k(); }
                    mod elsewhere;
                }
            },
            &quote! {
                mod inner {
                    //! Doc.
                    use a::{b, c};
                    fn f() { guard!("f" Total.with_rank_local()); fn in_a_body() {} }
                    mod deeper { pub fn g() { guard!("g" Total.with_rank_local()); } }
                    impl S { fn h() { guard!("S::h" Total.with_rank_local()); } }
                    trait T { fn i(); fn j() { guard!("T::j" Total.with_rank_local()); } }
                    extern "C" { fn k(); }
                    mod elsewhere;
                }
            },
        );
    }

    #[test]
    fn a_list_chooses_functions_that_have_no_attribute_themselves() {
        let block = quote! {
            mod m {
                impl A { fn f() {} const fn g() {} fn h() {} #[profile(tag = "x")] fn i() {} }
                impl B { fn f() {} }
                #[profile(skip(f))] impl C { fn f() {} }
                fn j() {}
            }
        };
        check(
            quote!(only(A::f, j)),
            block.clone(),
            &quote! {
                mod m {
                    impl A {
                        fn f() { guard!("A::f" Total); } const fn g() {} fn h() {}
                        #[profile(name = "A::i", tag = "x",)] fn i() {}
                    }
                    impl B { fn f() {} }
                    #[profile(skip(f),)] impl C { fn f() {} }
                    fn j() { guard!("j" Total); }
                }
            },
        );
        check(
            quote!(skip(f, g,), rank_local),
            block,
            &quote! {
                mod m {
                    impl A {
                        fn f() {} const fn g() {} fn h() { guard!("A::h" Total.with_rank_local()); }
                        #[profile(name = "A::i", rank_local, tag = "x",)] fn i() {}
                    }
                    impl B { fn f() {} }
                    #[profile(rank_local, skip(f),)] impl C { fn f() {} }
                    fn j() { guard!("j" Total.with_rank_local()); }
                }
            },
        );
    }

    #[test]
    fn a_name_that_the_list_cannot_be_about_is_an_error() {
        let block = quote! {
            impl Field {
                fn advance() {}
                fn r#loop() {}
                const fn rank() {}
                fn open();
                #[profile(mode = each)] fn own() {}
                #[profile(skip)] fn skipped() {}
                m! { fn made() {} }
            }
        };
        let errors = |arguments| {
            let text = expand(arguments, block.clone(), Emit::Plain).to_string();
            assert!(text.ends_with(&block.to_string()), "{text}");
            text.split("compile_error ! { ").skip(1).map(str::to_owned).collect::<Vec<_>>()
        };
        for good in
            [quote!(only(advance, own, Field::r#loop)), quote!(skip(rank, open, advance, skipped))]
        {
            assert_eq!(errors_or_none(&expand(good, block.clone(), Emit::Plain)), 0);
        }
        for (arguments, expected) in [
            (quote!(only(advanc)), "is called `advanc`: did you mean `advance`?"),
            (quote!(only(made)), "is called `made`: it takes those that are written in it"),
            (quote!(skip(Other::advance)), "is called `Other::advance`"),
            (quote!(only(rank)), "a `const fn` cannot be a region"),
            (quote!(only(open)), "`open` has no body to measure"),
            (quote!(skip(own)), "`own` has `#[profile]` itself"),
        ] {
            let errors = errors(arguments);
            assert!(errors.len() == 1 && errors[0].contains(expected), "{errors:?}");
        }
        assert_eq!(errors(quote!(only(a, b))).len(), 2, "one at each name");
    }

    fn errors_or_none(tokens: &TokenStream) -> usize {
        tokens.to_string().matches("compile_error").count()
    }

    #[test]
    fn an_attribute_inside_is_handed_what_the_block_says() {
        check(
            quote!(mode = each, crate = a::b),
            quote! {
                impl S {
                    #[profile(skip)]
                    fn f() {}
                    #[x] #[tinyprof::profile] #[y]
                    fn g() {}
                    #[profile(name = "other", mode = total, tag = "x")]
                    fn h() {}
                    #[profile(mode = wrong)]
                    fn i() {}
                    #[profile]
                    const fn j() {}
                    #[puffin::profile(z = 1)]
                    fn k();
                }
            },
            &quote! {
                impl S {
                    #[profile(skip)]
                    fn f() {}
                    #[x] #[tinyprof::profile(name = "S::g", mode = each, crate = a::b,)] #[y]
                    fn g() {}
                    #[profile(name = "other", mode = total, tag = "x", crate = a::b,)]
                    fn h() {}
                    #[profile(mode = wrong)]
                    fn i() {}
                    #[profile]
                    const fn j() {}
                    #[puffin::profile(z = 1)]
                    fn k();
                }
            },
        );
    }
}
