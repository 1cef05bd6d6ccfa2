//! A reader for single callpaths of a profile.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::Path;

use super::communication::{Slices, Targets};
use super::part::{self, PartSection};
use super::part_index::PartIndex;
use super::read::{check_length, check_parts, check_rows, explain, files_bytes, memory_limit};
use super::section::{FOOTER_BYTES, Footer, FrameError, Header, IndexEntry};
use super::source::{Directory, Source, read_whole};
use super::times::Sums;
use super::{ReadOptions, callpaths};
use super::{exclusive, manifest};
use crate::bytes::{Cursor, Malformed, MemoryLimit};
use crate::error::ReadError;
use crate::model::{
    CallpathIndex, CallpathTable, CallpathValues, Children, Manifest, PartFile, RankFacts,
};

/// A profile whose callpaths are read one by one.
///
/// ```
/// use tinyprof_format::file::{ProfileReader, ProfileWriter};
/// use tinyprof_format::model::EventMap;
///
/// let scratch = std::env::temp_dir().join(format!("tinyprof-reader-{}", std::process::id()));
/// std::fs::create_dir_all(&scratch)?;
/// let path = ProfileWriter::new().write(&scratch.join("run"), &[EventMap::default()])?;
/// let reader = ProfileReader::open(&path)?;
/// for (index, callpath) in reader.callpaths().iter() {
///     println!("{}: {} visits", callpath.region.name, reader.callpath(index)?[0].visits());
/// }
/// # std::fs::remove_dir_all(&scratch)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Cost
/// Opening reads the manifest and the dictionary. The first callpath read also reads the index of
/// each part. Each callpath then reads its own sections, and where its sums are stored as
/// exclusive, also those of its callees. Several callpaths requested together are read once. Only
/// the checksums of the data that is read are verified, so damage elsewhere goes unnoticed.
#[derive(Debug)]
pub struct ProfileReader<S> {
    source: S,
    options: ReadOptions,
    /// The memory used by manifest and dictionary.
    kept_bytes: u64,
    manifest: Manifest,
    callpaths: CallpathTable,
    children: Children,
    /// The index of each part, once it has been read.
    parts: Vec<OnceCell<PartIndex>>,
}

/// The values of the ranks of a part at several callpaths, by row.
type Rows = BTreeMap<usize, (Vec<CallpathValues>, Sums)>;

impl ProfileReader<Directory> {
    /// Opens the profile in `directory` with the default options.
    ///
    /// # Errors
    /// If the profile is unfinished, of a newer version, or its manifest or dictionary is damaged.
    pub fn open(directory: &Path) -> Result<Self, ReadError> {
        Self::of_source(Directory::new(directory), ReadOptions::default())
    }
}

impl<S: Source> ProfileReader<S> {
    /// Opens the profile whose files are in `source`. Each call allocates at most the memory in
    /// `options`.
    ///
    /// # Errors
    /// As [`open`](ProfileReader::open).
    pub fn of_source(source: S, options: ReadOptions) -> Result<Self, ReadError> {
        let manifest = manifest::read(&source, options)?;
        check_parts(&source, &manifest)?;
        let memory_limit = memory_limit(&source, &manifest, options);
        let path = check_length(&source, &manifest.callpaths.file, manifest.callpaths.bytes)?;
        let bytes = read_whole(&source, &manifest.callpaths.file, &memory_limit)?;
        let callpaths = callpaths::decode(&bytes, &memory_limit).map_err(|e| explain(&path, e))?;
        check_rows(path, &callpaths, &manifest)?;
        let parts = manifest.parts.iter().map(|_| OnceCell::new()).collect();
        let children = callpaths.children();
        let kept_bytes = memory_limit.kept_bytes();
        Ok(Self { source, options, kept_bytes, manifest, callpaths, children, parts })
    }

    /// Returns the manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Returns the dictionary.
    pub fn callpaths(&self) -> &CallpathTable {
        &self.callpaths
    }

