//! The format of pprof: visits and exclusive time of each callpath, summed over all ranks. It is a
//! message of protocol buffers, compressed by gzip.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;

use flate2::{Compression, GzBuilder};
use tinyprof_format::model::{CallpathTable, Region};
use tinyprof_report::RankStatistics;

use super::exporter::{Exporter, Notes, Request, Source};
use super::message::Message;
use super::names::shown;
use super::summary::Summary;

/// The longest sum of the lengths of all stacks: each callpath repeats the one that it is in.
const FRAMES_MAX: usize = 1 << 26;

pub(super) struct Pprof;

impl Exporter for Pprof {
    fn is_text(&self) -> bool {
        false
    }

    fn export(
        &self,
        request: &Request<'_>,
        out: &mut (dyn Write + Send),
    ) -> Result<Notes, Box<dyn Error>> {
        let source = request.source()?;
        let summary = Summary::of(&source)?;
        let rows: Vec<RankStatistics> = summary.statistics.rows().collect();
        let profile = profile(&source, &rows)?;
        // Without a date the same profile gives the same bytes.
        let mut gzip = GzBuilder::new().mtime(0).write(out, Compression::default());
        gzip.write_all(&profile)?;
        gzip.finish()?;
        let notes = source.rounded_note().into_iter();
        Ok(notes.chain(summary.metrics_note()).chain(summary.messages_note()).collect())
    }
}

/// The texts of a profile, each once. The first is empty.
#[derive(Debug)]
struct Texts(BTreeMap<String, u64>);

impl Texts {
    fn new() -> Self {
        Self([(String::new(), 0)].into())
    }

    fn number(&mut self, text: &str) -> u64 {
        if let Some(number) = self.0.get(text) {
            return *number;
        }
        let number = self.0.len() as u64;
        self.0.insert(text.to_owned(), number);
        number
    }
}

fn profile(source: &Source<'_>, rows: &[RankStatistics]) -> Result<Vec<u8>, Box<dyn Error>> {
    let callpaths = source.callpaths();
    let (mut texts, mut profile) = (Texts::new(), Message::default());
    for (name, unit) in [("visits", "count"), ("time", "nanoseconds")] {
        profile.message(1, &value_type(&mut texts, name, unit));
    }
    let locations = locations(callpaths, &mut texts, &mut profile);
    let mut frames = 0_usize;
    for (index, callpath) in callpaths.iter() {
        let row = &rows[index.row()];
        if row.visits == 0 {
            continue;
        }
        // The innermost first.
        let path = std::iter::successors(Some((index, callpath)), |(_, callpath)| {
            callpath.parent.map(|parent| (parent, callpaths.get(parent)))
        });
        let stack: Vec<u64> = path.map(|(index, _)| locations[index.row()]).collect();
        frames = frames.saturating_add(stack.len());
        if frames > FRAMES_MAX {
            return Err("the callpaths are too long for this format".into());
        }
        let mut sample = Message::default();
        sample.packed(1, &stack);
        sample.packed(2, &[signed(row.visits.into()), signed(row.exclusive.sum_ns)]);
        profile.message(2, &sample);
    }
    let metadata = &source.manifest().metadata;
    profile.number(9, signed(u128::from(metadata.launchdate) * 1_000_000_000));
    let mut of_number: Vec<(&String, &u64)> = texts.0.iter().collect();
    of_number.sort_by_key(|(_, number)| **number);
    of_number.into_iter().for_each(|(text, _)| profile.bytes(6, text.as_bytes()));
    Ok(profile.into_bytes())
}

fn value_type(texts: &mut Texts, name: &str, unit: &str) -> Message {
    let mut value = Message::default();
    value.number(1, texts.number(name));
    value.number(2, texts.number(unit));
    value
}

