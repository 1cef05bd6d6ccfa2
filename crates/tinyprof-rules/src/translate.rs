//! The translation of the rules of hints to Rust, for the recorder, which links neither TOML nor
//! CEL. Only tests contain it: what it writes is part of the sources of `tinyprof-report`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use cel::IdedExpr;
use cel::common::ast::{CallExpr, Expr, LiteralValue, operators};
use tinyprof_report::{Certainty, HINTS};

use crate::expression::Expression;
use crate::facts::{Fact, Scope};
use crate::parse::parse;
use crate::rule::Rule;
use crate::rules::HINTS as TOML;
use crate::template::{Form, Part, Template};

const HEAD: &str =
    "//! The rules of hints. Do not edit: `tinyprof-rules` translates its `hints.toml` to \
                    this.

use super::finding::{Certainty, FindingKind};
use super::hint::{Hint, HintScope, known, percent, plain, seconds, text};

/// All rules of hints. A rule can explain findings of those after it.
";

fn rules() -> Vec<Rule> {
    let (rules, problems) = parse(TOML, "hints.toml", true);
    assert_eq!(problems, []);
    rules
}

/// Returns the file of Rust.
fn translation(rules: &[Rule]) -> String {
    let mut file = format!("{HEAD}pub static HINTS: [Hint; {}] = [\n", rules.len());
    for rule in rules {
        let kind = camel_case(&rule.name);
        let scope = camel_case(rule.scope.word());
        let certainty = match rule.certainty {
            Certainty::Estimated => "Estimated",
            Certainty::AtMost => "AtMost",
            _ => "Measured",
        };
        let seconds = rule.seconds.as_ref().expect("a hint has seconds");
        let (text, evidence) = (rule.text.as_ref().expect("text"), rule.evidence.as_ref());
        // Writing to a string cannot fail.
        let _ = write!(
            file,
            "    Hint {{
        name: {:?},
        kind: FindingKind::{kind},
        certainty: Certainty::{certainty},
        scope: HintScope::{scope},
        when: {},
        seconds: {},
        headline: {},
        evidence: {},
        advice: {},
    }},
",
            rule.name,
            closure(&known(&rule.when)),
            closure(&known(seconds)),
            closure(&sentence(text)),
            closure(&sentence(evidence.expect("evidence"))),
            closure(&sentence(&rule.advice)),
        );
    }
    file + "];\n"
}

/// Returns a closure over the facts of the run and of the subject itself.
fn closure(body: &str) -> String {
    let name = |name: &str| match ["number_of", "text_of"]
        .iter()
        .any(|of| body.contains(&format!("{name}.{of}")))
    {
        true => name.to_owned(),
        false => format!("_{name}"),
    };
    format!("|{}, {}| {body}", name("run"), name("own"))
}

fn camel_case(name: &str) -> String {
    let of = |word: &str| word[..1].to_uppercase() + &word[1..];
    name.split('_').map(of).collect()
}

/// Returns an expression that is none where a fact is unknown, in a closure that may return none.
fn known(expression: &Expression) -> String {
    let tree = expression.tree();
    match &tree.expr {
        Expr::Select(_) => translated(tree).trim_end_matches('?').to_owned(),
        Expr::Call(call) => format!("Some({})", joined(call)),
        _ => format!("Some({})", translated(tree)),
    }
}

fn translated(expression: &IdedExpr) -> String {
    match &expression.expr {
        Expr::Literal(LiteralValue::Double(number)) => format!("{:?}", **number),
        Expr::Literal(LiteralValue::String(text)) => format!("{:?}", text.inner()),
        Expr::Select(select) => {
            let Expr::Ident(scope) = &select.operand.expr else { panic!("a fact of a scope") };
            let scope = Scope::of_word(scope).expect("a scope");
            let fact = Fact::of(scope, &select.field).expect("the parser has checked it");
            let of = if scope == Scope::Run { "run" } else { "own" };
            let kind = if fact.is_text() { "text_of" } else { "number_of" };
            format!("{of}.{kind}({:?})?", fact.name)
        }
        Expr::Call(call) if call.func_name == operators::LOGICAL_NOT => {
            format!("!{}", translated(&call.args[0]))
        }
        Expr::Call(call) => format!("({})", joined(call)),
        other => panic!("hints have no {other:?}: translate it"),
    }
}

