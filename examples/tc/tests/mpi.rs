//! Tests of the program under mpiexec: its paths against those of `SQLite`'s recursive query, the
//! inputs it refuses, and the content of its profile.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tinyprof_format::file::read_profile;
use tinyprof_format::model::Profile;
use tinyprof_report::Activity;

#[path = "../../../tinyprof-mpi/tests/support/mod.rs"]
mod support;

type Edges = Vec<[u32; 2]>;

/// Runs `tc` on `ranks` ranks in this directory; the profile is `tc.tprof` in it.
fn tc(directory: &Path, ranks: usize, arguments: &[&str]) -> Output {
    support::mpiexec(ranks)
        .arg(env!("CARGO_BIN_EXE_tc"))
        .args(arguments)
        .current_dir(directory)
        .env("TINYPROF_OUT", directory.join("tc"))
        .env("TINYPROF_REPORT", "off")
        .output()
        .expect("the launcher can be started")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn pairs(text: &str) -> BTreeSet<[u32; 2]> {
    let pair = |line: &str| {
        let mut numbers = line.split([' ', '|']).map(|word| word.parse().expect("a vertex"));
        [(); 2].map(|()| numbers.next().expect("two vertices"))
    };
    text.lines().map(pair).collect()
}

/// Returns the paths that `SQLite` finds: an independent implementation.
fn of_sqlite(edges: &Edges) -> BTreeSet<[u32; 2]> {
    let mut script = "create table edge(x integer, y integer);\nbegin;\n".to_owned();
    for [begin, end] in edges {
        writeln!(script, "insert into edge values ({begin}, {end});").expect("a string takes all");
    }
    script.push_str(
        "create index by_begin on edge(x);\n\
         with recursive path(x, y) as (\n\
         select x, y from edge union select path.x, edge.y from path join edge on path.y = edge.x)\n\
         select x, y from path;\n",
    );
    let mut sqlite = Command::new("sqlite3")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("sqlite3 is there: scripts/setup.sh installs it");
    let mut stdin = sqlite.stdin.take().expect("it is a pipe");
    let feeder = std::thread::spawn(move || stdin.write_all(script.as_bytes()));
    let output = sqlite.wait_with_output().expect("it ends");
    feeder.join().expect("the thread ends").expect("the script is taken");
    assert!(output.status.success());
    pairs(&text(&output.stdout))
}

fn edge_list(edges: &Edges) -> String {
    edges.iter().map(|[begin, end]| format!("{begin}\t{end}\n")).collect()
}

/// Checks that the program finds the paths of `SQLite` on `ranks` ranks, and prints the right
/// number of them.
#[track_caller]
fn check(ranks: usize, graph: &str, edges: &Edges) {
    let scratch = tempfile::tempdir().expect("a directory");
    fs::write(scratch.path().join("graph"), graph).expect("the graph is written");
    let output = tc(scratch.path(), ranks, &["graph", "--output", "paths"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let written = fs::read_to_string(scratch.path().join("paths")).expect("the paths are there");
    let found = pairs(&written);
    assert_eq!(written.lines().count(), found.len(), "each path once");
    let expected = of_sqlite(edges);
    assert!(
        found == expected,
        "{ranks} ranks: {} paths, SQLite has {}",
        found.len(),
        expected.len()
    );
    let different = edges.iter().collect::<BTreeSet<_>>().len();
    let said = format!("tc: {different} edges, {} paths, ", expected.len());
    assert!(text(&output.stdout).starts_with(&said), "{output:?}");
}

/// `SplitMix64`.
fn numbers(mut state: u64) -> impl FnMut(u32) -> u32 {
    move |below| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        u32::try_from((z ^ (z >> 31)) % u64::from(below)).expect("it is below a u32")
    }
}

#[test]
fn chains_circles_and_grids() {
    let chain: Edges = (0..200).map(|n| [n, n + 1]).collect();
    check(3, &edge_list(&chain), &chain);
    let circle: Edges = (0..50).map(|n| [n, (n + 1) % 50]).collect();
    check(2, &edge_list(&circle), &circle);
    let right = (0..144).filter(|n| n % 12 < 11).map(|n| [n, n + 1]);
    let grid: Edges = right.chain((0..132).map(|n| [n, n + 12])).collect();
    check(4, &edge_list(&grid), &grid);
}

#[test]
fn graphs_by_chance_on_one_to_sixteen_ranks() {
    for (ranks, seed) in [(1, 1), (2, 2), (5, 3), (16, 4)] {
        let mut below = numbers(seed);
        let edges: Edges = (0..300).map(|_| [below(200), below(200)]).collect();
        check(ranks, &edge_list(&edges), &edges);
    }
}

#[test]
fn a_vertex_with_very_many_edges() {
    let mut below = numbers(5);
    // Among the edges into and out of it are self loops and duplicates.
    let into: Edges = (0..2500).map(|_| [below(300), 0]).collect();
    let out: Edges = (0..2500).map(|_| [0, below(5000)]).collect();
    let edges = [into, out].concat();
    check(4, &edge_list(&edges), &edges);
}

#[test]
fn self_loops_duplicates_comments_and_nothing() {
    check(
        3,
        "# a comment\n7 7\n\n1 2\n1 2\r\n% another\n2 1",
        &vec![[7, 7], [1, 2], [1, 2], [2, 1]],
    );
    check(4, "", &Vec::new());
    check(2, "# nothing\n", &Vec::new());
    check(2, "4294967295 0\n", &vec![[u32::MAX, 0]]);
}

#[test]
fn a_matrix_is_a_graph() {
    let general =
        "%%MatrixMarket matrix coordinate real general\n%\n4 4 3\n1 2 0.5\n2 3 1e-3\n4 4 1\n";
    check(3, general, &vec![[0, 1], [1, 2], [3, 3]]);
    let symmetric = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n";
    check(2, symmetric, &vec![[1, 0], [0, 1], [2, 2]]);
    let skew = "%%MatrixMarket matrix coordinate integer skew-symmetric\n4 4 2\n3 1 -5\n4 2 7\n";
    check(2, skew, &vec![[2, 0], [0, 2], [3, 1], [1, 3]]);
    let complex =
        "%%MatrixMarket matrix coordinate complex hermitian\n3 3 2\n1 1 2 0\n3 1 0.5 -1\n";
    check(2, complex, &vec![[0, 0], [2, 0], [0, 2]]);
}

/// Tests a file laid out like those of the `SuiteSparse` collection: a banner, a head of comments,
/// sizes, and the lower triangle of a mesh column by column.
#[test]
fn a_file_as_collections_have_it_is_read_by_all_ranks() {
    let right = (0..90).filter(|n| n % 9 < 8).map(|n| [n + 1, n]);
    let mesh: Edges = right.chain((0..81).map(|n| [n + 9, n])).collect();
    let mut file = "%%MatrixMarket matrix coordinate real symmetric\n".to_owned();
    file += "%-------------------------------------------------------------------------------\n";
    file += "% name: Nobody/mesh90\n% kind: 2D/3D problem\n";
    file += "%-------------------------------------------------------------------------------\n";
    writeln!(file, "90 90 {}", mesh.len()).expect("a string takes all");
    for (number, [row, column]) in mesh.iter().enumerate() {
        writeln!(file, "{} {} -{number}.25e-1", row + 1, column + 1).expect("a string takes all");
    }
    let both = mesh.iter().flat_map(|&[row, column]| [[row, column], [column, row]]).collect();
    check(4, &file, &both);
}

#[test]
fn a_graph_where_few_vertices_have_most_edges() {
    let mut below = numbers(6);
    // Vertex k is an end in proportion to ln(400 / k): a number below one that is itself below 400.
    let edges: Edges = (0..600)
        .map(|_| {
            let most = below(400) + 1;
            [below(400), below(most)]
        })
        .collect();
    check(8, &edge_list(&edges), &edges);
}

#[test]
fn the_paths_do_not_depend_on_the_number_of_ranks() {
    let scratch = tempfile::tempdir().unwrap();
    for kind in ["chain", "grid", "random", "powerlaw"] {
        let of_ranks = [1, 2, 5].map(|ranks| {
            let file = format!("{kind}-{ranks}");
            let arguments =
                ["--generate", kind, "--vertices", "150", "--edges", "220", "--output", &file];
            let output = tc(scratch.path(), ranks, &arguments);
            assert_eq!(output.status.code(), Some(0), "{output:?}");
            pairs(&fs::read_to_string(scratch.path().join(file)).unwrap())
        });
        assert!(
            of_ranks[0] == of_ranks[1] && of_ranks[1] == of_ranks[2] && !of_ranks[0].is_empty(),
            "{kind}"
        );
    }
}

#[test]
fn what_cannot_be_read_is_said_by_one_rank_with_file_and_line() {
    let scratch = tempfile::tempdir().unwrap();
    let long: String = (0..500).map(|n| format!("{n} {}\n", n + 1)).collect();
    for (graph, said) in [
        (format!("{long}1 -2\n{long}x\n"), "tc: graph:501: vertex \"-2\" is negative"),
        (format!("{long}{long}1\n"), "tc: graph:1001: expected two vertices, found \"1\""),
        ("99999999999 1\n".to_owned(), "tc: graph:1: vertex \"99999999999\" is too large"),
        (
            "%%MatrixMarket matrix array real general\n".to_owned(),
            "tc: graph:1: expected %%MatrixMarket",
        ),
        (
            "%%MatrixMarket matrix coordinate pattern general\n2 2 3\n1 1\n1 2\n".to_owned(),
            "tc: graph:2: expected 3 entries, as the header says, found 2",
        ),
        (
            "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n3 1\n".to_owned(),
            "tc: graph:3: expected a row from 1 to 2, found 3",
        ),
    ] {
        fs::write(scratch.path().join("graph"), graph).unwrap();
        check_refusal(scratch.path(), &["graph"], 1, said);
    }
    check_refusal(scratch.path(), &["absent"], 1, "tc: cannot read absent: No such file");
    check_refusal(scratch.path(), &[], 2, "required arguments");
    check_refusal(scratch.path(), &["--generate", "knot"], 2, "invalid value 'knot'");
    fs::write(scratch.path().join("taken"), "mine").unwrap();
    let output =
        tc(scratch.path(), 3, &["--generate", "chain", "--vertices", "3", "--output", "taken"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(fs::read_to_string(scratch.path().join("taken")).unwrap(), "mine");
}

#[test]
fn a_closure_that_is_repeated_is_an_execution_each_time() {
    let scratch = tempfile::tempdir().unwrap();
    for (often, closures) in [(["--repeat", "3"], 3), (["--seconds", "0"], 1)] {
        let graph = ["--generate", "chain", "--vertices", "5", "--time"];
        let output = tc(scratch.path(), 2, &[&graph[..], &often[..]].concat());
        let printed = text(&output.stdout);
        assert!(printed.starts_with(&format!("tc: {closures} closures took ")), "{printed}");
        assert!(printed.ends_with("tc: 4 edges, 10 paths, 4 iterations, 2 ranks\n"), "{printed}");
        let profile = scratch.path().join("tc.tprof");
        let read = read_profile(&profile).unwrap();
        let fixpoint = read.find("fixpoint").unwrap();
        assert_eq!(read.values(fixpoint, 1).executions.len(), closures);
        fs::remove_dir_all(profile).unwrap();
    }
}

#[track_caller]
fn check_refusal(directory: &Path, arguments: &[&str], code: i32, complaint: &str) {
    let output = tc(directory, 4, arguments);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}");
    assert_eq!(said.matches(complaint).count(), 1, "{complaint}: {said}");
    assert_eq!(text(&output.stdout), "");
}

#[test]
fn the_profile_has_the_regions_that_the_readme_lists_and_counts_the_tuples() {
    let scratch = tempfile::tempdir().unwrap();
    fs::write(scratch.path().join("graph"), "0 1\n1 2\n2 3\n3 4\n").unwrap();
    let output = tc(scratch.path(), 3, &["graph", "--output", "paths"]);
    assert_eq!(text(&output.stdout), "tc: 4 edges, 10 paths, 4 iterations, 3 ranks\n");
    let profile = read_profile(&scratch.path().join("tc.tprof")).unwrap();
    for rank in 0..3 {
        for (path, visits) in [
            ("input", 1),
            ("distribute", 1),
            ("distribute<exchange", 1),
            ("distribute<deduplicate", 1),
            ("distribute<balance", 1),
            ("fixpoint", 1),
            ("fixpoint<are_left", 5),
            ("fixpoint<iteration", 4),
            ("fixpoint<iteration<balance", 4),
            ("fixpoint<iteration<to_their_edges", 4),
            ("fixpoint<iteration<join", 4),
            ("fixpoint<iteration<exchange", 4),
            ("fixpoint<iteration<exchange<pack", 4),
            ("fixpoint<iteration<exchange<alltoall", 4),
            ("fixpoint<iteration<exchange<unpack", 4),
            ("fixpoint<iteration<deduplicate", 4),
            ("output", 1),
        ] {
            let index = profile.find(path).unwrap_or_else(|| panic!("no callpath {path}"));
            let found = profile.values(index, rank).visits();
            let inside: u64 = if path == "fixpoint<are_left" {
                visits_of_are_left(&profile, rank)
            } else {
                found
            };
            assert_eq!(inside, visits, "{path} on rank {rank}");
        }
        let iteration = profile.find("fixpoint<iteration").unwrap();
        assert_eq!(profile.values(iteration, rank).series.len(), 4, "each iteration has its time");
    }
    let sums = |path: &str| -> f64 {
        let index = profile.find(path).unwrap();
        (0..3).map(|rank| profile.values(index, rank).metrics["tuples"].sum()).sum()
    };
    assert_eq!(
        format!("{}", sums("fixpoint<deduplicate") + sums("fixpoint<iteration<deduplicate")),
        "10"
    );
    let tag = |path: &str| {
        profile.callpaths.get(profile.find(path).unwrap()).region.constants["tag"].clone()
    };
    assert_eq!(["input", "output"].map(tag), ["IO", "IO"]);
    only_messages_and_files_are_no_useful_time(&profile);
}

/// Checks the useful time. Calls of MPI say by themselves that they communicate: only files need a
/// tag, and all other regions count as computation.
fn only_messages_and_files_are_no_useful_time(profile: &Profile) {
    let activities = Activity::of_callpaths(&profile.callpaths);
    let mut others = BTreeSet::new();
    for ((_, callpath), activity) in profile.callpaths.iter().zip(&activities) {
        if matches!(activity, Some(Activity::Communication | Activity::InputOutput)) {
            others.insert(callpath.region.name.as_str());
        }
    }
    others.retain(|name| !name.starts_with("MPI_"));
    assert_eq!(others, ["input", "output"].into());
}

/// Returns the visits of `are_left`. The loop condition is checked before the first iteration,
/// outside of it, and after each iteration.
fn visits_of_are_left(profile: &Profile, rank: usize) -> u64 {
    let paths = ["fixpoint<are_left", "fixpoint<iteration<are_left"];
    paths
        .iter()
        .filter_map(|path| profile.find(path))
        .map(|index| profile.values(index, rank).visits())
        .sum()
}
