//! `tinyprof completions` and `tinyprof man`, checked with the programs that read their output.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::{Ran, done, run, scratch};

fn output(program: &str, arguments: &[&str], directory: &Path) -> std::io::Result<Output> {
    Command::new(program).args(arguments).current_dir(directory).output()
}

fn bash(script: &str, directory: &Path) -> Ran {
    output("bash", &["--noprofile", "--norc", "-c", script], directory).expect("bash starts").into()
}

#[test]
fn bash_completes_commands_options_and_formats() {
    let scratch = scratch();
    fs::write(scratch.path().join("completions"), done(&["completions", "bash"], scratch.path()))
        .expect("it is written");
    let parsed = bash("bash -n completions", scratch.path());
    assert_eq!((parsed.code, parsed.stderr.as_str()), (Some(0), ""));
    let completed = |words: &str| -> Vec<String> {
        let script = format!(
            "source completions; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             last=${{COMP_WORDS[COMP_CWORD]}}; before=${{COMP_WORDS[COMP_CWORD - 1]}}; \
             _tinyprof tinyprof \"$last\" \"$before\"; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let ran = bash(&script, scratch.path());
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{words}");
        ran.stdout.lines().map(str::to_owned).collect()
    };
    assert_eq!(completed("tinyprof re"), ["report", "recover"]);
    assert_eq!(completed("tinyprof diff --fail"), ["--fail-above"]);
    assert_eq!(completed("tinyprof tree --format ''"), ["text", "json", "csv"]);
}

#[test]
fn each_shell_has_its_completions() {
    let scratch = scratch();
    for (shell, sign) in [
        ("bash", "complete -F _tinyprof"),
        ("zsh", "#compdef tinyprof"),
        ("fish", "complete -c tinyprof"),
        ("elvish", "edit:completion"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        let script = done(&["completions", shell], scratch.path());
        assert!(script.contains(sign) && script.contains("fail-above"), "{shell}: {script}");
    }
    assert_eq!(run(&["completions", "csh"], scratch.path()).code, Some(2));
}

/// Returns the complaints of a manual page linter about a page; there should be none.
fn complaints(page: &str, directory: &Path) -> String {
    let mandoc = output("mandoc", &["-T", "lint", "-W", "warning", page], directory);
    // Part of groff-base, which `man` itself needs.
    let linted =
        mandoc.or_else(|_| output("groff", &["-man", "-ww", "-z", "-Tutf8", page], directory));
    let ran = Ran::from(linted.expect("mandoc or groff is there to judge manual pages"));
    ran.stdout + &ran.stderr
}

#[test]
fn each_command_has_a_manual_page_that_its_formatter_accepts() {
    let scratch = scratch();
    assert_eq!(done(&["man", "--output", "share/man1"], scratch.path()), "");
    let directory = scratch.path().join("share/man1");
    let help = done(&["--help"], scratch.path());
    let commands = help
        .split_once("Commands:\n")
        .and_then(|(_, rest)| rest.split_once("\n\n"))
        .expect("commands")
        .0;
    let names: Vec<&str> =
        commands.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.contains(&"diff") && names.len() >= 11, "{names:?}");
    let pages =
        names.iter().filter(|name| **name != "help").map(|name| format!("tinyprof-{name}.1"));
    for page in pages.chain(["tinyprof.1".to_owned()]) {
        let text = fs::read_to_string(directory.join(&page))
            .unwrap_or_else(|error| panic!("{page}: {error}"));
        assert!(text.contains("Exit codes:"), "{page} tells the exit codes");
        assert_eq!(complaints(&page, &directory), "", "{page}");
    }
    // Again, overwriting the existing pages.
    assert_eq!(done(&["man", "-o", "share/man1"], scratch.path()), "");
    fs::write(scratch.path().join("file"), "").expect("a file");
    let ran = run(&["man", "-o", "file"], scratch.path());
    assert!(
        ran.code == Some(1) && ran.stderr.contains("cannot write the manual pages to file: "),
        "{}",
        ran.stderr
    );
}

/// Checks that the test above can fail.
#[test]
fn a_broken_manual_page_is_noticed() {
    let scratch = scratch();
    fs::write(
        scratch.path().join("broken.1"),
        ".TH BROKEN 1\n.SH NAME\n.de\n\\s99x\\fQ\n.no_such_request\n",
    )
    .expect("a file");
    assert_ne!(complaints("broken.1", scratch.path()), "");
}
