//! The facts of a manifest.

use insta::assert_snapshot;
use tinyprof_format::model::{Losses, RunMetadata};
use tinyprof_views::info_text;

use crate::fixture::manifest;

#[test]
fn the_facts_of_a_large_run() {
    let mut manifest = manifest(512, 14);
    manifest.losses = Losses { visits_open: 2, executions_folded: 1, ..Losses::default() };
    assert_snapshot!(info_text(&manifest));
}

#[test]
fn what_is_not_known_has_no_line() {
    let mut manifest = manifest(1, 3);
    manifest.flush = Default::default();
    manifest.peak_memory = Default::default();
    manifest.metadata = RunMetadata {
        cmdline: vec!["./it's".into(), String::new(), "\u{1b}]0;title\u{7}".into()],
        ..RunMetadata::default()
    };
    assert_snapshot!(info_text(&manifest));
}
