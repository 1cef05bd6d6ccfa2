//! The report as text.

use insta::assert_snapshot;
use tinyprof_format::model::{Losses, MetricSummary, MetricValues, Profile};
use tinyprof_report::{Report, TextOptions};

use crate::fixture::{Node, event_map, fft, profile, profile_of, with_metrics};

fn text(profile: &Profile, columns: u16) -> String {
    let text = Report::of_profile(profile)
        .named("FFT.tprof")
        .to_text(&TextOptions::default().with_width(columns));
    assert_fits(&text, columns);
    text
}

fn assert_fits(text: &str, columns: u16) {
    for line in text.lines() {
        let width = unicode_width::UnicodeWidthStr::width(line);
        assert!(width <= usize::from(columns), "{width} columns: {line}");
        assert!(!line.chars().any(char::is_control), "{line:?}");
    }
}

#[test]
fn four_ranks_in_80_columns() {
    assert_snapshot!(text(&profile_of(&fft(), 4), 80));
}

#[test]
fn four_ranks_in_120_columns() {
    assert_snapshot!(text(&profile_of(&fft(), 4), 120));
}

#[test]
fn one_rank_needs_no_columns_over_ranks() {
    assert_snapshot!(text(&profile_of(&fft(), 1), 80));
}

#[test]
fn many_ranks_in_80_columns() {
    assert_snapshot!(text(&profile_of(&fft(), 4096), 80));
}

#[test]
fn many_ranks_in_120_columns() {
    assert_snapshot!(text(&profile_of(&fft(), 4096), 120));
}

#[test]
fn a_narrow_terminal_keeps_the_numbers_that_matter_most() {
    assert_snapshot!(text(&profile_of(&fft(), 4), 50));
}

#[test]
fn nothing_is_folded_when_all_is_asked_for() {
    let report = Report::of_profile(&profile_of(&fft(), 2));
    assert_snapshot!(report.to_text(&TextOptions::default().with_width(80).unfolded()));
}

#[test]
fn long_names_are_cut_in_the_middle() {
    let long = |word: &str| format!("{word}::{}::{word}_end", "a_module_with_a_name".repeat(9));
    let (solver, step) = (long("solver"), long("step"));
    assert!(solver.len() > 190);
    let tree = [
        Node { name: &solver, parent: None, ns: |_| Some(2_000_000_000) },
        Node {
            name: &step,
            parent: Some(0),
            ns: |rank| Some(1_700_000_000 - u64::from(rank) * 1_000),
        },
        Node { name: "short", parent: Some(1), ns: |_| Some(1_000_000_000) },
    ];
    assert_snapshot!(format!(
        "{}\n{}",
        text(&profile_of(&tree, 4), 80),
        text(&profile_of(&tree, 4), 120)
    ));
}

#[test]
fn hostile_names_cannot_leave_their_cell() {
    let tree = [
        Node { name: "\u{1b}[2J\u{1b}[31mred", parent: None, ns: |_| Some(100_000) },
        Node { name: "line\none\ttab\r", parent: Some(0), ns: |_| Some(90_000) },
        Node { name: "right\u{202e}tfel\u{2066}", parent: Some(0), ns: |_| Some(9_000) },
        Node { name: "zero\u{200b}width\u{feff}", parent: Some(1), ns: |_| Some(80_000) },
        Node { name: "流れ計算 (full width)", parent: Some(1), ns: |_| Some(5_000) },
        Node { name: "  looks indented", parent: Some(1), ns: |_| Some(4_000) },
        Node { name: "", parent: Some(3), ns: |_| Some(70_000) },
        Node { name: "👩‍👩‍👧 family", parent: Some(3), ns: |_| Some(7_000) },
    ];
    let report = Report::of_profile(&profile_of(&tree, 1)).named("\u{9b}31mhostile\u{7}.tprof");
    let text = report.to_text(&TextOptions::default().with_width(80));
    assert_fits(&text, 80);
    assert_snapshot!(text);
}

