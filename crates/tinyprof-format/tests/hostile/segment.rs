//! A segment whose nodes all share one long name.

use tinyprof_format::segment::{Segment, recovered_map};
use tinyprof_segment::clock::Moment;
use tinyprof_segment::layout::{HEADER_LINES, LINE_BYTES, MAGIC, VERSION, header, node, site};

use crate::allocator::peak_bytes;

struct Lines(Vec<u8>);

impl Lines {
    fn put(&mut self, line: u32, word: usize, value: u64) {
        let begin = line as usize * LINE_BYTES + word * 8;
        self.0[begin..begin + 8].copy_from_slice(&value.to_le_bytes());
    }

    fn next(&self) -> u32 {
        u32::try_from(self.0.len() / LINE_BYTES).expect("a small segment")
    }
}

/// Returns a segment with a root and `nodes` children, all of one region with a name of
/// `name_bytes` bytes.
fn segment(nodes: u32, name_bytes: u32) -> Vec<u8> {
    let mut lines = Lines(vec![0; HEADER_LINES as usize * LINE_BYTES]);
    let site_line = lines.next();
    let name =
        [&[site::NAME][..], &name_bytes.to_le_bytes(), &vec![b'n'; name_bytes as usize]].concat();
    lines.0.extend(vec![0; site::FIELDS * 8]);
    lines.0.extend(&name);
    lines.0.resize(lines.0.len().next_multiple_of(LINE_BYTES), 0);
    lines.put(site_line, site::ADDRESS, 64);
    lines.put(site_line, site::KIND, name.len() as u64);
    let root = lines.next();
    for node in 0..=nodes {
        let line = lines.next();
        lines.0.extend([0; node::WORDS * 8]);
        let (parent, before) = if node == 0 { (0, 0) } else { (root, line - 2) };
        lines.put(line, node::SITE, 64);
        lines.put(line, node::PARENT, u64::from(parent) | u64::from(before) << 32);
        (node::VISITS..)
            .zip([1, 30, 30, 30])
            .for_each(|(word, number)| lines.put(line, word, number));
        lines.put(0, header::LAST_NODE, line.into());
    }
    for (word, value) in
        [(header::MAGIC, MAGIC), (header::VERSION, VERSION), (header::LAST_SITE, site_line.into())]
    {
        lines.put(0, word, value);
    }
    lines.0
}

#[test]
fn a_name_that_all_nodes_share_takes_no_more_than_its_share_of_memory() {
    let read = |nodes, name_bytes| {
        let bytes = segment(nodes, name_bytes);
        let segment = Segment::parse(&bytes).expect("it is a segment");
        let now = Moment { ticks: 1, monotonic_ns: 1 };
        let (map, peak) = peak_bytes(|| recovered_map(&[segment], now));
        assert!(
            peak <= 64 * bytes.len() + (8 << 20),
            "{peak} bytes of {} in the segment",
            bytes.len()
        );
        (
            map.values.iter().map(|values| values.visits()).sum::<u64>(),
            map.facts.losses.records_unreadable,
        )
    };
    assert_eq!(read(5_000, 4_000), (5_001, 0), "names of thousands of bytes are read");
    let (visits, unreadable) = read(5_000, 100_000);
    assert_eq!(visits + unreadable, 5_001);
    assert!(visits > 100 && unreadable > 1_000, "{visits} read, {unreadable} not");
}
