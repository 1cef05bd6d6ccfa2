//! `tinyprof diff`: the comparison, its output, and its exit codes.

use std::path::Path;

use serde_json::Value;

use crate::support::{json, run, scratch, write};

/// Writes a run of two ranks with these means, in milliseconds, for `main` and `main<a`.
fn run_of(directory: &Path, name: &str, main_ms: f64, a_ms: f64) {
    let ranks = |ms: f64| format!("{:.9}|{:.9}", (ms - 2.0) / 1e3, (ms + 2.0) / 1e3);
    write(directory, name, &[("main", &ranks(main_ms)), ("main<a", &ranks(a_ms))]);
}

/// Writes three runs per side: `main` is slower, `main<a` by no more than chance explains.
fn three_against_three(directory: &Path) {
    for (name, main, a) in [("a1", 100.0, 40.0), ("a2", 102.0, 41.0), ("a3", 101.0, 39.0)] {
        run_of(directory, name, main, a);
    }
    for (name, main, a) in [("b1", 110.0, 40.0), ("b2", 113.0, 42.0), ("b3", 111.0, 41.0)] {
        run_of(directory, name, main, a);
    }
}

const THREE: [&str; 9] = [
    "diff", "--base", "a1.tprof", "a2.tprof", "a3.tprof", "--new", "b1.tprof", "b2.tprof",
    "b3.tprof",
];

fn row<'a>(diff: &'a Value, path: &str) -> &'a Value {
    let rows = diff["callpaths"].as_array().expect("a list");
    rows.iter()
        .find(|row| row["path"] == path)
        .unwrap_or_else(|| panic!("there is no {path} in {diff}"))
}

fn close(found: &Value, expected: f64, what: &str) {
    let found = found.as_f64().unwrap_or_else(|| panic!("{what} is {found}, not a number"));
    assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{what}: {found} for {expected}");
}

/// Computed by `scipy` 1.17.1 from the runs' means in nanoseconds:
/// `ttest_ind(new, base, equal_var=False)`, its `confidence_interval(0.95)`,
/// `false_discovery_control` of both p values, and g from the pooled standard deviation.
#[test]
fn runs_are_compared_as_scipy_does_it() {
    let scratch = scratch();
    three_against_three(scratch.path());
    let diff = json(&[&THREE[..], &["--json"]].concat(), scratch.path());
    let main = row(&diff, "main");
    close(&main["difference"], 10_333_333.333_333_328, "difference");
    close(&main["interval"][0], 7_212_449.381_437_734, "low");
    close(&main["interval"][1], 13_454_217.285_228_923, "high");
    close(&main["p"], 0.001_227_151_353_729_587_4, "p");
    close(&main["adjusted_p"], 0.002_454_302_707_459_175, "adjusted p");
    close(&main["hedges_g"], 6.386_400_140_116_733, "g");
    close(&main["base"]["deviation"], 1e6, "deviation");
    close(&main["change"], 10.333_333_333_333_328 / 101.0, "change");
    let a = row(&diff, "main<a");
    close(&a["interval"][0], -1_266_957.935_527_518_9, "low");
    close(&a["adjusted_p"], 0.287_864_134_726_690_65, "adjusted p");
    assert_eq!((&main["verdict"], &a["verdict"]), (&"up".into(), &"unclear".into()));
    assert_eq!(
        (&main["sample"], &main["base"]["values"], &main["new"]["values"]),
        (&"run".into(), &3.into(), &3.into())
    );
    // Regressions first.
    assert_eq!(diff["callpaths"][0]["path"], "main");
}

