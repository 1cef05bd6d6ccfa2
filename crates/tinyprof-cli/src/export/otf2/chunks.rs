//! The events of a location: a file of chunks of equal size, of which each can be read alone.
//!
//! ```text
//! chunk   header (2 bytes) | numbers of the first and of the last event (8 bytes each) | records,
//!         each after the time if that has changed | zeros up to the size
//! ```

use std::io::{self, Write};

use super::buffer::{Buffer, TIMESTAMP};

/// The size of a chunk, which the format allows from 256 KiB to 16 MiB.
pub(super) const CHUNK_BYTES: usize = 1 << 20;
/// Where the number of a chunk's last event is.
const LAST_AT: usize = 10;
/// The bytes of a time, of the longest record, and of the end of a chunk.
const RESERVE: usize = 9 + 64 + 1;

const ENTER: u8 = 12;
const LEAVE: u8 = 13;
const MPI_SEND: u8 = 14;
const MPI_RECV: u8 = 18;

/// An end of a message. The other one is a rank of a communicator.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub(super) is_receive: bool,
    pub(super) partner: u32,
    pub(super) communicator: u32,
    pub(super) tag: i32,
    pub(super) bytes: u64,
}

/// A file of events that is being written.
pub(super) struct Chunks<W> {
    out: W,
    chunk: Buffer,
    time: Option<u64>,
    events: u64,
}

impl<W: Write> Chunks<W> {
    pub(super) fn new(out: W) -> Self {
        let mut chunks = Self { out, chunk: Buffer::default(), time: None, events: 0 };
        chunks.begin();
        chunks
    }

    pub(super) fn enter(&mut self, at_ns: u64, region: u32) -> io::Result<()> {
        self.event(at_ns, |chunk| {
            chunk.byte(ENTER);
            chunk.number32(region);
        })
    }

    pub(super) fn leave(&mut self, at_ns: u64, region: u32) -> io::Result<()> {
        self.event(at_ns, |chunk| {
            chunk.byte(LEAVE);
            chunk.number32(region);
        })
    }

    pub(super) fn message(&mut self, at_ns: u64, end: End) -> io::Result<()> {
        self.event(at_ns, |chunk| {
            chunk.record(if end.is_receive { MPI_RECV } else { MPI_SEND }, |record| {
                record.number32(end.partner);
                record.number32(end.communicator);
                record.number32(end.tag.cast_unsigned());
                record.number64(end.bytes);
            });
        })
    }

    /// Writes the rest. Returns the number of events.
    pub(super) fn finish(mut self) -> io::Result<u64> {
        self.chunk.end();
        self.write(false)?;
        self.out.flush()?;
        Ok(self.events)
    }

    fn begin(&mut self) {
        self.chunk = Buffer::of_chunk(self.events + 1);
        self.time = None;
    }

    fn event(&mut self, at_ns: u64, record: impl FnOnce(&mut Buffer)) -> io::Result<()> {
        if self.chunk.len() + RESERVE > CHUNK_BYTES {
            self.write(true)?;
            self.begin();
        }
        if self.time != Some(at_ns) {
            self.chunk.byte(TIMESTAMP);
            self.chunk.full64(at_ns);
            self.time = Some(at_ns);
        }
        record(&mut self.chunk);
        self.events += 1;
        Ok(())
    }

    fn write(&mut self, is_filled: bool) -> io::Result<()> {
        let bytes = self.chunk.bytes_mut();
        bytes[LAST_AT..LAST_AT + 8].copy_from_slice(&self.events.to_le_bytes());
        if is_filled {
            bytes.resize(CHUNK_BYTES, 0);
        }
        self.out.write_all(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_chunk_is_followed_by_another_one() {
        let mut file = Vec::new();
        let mut chunks = Chunks::new(&mut file);
        let events = 100_000;
        for at_ns in 0..events {
            chunks.enter(at_ns, 1).unwrap();
        }
        assert_eq!(chunks.finish().unwrap(), events);
        let number = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap());
        assert_eq!(file[CHUNK_BYTES..CHUNK_BYTES + 2], [3, 0x42]);
        assert_eq!((number(2), number(CHUNK_BYTES + 2)), (1, number(LAST_AT) + 1));
        assert_eq!(number(CHUNK_BYTES + LAST_AT), events);
        assert_eq!(file[file.len() - 2..], [2, 1]);
    }
}
