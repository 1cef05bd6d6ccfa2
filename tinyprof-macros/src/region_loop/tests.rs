//! Tests of `profile_loop!`.

use proc_macro2::Delimiter;
use quote::quote;

use super::*;

/// Checks the expansion of `"x", LOOP`, with the two emitted calls replaced by `OPEN` and
/// `NEXT`.
fn check(input: &TokenStream, expected: &TokenStream) {
    let text = expand(quote!("x", #input), Emit::Measured).to_string();
    let (before, rest) = text.split_once("{ # [used]").expect(&text);
    let (_, after) = rest.split_once("enter_loop (& SITE) }").expect(&text);
    let flush_point =
        quote!(::tinyprof::__private::LoopGuard::next_iteration(&mut __loop)).to_string();
    let text = format!("{before}OPEN{after}").replace(&flush_point, "NEXT");
    assert_eq!(text, quote!({ let mut __loop = OPEN; #expected }).to_string());
}

fn check_error(input: TokenStream, expected: &str) {
    let text = expand(input, Emit::Plain).to_string();
    assert!(text.contains("compile_error") && text.contains(expected), "{text}");
}

#[test]
fn a_loop_is_one_static_and_one_call_and_a_flush_point_in_each_iteration() {
    let expected = quote! {
        {
            let mut __loop = {
                #[used]
                #[cfg_attr(target_os = "linux", unsafe(link_section = "tinyprof_sites"))]
                static SITE: ::tinyprof::__private::Site = ::tinyprof::__private::Site::new(
                    "sweep",
                    ::tinyprof::__private::module_path!(),
                    "",
                    0u32,
                    0u32,
                    ::tinyprof::__private::RegionKind::Loop,
                    ::tinyprof::__private::Mode::Each,
                );
                ::tinyprof::__private::enter_loop(&SITE)
            };
            for i in 0..n {
                ::tinyprof::__private::LoopGuard::next_iteration(&mut __loop);
                const _: () = ();
                work(i);
            }
        }
    };
    assert_eq!(
        expand(
            quote!(
                "sweep",
                for i in 0..n {
                    work(i);
                }
            ),
            Emit::Measured
        )
        .to_string(),
        expected.to_string()
    );
    let total = expand(
        quote!(
            "sweep",
            mode = total,
            for i in 0..n {
                work(i);
            }
        ),
        Emit::Measured,
    )
    .to_string();
    assert_eq!(total, expected.to_string().replace("Mode :: Each", "Mode :: Total"));
}

#[test]
fn a_place_of_interim_profiles_is_another_call() {
    let of = |arguments: TokenStream| {
        expand(quote!("x", #arguments loop {}), Emit::Measured).to_string()
    };
    let marked = of(quote!(flush_point,));
    assert_eq!(marked.replace("next_iteration_at_flush_point", "next_iteration"), of(quote!()));
    assert_ne!(marked, of(quote!()));
}

#[test]
fn switched_off_a_loop_is_the_loop() {
    let plain = quote!('l: for i in 0..n {
        work(i);
    });
    let text = expand(quote!("x", mode = total, #plain,), Emit::Plain).to_string();
    assert_eq!(text, quote!({ #plain }).to_string());
}

#[test]
fn the_body_is_found_whatever_the_head_contains() {
    check(
        &quote!(loop {
            x
        }),
        &quote!(loop {
            NEXT;
            const _: () = ();
            x
        }),
    );
    check(
        &quote!(
            #[a]
            #[b]
            'l: loop {
                x
            }
        ),
        &quote!(
            #[a]
            #[b]
            'l: loop {
                NEXT;
                const _: () = ();
                x
            }
        ),
    );
    check(
        &quote!(for x in { y } {
            z
        }),
        &quote!(for x in { y } {
            NEXT;
            const _: () = ();
            z
        }),
    );
    check(
        &quote!(for S { a, .. } in 0.. {
            z
        }),
        &quote!(for S { a, .. } in 0.. {
            NEXT;
            const _: () = ();
            z
        }),
    );
    check(
        &quote!(while if a { b } else { c } {},),
        &quote!(while if a { b } else { c } {
            NEXT;
            const _: () = ();
        }),
    );
    check(
        &quote!(
            while let Some(x) | Ok(x) = y
                && z(|| { 1 })
            {                #![a]                #[b]
                q
            }
        ),
        &quote!(
            while let Some(x) | Ok(x) = y
                && z(|| { 1 })
            {                #![a]                NEXT;
                const _: () = ();
                #[b]
                q
            }
        ),
    );
}

#[test]
fn variables_of_a_macro_are_seen_through() {
    let invisible = |tokens| TokenTree::from(Group::new(Delimiter::None, tokens));
    let (start, body) = (invisible(quote!(a..)), invisible(quote!({ x })));
    check(&quote!(for i in #start #body), &quote!(for i in #start { NEXT; const _: () = (); x }));
    let whole = invisible(quote!(loop {
        x
    }));
    check(
        &quote!(#whole),
        &quote!(loop {
            NEXT;
            const _: () = ();
            x
        }),
    );
}

#[test]
fn what_is_no_single_loop_is_an_error() {
    check_error(quote!(), "needs a name first");
    check_error(quote!(for i in 0..3 {}), "needs a name first");
    check_error(quote!("x"), NO_LOOP);
    check_error(quote!("x",), NO_LOOP);
    check_error(quote!("x", mode = each), NO_LOOP);
    check_error(quote!("x", mod, loop {}), "unknown argument `mod`");
    check_error(quote!("x", mem = , loop {}), "expected an expression");
    check_error(quote!("x", 'a: {}), NO_LOOP);
    check_error(quote!("x", { 1 }), NO_LOOP);
    check_error(quote!("x", for i in 0..3), "needs a body");
    check_error(quote!("x", for i in 0..3 {} for j in 0..3 {}), "nothing may be behind it");
    check_error(quote!("x", loop {}.method()), "nothing may be behind it");
    check_error(quote!("x", loop x), "body in braces");
}
