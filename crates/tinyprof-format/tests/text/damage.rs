//! Damaged and hostile texts: the damage is reported, the rest is kept, and no text takes long.

use proptest::prelude::*;
use tinyprof_format::model::CallpathValues;
use tinyprof_format::text::{Imported, ProblemKind, TextError, read_text, write_text};

const HEADER: &str = "\"id\",\"parent\",\"tag\",\"is_loop\",\"times\"\n";

fn read(rows: &str) -> Imported {
    read_text(format!("{HEADER}{rows}").as_bytes()).expect("something can be read")
}

/// Returns line, rank, kind and lost values of each problem.
fn problems(imported: &Imported) -> Vec<(u64, Option<u32>, ProblemKind, u64)> {
    imported.salvage.problems.iter().map(|p| (p.line, p.rank, p.kind, p.values_lost)).collect()
}

fn sums_us(imported: &Imported, path: &str) -> Vec<u64> {
    let at = imported.profile.find(path).expect("the callpath");
    imported.profile.values[at.row()].iter().map(|values| values.inclusive_ns() / 1_000).collect()
}

#[test]
fn ranks_that_run_together_are_named() {
    let imported = read(
        "\"main\",\"null\",\"null\",\"0\",\"0.000001|0.000002|0.000003\"\n\
         \"main-a\",\"main\",\"null\",\"0\",\"0.000004,0.285482|0.000006\"\n\
         \"main-b\",\"main\",\"null\",\"0\",\"0.000004|0.000001,0.000002|0.000006\"\n",
    );
    use ProblemKind::{BadValue, RanksRunTogether};
    assert_eq!(problems(&imported), [(3, Some(0), RanksRunTogether, 0), (4, Some(1), BadValue, 2)]);
    assert_eq!(sums_us(&imported, "main<a"), [4, 285_482, 6]);
    assert_eq!(sums_us(&imported, "main<b"), [4, 0, 6]);
    assert_eq!((imported.salvage.values_lost, imported.salvage.rows_lost), (2, 0));
    let manifest = &imported.profile.manifest;
    let because = manifest.incomplete_because.as_deref().expect("why it is incomplete");
    assert!(!manifest.complete && because.contains("2 values lost"), "{because}");
    let told: Vec<String> = imported.salvage.problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "line 3, \"main-a\", rank 0: two ranks' values run together, \"0.000004,0.285482\"; read as two, which gives \
             the right number",
            "line 4, \"main-b\", rank 1: expected seconds, found \"0.000001,0.000002\"; 2 values lost",
        ]
    );
}

#[test]
fn rows_that_cannot_be_placed_are_lost_and_counted() {
    let imported = read(
        "\"main\",\"null\",\"null\",\"0\",\"0.000001|0.000002\"\n\
         \"main\",\"null\",\"null\",\"0\",\"0.000007|0.000007\"\n\
         \"main-a\",\"main\"\n\
         \"main-b-c\",\"main-b\",\"IO\",\"2\",\"0.000001|0.000002\"\n",
    );
    use ProblemKind::{Duplicate, MissingColumn, ParentMissing};
    assert_eq!(
        problems(&imported),
        [(3, None, Duplicate, 0), (4, None, MissingColumn, 0), (5, None, ParentMissing, 0)]
    );
    assert_eq!(sums_us(&imported, "main"), [1, 2]);
    assert_eq!(sums_us(&imported, "main<b<c"), [1, 2]);
    assert_eq!(sums_us(&imported, "main<b"), [0, 0]);
    assert_eq!(imported.salvage.rows_lost, 2);
}

#[test]
fn a_metric_is_not_a_time() {
    let text = "id,parent,mem,is_loop,times\nmain,null,1|2,0,0.5|0.25\n";
    let imported = read_text(text.as_bytes()).expect("it is read");
    assert_eq!(problems(&imported), [(2, None, ProblemKind::MetricNotRead, 2)]);
    assert_eq!(sums_us(&imported, "main"), [500_000, 250_000]);
}

#[test]
fn a_column_with_a_very_long_name_is_left_out_and_told() {
    let text = format!("id,parent,{},is_loop,times\nmain,null,x,0,0.5\n", "k".repeat(300));
    let imported = read_text(text.as_bytes()).expect("it is read");
    assert_eq!(problems(&imported), [(1, None, ProblemKind::ColumnNotRead, 0)]);
    assert!(imported.profile.callpaths.rows()[0].region.constants.is_empty());
}

