//! A layer records spans in their callpaths, with exact counts, beside a layer that logs.
#![expect(clippy::unwrap_used, reason = "a test that cannot set up its subscriber must fail")]

mod choice;
mod entries;

use std::io;
use std::sync::{Arc, Mutex, Once};

use tinyprof_format::model::EventMap;
use tracing_subscriber::fmt::MakeWriter;

/// The output of the log layer.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// Prevents the end of the tests from writing a profile.
fn write_no_profile() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| assert!(tinyprof::collect::take_over(tinyprof::collect::Ending::default)));
}

/// Returns the visits of all callpaths that begin with the region `root`, of which each test has
/// its own.
fn visits(root: &str) -> Vec<(String, u64)> {
    let map = tinyprof::collect::snapshot();
    let rows =
        map.callpaths.iter().map(|(i, _)| (map.callpaths.path(i), map.values[i.row()].visits()));
    let mut all: Vec<_> = rows.filter(|(path, _)| path.split('<').next() == Some(root)).collect();
    all.sort();
    all
}

fn check(root: &str, expected: &[(&str, u64)]) {
    let expected: Vec<_> = expected.iter().map(|(path, n)| ((*path).to_owned(), *n)).collect();
    assert_eq!(visits(root), expected);
}

fn inclusive_ns(map: &EventMap, path: &str) -> u64 {
    let rows = map.callpaths.iter().filter(|(i, _)| map.callpaths.path(*i) == path);
    rows.map(|(i, _)| map.values[i.row()].inclusive_ns()).sum()
}
