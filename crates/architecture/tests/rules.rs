//! Each rule goes red where it is broken, and stays green where it is not.

use std::collections::BTreeMap;

use tinyprof_architecture::arrows::{arrows_up, circles};
use tinyprof_architecture::counts::{Count, Counts};
use tinyprof_architecture::index;
use tinyprof_architecture::modules::Crate;
use tinyprof_architecture::prose::{banned_words, long_lines, poor_openings, undocumented};
use tinyprof_architecture::source::Source;
use tinyprof_architecture::{paths, public, unsafe_code};

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

#[test]
fn files_are_named_as_they_are() {
    let missing = |path: &str, text: &str| {
        let roots = ["docs".to_owned(), "src".to_owned()];
        let there = ["docs/a.md", "b/src/c.rs"];
        paths::missing(&[Source::new(path, text)], &roots, |path| there.contains(&path))
    };
    let fine = "See (docs/a.md), `docs/a.md.` and ../docs/no.md, docs/$name.md, docs/no";
    assert_eq!(missing("README.md", fine), [""; 0]);
    assert_eq!(missing("b/src/d.rs", "// as in src/c.rs"), [""; 0]);
    assert_eq!(missing("a.rs", "\n// src/c.rs"), ["a.rs:2: src/c.rs is not there"]);
    assert_eq!(missing("b/README.md", "docs/b.md").len(), 1);
}

#[test]
fn words_are_banned_in_comments_and_documents() {
    let banned = |path: &str, text: &str| banned_words(&[Source::new(path, text)]).len();
    assert_eq!(banned("a.rs", "let so_many = \"so many\"; // also manyfold"), 0);
    assert_eq!(banned("a.rs", "f(); // One of So Many."), 1);
    assert_eq!(banned("a.md", "Takes note of it. so manyfold"), 1);
    assert_eq!(banned("a.rs", "// SAFETY: as above."), 1);
}

#[test]
fn public_items_are_used() {
    let unused = |text: &str| {
        let source = Source::new("a.rs", text);
        public::unused(&[&source], &[&source]).len()
    };
    assert_eq!(unused("pub fn f() {}\nfn g() { f() }"), 0);
    assert_eq!(unused("pub fn f() {}\n#[cfg(test)]\nmod tests { fn g() { f() } }"), 1);
    assert_eq!(
        unused("impl S { pub const fn f() {} pub const C: u8 = 1; } pub(crate) fn h() {}"),
        2
    );
    assert_eq!(unused("pub struct S { pub f: u8 }\nuse a::S;"), 0);
}

#[test]
fn the_index_has_first_sentences() {
    let sources = [
        Source::new("a/src/b.rs", "//! One | thing, in\n//! two lines. More.\n//!\n//! Text.\n"),
        Source::new("a/src/b/tests.rs", "//! Tests.\n"),
        Source::new("c/src/lib.rs", "//! Another.\n"),
    ];
    let expected = "| module | what it is |\n|---|---|\n| `b` | One \\| thing, in two lines. |\n";
    assert_eq!(index::table("a", &sources), expected);
}