    /// Returns the values of every rank at a callpath, by rank.
    ///
    /// # Errors
    /// If the index of a part or a section of the callpath is damaged, or too large for the limit.
    ///
    /// # Panics
    /// If the callpath is not in this profile.
    pub fn callpath(&self, callpath: CallpathIndex) -> Result<Vec<CallpathValues>, ReadError> {
        let mut values = self.of_callpaths(&[callpath])?;
        Ok(values.pop().unwrap_or_default())
    }

    /// Returns the values of every rank at several callpaths: by callpath in the order of
    /// `callpaths`, then by rank. Each callpath must be named only once.
    ///
    /// # Errors
    /// As [`callpath`](Self::callpath).
    ///
    /// # Panics
    /// If a callpath is not in this profile.
    pub fn of_callpaths(
        &self,
        callpaths: &[CallpathIndex],
    ) -> Result<Vec<Vec<CallpathValues>>, ReadError> {
        let memory_limit = self.memory_limit();
        let mut values: Vec<Vec<CallpathValues>> = vec![Vec::new(); callpaths.len()];
        for number in 0..self.manifest.parts.len() {
            let mut rows = self.read(number, callpaths, &memory_limit)?;
            for (values, callpath) in values.iter_mut().zip(callpaths) {
                values.extend(rows.remove(&callpath.row()).into_iter().flat_map(|(own, _)| own));
            }
        }
        Ok(values)
    }

    /// Returns the facts that each rank reports about itself, by rank, but for its
    /// [causes](Self::causes) and [events](Self::each_events).
    ///
    /// # Errors
    /// If the index of a part or its section of the ranks is damaged, or too
    /// large for the limit.
    pub fn ranks(&self) -> Result<Vec<RankFacts>, ReadError> {
        let memory_limit = self.memory_limit();
        let mut facts = Vec::new();
        for (number, part) in self.manifest.parts.iter().enumerate() {
            let index = self.index(number, &memory_limit)?;
            // The order of the sections has been checked, so this one exists.
            let Some(entry) = index.sections.get(&PartSection::Ranks) else { continue };
            let ranks = part.ranks as usize;
            let of_part = self.section(&part.file, *entry, &memory_limit, |section| {
                part::decode_facts(section, ranks, index.version)
            })?;
            facts.extend(of_part);
            let own = facts.len() - ranks;
            if let Some(entry) = index.sections.get(&PartSection::Commands) {
                self.section(&part.file, *entry, &memory_limit, |section| {
                    part::decode_commands(section, &mut facts[own..], index.version)
                })?;
            }
        }
        Ok(facts)
    }

    /// Returns the values of `rank` at a callpath. Reads nothing of parts without the rank.
    ///
    /// # Errors
    /// As [`callpath`](Self::callpath).
    ///
    /// # Panics
    /// If the callpath or the rank is not in this profile.
    pub fn callpath_of_rank(
        &self,
        callpath: CallpathIndex,
        rank: u32,
    ) -> Result<CallpathValues, ReadError> {
        assert!(rank < self.manifest.ranks, "rank {rank} of {}", self.manifest.ranks);
        let number = self.manifest.parts.partition_point(|part| part.first_rank <= rank) - 1;
        // Parts without ranks may be beside the one with the rank.
        let number =
            (0..=number).rev().find(|&n| self.manifest.parts[n].ranks > 0).unwrap_or(number);
        let part = &self.manifest.parts[number];
        let memory_limit = self.memory_limit();
        let mut rows = self.read(number, &[callpath], &memory_limit)?;
        let (mut values, _) = rows.remove(&callpath.row()).unwrap_or((Vec::new(), Sums::Inclusive));
        Ok(values.swap_remove((rank - part.first_rank) as usize))
    }

    /// Returns the memory that a call may use, beside the memory that the reader keeps.
    pub(super) fn memory_limit(&self) -> MemoryLimit {
        let memory_limit = memory_limit(&self.source, &self.manifest, self.options);
        // A buffer holds no more than the files, whose length may be far below its own.
        let buffer_bytes = match self.source.buffer_bytes() {
            0 => 0,
            bytes => bytes.min(files_bytes(&self.source, &self.manifest)),
        };
        // The manifest is counted twice. A claim that is already too much makes the next one fail.
        memory_limit.claim_kept(self.kept_bytes.saturating_add(buffer_bytes));
        memory_limit
    }

