//! The union of two ranks' tables of callpaths, in three messages.
//!
//! ```text
//! sender                                  receiver
//!   a digest of each row, 16 bytes   -->
//!                                    <--  a bit for each: 1 where it has no such row
//!   those rows, and what is above    -->
//! ```
//!
//! So a name is only sent to ranks that lack it. Most rows are on both ranks, and names are most of
//! a row.

use std::collections::HashSet;

use tinyprof_format::file::{decode_callpaths, encode_callpaths};
use tinyprof_format::model::CallpathTable;

use super::chunks;
use super::tree::Reduction;
use crate::communicator::{Communicator, Interrupted};

/// The length of a digest in bytes.
const DIGEST_BYTES: usize = 16;

/// The union of tables, sent in messages of limited length.
pub(super) struct Union {
    pub(super) chunk_bytes: usize,
}

impl Reduction for Union {
    type Value = CallpathTable;

    async fn hand_over(
        &self,
        to: &impl Communicator,
        rank: u32,
        value: CallpathTable,
    ) -> Result<(), Interrupted> {
        let digests: Vec<u8> =
            value.digests().iter().flat_map(|digest| digest.to_le_bytes()).collect();
        chunks::send(to, rank, &digests, self.chunk_bytes).await?;
        let lacking = chunks::receive(to, rank, self.chunk_bytes).await?;
        if lacking.iter().any(|bits| *bits != 0) {
            let is_lacking =
                |row: usize| lacking.get(row / 8).is_some_and(|bits| bits & (1 << (row % 8)) != 0);
            let rows = value.subset(|index| is_lacking(index.row()));
            chunks::send(to, rank, &encode_callpaths(&rows), self.chunk_bytes).await?;
        }
        Ok(())
    }

    async fn absorb(
        &self,
        from: &impl Communicator,
        rank: u32,
        value: &mut CallpathTable,
    ) -> Result<(), Interrupted> {
        let theirs = chunks::receive(from, rank, self.chunk_bytes).await?;
        let ours: HashSet<[u8; DIGEST_BYTES]> =
            value.digests().iter().map(|digest| digest.to_le_bytes()).collect();
        let theirs = theirs.as_chunks::<DIGEST_BYTES>().0;
        let mut lacking = vec![0_u8; theirs.len().div_ceil(8)];
        for (row, _) in theirs.iter().enumerate().filter(|(_, digest)| !ours.contains(*digest)) {
            lacking[row / 8] |= 1 << (row % 8);
        }
        chunks::send(from, rank, &lacking, self.chunk_bytes).await?;
        if lacking.iter().any(|bits| *bits != 0) {
            let rows = chunks::receive(from, rank, self.chunk_bytes).await?;
            // The sender has just encoded them, and MPI does not change messages.
            if let Ok(rows) = decode_callpaths(&rows) {
                *value = value.union(&rows);
            }
        }
        Ok(())
    }
}