#[test]
fn each_loss_is_told_below_the_table() {
    let mut profile = profile_of(&fft(), 1);
    profile.manifest.losses =
        Losses::from_numbers([1, 2, 3, 1, 12, 1, 1, 2, 4_096, 2, 512, 1, 2, 1, 3, 5, 4]);
    assert_snapshot!(text(&profile, 80));
}

#[test]
fn a_straggler_that_is_small_on_average_is_shown() {
    let tree = [
        Node { name: "main", parent: None, ns: |_| Some(1_000_000_000) },
        Node { name: "compute", parent: Some(0), ns: |_| Some(690_000_000) },
        Node { name: "write", parent: Some(0), ns: |rank| (rank == 100).then_some(300_000_000) },
        Node { name: "open", parent: Some(2), ns: |rank| (rank == 100).then_some(299_000_000) },
        Node { name: "small_on_each", parent: Some(0), ns: |_| Some(5_000_000) },
        Node { name: "small_too", parent: Some(0), ns: |_| Some(1_000_000) },
    ];
    assert_snapshot!(text(&profile_of(&tree, 256), 100));
}

#[test]
fn of_many_equal_roots_some_are_shown() {
    let names: Vec<String> = (0..200).map(|thread| format!("thread_{thread:03}")).collect();
    let tree: Vec<Node<'_>> =
        names.iter().map(|name| Node { name, parent: None, ns: |_| Some(1_000_000) }).collect();
    let text = text(&profile_of(&tree, 1), 80);
    assert_eq!(text.lines().count(), 7, "{text}");
    assert!(text.contains("... 197 smaller callpaths"), "{text}");
}

#[test]
fn a_tree_too_deep_to_indent_shows_its_levels() {
    let names: Vec<String> = (0..3_000).map(|depth| format!("recurse_{depth}")).collect();
    let tree: Vec<Node<'_>> = (0..)
        .zip(&names)
        .map(|(depth, name): (usize, _)| Node {
            name,
            parent: depth.checked_sub(1),
            ns: |_| Some(1_000_000_000),
        })
        .collect();
    let profile = profile_of(&tree, 1);
    let text =
        Report::of_profile(&profile).to_text(&TextOptions::default().with_width(80).unfolded());
    assert_fits(&text, 80);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3_003);
    assert_snapshot!([&lines[..4], &lines[15..22], &lines[3_000..]].concat().join("\n"));
}

#[test]
fn a_report_fits_one_screen_however_large_the_program_is() {
    let names: Vec<String> = (0..400).map(|at| format!("region_{at}")).collect();
    let wide: Vec<Node<'_>> = (0..)
        .zip(&names)
        .map(|(at, name): (usize, _)| Node {
            name,
            parent: at.checked_sub(1).map(|at| at / 4),
            ns: |_| Some(9_000_000),
        })
        .collect();
    let deep: Vec<Node<'_>> = (0..)
        .zip(&names)
        .map(|(at, name): (usize, _)| Node {
            name,
            parent: at.checked_sub(1),
            ns: |_| Some(9_000_000),
        })
        .collect();
    for tree in [wide, deep] {
        for columns in [80, 200] {
            let text = text(&profile_of(&tree, 4), columns);
            let lines = text.lines().count();
            assert!((10..=40).contains(&lines), "{lines} lines:\n{text}");
            assert!(text.contains("... "), "the rest is counted: {text}");
        }
    }
}

