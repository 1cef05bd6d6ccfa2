//! Tests of the attribute on blocks.

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