/// Writes a function and a location for each region that differs in name or place, and returns the
/// location of each callpath.
fn locations(callpaths: &CallpathTable, texts: &mut Texts, profile: &mut Message) -> Vec<u64> {
    let mut functions: BTreeMap<(String, &str), u64> = BTreeMap::new();
    let mut places: BTreeMap<(u64, u32), u64> = BTreeMap::new();
    let mut of_callpaths = Vec::with_capacity(callpaths.len());
    for callpath in callpaths.rows() {
        let region: &Region = &callpath.region;
        // The line of a sampled function is that of the location.
        let name = shown(region.sampled_function().unwrap_or(&region.name));
        let next = functions.len() as u64 + 1;
        let function = *functions.entry((name, &region.file)).or_insert_with_key(|(name, file)| {
            let mut function = Message::default();
            function.number(1, next);
            function.number(2, texts.number(name));
            function.number(4, texts.number(file));
            profile.message(5, &function);
            next
        });
        let next = places.len() as u64 + 1;
        let place = *places.entry((function, region.line)).or_insert_with(|| {
            let (mut line, mut location) = (Message::default(), Message::default());
            line.number(1, function);
            line.number(2, region.line.into());
            location.number(1, next);
            location.message(4, &line);
            profile.message(4, &location);
            next
        });
        of_callpaths.push(place);
    }
    of_callpaths
}

/// Returns a number that the format has as a signed one; the largest, if it is larger.
fn signed(number: u128) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX).min(i64::MAX.cast_unsigned())
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::*;
    use crate::messages_example as example;

    /// Returns the fields of a message: their numbers, and their bytes or numbers.
    fn fields(mut bytes: &[u8]) -> Vec<(u64, Vec<u8>, u64)> {
        let mut found = Vec::new();
        while !bytes.is_empty() {
            let tag = varint(&mut bytes);
            let number = varint(&mut bytes);
            let mut content = Vec::new();
            if tag % 8 == 2 {
                let (own, rest) = bytes.split_at(usize::try_from(number).unwrap());
                (content, bytes) = (own.to_vec(), rest);
            }
            found.push((tag / 8, content, number));
        }
        found
    }

    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut number = 0;
        for place in 0..10 {
            let (byte, rest) = bytes.split_first().unwrap();
            *bytes = rest;
            number |= u64::from(byte & 127) << (7 * place);
            if byte & 128 == 0 {
                break;
            }
        }
        number
    }

    fn numbers(mut bytes: &[u8]) -> Vec<u64> {
        let mut found = Vec::new();
        while !bytes.is_empty() {
            found.push(varint(&mut bytes));
        }
        found
    }

    #[test]
    fn samples_are_the_callpaths_with_their_exclusive_times() {
        let profile = example::profile(2);
        let statistics = tinyprof_report::Statistics::of_profile(&profile);
        let mut expected: Vec<(Vec<String>, u64, u128)> = Vec::new();
        for (index, _) in profile.callpaths.iter() {
            let row = statistics.row(index.row());
            let path = profile.callpaths.path(index);
            let path = path.split('<').rev().map(str::to_owned).collect();
            expected.push((path, row.visits, row.exclusive.sum_ns));
        }
        let mut bytes = Vec::new();
        let request = Request::of_profile("example", profile);
        Pprof.export(&request, &mut bytes).unwrap();
        let mut plain = Vec::new();
        GzDecoder::new(&bytes[..]).read_to_end(&mut plain).unwrap();
        let all = fields(&plain);
        let of = |field: u64| all.iter().filter(move |(number, ..)| *number == field);
        let texts: Vec<String> =
            of(6).map(|(_, text, _)| String::from_utf8(text.clone()).unwrap()).collect();
        assert_eq!(texts[0], "");
        let number_of = |message: &[u8], field: u64| {
            fields(message).iter().find(|(number, ..)| *number == field).map_or(0, |found| found.2)
        };
        let text = |number: u64| texts[usize::try_from(number).unwrap()].clone();
        let units: Vec<String> = of(1).map(|(_, unit, _)| text(number_of(unit, 2))).collect();
        assert_eq!(units, ["count", "nanoseconds"]);
        let functions: BTreeMap<u64, String> =
            of(5).map(|(_, of, _)| (number_of(of, 1), text(number_of(of, 2)))).collect();
        let locations: BTreeMap<u64, String> = of(4)
            .map(|(_, location, _)| {
                let line = fields(location).into_iter().find(|(number, ..)| *number == 4).unwrap();
                (number_of(location, 1), functions[&number_of(&line.1, 1)].clone())
            })
            .collect();
        let found: Vec<(Vec<String>, u64, u128)> = of(2)
            .map(|(_, sample, _)| {
                let parts = fields(sample);
                let stack = numbers(&parts[0].1).iter().map(|id| locations[id].clone()).collect();
                let values = numbers(&parts[1].1);
                (stack, values[0], values[1].into())
            })
            .collect();
        assert_eq!(found, expected);
    }
}
