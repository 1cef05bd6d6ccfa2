//! This workspace is built as ARCHITECTURE.md says.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tinyprof_architecture::arrows::{arrows_up, circles};
use tinyprof_architecture::index;
use tinyprof_architecture::modules::Crate;
use tinyprof_architecture::prose::{banned_words, long_lines, poor_openings, undocumented};
use tinyprof_architecture::source::{Source, sources};
use tinyprof_architecture::{paths, public, unsafe_code};

/// The crates and their floors, as in the section *The house*.
const FLOORS: [(&str, u32); 39] = [
    ("tinyprof-segment", 0),
    ("tinyprof-vocabulary", 0),
    ("tinyprof-events", 1),
    ("tinyprof-format", 1),
    ("tinyprof-macros", 1),
    ("tinyprof-messages", 1),
    ("tinyprof-roll-call", 0),
    ("tinyprof-report", 2),
    ("tinyprof-settings", 2),
    ("tinyprof-symbols", 3),
    ("tinyprof-picture", 3),
    ("tinyprof-views", 3),
    ("tinyprof-why", 3),
    ("tinyprof-rules", 4),
    ("tinyprof-structure", 4),
    ("tinyprof-diff", 4),
    ("tinyprof-pmpi", 4),
    ("tinyprof", 3),
    ("tinyprof-cli", 5),
    ("tinyprof-flush", 4),
    ("tinyprof-job", 5),
    ("tinyprof-mpi", 6),
    ("tinyprof-example-fft", 7),
    ("tinyprof-example-tc", 7),
    ("tinyprof-example-wave", 7),
    ("tinyprof-example-fire", 7),
    ("tinyprof-example-matmul", 7),
    ("tinyprof-example-multigrid", 7),
    ("tinyprof-example-multires", 7),
    ("tinyprof-example-pi", 7),
    ("tinyprof-example-sort", 7),
    ("tinyprof-example-wavefront", 7),
    ("tinyprof-benches", 6),
    ("tinyprof-bench-collective", 7),
    ("tinyprof-bench-evaluation", 8),
    ("tinyprof-bench-visits", 6),
    ("tinyprof-faults", 7),
    ("tinyprof-preload", 6),
    ("tinyprof-architecture", 1),
];

/// The rooms in which unsafe code may be.
const UNSAFE_ROOMS: &[&str] = &[
    "crates/tinyprof-segment/src/clock/",
    "tinyprof/src/record/",
    "tinyprof/src/sys/",
    // A method of a trait of `tracing-subscriber` that is unsafe by itself.
    "tinyprof/src/tracing/layer.rs",
    "crates/tinyprof-job/src/sys/",
    // The handles of rsmpi.
    "tinyprof-mpi/src/sys.rs",
    // Registers the profiler when the program is loaded.
    "crates/tinyprof-job/src/hooks.rs",
    // The function by which programs enter sandboxes.
    "crates/tinyprof-preload/src/sys.rs",
    "crates/tinyprof-preload/src/sys/",
    // The wrappers of MPI's functions, and its functions as they are found in memory.
    "crates/tinyprof-pmpi/src/",
    "crates/tinyprof-cli/src/sys",
    // Maps executables.
    "crates/tinyprof-symbols/src/sys.rs",
    "crates/faults/src/sys/",
    // Test programs call the system as hostile programs do.
    "tinyprof/tests/",
    "crates/tinyprof-format/tests/",
    // Calls the functions of MPI as C does.
    "crates/tinyprof-preload/tests/programs/why.rs",
    // Macros look at the word `unsafe` of functions that they are given.
    "tinyprof-macros/src/",
    "tinyprof-mpi/tests/",
    "crates/tinyprof-cli/tests/",
    "benches/",
    "python/",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the workspace").to_owned()
}

fn rust() -> Vec<Source> {
    sources(&root(), &[".rs"]).expect("sources are read")
}

