//! Each rule goes red where it is broken, and stays green where it is not.

use std::collections::BTreeMap;

use tinyprof_architecture::arrows::{arrows_up, circles};
use tinyprof_architecture::counts::{Count, Counts};
use tinyprof_architecture::modules::Crate;
use tinyprof_architecture::prose::{long_lines, poor_openings, undocumented};
use tinyprof_architecture::source::Source;
use tinyprof_architecture::unsafe_code;

fn parsed(files: &[(&str, &str)]) -> Crate {
    let sources: Vec<Source> = files.iter().map(|(path, text)| Source::new(*path, *text)).collect();
    Crate::parse("src/lib.rs", &sources)
}

#[test]
fn modules_that_name_each_other_are_a_circle_however_the_names_come_to_them() {
    let house = |of_b: &str| {
        parsed(&[
            ("src/lib.rs", "mod a;\nmod b;\npub use a::A;"),
            ("src/a.rs", "mod inner;\npub struct A;\n#[cfg(test)]\nmod tests { use crate::b::B; }"),
            ("src/a/inner.rs", "use super::A;\nuse crate::b::B;"),
            ("src/b/mod.rs", of_b),
        ])
    };
    assert_eq!(circles("c", &house("pub struct B;")), [""; 0], "a child may name its parent");
    assert_eq!(circles("c", &house("#[cfg(test)]\nuse crate::A;\npub struct B;")), [""; 0]);
    for text in [
        "use crate::a::A;\npub struct B;",
        "use crate::A;\npub struct B;",
        "use super::{A as Other};\npub struct B;",
        "pub struct B;\nfn f() -> crate::a::A { todo!() }",
        "pub struct B;\nimpl B { fn f() { let _ = super::a::A; } }",
    ] {
        let found = circles("c", &house(text));
        assert!(found.len() == 1 && found[0].contains("circle in c: a, b"), "{text}: {found:?}");
        assert!(
            found[0].contains("a -> b: src/a/inner.rs")
                && found[0].contains("b -> a: src/b/mod.rs")
        );
    }
}

#[test]
fn crates_depend_on_lower_floors_only() {
    let floors = BTreeMap::from([("low", 1), ("high", 2)]);
    let depends = |from: &str, to: &str| {
        arrows_up(&floors, &BTreeMap::from([(from.to_owned(), vec![to.to_owned()])]))
    };
    assert_eq!(depends("high", "low"), [""; 0]);
    assert_eq!(depends("low", "serde"), [""; 0]);
    assert_eq!(depends("low", "high"), ["arrow up: low (floor 1) -> high (floor 2)"]);
    assert_eq!(depends("new", "low").len(), 1);
}

#[test]
fn unsafe_code_has_rooms() {
    let found =
        |path: &str, text: &str| unsafe_code::outside_of(&["a/sys/"], &[Source::new(path, text)]);
    assert_eq!(found("a/sys/x.rs", "unsafe fn f() {}"), [""; 0]);
    assert_eq!(found("a/x.rs", "#[unsafe(no_mangle)] fn f() {} // unsafe"), [""; 0]);
    let said = found("a/x.rs", "fn f() {\n    unsafe { g() }\n}");
    assert!(said.len() == 1 && said[0].starts_with("a/x.rs:2: unsafe code"), "{said:?}");
}

#[test]
fn comments_are_narrow_and_begin_well() {
    let long = format!("// {}", "x".repeat(98));
    let lines = |path: &str, text: &str| long_lines(&[Source::new(path, text)]);
    assert_eq!(lines("a.rs", &long), ["a.rs:1: 101 columns"]);
    assert_eq!(lines("a.rs", &long[1..]), [""; 0]);
    assert_eq!(
        lines("a.md", &format!("# A\\n\\n{} b\\n", "x".repeat(99)).replace("\\n", "\n")).len(),
        1
    );
    assert_eq!(lines("a.md", &format!("| {} b |\n```\n{long}\n```\n", "x".repeat(99))), [""; 0]);

    let documented = |text: &str| undocumented(&[Source::new("a.rs", text)]).len();
    assert_eq!((documented("//! A room.\n"), documented("fn f() {}\n")), (0, 1));

    let openings = |text: &str| poor_openings(&[Source::new("a.rs", text)]);
    assert_eq!(openings("/// Returns what it has.\npub fn f() {}"), [""; 0]);
    assert_eq!(openings("/// What it has.\nfn f() {}"), [""; 0], "nobody sees it in an index");
    let said = openings("/// What it has.\n#[must_use]\npub fn f() {}");
    assert!(said.len() == 1 && said[0].contains("begins with \"What\""), "{said:?}");
}

#[test]
fn counts_are_of_sources_without_tests() {
    let long = format!("pub fn f(\n    (a, b): (u8, u8),\n) {{\n{}}}\n", "    g();\n".repeat(300));
    let tests = format!("#[cfg(test)]\nmod tests {{\n{long}}}\n");
    let of = |path: &str, text: &str| Counts::of(&[Source::new(path, text)]);
    let count = |number, of: &str| vec![Count { number, of: of.to_owned() }];
    let counts = of("a/src/b.rs", &format!("struct S;\npub struct T;\nfn g() {{}}\n{long}"));
    assert_eq!((counts.files, counts.lines, counts.public_items), (1, 307, 2));
    assert_eq!(counts.long_files, count(307, "a/src/b.rs"));
    assert_eq!(counts.long_functions, count(304, "a/src/b.rs:4 f"));
    assert_eq!(counts.tuple_parameters, count(1, "a/src/b.rs:4 f"));
    assert_eq!(counts.folders, count(1, "a/src"));
    for counts in [of("a/tests/b.rs", &long), of("a/src/b.rs", &tests)] {
        let Counts { long_functions, tuple_parameters, public_items, .. } = counts;
        assert_eq!((long_functions, tuple_parameters, public_items), (vec![], vec![], 0));
    }
}