#[test]
fn a_script_is_told_by_the_exit_code_what_is_slower_and_not_by_chance() {
    let scratch = scratch();
    three_against_three(scratch.path());
    let check = |more: &[&str], code: i32, fails: u64| {
        let arguments = [&THREE[..], more, &["--json"]].concat();
        assert_eq!(run(&arguments, scratch.path()).code, Some(code), "{more:?}");
        assert_eq!(json(&arguments, scratch.path())["fails"], fails, "{more:?}");
    };
    check(&[], 0, 0);
    check(&["--fail-above", "5%"], 4, 1);
    // 10.2 % is not above 11 %.
    check(&["--fail-above", "11%"], 0, 0);
    // main<a is up by 2.5 %, but that may be chance.
    check(&["--fail-above", "1%", "--path", "main<a"], 0, 0);
    // With the sides swapped, it is an improvement.
    let back = [
        "diff", "--new", "a1.tprof", "a2.tprof", "a3.tprof", "--base", "b1.tprof", "b2.tprof",
        "b3.tprof",
    ];
    let ran = run(&[&back[..], &["--fail-above", "1%"]].concat(), scratch.path());
    assert!(ran.code == Some(0) && ran.stdout.contains("\ndown "), "{}", ran.stdout);
    let single = ["diff", "a1.tprof", "b1.tprof", "--fail-above", "5%"];
    // One value per side: no test is possible, and the limit alone decides.
    let ran = run(&[&single[..], &["--rank", "1"]].concat(), scratch.path());
    assert_eq!(ran.code, Some(4), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("\nunjudged")
            && ran.stdout.contains("1 callpath is up by more than 5.0% (!)")
    );
    assert!(ran.stdout.contains("which does not tell change from chance"), "{}", ran.stdout);
}

