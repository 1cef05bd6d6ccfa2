//! The descriptions of sites in a segment.

use std::collections::HashMap;
use std::sync::Arc;

use tinyprof_segment::layout::{LINE_BYTES, header, site};
use tinyprof_segment::words::{high, low};

use super::words::Words;
use crate::model::{Mode, Region, RegionKind, SiteId};

/// The description of a site.
#[derive(Clone, Debug)]
pub(super) enum Site {
    Region(Arc<Region>),
    /// A varying metric, by its key.
    Metric(String),
}

impl Site {
    /// Returns the memory of a copy, in bytes: texts, and a node of a map for every eleven
    /// constants.
    pub(super) fn memory_bytes(&self) -> usize {
        let region = match self {
            Self::Metric(key) => return key.len(),
            Self::Region(region) => region,
        };
        let constants = region.constants.iter().map(|(key, value)| key.len() + value.len() + 600);
        region.name.len() + region.module.len() + region.file.len() + constants.sum::<usize>()
    }
}

/// Returns the descriptions of sites by address, and true if all could be read.
pub(super) fn sites(words: Words<'_>) -> (HashMap<u64, Site>, bool) {
    let mut sites = HashMap::new();
    let mut limit_bytes = words.0.len();
    let mut seen = 0;
    let mut line = words.get(0, header::LAST_SITE).map_or(0, low);
    while line != 0 {
        seen += 1;
        let read =
            (seen <= words.lines()).then(|| described(words, line, &mut limit_bytes)).flatten();
        let Some((address, site)) = read else { return (sites, false) };
        sites.insert(address, site);
        line = words.get(line, site::BEFORE).map_or(0, low);
    }
    (sites, true)
}

fn described(words: Words<'_>, line: u32, limit_bytes: &mut usize) -> Option<(u64, Site)> {
    let word = |word| words.get(line, word);
    let kind = word(site::KIND)?;
    let length = low(kind) as usize;
    // Descriptions do not overlap, so together they are no longer than the segment.
    *limit_bytes = limit_bytes.checked_sub(length.max(LINE_BYTES))?;
    let place = word(site::PLACE)?;
    let mut region = Region {
        line: low(place),
        column: high(place),
        kind: match high(kind) & 0xff {
            0 => RegionKind::Function,
            1 | site::METRIC => RegionKind::Scope,
            2 => RegionKind::Loop,
            _ => return None,
        },
        mode: match high(kind) >> 8 {
            0 => Mode::Total,
            1 => Mode::Each,
            _ => return None,
        },
        ..Region::named(SiteId::from_bits(word(site::ID)?), "")
    };
    let mut key = None;
    let mut fields = words.bytes(line, site::FIELDS, length)?;
    while let Some((&tag, rest)) = fields.split_first() {
        let (length, rest) = rest.split_first_chunk::<4>()?;
        let (bytes, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        let text = || String::from_utf8(bytes.to_vec()).ok();
        match tag {
            site::NAME => region.name = text()?,
            site::MODULE => region.module = text()?,
            site::FILE => region.file = text()?,
            site::RANK_LOCAL => region.rank_local = true,
            site::KEY => key = Some(text()?),
            site::VALUE => {
                region.constants.insert(key.take()?, text()?);
            }
            _ => {}
        }
        fields = rest;
    }
    let is_metric = high(kind) & 0xff == site::METRIC;
    let what = if is_metric { Site::Metric(region.name) } else { Site::Region(region.into()) };
    Some((word(site::ADDRESS)?, what))
}
