//! Mistakes, each as a program that must not compile. The file is named after the mistake, and the
//! `.stderr` file beside it has the message that its author gets.

#[test]
fn mistakes_are_explained_where_they_were_made() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
