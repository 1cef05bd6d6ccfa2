//! A condition on a running job, in CEL, such as `efficiency < 0.5` or `imbalance["solve"] > 0.3`,
//! which may also be written `imbalance("solve") > 0.3`.

use std::collections::HashMap;
use std::sync::Arc;

use cel::{Context, ExecutionError, Program, Value};

use super::frame::{Frame, Row};

/// The names of numbers of the job.
const NUMBERS: [&str; 8] = [
    "communication",
    "efficiency",
    "elapsed",
    "load_balance",
    "missing",
    "ranks",
    "ranks_seen",
    "still",
];

/// The names of numbers by region.
const BY_REGION: [&str; 4] = ["imbalance", "now", "share", "visits"];

/// The functions of CEL that make sense of numbers.
const FUNCTIONS: [&str; 6] = ["double", "has", "int", "max", "min", "size"];

/// A condition on a running job.
#[derive(Debug)]
pub(super) struct Condition {
    text: String,
    program: Program,
}

impl Condition {
    /// Parses a condition.
    ///
    /// # Errors
    /// If it is none, or names what there is not; for people.
    pub(super) fn new(text: &str) -> Result<Self, String> {
        let program = Program::compile(text).map_err(|error| {
            format!("'{text}' is no condition such as 'efficiency < 0.5': {error}")
        })?;
        let references = program.references();
        let is_known = |name: &&str| NUMBERS.contains(name) || BY_REGION.contains(name);
        if let Some(name) = references.variables().into_iter().find(|name| !is_known(name)) {
            return Err(format!(
                "a condition knows no {name}; of the job there are {}; of a region, as in \
                 imbalance[\"solve\"], {}",
                NUMBERS.join(", "),
                BY_REGION.join(", ")
            ));
        }
        let is_word = |name: &&str| name.chars().all(|letter| letter.is_ascii_alphanumeric());
        let is_known = |name: &&str| BY_REGION.contains(name) || FUNCTIONS.contains(name);
        let functions = references.functions().into_iter().filter(is_word);
        if let Some(name) = functions.into_iter().find(|name| !is_known(name)) {
            return Err(format!(
                "a condition knows no {name} of a region, only {}",
                BY_REGION.join(", ")
            ));
        }
        drop(references);
        Ok(Self { text: text.to_owned(), program })
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns whether it holds. What it asks for and is not known, does not.
    pub(super) fn holds(&self, frame: &Frame) -> bool {
        matches!(self.program.execute(&context(frame)), Ok(Value::Bool(true)))
    }
}

/// Returns what a condition knows: what is unknown is left out.
fn context(frame: &Frame) -> Context<'static, 'static> {
    let picture = &frame.sample.picture;
    let of = frame.efficiency();
    let mut context = Context::default();
    let mut number = |name: &str, value: Option<f64>| {
        if let Some(value) = value {
            context.add_variable_from_value(name, Value::Float(value));
        }
    };
    number("efficiency", of.as_ref().and_then(|of| of.parallel));
    number("load_balance", of.as_ref().map(|of| of.load_balance));
    number("communication", of.as_ref().and_then(|of| of.communication));
    number("elapsed", picture.elapsed_ns.map(|ns| whole(ns) / 1e9));
    number("ranks", Some(picture.size.into()));
    number("ranks_seen", Some(whole(picture.ranks.len())));
    number("still", Some(whole(picture.still.count)));
    number("missing", Some(whole(picture.missing.count)));
    add_by_region(&mut context, "imbalance", by_region(frame, |row| row.imbalance));
    add_by_region(&mut context, "now", by_region(frame, Row::now));
    add_by_region(&mut context, "share", by_region(frame, |row| Some(row.share)));
    add_by_region(&mut context, "visits", by_region(frame, |row| Some(whole(row.visits))));
    context
}

/// Adds numbers by region, as a map and as a function.
fn add_by_region(context: &mut Context<'_, '_>, name: &str, numbers: HashMap<String, Value>) {
    context.add_variable_from_value(name, numbers.clone());
    let of_region = move |region: Arc<String>| {
        let known = numbers.get(&*region).cloned();
        known.ok_or_else(|| ExecutionError::NoSuchKey(region))
    };
    // None of these names is one of CEL's own, which would be refused.
    context.add_function(name, of_region).ok();
}

/// Returns a number of each region: that of its costliest callpath.
fn by_region(frame: &Frame, of: impl Fn(&Row) -> Option<f64>) -> HashMap<String, Value> {
    let mut rows: Vec<&Row> = frame.rows.iter().collect();
    rows.sort_by_key(|row| row.inclusive.sum_ns);
    let known = rows.into_iter().filter_map(|row| Some((row.name.clone(), of(row)?)));
    known.map(|(name, value)| (name, Value::Float(value))).collect()
}

#[expect(clippy::cast_precision_loss, reason = "a condition compares")]
const fn whole(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::super::example::sample;
    use super::*;

    fn holds(text: &str) -> bool {
        let frame = Frame::new(sample(10, 1), None);
        Condition::new(text).expect(text).holds(&frame)
    }

    #[test]
    fn numbers_of_the_job_and_of_regions_are_compared() {
        assert!(holds("ranks == 10 && elapsed > 83 && elapsed < 84.0"));
        assert!(holds(r#"share["exchange"] > 0.3 && share["exchange"] < 0.4"#));
        assert!(holds(r#"imbalance["exchange"] > 0.1 && visits["exchange"] == 100.0"#));
        assert!(!holds(r#"share["exchange"] > 0.9"#));
        assert!(!holds(r#"share["elsewhere"] >= 0.0"#), "nothing is known of it");
        assert!(!holds(r#"now["exchange"] >= 0.0"#), "there is no sample before");
    }

    #[test]
    fn a_number_of_a_region_may_be_written_as_a_call() {
        assert!(holds(r#"imbalance("exchange") > 0.1 && visits("exchange") == 100.0"#));
        assert!(!holds(r#"share("elsewhere") >= 0.0"#), "nothing is known of it");
        assert!(holds(r#"size(share) > 1 && double(ranks) > share["exchange"]"#));
        let error = Condition::new(r#"ranks("exchange") > 3"#).expect_err("a number of the job");
        assert!(error.contains("knows no ranks of a region, only imbalance, "), "{error}");
    }

    #[test]
    fn what_is_no_condition_is_refused_with_what_there_is() {
        let error = Condition::new("efficency < 0.5").expect_err("a name");
        assert!(error.contains("no efficency") && error.contains("efficiency, elapsed"), "{error}");
        let error = Condition::new("efficiency <").expect_err("half of one");
        assert!(error.contains("is no condition such as"), "{error}");
    }
}