/// The directory and name of each crate of ours, and what it depends on outside of its tests.
fn crates() -> Vec<(String, String, Vec<String>)> {
    let manifests = sources(&root(), &["Cargo.toml"]).expect("manifests are read");
    let mut found = Vec::new();
    for manifest in manifests {
        let name = manifest.text.lines().find_map(|line| line.strip_prefix("name = "));
        let Some(name) = name.map(|name| name.trim_matches('"').to_owned()) else { continue };
        let directory =
            manifest.path.trim_end_matches("Cargo.toml").trim_end_matches('/').to_owned();
        let mut section = String::new();
        let mut depends = Vec::new();
        for line in manifest.text.lines() {
            if line.starts_with('[') {
                section = line.to_owned();
            } else if section == "[dependencies]"
                && let Some(name) = line.split(['.', ' ', '=']).next()
            {
                depends.push(name.to_owned());
            }
        }
        found.push((directory, name, depends));
    }
    found
}

fn assert_none(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn crates_depend_on_lower_floors_only() {
    let floors: BTreeMap<&str, u32> = FLOORS.into();
    let ours = crates().into_iter().filter(|(_, name, _)| floors.contains_key(name.as_str()));
    let depends: BTreeMap<String, Vec<String>> =
        ours.map(|(_, name, depends)| (name, depends)).collect();
    assert_eq!(depends.len(), FLOORS.len(), "{:?}", depends.keys());
    assert_none(&arrows_up(&floors, &depends));
    let documented = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("it is read");
    for (name, _) in FLOORS.iter().take(10) {
        assert!(documented.contains(&format!("`{name}`")), "ARCHITECTURE.md does not name {name}");
    }
}

#[test]
fn modules_make_no_circles() {
    let sources = rust();
    let mut complaints = Vec::new();
    for (directory, name, _) in crates() {
        let roots = ["src/lib.rs", "src/main.rs"].map(|file| format!("{directory}/{file}"));
        for root in roots.iter().filter(|root| sources.iter().any(|s| s.path == **root)) {
            let found = Crate::parse(root, &sources);
            assert!(!found.modules.is_empty(), "{root}");
            complaints.extend(found.complaints.iter().cloned());
            complaints.extend(circles(&name, &found));
        }
    }
    assert_none(&complaints);
}

#[test]
fn unsafe_code_stays_in_its_rooms() {
    assert_none(&unsafe_code::outside_of(UNSAFE_ROOMS, &rust()));
}

#[test]
fn our_own_calls_of_mpi_are_seen_by_nobody() {
    let mut ours = rust();
    ours.retain(|source| {
        ["crates/tinyprof-job/src/", "tinyprof-mpi/src/", "crates/tinyprof-pmpi/src/"]
            .iter()
            .any(|room| source.path.starts_with(room))
    });
    assert!(ours.iter().any(|source| source.text.contains("c\"PMPI_Isend\"")));
    // Symbols are looked up by name, and no function of the binding is called.
    let is_seen = |text: &str| {
        let of_binding = text.split("ffi::MPI_").skip(1).any(|rest| {
            let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next();
            name.is_some_and(|name| rest[name.len()..].starts_with('('))
        });
        // The only names without a P are those of variables.
        let by_name = text
            .split("c\"MPI_")
            .skip(1)
            .any(|rest| rest.chars().take_while(|c| *c != '"').any(char::is_lowercase));
        of_binding || by_name
    };
    let seen = ours.iter().filter(|source| is_seen(&source.text));
    let complaint = |source: &Source| format!("{}: a call of MPI that tools see", source.path);
    assert_none(&seen.map(complaint).collect::<Vec<_>>());
}

#[test]
fn modules_are_laid_out_in_one_way() {
    let rust = rust();
    let mod_files = rust.iter().filter(|source| source.path.contains("/src/"));
    let mod_files = mod_files.filter(|source| source.path.ends_with("/mod.rs"));
    let complaints: Vec<String> = mod_files
        .map(|source| format!("{}: a module is `room.rs` beside `room/`", source.path))
        .collect();
    assert_none(&complaints);
}

/// Programs that are not to compile, whose lines a test compares.
fn is_frozen(source: &Source) -> bool {
    source.path.contains("/ui/")
}

#[test]
fn lines_are_narrow() {
    let mut all = rust();
    all.extend(sources(&root(), &[".md"]).expect("documents are read"));
    all.retain(|source| !is_frozen(source));
    assert_none(&long_lines(&all));
}

#[test]
fn modules_are_documented_and_items_begin_with_what_they_are() {
    let mut all = rust();
    all.retain(|source| !is_frozen(source));
    assert_none(&undocumented(&all));
    all.retain(|source| source.path.contains("/src/"));
    assert_none(&poor_openings(&all));
}

#[test]
fn words_that_style_rules_out_are_not_there() {
    let mut all = rust();
    all.extend(sources(&root(), &[".md"]).expect("documents are read"));
    // The rule itself, and what was written about former versions.
    let has_them = ["crates/architecture/", "CHANGELOG.md"];
    all.retain(|source| !has_them.iter().any(|path| source.path.starts_with(path)));
    assert_none(&banned_words(&all));
}

#[test]
fn files_that_texts_name_are_there() {
    let endings = [".md", ".rs", ".sh", ".py", ".toml", "functions.txt"];
    let mut texts = sources(&root(), &endings).expect("texts are read");
    // Other workspaces' files, those of tests, and those of former versions.
    let others = ["scripts/porting", "benches/results/", "CHANGELOG.md", "crates/architecture/"];
    texts.retain(|source| !others.iter().any(|path| source.path.starts_with(path)));
    let entries = fs::read_dir(root()).expect("the root is read");
    let folders = entries.filter_map(Result::ok).filter(|entry| entry.path().is_dir());
    let folders: Vec<String> =
        folders.map(|folder| folder.file_name().to_string_lossy().into_owned()).collect();
    assert_none(&paths::missing(&texts, &folders, |path| root().join(path).exists()));
}

/// Public items that only tests, benches and examples name, and why they are there.
const ONLY_TESTED: [(&str, &str); 8] = [
    ("add_sent", "for those who make graphs"),
    ("callpath_of_rank", "for readers of profiles: `tinyprof-format` is public"),
    ("sum_standard_error_ns", "for readers of profiles"),
    ("of_one_instance", "for those who make profiles"),
    ("add_metric", "for those who make profiles"),
    ("flush_on_wire", "the study of large flushes"),
    ("flush_on_virtual_ranks", "the study of large flushes"),
    ("from_hash", "causes between hosts"),
];

#[test]
fn public_items_are_named_by_more_than_tests() {
    let rust = rust();
    let is_tested = |path: &str| {
        ["/tests", "/benches/", "/examples/"].iter().any(|folder| path.contains(folder))
            || ["benches/", "crates/fuzz/"].iter().any(|folder| path.starts_with(folder))
    };
    let used: Vec<&Source> = rust.iter().filter(|source| !is_tested(&source.path)).collect();
    // Users name those of the first three.
    let users = ["tinyprof/", "tinyprof-mpi/", "tinyprof-macros/", "crates/architecture/"];
    let is_inside = |source: &&&Source| !users.iter().any(|path| source.path.starts_with(path));
    let defined: Vec<&Source> = used.iter().filter(is_inside).copied().collect();
    let mut unused = public::unused(&defined, &used);
    for (name, _) in ONLY_TESTED {
        let before = unused.len();
        unused.retain(|complaint| !complaint.ends_with(&format!(" {name}")));
        assert!(unused.len() < before, "{name} is named now: take it from the list");
    }
    assert_none(&unused);
}

#[test]
fn every_module_is_in_the_index() {
    let path = root().join("docs/modules.md");
    let sources = rust();
    let mut document = String::from(
        "# Modules\n\nEvery module of every crate, with the first sentence of its documentation. \
         Written by\n`TINYPROF_UPDATE_DOCS=1 cargo test -p tinyprof-architecture`.\n\
         [ARCHITECTURE.md](../ARCHITECTURE.md) says how they work together.\n",
    );
    let mut all = crates();
    all.sort();
    for (directory, name, _) in all {
        let table = index::table(&directory, &sources);
        if table.lines().count() > 2 {
            document.push_str(&format!("\n## {name}\n\nIn `{directory}/src`.\n\n{table}"));
        }
    }
    if std::env::var_os("TINYPROF_UPDATE_DOCS").is_some() {
        fs::write(&path, &document).expect("the document is written");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    let differs = document.lines().zip(written.lines().chain(std::iter::repeat("")));
    let first = differs.into_iter().find(|(now, then)| now != then);
    assert!(
        written == document,
        "docs/modules.md is old, first at {first:?}: write it by TINYPROF_UPDATE_DOCS=1 cargo test \
         -p tinyprof-architecture"
    );
}
