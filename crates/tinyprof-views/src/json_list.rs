//! JSON with a long list that is generated while it is written: a million callpaths as one value
//! take 10 GiB.

use std::io::{self, Write};

use serde::ser::{Error as _, SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::ser::{Formatter, PrettyFormatter};

use tinyprof_report::cells::{is_hazardous, ratio};

/// The version of the members: it is raised when one is removed, or changes its meaning, but not
/// when one is added.
const SCHEMA_VERSION: u32 = 1;

/// A JSON object with one member that is a list of any length.
///
/// ```
/// use serde_json::json;
/// use tinyprof_views::LongJson;
///
/// let json = LongJson::new(json!({ "name": "run" }), "numbers", || (1..=2).map(|n| json!(n)));
/// assert_eq!(json.to_value()["numbers"], json!([1, 2]));
/// let mut text = Vec::new();
/// json.write(&mut text)?;
/// assert!(text.starts_with(b"{\n  \"name\": \"run\","));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct LongJson<'a> {
    members: Value,
    list: &'static str,
    items: Box<dyn Fn() -> Box<dyn Iterator<Item = Value> + 'a> + 'a>,
}

impl std::fmt::Debug for LongJson<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LongJson")
            .field("members", &self.members)
            .field("list", &self.list)
            .finish_non_exhaustive()
    }
}

impl<'a> LongJson<'a> {
    /// Returns the object with these members, with the list `list`, and with `schema_version`, the
    /// number of the last change that readers of these objects must know. `items` generates the
    /// items each time that the object is written.
    pub fn new<Items: Iterator<Item = Value> + 'a>(
        mut members: Value,
        list: &'static str,
        items: impl Fn() -> Items + 'a,
    ) -> Self {
        members[list] = Value::Null;
        members["schema_version"] = SCHEMA_VERSION.into();
        Self { members, list, items: Box::new(move || Box::new(items())) }
    }

    /// Returns the object with another member.
    #[must_use]
    pub fn with(mut self, member: &str, value: Value) -> Self {
        self.members[member] = value;
        self
    }

    /// Returns a member; null for the list, and if there is no member of this name.
    #[must_use]
    pub fn member(&self, member: &str) -> &Value {
        &self.members[member]
    }

    /// Returns the object with its items changed by `change`, which also gets their positions.
    #[must_use]
    pub fn with_items(self, change: impl Fn(usize, &mut Value) + Copy + 'a) -> Self {
        let items = self.items;
        let changed = move || {
            let each = items().enumerate().map(move |(position, mut item)| {
                change(position, &mut item);
                item
            });
            Box::new(each) as Box<dyn Iterator<Item = Value> + 'a>
        };
        Self { items: Box::new(changed), ..self }
    }

    /// Returns the object as a single value.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut value = self.members.clone();
        value[self.list] = (self.items)().collect();
        value
    }

    /// Writes the object as [`json_text`] does.
    ///
    /// # Errors
    /// If `to` cannot be written.
    pub fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        write_json(self, to)
    }
}

impl Serialize for LongJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let members =
            self.members.as_object().ok_or_else(|| S::Error::custom("expected an object"))?;
        let mut map = serializer.serialize_map(Some(members.len()))?;
        for (member, value) in members {
            if member == self.list {
                map.serialize_entry(member, &Items(&*self.items))?;
            } else {
                map.serialize_entry(member, value)?;
            }
        }
        map.end()
    }
}

struct Items<'a, 'b>(&'b (dyn Fn() -> Box<dyn Iterator<Item = Value> + 'a> + 'a));

impl Serialize for Items<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for item in (self.0)() {
            list.serialize_element(&item)?;
        }
        list.end()
    }
}

/// Returns an integer if it fits 64 bits, else a float: JSON readers take no longer integers.
#[must_use]
pub fn integer(n: u128) -> Value {
    u64::try_from(n).map_or_else(|_| Value::from(ratio(n, 1)), Value::from)
}

/// Returns `value` as indented text that is also safe to print on a terminal: characters that could
/// steer it are written as JSON's own escapes, so that a parser reads the same value.
#[must_use]
pub fn json_text(value: &Value) -> String {
    let mut text = Vec::new();
    // Writing to memory cannot fail, and the output is valid UTF-8.
    drop(write_json(value, &mut text));
    String::from_utf8(text).unwrap_or_default()
}

fn write_json(value: &impl Serialize, mut to: &mut dyn Write) -> io::Result<()> {
    let formatter = Harmless(PrettyFormatter::new());
    value
        .serialize(&mut serde_json::Serializer::with_formatter(&mut to, formatter))
        .map_err(io::Error::from)?;
    to.write_all(b"\n")
}

/// A formatter for indented JSON without characters that could steer a terminal.
struct Harmless(PrettyFormatter<'static>);

impl Formatter for Harmless {
    fn write_string_fragment<W: Write + ?Sized>(
        &mut self,
        to: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(is_hazardous) {
            let (plain, special) = rest.split_at(at);
            to.write_all(plain.as_bytes())?;
            let mut chars = special.chars();
            if let Some(c) = chars.next() {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    write!(to, "\\u{unit:04x}")?;
                }
            }
            rest = chars.as_str();
        }
        to.write_all(rest.as_bytes())
    }

    fn begin_array<W: Write + ?Sized>(&mut self, to: &mut W) -> io::Result<()> {
        self.0.begin_array(to)
    }

    fn end_array<W: Write + ?Sized>(&mut self, to: &mut W) -> io::Result<()> {
        self.0.end_array(to)
    }

    fn begin_array_value<W: Write + ?Sized>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(to, first)
    }

    fn end_array_value<W: Write + ?Sized>(&mut self, to: &mut W) -> io::Result<()> {
        self.0.end_array_value(to)
    }

    fn begin_object<W: Write + ?Sized>(&mut self, to: &mut W) -> io::Result<()> {
        self.0.begin_object(to)
    }

    fn end_object<W: Write + ?Sized>(&mut self, to: &mut W) -> io::Result<()> {
        self.0.end_object(to)
    }

    fn begin_object_key<W: Write + ?Sized>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(to, first)
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, to: &mut W) -> io::Result<()> {
        self.0.begin_object_value(to)
    }

    fn end_object_value<W: Write + ?Sized>(&mut self, to: &mut W) -> io::Result<()> {
        self.0.end_object_value(to)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_text_is_harmless_and_means_the_same() {
        let hostile = json!({"a\u{9b}\u{202e}": ["\u{1b}[2J\n", "e\u{301}", "\u{e0041}", "流れ"], "b": [], "c": {}});
        let text = json_text(&hostile);
        assert!(!text.chars().any(|c| c != '\n' && is_hazardous(c)), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), hostile);
    }

    #[test]
    fn a_list_that_is_made_while_it_is_written_is_written_as_any_other() {
        for length in [0, 1, 3] {
            let items = move || (0..length).map(|n| json!({ "n": n, "name": "\u{9b}" }));
            let json =
                LongJson::new(json!({ "z": 1, "a": [2] }), "m", items).with("k", json!(null));
            let mut text = Vec::new();
            json.write(&mut text).unwrap();
            assert_eq!(String::from_utf8(text).unwrap(), json_text(&json.to_value()));
        }
    }
}
