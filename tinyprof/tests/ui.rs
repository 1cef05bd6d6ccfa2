//! Mistakes, each a program that must not compile: the file is named by the mistake, and the
//! `.stderr` file beside it says what its author is told.

#[test]
fn mistakes_are_explained_where_they_were_made() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
