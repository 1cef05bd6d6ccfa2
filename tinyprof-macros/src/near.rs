//! Typing errors: finds the known word that was meant.

use proc_macro2::Ident;
use syn::Error;
use syn::parse::Result;

use crate::key::Key;
use crate::metric::{Metric, Value};

/// Returns the error for a word that is not an argument here.
pub(crate) fn unknown(ident: &Ident, known: &[Key]) -> Error {
    let meant = meant(&ident.to_string(), known.iter().map(|key| key.text()));
    let usages = known.iter().filter(|key| meant.is_none_or(|meant| key.text() == meant));
    let usages: Vec<&str> = usages.map(|key| key.usage()).collect();
    let usages = usages.join(", ");
    let message = match meant {
        Some(_) => format!("unknown argument `{ident}`: did you mean {usages}?"),
        None => {
            format!("unknown argument `{ident}`: known are {usages}, and metrics `key = value`")
        }
    };
    Error::new(ident.span(), message)
}

/// Returns an error if the metric's key is a misspelled argument. Any key is valid for a metric, so
/// the mistake would go unnoticed.
///
/// It is an error only if its value fits that argument too.
pub(crate) fn check_key(metric: &Metric, known: &[Key]) -> Result<()> {
    let (is_text, value) = match &metric.value {
        Value::Constant(text) => (true, text.value()),
        Value::Varying(expression) => (false, expression.to_string()),
    };
    let mut candidates = Vec::new();
    if is_text {
        candidates.extend(known.contains(&Key::Name).then_some("name"));
        candidates.push("tag");
    }
    if known.contains(&Key::Mode) && (value == "total" || value == "each") {
        candidates.push("mode");
    }
    let Some(meant) = meant(&metric.key.to_string(), candidates) else { return Ok(()) };
    let key = &metric.key;
    let message = format!(
        "unknown argument `{key}`: did you mean `{meant}`? A metric needs a key that is less like it"
    );
    Err(Error::new(key.span(), message))
}

/// Returns the word of `known` that `word` misspells, if there is one; `None` for a known word
/// itself.
pub(crate) fn meant<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let mut slips = known.into_iter().filter(|&known| known != word && is_slip(word, known));
    slips.next()
}

/// Returns whether `word` differs from `known` by case and underscores, or by one letter that is
/// wrong, missing, extra, or swapped with its neighbour.
///
/// A wrong letter does not count as a typing error if it is the first one, or in a word of three
/// letters: `node` is not `mode`, `lag` is not `tag`.
fn is_slip(word: &str, known: &str) -> bool {
    let plain = |text: &str| -> Vec<char> {
        text.chars().filter(|&c| c != '_').map(|c| c.to_ascii_lowercase()).collect()
    };
    let (word, known) = (plain(word), plain(known));
    let same = word.iter().zip(&known).take_while(|(a, b)| a == b).count();
    let (word, known) = (&word[same..], &known[same..]);
    match (word, known) {
        ([], []) => true,
        ([a, b, word @ ..], [c, d, known @ ..]) if (a, b) == (d, c) && word == known => true,
        ([_, word @ ..], [_, known @ ..]) if word == known => {
            same > 0 && same + known.len() + 1 > 3
        }
        ([_, word @ ..], known) if word == known => same > 0,
        (word, [_, known @ ..]) if word == known => same > 0,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_one_letter_or_the_case() {
        let known = ["name", "mode", "tag", "rank_local"];
        for (word, expected) in [
            ("nam", "name"),
            ("nme", "name"),
            ("nmae", "name"),
            ("anme", "name"),
            ("namee", "name"),
            ("nane", "name"),
            ("Name", "name"),
            ("NAME", "name"),
            ("mod", "mode"),
            ("tags", "tag"),
            ("tga", "tag"),
            ("ranklocal", "rank_local"),
            ("rank_loca", "rank_local"),
        ] {
            assert_eq!(meant(word, known), Some(expected), "{word}");
        }
    }

    #[test]
    fn another_word_is_no_slip() {
        let known = ["name", "mode", "tag", "skip"];
        for word in
            ["", "n", "node", "lag", "tab", "same", "frame", "kernel", "bytes", "number", "name"]
        {
            assert_eq!(meant(word, known), None, "{word}");
        }
    }
}