#[test]
fn a_column_whose_name_is_long_only_where_it_is_escaped_is_kept() {
    let text = format!("id,parent,{},is_loop,times\nmain,null,x,0,0.5\n", "+".repeat(200));
    let imported = read_text(text.as_bytes()).expect("it is read");
    let mut written = Vec::new();
    write_text(&imported.profile, &mut written).expect("it is written");
    let again = read_text(&written).expect("it is read again");
    assert_eq!(again.profile.callpaths.rows()[0].region.constants["+".repeat(200).as_str()], "x");
    assert_eq!(again.salvage, imported.salvage);
}

#[test]
fn a_file_that_is_cut_keeps_what_is_whole() {
    let whole = "\"main\",\"null\",\"null\",\"0\",\"0.000001|0.000002\"\n\"main-a\",\"main\",\"null\",\"0\",\"0.000003|0.000004\"\n";
    let text = format!("{HEADER}{whole}");
    let second_row = text.find("\"main-a").expect("the second row");
    for cut in second_row + 1..text.len() - 2 {
        let imported = read_text(&text.as_bytes()[..cut]).expect("the first row can be read");
        assert!(!imported.salvage.is_whole(), "cut at {cut}");
        assert_eq!(sums_us(&imported, "main"), [1, 2]);
        if let Some(a) = imported.profile.find("main<a") {
            // A truncated number would have another value.
            let first = imported.profile.values[a.row()][0].inclusive_ns();
            assert!([0, 3_000].contains(&first), "cut at {cut}: {first}");
        }
    }
}

#[test]
fn what_is_no_text_profile_says_so() {
    let check = |text: &[u8], expected: &str| {
        let error = read_text(text).map(|_| ()).expect_err("no profile").to_string();
        assert!(error.contains(expected), "{error}");
    };
    check(b"", "expected a header");
    check(b"\x7fELF\x02\x01\x01\0\0\0", "expected a header");
    check(b"name,value\n1,2\n", "found \"name,value\"");
    check(HEADER.as_bytes(), "none of its 0 rows");
    check(format!("{HEADER}\"a\"\n\"b\"\n").as_bytes(), "none of its 2 rows");
}

#[test]
fn rows_of_very_different_lengths_do_not_make_a_table_of_their_product() {
    // Two rows of many ranks, and many rows with one, two, three ... ranks.
    let wide = "|".repeat(100_000);
    let rows =
        (0..400).map(|row| format!("r{row},null,null,0,{}\n", "|".repeat(row))).collect::<String>();
    let text = format!("{HEADER}a,null,null,0,{wide}\nb,null,null,0,{wide}\n{rows}");
    assert!(matches!(read_text(text.as_bytes()), Err(TextError::TooUneven { .. })));
}

#[test]
fn deep_ids_take_no_more_than_their_length() {
    let deep = format!("{HEADER}\"{}\",\"x\",\"null\",\"0\",\"0.5\"\n", "a<".repeat(100_000));
    let imported = read_text(deep.as_bytes()).expect("it is read");
    assert_eq!(imported.profile.callpaths.len(), 100_001);
    // In the text, each callpath would repeat the names of all above it.
    let error = write_text(&imported.profile, &mut Vec::new()).map(|_| ());
    assert!(matches!(error, Err(TextError::TooSparse { .. })));
}

proptest! {
    #[test]
    fn any_rows_are_read_and_what_was_kept_is_written_again(rows in "[-a<>|+.,\"0-9\n%~]{0,200}") {
        let text = format!("{HEADER}a,null,null,0,0.5\n{rows}");
        if let Ok(imported) = read_text(text.as_bytes()) {
            let mut again = Vec::new();
            write_text(&imported.profile, &mut again).expect("it is written");
            let second = read_text(&again).expect("our own text is read");
            prop_assert!(second.salvage.is_whole(), "{:?}", second.salvage);
            // Callpaths of the same name are renumbered, so their order may change.
            let sums = |imported: &Imported| {
                let ranks = |values: &Vec<CallpathValues>| values.iter().map(CallpathValues::inclusive_ns).collect();
                let mut sums: Vec<Vec<u64>> = imported.profile.values.iter().map(ranks).collect();
                sums.sort();
                sums
            };
            prop_assert_eq!(sums(&second), sums(&imported));
        }
    }

    #[test]
    fn any_bytes_give_a_profile_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        drop(read_text(&bytes));
        drop(read_text(&[HEADER.as_bytes(), &bytes].concat()));
    }
}