#[test]
fn ranks_of_two_runs_are_compared_in_pairs() {
    let scratch = scratch();
    // The ranks differ much more from each other than the runs do.
    write(scratch.path(), "a", &[("main", "1.0|2.0|4.0|8.0")]);
    write(scratch.path(), "more", &[("main", "1.55|3.08|6.25|12.3")]);
    write(scratch.path(), "less", &[("main", "1.031|2.059|4.123|8.236")]);
    let compared = |new: &str, limit: &str| {
        let arguments = ["diff", "a.tprof", new, "--fail-above", limit, "--min-share", "0%"];
        let diff = json(&[&arguments[..], &["--json"]].concat(), scratch.path());
        let main = row(&diff, "main").clone();
        assert_eq!(main["paired"], true);
        (main["verdict"].clone(), diff["fails"].clone(), diff["without_power"].clone(), main)
    };
    let (verdict, _, _, main) = compared("more.tprof", "5%");
    // Each rank is up by 55 %, but by very different times: pairs of ranks leave that in.
    assert_eq!(verdict, "up", "{main}");
    // What is up by 3 % on each rank may be so because it is another run.
    let (verdict, fails, without_power, main) = compared("less.tprof", "5%");
    assert_eq!((verdict, fails, without_power), ("unclear".into(), 0.into(), 1.into()), "{main}");
    assert!(main["smallest_change"].as_f64().expect("a number") >= 0.1, "{main}");
    let ran = run(&["diff", "a.tprof", "less.tprof", "--fail-above", "5%"], scratch.path());
    assert!(ran.stdout.contains("samples: 4 ranks in pairs"), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("could not have failed at 5.0%: less than 10.0%"),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_callpath_that_takes_little_time_fails_nothing_unless_asked_for() {
    let scratch = scratch();
    write(scratch.path(), "a", &[("main", "1.0"), ("main<tiny", "0.001")]);
    write(scratch.path(), "b", &[("main", "1.0"), ("main<tiny", "0.002")]);
    let arguments = ["diff", "a.tprof", "b.tprof", "--fail-above", "5%"];
    let ran = run(&arguments, scratch.path());
    assert!(
        ran.code == Some(0) && ran.stdout.contains("... 1 callpath below 1.0% of the time"),
        "{}",
        ran.stdout
    );
    assert!(!ran.stdout.contains("tiny"), "{}", ran.stdout);
    let ran = run(&[&arguments[..], &["--min-share", "0.1%"]].concat(), scratch.path());
    assert!(ran.code == Some(4) && ran.stdout.contains("+100%!"), "{}", ran.stdout);
    let ran = run(&[&arguments[..], &["--all"]].concat(), scratch.path());
    assert!(ran.code == Some(0) && ran.stdout.contains("+100%  "), "{}", ran.stdout);
}

/// Computed by `scipy` 1.17.1 as above: base 10, 12, 11 ms, new 20, 21, 23, 22 ms.
#[test]
fn executions_are_compared_where_each_side_is_one_run() {
    let scratch = scratch();
    write(scratch.path(), "a", &[("main", "0.009-0.011-0.010|0.011-0.013-0.012")]);
    write(scratch.path(), "b", &[("main", "0.020-0.021-0.023-0.022")]);
    let diff = json(&["diff", "a.tprof", "b.tprof", "--json"], scratch.path());
    let main = row(&diff, "main");
    assert_eq!(
        (&main["sample"], &main["base"]["values"], &main["new"]["values"]),
        (&"execution".into(), &3.into(), &4.into())
    );
    close(&main["difference"], 10.5e6, "difference");
    close(&main["interval"][0], 8_268_288.518_661_212, "low");
    close(&main["p"], 7.114_467_314_235_39e-5, "p");
    let text = run(&["diff", "a.tprof", "b.tprof"], scratch.path()).stdout;
    for note in [
        "different numbers of ranks (1, 2)",
        "different numbers of executions (3, 4)",
        "from run to run",
    ] {
        assert!(text.contains(note), "{note}: {text}");
    }
    // All executions but the first, compared like a run without the first.
    let diff =
        json(&["diff", "a.tprof", "b.tprof", "--json", "--execution", "1-2"], scratch.path());
    close(&row(&diff, "main")["base"]["mean"], 11.5e6, "mean");
    close(&row(&diff, "main")["new"]["mean"], 22e6, "mean");
}

#[test]
fn ranks_are_compared_where_there_is_nothing_else() {
    let scratch = scratch();
    write(scratch.path(), "a", &[("main", "0.010|0.011|0.012"), ("main<a", "|0.003|")]);
    write(scratch.path(), "b", &[("main", "0.020|0.022"), ("main<a", "0.001|0.001")]);
    let diff = json(&["diff", "a.tprof", "b.tprof", "--json"], scratch.path());
    let (main, a) = (row(&diff, "main"), row(&diff, "main<a"));
    assert_eq!(
        (&main["sample"], &main["base"]["values"], &main["new"]["values"]),
        (&"rank".into(), &3.into(), &2.into())
    );
    // Ranks that never visited it spent no time there.
    close(&a["base"]["mean"], 1e6, "mean");
    assert_eq!((&a["sample"], &a["base"]["values"]), (&"rank".into(), &3.into()));
    let several = ["diff", "--base", "a.tprof", "a.tprof", "--new", "b.tprof", "b.tprof", "--json"];
    let several = json(&several, scratch.path());
    close(&row(&several, "main<a")["base"]["mean"], 1e6, "mean");
    assert_eq!((&a["verdict"], &a["difference"]), (&"equal".into(), &0.0.into()));
    let exclusive =
        json(&["diff", "a.tprof", "b.tprof", "--json", "--metric", "exclusive"], scratch.path());
    close(&row(&exclusive, "main")["base"]["mean"], 10e6, "mean");
    close(&row(&exclusive, "main")["new"]["mean"], 20e6, "mean");
    let visits =
        json(&["diff", "a.tprof", "b.tprof", "--json", "--metric", "visits"], scratch.path());
    close(&row(&visits, "main<a")["base"]["mean"], 1.0 / 3.0, "mean");
    close(&row(&visits, "main<a")["new"]["mean"], 1.0, "mean");
    let one = json(&["diff", "a.tprof", "b.tprof", "--json", "--rank", "1"], scratch.path());
    close(&row(&one, "main<a")["base"]["mean"], 3e6, "mean");
    assert_eq!(
        (&row(&one, "main")["sample"], &row(&one, "main")["interval"]),
        (&"value".into(), &Value::Null)
    );
}

#[test]
fn callpaths_of_one_side_only_are_named_and_fail_nothing() {
    let scratch = scratch();
    write(scratch.path(), "a", &[("main", "1.0"), ("main<old", "0.5"), ("main<old<x", "0.1")]);
    write(scratch.path(), "b", &[("main", "1.0"), ("main<fresh", "0.6"), ("other", "0.2")]);
    let ran = run(&["diff", "a.tprof", "b.tprof", "--fail-above", "0%", "--json"], scratch.path());
    let diff: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!((ran.code, &diff["fails"]), (Some(0), &0.into()));
    let verdicts: Vec<(&str, &str)> = diff["callpaths"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|row| {
            (row["path"].as_str().expect("a path"), row["verdict"].as_str().expect("a verdict"))
        })
        .collect();
    let expected = [
        ("main", "equal"),
        ("main<fresh", "new"),
        ("other", "new"),
        ("main<old<x", "gone"),
        ("main<old", "gone"),
    ];
    assert_eq!(verdicts, expected);
    let fresh = row(&diff, "main<fresh");
    assert_eq!(
        (&fresh["base"]["mean"], &fresh["change"], &fresh["p"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
    // A callpath in one of two runs is not new: the other run spent no time there.
    let several = ["diff", "--base", "a.tprof", "b.tprof", "--new", "b.tprof", "b.tprof", "--json"];
    let diff = json(&several, scratch.path());
    close(&row(&diff, "main<fresh")["base"]["mean"], 0.3e9, "mean");
    assert_eq!(
        (&row(&diff, "main<fresh")["base"]["runs"], &row(&diff, "main<old")["verdict"]),
        (&1.into(), &"gone".into())
    );
    // Nothing in common.
    write(scratch.path(), "c", &[("else", "1.0")]);
    let ran = run(&["diff", "a.tprof", "c.tprof", "--fail-above", "0%"], scratch.path());
    assert!(
        ran.code == Some(0) && ran.stdout.contains("no callpath is on both sides"),
        "{}",
        ran.stdout
    );
}

#[test]
fn one_run_against_several_has_no_interval_and_says_so() {
    let scratch = scratch();
    three_against_three(scratch.path());
    let one = ["diff", "--base", "a1.tprof", "--new", "b1.tprof", "b2.tprof"];
    let diff = json(&[&one[..], &["--json"]].concat(), scratch.path());
    let main = row(&diff, "main");
    assert_eq!(
        (&main["verdict"], &main["interval"], &main["p"]),
        (&"unjudged".into(), &Value::Null, &Value::Null)
    );
    assert_eq!((&main["sample"], &main["base"]["values"]), (&"run".into(), &1.into()));
    assert!(run(&one, scratch.path()).stdout.contains("one side has one run only"));
}

#[test]
fn runs_of_one_name_are_told_apart_by_their_paths() {
    let scratch = scratch();
    for version in ["old", "new"] {
        std::fs::create_dir(scratch.path().join(version)).expect("a directory");
        write(&scratch.path().join(version), "run", &[("main", "1.0")]);
    }
    let text = run(&["diff", "old/run.tprof", "new/run.tprof"], scratch.path()).stdout;
    assert!(text.starts_with("new/run.tprof against old/run.tprof: "), "{text}");
    let text = run(&["diff", "old/run.tprof/", "new/run-1.tprof"], scratch.path());
    assert_eq!(text.code, Some(1), "there is no such profile");
    write(scratch.path(), "other", &[("main", "1.0")]);
    let text = run(&["diff", "old/run.tprof/", "other.tprof"], scratch.path()).stdout;
    assert!(text.starts_with("other.tprof against run.tprof: "), "{text}");
}

#[test]
fn hostile_names_stay_in_their_cell() {
    let scratch = scratch();
    let hostile = [("main", "1.0"), ("main<%1B[2J%0Aup", "0.5"), ("main<=1+1%22", "0.4")];
    write(scratch.path(), "a", &hostile);
    write(scratch.path(), "b", &hostile);
    let text = run(&["diff", "a.tprof", "b.tprof"], scratch.path()).stdout;
    assert!(!text.contains('\u{1b}') && text.contains(r"main<\u{1b}[2J\nup"), "{text}");
    let csv = run(&["diff", "a.tprof", "b.tprof", "--format", "csv"], scratch.path()).stdout;
    assert!(!csv.contains('\u{1b}') && csv.lines().count() == 4, "{csv}");
    assert!(csv.contains("\"main<=1+1\"\"\",equal,false,value,1,400000000,"), "{csv}");
    let diff = json(&["diff", "a.tprof", "b.tprof", "--json"], scratch.path());
    assert_eq!(row(&diff, "main<\u{1b}[2J\nup")["name"], "\u{1b}[2J\nup");
}

#[test]
fn what_cannot_be_compared_is_said() {
    let scratch = scratch();
    write(scratch.path(), "a", &[("main", "1.0")]);
    let check = |arguments: &[&str], code: i32, expected: &str| {
        let ran = run(&[&["diff"], arguments].concat(), scratch.path());
        assert!(
            ran.code == Some(code) && ran.stderr.contains(expected),
            "{arguments:?}: {}",
            ran.stderr
        );
    };
    check(&["a.tprof"], 2, "2 values required");
    check(&["--base", "a.tprof"], 2, "--new");
    check(
        &["a.tprof", "a.tprof", "--base", "a.tprof", "--new", "a.tprof"],
        2,
        "cannot be used with",
    );
    check(&["a.tprof", "a.tprof", "--fail-above", "5"], 2, "expected a percentage such as 5%");
    check(&["a.tprof", "nowhere.tprof"], 1, "nowhere.tprof");
    check(&["a.tprof", "a.tprof", "--path", "x"], 1, "a.tprof: there is no callpath x");
    check(
        &["a.tprof", "a.tprof", "--metric", "bytes"],
        2,
        "a.tprof: there is no metric bytes: expected inclusive",
    );
}

/// Three runs a side of five executions, of which one is disturbed by another amount in each run.
#[test]
fn an_estimator_makes_the_value_of_a_run_of_its_executions() {
    let scratch = scratch();
    let run_of = |name: &str, longer_ms: f64, disturbed_ms: f64| {
        let times = [10.2, 10.0, disturbed_ms, 10.1, 10.3].map(|ms| (ms + longer_ms) / 1e3);
        let times = times.map(|seconds| format!("{seconds:.9}")).join("-");
        write(scratch.path(), name, &[("main", &times)]);
    };
    for (name, longer_ms, disturbed_ms) in [
        ("a1", 0.0, 11.0),
        ("a2", 0.02, 90.0),
        ("a3", 0.01, 40.0),
        ("b1", 1.0, 70.0),
        ("b2", 1.02, 12.0),
        ("b3", 1.01, 30.0),
    ] {
        run_of(name, longer_ms, disturbed_ms);
    }
    let check = |estimator: &str, base_ms: f64, new_ms: f64, verdict: &str| {
        let options = ["--estimator", estimator, "--json"];
        let diff = json(&[&THREE[..], &options].concat(), scratch.path());
        assert_eq!(diff["estimator"], estimator);
        let main = row(&diff, "main");
        close(&main["base"]["mean"], base_ms * 1e6, "base");
        close(&main["new"]["mean"], new_ms * 1e6, "new");
        assert_eq!((&main["verdict"], &main["sample"]), (&verdict.into(), &"run".into()));
    };
    check("mean", 17.53, 16.596_666_666_666_666, "unclear");
    check("median", 10.21, 11.21, "up");
    check("min", 10.01, 11.01, "up");
    let told = |arguments: &[&str]| run(arguments, scratch.path()).stdout;
    let text = told(&[&THREE[..], &["--estimator", "min"]].concat());
    assert!(text.contains("the least of each run's executions"), "{text}");
    let advice =
        "less than 94.2% of the time cannot be told from chance: tinyprof diff --estimator min";
    let by_mean = told(&[&THREE[..], &["--width", "200"]].concat());
    assert!(by_mean.contains(advice) && !text.contains("cannot be told"), "{by_mean}");
    let single = told(&["diff", "a1.tprof", "b1.tprof", "--estimator", "min"]);
    assert!(single.contains("no effect on two single runs"), "{single}");
}