#[test]
fn the_costliest_callpaths_are_shown_with_those_above_them_whatever_else_there_is() {
    let names: Vec<String> = (0..90).map(|at| format!("region_{at}")).collect();
    let mut tree = vec![Node { name: "main", parent: None, ns: |_| Some(10_000_000_000) }];
    // Many callpaths above one percent, and deep below one of them the hottest.
    tree.extend(names[..60].iter().map(|name| Node {
        name,
        parent: Some(0),
        ns: |_| Some(110_000_000),
    }));
    tree.push(Node { name: "outer", parent: Some(0), ns: |_| Some(3_000_000_000) });
    tree.push(Node { name: "middle", parent: Some(61), ns: |_| Some(2_990_000_000) });
    tree.push(Node { name: "hot", parent: Some(62), ns: |_| Some(2_980_000_000) });
    let mut map = event_map(&tree, 0);
    for values in &mut map.values {
        let of_key = |key: f64| {
            let executions = vec![MetricSummary::of_one_value(0, key)];
            MetricValues { executions, ..MetricValues::default() }
        };
        let bytes = f64::from(u32::try_from(values.inclusive_ns() / 1_000).expect("few bytes"));
        values.metrics =
            [("alloc_bytes".to_owned(), of_key(bytes)), ("alloc_calls".to_owned(), of_key(1.0))]
                .into();
    }
    let text = Report::of_event_map(&map, "fft").to_text(&TextOptions::default());
    assert!((36..=40).contains(&text.lines().count()), "{text}");
    for shown in
        ["\n  outer ", "\n    middle ", "\n      hot ", "\nmain               alloc_bytes "]
    {
        assert!(text.contains(shown), "{shown}: {text}");
    }
    let lines = text.lines().filter(|line| line.starts_with("  region_"));
    assert!(lines.count() > 15, "the tree comes before the metrics: {text}");
}

#[test]
fn columns_are_left_out_before_names_are_cut() {
    let name = "compute_the_residual_of_the_field_on_all_levels";
    let tree = [
        Node { name: "main", parent: None, ns: |_| Some(1_000_000_000) },
        Node { name, parent: Some(0), ns: |rank| Some(500_000_000 + u64::from(rank)) },
    ];
    let profile = profile_of(&tree, 4);
    let narrow = text(&profile, 110);
    assert!(narrow.contains(name) && !narrow.contains(" var"), "{narrow}");
    let wide = text(&profile, 160);
    assert!(wide.contains(name) && wide.contains("variation"), "{wide}");
}

#[test]
fn a_host_is_in_the_table_or_below_it() {
    let tree = [
        Node {
            name: "main",
            parent: None,
            ns: |rank| Some(1_000_000_000 + u64::from(rank == 130) * 500_000_000),
        },
        Node {
            name: "wait",
            parent: Some(0),
            ns: |rank| Some(if rank == 70 { 900_000_000 } else { 300_000_000 }),
        },
    ];
    let profile = profile_of(&tree, 200);
    let wide = text(&profile, 120);
    assert!(wide.contains(" 130  node002 ") && wide.contains("  70  node001 "), "{wide}");
    assert!(!wide.contains("hosts: "), "{wide}");
    let narrow = text(&profile, 60);
    assert!(narrow.contains("\nhosts: rank 70 on node001, rank 130 on node002\n"), "{narrow}");
    let one_host = text(&profile_of(&tree, 64), 80);
    assert!(!one_host.contains("node"), "{one_host}");
}