/// Returns a call of an operator with two operands.
fn joined(call: &CallExpr) -> String {
    let [left, right] = call.args.as_slice() else { panic!("hints have no {}", call.func_name) };
    // Without brackets within brackets of the same operator.
    let side = |of: &IdedExpr| match &of.expr {
        Expr::Call(inner) if inner.func_name == call.func_name && is_logical(inner) => {
            joined(inner)
        }
        Expr::Call(inner) if is_logical(call) && !is_logical(inner) && inner.args.len() == 2 => {
            joined(inner)
        }
        _ => translated(of),
    };
    let break_ = if is_logical(call) { "\n            " } else { " " };
    format!("{}{break_}{} {}", side(left), operator(&call.func_name), side(right))
}

fn is_logical(call: &CallExpr) -> bool {
    [operators::LOGICAL_AND, operators::LOGICAL_OR].contains(&call.func_name.as_str())
}

fn operator(name: &str) -> &'static str {
    match name {
        operators::LOGICAL_AND => "&&",
        operators::LOGICAL_OR => "||",
        operators::ADD => "+",
        operators::SUBSTRACT => "-",
        operators::MULTIPLY => "*",
        operators::DIVIDE => "/",
        operators::EQUALS => "==",
        operators::NOT_EQUALS => "!=",
        operators::LESS => "<",
        operators::LESS_EQUALS => "<=",
        operators::GREATER => ">",
        operators::GREATER_EQUALS => ">=",
        _ => panic!("hints have no {name}: translate it"),
    }
}

fn sentence(template: &Template) -> String {
    let (mut text, mut values) = (String::new(), String::new());
    for part in template.parts() {
        match part {
            Part::Text(part) => text.push_str(&part.escape_debug().to_string()),
            Part::Value(expression, form) => {
                text.push_str("{}");
                let function = match (form, is_text(expression.tree())) {
                    (_, true) => "text",
                    (Form::Plain, false) => "plain",
                    (Form::Time, false) => "seconds",
                    (Form::Percent, false) => "percent",
                    (Form::Bytes, false) => panic!("hints have no bytes: translate them"),
                };
                // Writing to a string cannot fail.
                let _ = write!(values, ",\n            {function}({})", value(expression));
            }
        }
    }
    match values.is_empty() {
        true => format!("\"{text}\".to_owned()"),
        false => format!("format!(\n            \"{text}\"{values},\n        )"),
    }
}

fn value(expression: &Expression) -> String {
    match &expression.tree().expr {
        Expr::Select(_) => known(expression),
        _ => format!("known(|| {})", known(expression)),
    }
}

fn is_text(expression: &IdedExpr) -> bool {
    let Expr::Select(select) = &expression.expr else { return false };
    let Expr::Ident(scope) = &select.operand.expr else { return false };
    let fact = Scope::of_word(scope).and_then(|scope| Fact::of(scope, &select.field));
    fact.is_some_and(Fact::is_text)
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tinyprof-report/src/findings/table.rs")
}

#[test]
fn hints_of_the_recorder_are_these_rules() {
    let translation = translation(&rules());
    if env::var_os("TINYPROF_UPDATE_DOCS").is_some() {
        fs::write(path(), translation).expect("it can be written");
        return;
    }
    let found = fs::read_to_string(path()).expect("it is there");
    assert!(found == translation, "table.rs is not hints.toml: TINYPROF_UPDATE_DOCS=1 writes it");
}

/// The translation decides as CEL does: for the cases of the rule, and for facts at all thresholds.
#[test]
fn the_translation_decides_as_cel_does() {
    let rules = rules();
    let names: Vec<&str> = HINTS.iter().map(|hint| hint.name).collect();
    assert_eq!(rules.iter().map(|rule| rule.name.as_str()).collect::<Vec<_>>(), names);
    for (rule, hint) in rules.iter().zip(&HINTS) {
        for case in &rule.cases {
            let subject = if rule.scope == Scope::Run { &case.run } else { &case.subject };
            let by_cel = rule.holds(&case.run, subject).expect("it can be evaluated");
            assert_eq!(hint.holds(&case.run, subject), by_cel, "{}: {case:?}", rule.name);
            assert_eq!(by_cel, case.holds, "{}: {case:?}", rule.name);
        }
    }
}
