//! Mutations of a manifest.

use serde_json::{Value, json};

use super::Tape;

/// Changes a value somewhere below `value`.
pub(super) fn mutate(value: &mut Value, tape: &mut Tape<'_>) {
    let count = match value {
        Value::Object(fields) => fields.len(),
        Value::Array(elements) => elements.len(),
        _ => 0,
    };
    if count == 0 || tape.byte() % 8 == 0 {
        *value = replacement(value, tape);
        return;
    }
    let at = tape.below(count);
    match value {
        Value::Object(fields) => {
            let key = fields.keys().nth(at).cloned().unwrap_or_default();
            match tape.byte() % 16 {
                0 => drop(fields.remove(&key)),
                1 => {
                    let value = fields.remove(&key).unwrap_or_default();
                    fields.insert(format!("{key}{}", char::from(tape.byte())), value);
                }
                _ => fields.values_mut().nth(at).into_iter().for_each(|field| mutate(field, tape)),
            }
        }
        Value::Array(elements) => match tape.byte() % 6 {
            0 => drop(elements.remove(at)),
            1 => {
                let copy = elements[at].clone();
                elements.push(copy);
            }
            2 => {
                let other = tape.below(count);
                elements.swap(at, other);
            }
            _ => mutate(&mut elements[at], tape),
        },
        _ => {}
    }
}

fn replacement(value: &Value, tape: &mut Tape<'_>) -> Value {
    let present = value.as_u64().unwrap_or_default();
    match tape.byte() % 16 {
        0..=6 => json!(tape.number(present)),
        7 => Value::Null,
        8 => json!(-i64::from(tape.byte())),
        9 => json!(f64::from_bits(tape.number(1.5_f64.to_bits()))),
        10 => json!(
            [
                "callpaths",
                "part-00000",
                "part-00001",
                "manifest.json",
                "../callpaths",
                "/etc/passwd",
                "",
                "."
            ][usize::from(tape.byte() % 8)]
        ),
        11 => json!(String::from_utf8_lossy(tape.bytes(24))),
        12 => json!([]),
        13 => json!({}),
        14 => json!(tape.byte() % 2 == 0),
        _ => json!("x".repeat(usize::from(tape.byte()) * 64)),
    }
}