#[test]
fn a_profile_without_callpaths_says_so() {
    let empty = [event_map(&[], 0), event_map(&[], 1)];
    assert_snapshot!(text(&profile(&empty), 80), @r"
    FFT.tprof: 2 ranks on 1 host, 20 executions, 0 callpaths, 0 ns per rank
    no region was visited
    ");
}

#[test]
fn times_of_zero_have_no_share() {
    let tree = [
        Node { name: "main", parent: None, ns: |_| Some(0) },
        Node { name: "child", parent: Some(0), ns: |_| Some(0) },
    ];
    assert_snapshot!(text(&profile_of(&tree, 2), 120));
}

#[test]
fn any_width_is_survived() {
    let report = Report::of_profile(&profile_of(&fft(), 4));
    for columns in [0, 1, 7, 30, u16::MAX] {
        let text = report.to_text(&TextOptions::default().with_width(columns));
        assert!(
            text.contains("1.23 s") && text.contains("main ") && text.contains("89.0%"),
            "{columns}: {text}"
        );
    }
}

fn fft_with_metrics(ranks: u32, more: u32) -> Profile {
    profile(&with_metrics((0..ranks).map(|rank| event_map(&fft(), rank)).collect(), more))
}

#[test]
fn metrics_stand_below_the_table() {
    let profile = fft_with_metrics(4, 0);
    assert_snapshot!(format!("{}\n{}", text(&profile, 80), text(&profile, 50)));
}

#[test]
fn many_metrics_are_counted_and_hostile_keys_stay_in_their_cell() {
    let profile = fft_with_metrics(1, 30);
    for columns in [45, 60, 100, 200] {
        let text = text(&profile, columns);
        let (_, block) = text.split_once("metrics ").expect("a block of metrics");
        let (block, _) = block.split_once("overhead: ").expect("the cost stands below");
        let more = 33 - (block.lines().count() - 2);
        assert!(block.ends_with(&format!("... {more} more\n")), "{text}");
        assert!((36..=40).contains(&text.lines().count()), "they fill one screen: {text}");
    }
    assert_snapshot!(text(&profile, 100));
}

#[test]
fn work_that_went_to_other_threads_is_told_from_the_time_on_the_wall() {
    let tree = [
        Node { name: "main", parent: None, ns: |_| Some(2_000_000_000) },
        Node { name: "solve", parent: Some(0), ns: |_| Some(1_900_000_000) },
        Node { name: "row", parent: Some(1), ns: |_| Some(3_420_000_000) },
    ];
    let mut map = event_map(&tree, 0);
    map.facts.threads = 3;
    let report = Report::of_event_map(&map, "pool");
    let text = report.to_text(&TextOptions::default());
    assert!(text.starts_with("pool: 1 rank on 1 host, 3 threads, 20 executions, "), "{text}");
    let cells = |name: &str| {
        let line = text.lines().find(|line| line.trim_start().starts_with(name)).expect(name);
        line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!((cells("solve")[3].as_str(), cells("row")[3].as_str()), ("-", "3.42s"));
    let told = "note: work of solve went to other threads: below it are 1.8 times its 1.90 s, added up over";
    assert!(text.contains(told), "{text}");
    let (solve, callpath) = report.callpaths.iter().nth(1).expect("the second");
    assert_eq!((&*callpath.region.name, report.threads_at_once(solve)), ("solve", Some(1.8)));
}

#[test]
fn where_an_estimate_is_lost_in_its_error_only_bounds_are_shown() {
    let tree = [
        Node { name: "parent", parent: None, ns: |_| Some(1_000_000) },
        Node { name: "tiny", parent: Some(0), ns: |_| Some(0) },
    ];
    let mut map = event_map(&tree, 0);
    map.values[1].executions[0].sum_variance_ns2 = 1e14;
    let text = Report::of_event_map(&map, "budget").to_text(&TextOptions::default());
    let line = text.lines().find(|line| line.trim_start().starts_with("tiny")).expect("a line");
    let cells: Vec<&str> = line.split_whitespace().collect();
    // No longer than the parent, with callees or without.
    assert_eq!(cells[2..5], ["<1.00ms", "<1.00ms", "<100%"], "{text}");
}

#[test]
fn a_time_that_is_an_estimate_is_marked() {
    let mut map = event_map(&fft(), 0);
    let transpose = |map: &tinyprof_format::model::EventMap| {
        map.callpaths
            .iter()
            .map(|(i, _)| i)
            .find(|i| map.callpaths.path(*i).ends_with("<transpose"))
    };
    let row = transpose(&map).expect("the FFT transposes").row();
    map.values[row].executions[0].sum_variance_ns2 = 1e12;
    map.facts.losses.visits_not_timed = 12;
    let report = Report::of_event_map(&map, "fft");
    let text = report.to_text(&TextOptions::default().with_width(80));
    assert_fits(&text, 80);
    assert_snapshot!(text);
    assert_eq!(report.statistics.row(row).inclusive.standard_error_ns(), Some(1e6));
}