    pub(super) fn source(&self) -> &S {
        &self.source
    }

    pub(super) fn children(&self) -> &Children {
        &self.children
    }

    pub(super) fn empty(
        &self,
        ranks: usize,
        memory_limit: &MemoryLimit,
    ) -> Result<Vec<CallpathValues>, ReadError> {
        let mut rows = super::read::empty_values(&self.source, 1, ranks, memory_limit)?;
        Ok(rows.swap_remove(0))
    }

    /// Reads the sections of callpaths in one part, and those of the callees whose times are
    /// excluded from their sums.
    fn read(
        &self,
        number: usize,
        callpaths: &[CallpathIndex],
        memory_limit: &MemoryLimit,
    ) -> Result<Rows, ReadError> {
        // Rows below a callpath have greater numbers, so the last one in the list must be resolved
        // first.
        let mut rows = Rows::new();
        let mut wanted: Vec<usize> = callpaths.iter().map(|callpath| callpath.row()).collect();
        while let Some(row) = wanted.pop() {
            if rows.contains_key(&row) {
                continue;
            }
            let mut values =
                self.empty(self.manifest.parts[number].ranks as usize, memory_limit)?;
            let sums = self.read_own(number, row, &mut values, memory_limit)?;
            if sums != Sums::Inclusive {
                wanted.extend(self.children[row].iter().map(|child| child.row()));
            }
            rows.insert(row, (values, sums));
        }
        for row in rows.keys().rev().copied().collect::<Vec<_>>() {
            let Some(&(_, Sums::Exclusive { single })) = rows.get(&row) else { continue };
            let Some((mut own, _)) = rows.remove(&row) else { continue };
            let children = self.children[row].iter().filter_map(|child| rows.get(&child.row()));
            let children: Vec<&[CallpathValues]> =
                children.map(|(values, _)| values.as_slice()).collect();
            exclusive::make_inclusive(&mut own, &children, single);
            rows.insert(row, (own, Sums::Inclusive));
        }
        Ok(rows)
    }

    /// Reads the sections of a callpath in one part.
    fn read_own(
        &self,
        number: usize,
        row: usize,
        values: &mut [CallpathValues],
        memory_limit: &MemoryLimit,
    ) -> Result<Sums, ReadError> {
        let sums = self.read_times(number, row, values, memory_limit)?;
        if let Some((rows, entry)) = self.index(number, memory_limit)?.communication(row) {
            let targets = &mut Slices { first: row, values: &mut [values] };
            self.read_communication(number, (rows, entry), targets, memory_limit)?;
        }
        Ok(sums)
    }

    /// Reads the times and metrics of a callpath in one part.
    pub(super) fn read_times(
        &self,
        number: usize,
        row: usize,
        values: &mut [CallpathValues],
        memory_limit: &MemoryLimit,
    ) -> Result<Sums, ReadError> {
        let mut sums = Sums::Inclusive;
        let index = self.index(number, memory_limit)?;
        for (own, of_one) in [
            (PartSection::Times(row), PartSection::Times(0)),
            (PartSection::Metrics(row), PartSection::Metrics(0)),
        ] {
            let Some(entry) = index.sections.get(&own) else { continue };
            let found =
                self.section(&self.manifest.parts[number].file, *entry, memory_limit, |section| {
                    part::decode_section(section, of_one, &mut [&mut *values], index.version)
                })?;
            if found != Sums::Inclusive {
                sums = found;
            }
        }
        Ok(sums)
    }

