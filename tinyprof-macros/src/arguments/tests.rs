//! Tests of the arguments of regions.

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
    for text in [
        "name = \"a\", mode = each, crate = crate::x",
        "crate = crate::x, mode = each, name = r#\"a\"#,",
    ] {
        let arguments = parsed(text, Key::OF_THE_ATTRIBUTE).unwrap();
        assert_eq!(arguments.name.as_ref().unwrap().value(), "a");
        assert_eq!(arguments.mode, Some(Mode::Each));
        assert_eq!(arguments.private().to_string(), "crate :: x :: __private");
    }
    let none = parsed("", Key::OF_THE_ATTRIBUTE).unwrap();
    assert!(none.name.is_none() && none.mode.is_none());
    assert_eq!(none.private().to_string(), ":: tinyprof :: __private");
}

#[test]
fn any_other_key_is_a_metric() {
    let arguments = parsed("tag = \"COMP\", rank_local, r#type = \"\"", Key::AFTER_A_NAME).unwrap();
    let constants: Vec<_> =
        arguments.constants().map(|(key, value)| (key.to_string(), value.value())).collect();
    assert_eq!(
        constants,
        [("tag".to_owned(), "COMP".to_owned()), ("type".to_owned(), String::new())]
    );
    assert!(arguments.rank_local);
}

#[test]
fn numbers_under_words_like_arguments_are_metrics() {
    for text in ["modes = 3", "names = n", "node = \"a\"", "modes = (total)", "lag = each"] {
        assert!(parsed(text, Key::OF_THE_ATTRIBUTE).is_ok(), "{text}");
    }
}

#[test]
fn a_loop_may_be_a_place_of_interim_profiles() {
    assert!(parsed("mode = each, flush_point", Key::OF_A_LOOP).unwrap().flush_point);
    assert!(!parsed("mode = each", Key::OF_A_LOOP).unwrap().flush_point);
}

#[test]
fn skip_stands_alone() {
    let skip = |text| parsed(text, Key::OF_THE_ATTRIBUTE).unwrap().check_skip();
    assert!(skip("skip,").is_ok() && skip("mode = each").is_ok());
    assert!(skip("skip, mode = each").is_err() && skip("tag = \"a\", skip").is_err());
}

#[test]
fn what_a_block_says_holds_where_nothing_else_is_said() {
    let check = |own, block, expected: &str| {
        let mut own = parsed(own, Key::OF_THE_ATTRIBUTE).unwrap();
        own.inherit(&parsed(block, Key::OF_THE_ATTRIBUTE).unwrap());
        let expected: TokenStream = expected.parse().unwrap();
        assert_eq!(own.to_tokens().to_string(), expected.to_string());
    };
    check("", "", "");
    check("split = A::B", "split = C::D, only(a, B::c)", "split = A::B,");
    check("skip(a, B::c,)", "split = f(x)", "skip(a, B::c), split = f(x),");
    check("", "mode = each, tag = \"A\"", "mode = each, tag = \"A\",");
    check("mem = a", "mem = \"A\", b = c", "mem = a, b = c,");
    check("mem = \"A\"", "mem = a", "mem = \"A\",");
    check(
        "name = \"a\", crate = x::y, mode = total, tag = \"B\"",
        "mode = each, crate = z, tag = \"A\", kernel = \"k\", rank_local, n = max::<u8, _>(1, 2)",
        "name = \"a\", mode = total, rank_local, tag = \"B\", kernel = \"k\", n = max::<u8, _>(1, 2), crate = x::y,",
    );
}

#[test]
fn a_wrong_argument_is_told_what_is_known() {
    let attribute = Key::OF_THE_ATTRIBUTE;
    check_error("nam", attribute, "unknown argument `nam`: did you mean `name = \"...\"`?");
    check_error(
        "kernel",
        attribute,
        "unknown argument `kernel`: known are `name = \"...\"`, `mode =",
    );
    check_error("nam = \"a\"", attribute, "unknown argument `nam`: did you mean `name`?");
    check_error("tags = \"a\"", Key::AFTER_A_NAME, "unknown argument `tags`: did you mean `tag`?");
    check_error("mdoe = each", Key::AFTER_A_NAME, "unknown argument `mdoe`: did you mean `mode`?");
    check_error("modes = \"total\"", attribute, "unknown argument `modes`: did you mean `mode`?");
    check_error("name = \"a<b\"", attribute, "must not contain `<`");
    check_error("only", attribute, "`only` needs the names of functions: `only(advance, deposit)`");
    check_error("only = 3", attribute, "`only` needs the names of functions");
    check_error("only()", attribute, "`only(...)` names no function");
    check_error("skip = \"a\"", attribute, "`skip` takes no value");
    check_error("skip(a), skip(b)", attribute, "`skip` is given twice");
    check_error("skip(a), only(b)", attribute, "exclude each other: `skip` stands before");
    check_error("only(a::b::c)", attribute, "`function` or `Type::function`");
    check_error("split = \"a\"", attribute, "a text that never changes splits nothing");
    check_error("split", attribute, "`split` needs a value: `split = T::NAME`");
    check_error("skip", Key::AFTER_A_NAME, "unknown argument `skip`: known are `mode =");
    check_error("skip = \"a\"", Key::AFTER_A_NAME, "unknown argument `skip`");
    check_error("flush_point", attribute, "`flush_point` is for loops");
    check_error("flush_point = 1", Key::AFTER_A_NAME, "`flush_point` is for loops");
    check_error("flush_point = true", Key::OF_A_LOOP, "`flush_point` takes no value");
    check_error("flush_point, flush_point", Key::OF_A_LOOP, "`flush_point` is given twice");
    check_error("rank_local = true", attribute, "`rank_local` takes no value");
    check_error("rank_local, rank_local", attribute, "`rank_local` is given twice");
    check_error("tag = \"a\", r#tag = \"b\"", attribute, "`tag` is given twice");
    check_error("mem =", attribute, "`mem` needs a value: `mem = \"a text\"` or `mem = a_number`");
    check_error("mem = 1 name = \"a\"", attribute, "expected `,`");
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
