//! Hostile names, which try to be more than names.

use super::{BINARIES, TEXTS, export, imported, json, text, xml};

const NAMES: [&str; 12] = [
    "\"quoted\" and 'quoted'",
    "<script>alert(1)</script>",
    "]]><!-- &amp;",
    "a;b",
    "two\nlines\r\n",
    "right\u{202e}left",
    "nul\0",
    "esc\u{1b}[2J\u{9b}",
    "p|q",
    "step 12",
    "a->b\\",
    "流れ\u{ffff}",
];

/// Creates a profile in which each name is a child of the previous one, so that paths are hostile
/// too.
fn hostile() -> tempfile::TempDir {
    let escaped = |name: &str| name.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    let mut rows = String::new();
    let mut above = "null".to_owned();
    for (depth, name) in NAMES.iter().enumerate() {
        let id = if depth == 0 { escaped(name) } else { format!("{above}<{}", escaped(name)) };
        let ns = 100 - depth;
        rows.push_str(&format!("\"{id}\",\"{above}\",\"null\",\"1\",\"0.{ns:09}|0.{ns:09}\"\n"));
        above = id;
    }
    imported(&rows)
}

#[test]
fn texts_steer_no_terminal() {
    let scratch = hostile();
    let profile = scratch.path().join("run.tprof");
    for format in TEXTS {
        let text = text(&profile, format, &[]);
        let is_hazard = |c: char| {
            (c.is_control() && c != '\n' && c != '\t') || matches!(c, '\u{202e}' | '\u{ffff}')
        };
        assert_eq!(text.chars().find(|c| is_hazard(*c)), None, "{format}");
    }
    for format in BINARIES {
        export(&profile, format, &[]);
    }
}

#[test]
fn json_gives_the_names_back() {
    let scratch = hostile();
    let profile = scratch.path().join("run.tprof");
    let speedscope = json(&profile, "speedscope", &[]);
    let hatchet = json(&profile, "hatchet", &[]);
    let chrome = json(&profile, "chrome", &[]);
    let slices = chrome["traceEvents"].as_array().expect("a list");
    for (depth, name) in NAMES.iter().enumerate() {
        assert_eq!(speedscope["shared"]["frames"][depth]["name"], *name);
        assert_eq!(hatchet["nodes"][depth]["label"], *name);
        assert!(slices.iter().any(|slice| slice["ph"] == "X" && slice["name"] == *name), "{name}");
    }
}

#[test]
fn xml_is_well_formed_and_no_name_becomes_markup() {
    let scratch = hostile();
    let profile = scratch.path().join("run.tprof");
    let svg = text(&profile, "flamegraph", &[]);
    xml(&svg);
    assert!(!svg.contains("<script>alert"), "{svg}");
    let graph = text(&profile, "graphml", &[]);
    assert_eq!(graph.matches("<data key=\"name\">").count(), NAMES.len());
    let found = xml(&graph);
    for expected in ["two\\nlines\\r\\n", "right\\u{202e}left", "nul\\u{0}", "流れ\\u{ffff}", "a;b"]
    {
        assert!(found.iter().any(|text| text == expected), "{expected}: {found:?}");
    }
}

#[test]
fn a_folded_line_has_a_frame_for_each_region_and_one_number() {
    let scratch = hostile();
    let folded = text(&scratch.path().join("run.tprof"), "folded", &[]);
    assert_eq!(folded.lines().count(), NAMES.len());
    for line in folded.lines() {
        let (stack, ns) = line.rsplit_once(' ').expect("a number");
        let depth = stack.split(';').count();
        // Each callpath takes one nanosecond less than the one above it, on both ranks.
        assert_eq!(ns, if depth == NAMES.len() { "178" } else { "2" }, "{line}");
        let last = stack.rsplit(' ').next().expect("a word");
        assert!(
            last.parse::<f64>().is_err(),
            "would read as the number of a second profile: {line}"
        );
    }
}

#[test]
fn a_label_ends_where_it_should() {
    let scratch = hostile();
    for line in text(&scratch.path().join("run.tprof"), "openmetrics", &[]).lines() {
        assert!(line.starts_with("# ") || line.starts_with("tinyprof_"), "{line}");
        let plain = line.replace("\\\\", "").replace("\\\"", "");
        assert!(line.starts_with('#') || plain.matches('"').count() % 2 == 0, "{line}");
    }
}

#[test]
fn a_path_for_extra_p_has_a_region_for_each_arrow() {
    let scratch = hostile();
    let extrap = json(&scratch.path().join("run.tprof"), "extrap", &[]);
    let paths = extrap["measurements"].as_object().expect("a map").keys();
    let mut depths: Vec<usize> = paths.map(|path| path.split("->").count()).collect();
    depths.sort_unstable();
    assert_eq!(depths, (1..=NAMES.len()).collect::<Vec<_>>());
}

#[test]
fn siblings_of_one_name_stay_apart() {
    let scratch = imported(
        "main,null,null,0,0.5\n\
         main<a,main,null,0,0.1\n\
         main<a%~2,main,null,0,0.2\n\
         main<a%~2<x,main<a%~2,null,0,0.05\n",
    );
    let profile = scratch.path().join("run.tprof");
    let extrap = json(&profile, "extrap", &[]);
    let paths: Vec<&String> = extrap["measurements"].as_object().expect("a map").keys().collect();
    assert_eq!(paths.len(), 4, "{paths:?}");
    let below = paths.iter().find(|path| path.ends_with("->x")).expect("x");
    assert!(
        paths.contains(&&below[..below.len() - 3].to_owned()),
        "x is below its parent: {paths:?}"
    );
    let metrics = text(&profile, "openmetrics", &[]);
    let mut series: Vec<&str> =
        metrics.lines().filter_map(|line| line.rsplit_once("} ")).map(|(name, _)| name).collect();
    let all = series.len();
    series.sort_unstable();
    series.dedup();
    assert_eq!(series.len(), all, "no series is there twice");
}