    /// Reads a section of messages and edges of one part, which may be of these rows.
    pub(super) fn read_communication(
        &self,
        number: usize,
        (rows, entry): (RangeInclusive<usize>, IndexEntry),
        targets: &mut dyn Targets,
        memory_limit: &MemoryLimit,
    ) -> Result<(), ReadError> {
        let version = self.index(number, memory_limit)?.version;
        let file = &self.manifest.parts[number].file;
        self.section(file, entry, memory_limit, |section| {
            part::decode_communication(section, rows, &self.callpaths, targets, version)
        })
    }

    /// Reads a section and passes it to `decode`.
    pub(super) fn section<T>(
        &self,
        file: &str,
        entry: IndexEntry,
        memory_limit: &MemoryLimit,
        decode: impl FnOnce(Cursor<'_>) -> Result<T, Malformed>,
    ) -> Result<T, ReadError> {
        let path = self.source.path(file);
        let before = memory_limit.passing_bytes();
        let bytes = self.bytes(file, entry.offset, entry.length, memory_limit)?;
        let decoded = entry
            .verify(&bytes)
            .and_then(|()| decode(Cursor::within(memory_limit, &bytes, entry.offset)));
        memory_limit.back_to(before);
        decoded.map_err(|error| explain(&path, error.into()))
    }

    pub(super) fn index(
        &self,
        number: usize,
        memory_limit: &MemoryLimit,
    ) -> Result<&PartIndex, ReadError> {
        if let Some(index) = self.parts[number].get() {
            return Ok(index);
        }
        let index = self.read_index(&self.manifest.parts[number], memory_limit)?;
        Ok(self.parts[number].get_or_init(|| index))
    }

    fn read_index(
        &self,
        part: &PartFile,
        memory_limit: &MemoryLimit,
    ) -> Result<PartIndex, ReadError> {
        let path = check_length(&self.source, &part.file, part.bytes)?;
        let explain = |error: FrameError| explain(&path, error);
        let first_section = Header::<3>::BYTES as u64;
        let header = self.bytes(&part.file, 0, first_section.min(part.bytes), memory_limit)?;
        let header = Header::<3>::read(&header, part::MAGIC).map_err(explain)?;
        let callpaths = u32::try_from(self.callpaths.len()).unwrap_or(u32::MAX);
        if header.fields != [part.first_rank, part.ranks, callpaths] {
            let reason =
                "its header speaks of other ranks or callpaths than the manifest".to_owned();
            return Err(ReadError::Damaged { path, offset: 0, reason });
        }
        let footer_at = part.bytes.saturating_sub(FOOTER_BYTES as u64);
        let footer = self.bytes(&part.file, footer_at, part.bytes - footer_at, memory_limit)?;
        let footer =
            Footer::read(&footer, footer_at, first_section).map_err(|e| explain(e.into()))?;
        let length = footer_at - footer.index_offset;
        // Memory for the list of entries, the set of their keys and the tree of the sections. Each
        // entry takes 24 bytes here.
        memory_limit.claim_temporary(length.saturating_mul(6));
        let bytes = self.bytes(&part.file, footer.index_offset, length, memory_limit)?;
        let entries = footer.index(&bytes, first_section).map_err(|e| explain(e.into()))?;
        part::check_order(&entries, self.callpaths.len()).map_err(|e| explain(e.into()))?;
        let known = entries.into_iter().filter_map(|entry| {
            PartSection::of_key(entry.key, self.callpaths.len()).map(|section| (section, entry))
        });
        Ok(PartIndex { version: header.version, sections: known.collect() })
    }

    fn bytes(
        &self,
        file: &str,
        offset: u64,
        length: u64,
        memory_limit: &MemoryLimit,
    ) -> Result<Vec<u8>, ReadError> {
        let path = self.source.path(file);
        let Some(bytes) =
            usize::try_from(length).ok().filter(|_| memory_limit.claim_temporary(length))
        else {
            let reason = format!("a section of {length} bytes");
            return Err(ReadError::OverLimit {
                path,
                limit_bytes: memory_limit.limit_bytes(),
                reason,
            });
        };
        self.source.read(file, offset, bytes).map_err(|source| ReadError::Io { path, source })
    }
}
