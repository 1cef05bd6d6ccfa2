//! The scripts of the page: the libraries unchanged, and our modules joined into one.
//!
//! A page opened from disk cannot import modules from files, and the other ways to import need a
//! policy that would let foreign scripts in. So the modules are joined such that each follows the
//! modules it imports, without their `import` lines and the word `export`. Their definitions share
//! one scope, so each name is defined only once.

const LIBRARIES: [&str; 5] = [
    include_str!("../../web/vendor/uplot.js"),
    include_str!("../../web/vendor/d3-color.js"),
    include_str!("../../web/vendor/d3-interpolate.js"),
    include_str!("../../web/vendor/d3-scale-chromatic.js"),
    include_str!("../../web/vendor/d3-hierarchy.js"),
];

macro_rules! modules {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../web/src/", $name)))),*]
    };
}

/// Modules by name, each after the modules it imports.
type Modules = &'static [(&'static str, &'static str)];

/// The modules of the page of profiles.
const OF_PROFILES: Modules = modules![
    "numbers.js",
    "names.js",
    "selection.js",
    "focus.js",
    "elements.js",
    "table.js",
    "columns.js",
    "profile.js",
    "theme.js",
    "colors.js",
    "tooltip.js",
    "canvas.js",
    "grid.js",
    "facts.js",
    "waiting.js",
    "costliest.js",
    "why-list.js",
    "threads.js",
    "waiting-card.js",
    "summary.js",
    "frames.js",
    "flame.js",
    "callers.js",
    "sankey.js",
    "tree.js",
    "tree-view.js",
    "ranks.js",
    "lines.js",
    "series-plot.js",
    "slowest.js",
    "loops.js",
    "iterations.js",
    "boxes.js",
    "executions.js",
    "communication.js",
    "chain.js",
    "lanes.js",
    "structure.js",
    "timeline-lanes.js",
    "timeline-axis.js",
    "timeline-columns.js",
    "timeline-draw.js",
    "timeline-messages.js",
    "timeline-words.js",
    "timeline-table.js",
    "timeline.js",
    "change-colors.js",
    "headline.js",
    "compare.js",
    "tabs.js",
    "place.js",
    "main.js",
];

/// The modules of the page of a running job.
#[cfg(feature = "top")]
const OF_A_RUNNING_JOB: Modules = modules![
    "numbers.js",
    "names.js",
    "selection.js",
    "focus.js",
    "elements.js",
    "table.js",
    "theme.js",
    "colors.js",
    "tooltip.js",
    "canvas.js",
    "facts.js",
    "why-list.js",
    "lines.js",
    "live-history.js",
    "live-callpaths.js",
    "live-ranks.js",
    "live-commands.js",
    "live-main.js",
];

/// Returns the libraries as one script. Each includes its licence, see `web/vendor`.
pub(super) fn libraries() -> String {
    LIBRARIES.join("\n")
}

/// Returns our modules for profiles as one module.
pub(super) fn program() -> String {
    joined(OF_PROFILES)
}

/// Returns our modules for a running job as one module.
#[cfg(feature = "top")]
pub(super) fn live_program() -> String {
    joined(OF_A_RUNNING_JOB)
}

fn joined(modules: Modules) -> String {
    let mut program = String::new();
    for (_, text) in modules {
        for line in text.lines().filter(|line| !line.starts_with("import ")) {
            program.push_str(line.strip_prefix("export ").unwrap_or(line));
            program.push('\n');
        }
    }
    program
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const ALL: [Modules; 2] = [OF_PROFILES, OF_A_RUNNING_JOB];

    #[test]
    fn each_module_comes_after_what_it_imports() {
        for modules in ALL {
            let mut before = BTreeSet::new();
            for (name, text) in modules {
                for line in text.lines().filter(|line| line.starts_with("import ")) {
                    let from = line
                        .rsplit_once(" from \"./")
                        .and_then(|(_, rest)| rest.strip_suffix("\";"))
                        .unwrap_or_else(|| {
                            panic!("{name}: an import is one line, {line:?} is not")
                        });
                    assert!(before.contains(from), "{name} imports {from}, which is not before it");
                }
                before.insert(*name);
            }
            assert_eq!(before.len(), modules.len(), "a module is there twice");
        }
    }

    #[test]
    fn a_name_is_defined_once() {
        for program in ALL.map(joined) {
            let mut names = BTreeSet::new();
            for line in program.lines() {
                let words: Vec<&str> =
                    line.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
                let name = match words.as_slice() {
                    ["async", "function", name, ..]
                    | ["function" | "const" | "let" | "class", name, ..] => name,
                    _ => continue,
                };
                assert!(name.is_empty() || names.insert(*name), "{name} is defined twice");
            }
            assert!(names.len() > 20, "{names:?}");
        }
    }
}
