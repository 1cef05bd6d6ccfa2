//! What an expression names: facts that exist, and functions that rules may call.

use cel::IdedExpr;
use cel::common::ast::{EntryExpr, Expr};
use tinyprof_settings::near::{changes, is_near};

use crate::facts::{FACTS, Fact, Scope};

/// The functions that rules may call, beside operators.
const FUNCTIONS: &[&str] =
    &["startsWith", "endsWith", "contains", "size", "double", "int", "string"];

/// Returns the first thing in an expression that does not exist: its place, and the complaint.
pub(crate) fn unknown(expression: &IdedExpr, scope: Scope) -> Option<(u64, String)> {
    let of = |expression: &IdedExpr| unknown(expression, scope);
    match &expression.expr {
        Expr::Unspecified | Expr::Literal(_) => None,
        Expr::Ident(name) => Some((expression.id, no_variable(name, scope))),
        Expr::Select(select) => match &select.operand.expr {
            Expr::Ident(name) => {
                no_fact(name, &select.field, scope).map(|complaint| (expression.id, complaint))
            }
            _ => of(&select.operand),
        },
        Expr::Call(call) => {
            let is_operator = !call.func_name.starts_with(|c: char| c.is_ascii_alphabetic());
            if !is_operator && !FUNCTIONS.contains(&call.func_name.as_str()) {
                let (name, all) = (&call.func_name, FUNCTIONS.join(", "));
                return Some((
                    expression.id,
                    format!("there is no function {name}; there are {all}"),
                ));
            }
            call.target.iter().map(AsRef::as_ref).chain(&call.args).find_map(of)
        }
        Expr::List(list) => list.elements.iter().find_map(of),
        Expr::Map(map) => map.entries.iter().find_map(|entry| match &entry.expr {
            EntryExpr::StructField(field) => of(&field.value),
            EntryExpr::MapEntry(entry) => of(&entry.key).or_else(|| of(&entry.value)),
        }),
        Expr::Struct(_) | Expr::Comprehension(_) => Some((
            expression.id,
            "facts are numbers and texts: there is nothing to go through".into(),
        )),
    }
}

fn no_variable(name: &str, scope: Scope) -> String {
    let known = match scope {
        Scope::Run => "run".to_owned(),
        _ => format!("run and {}", scope.word()),
    };
    format!("there is no {name}: a rule for {} knows {known}, as in run.ranks", scope.word())
}

fn no_fact(of: &str, name: &str, scope: Scope) -> Option<String> {
    let Some(of) = Scope::of_word(of).filter(|of| [Scope::Run, scope].contains(of)) else {
        return Some(no_variable(of, scope));
    };
    Fact::of(of, name).is_none().then(|| no_fact_of(of, name))
}

/// Returns the complaint about a fact that this scope does not have.
pub(crate) fn no_fact_of(of: Scope, name: &str) -> String {
    let known = FACTS.iter().filter(|fact| fact.scope == of);
    let near = known.clone().map(|fact| (changes(name, fact.name), fact.name));
    let word = of.word();
    match near.filter(|(changed, name)| is_near(*changed, name)).min() {
        Some((_, near)) => format!("there is no fact {word}.{name}; did you mean {word}.{near}?"),
        None => {
            let all: Vec<_> = known.map(|fact| fact.name).collect();
            format!("there is no fact {word}.{name}; of {word} there are {}", all.join(", "))
        }
    }
}
