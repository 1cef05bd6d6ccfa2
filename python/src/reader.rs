//! The files of one profile, read and verified. Values are decoded when Python requests them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

mod rows;

use crate::callpaths::{self, Callpaths};
use crate::causes::{self, Causes};
use crate::cells::{Columns, Unit};
use crate::children::Children;
use crate::commands::{self, Commands};
use crate::communication::{self, Of};
use crate::cursor::{Budget, Cursor, Damage};
use crate::edges::Edges;
use crate::events::{self, Events};
use crate::file::{Error, Listed, PartFile, explain, read_file};
use crate::messages::Messages;
use crate::metrics::{self, Metric};
use crate::part::{Expected, Facts, Part};
use crate::sections::Section;
use crate::series::Elements;
use crate::summaries::{Detail, Summaries};
use crate::times::{self, Then};

/// Summaries of a callpath, the rank of each of their counts, and the series.
pub(crate) type Times = (Summaries<u64>, Vec<u32>, Elements<u64>);

/// The files of one profile.
#[derive(Debug)]
pub(crate) struct Profile {
    pub(crate) callpaths: Callpaths,
    parts: Vec<PartFile>,
    /// The first rank of the first part.
    first_rank: u32,
    directory: PathBuf,
    limit_bytes: u64,
}

impl Profile {
    /// Reads the files in `directory`: the dictionary, with the number of rows from the manifest,
    /// and the parts, with first rank and number of ranks. They may be some of a profile's parts,
    /// neighbours of which the first has to begin with `first_rank`.
    pub(crate) fn open(
        directory: &Path,
        (dictionary, rows): (Listed, usize),
        (parts, first_rank): (Vec<(Listed, u32, u32)>, u32),
        limit_bytes: u64,
    ) -> Result<Self, Error> {
        let (path, bytes) = read_file(directory, &dictionary, false)?;
        let budget = Budget::new(limit_bytes);
        let callpaths =
            callpaths::decode(&bytes, &budget).map_err(|error| explain(&path, error))?;
        if callpaths.rows.len() != rows {
            let reason =
                format!("it has {} callpaths, the manifest says {rows}", callpaths.rows.len());
            return Err(Error::Damaged(path, Damage::at(0, reason)));
        }
        let mut next_rank = first_rank;
        let mut files = Vec::with_capacity(parts.len());
        for (listed, begin, ranks) in parts {
            let (path, bytes) = read_file(directory, &listed, true)?;
            let expected = Expected { first_rank: begin, ranks, callpaths: rows };
            let part = Part::open(&bytes, &expected).map_err(|error| explain(&path, error))?;
            if begin != next_rank {
                let reason =
                    format!("it begins with rank {begin}, and rank {next_rank} is the next");
                return Err(Error::Damaged(path, Damage::at(0, reason)));
            }
            next_rank = begin.saturating_add(ranks);
            files.push(PartFile { path, bytes, part });
        }
        let directory = directory.to_owned();
        Ok(Self { callpaths, parts: files, first_rank, directory, limit_bytes })
    }

    pub(crate) fn facts(&self) -> Result<Facts, Error> {
        let budget = Budget::new(self.limit_bytes);
        let mut facts = Facts::default();
        for file in &self.parts {
            let read = file.part.read_facts(&file.bytes, &budget, &mut facts);
            read.map_err(|damage| file.damaged(damage))?;
        }
        Ok(facts)
    }

    /// Returns an error if a result of this many bytes is above the caller's limit.
    pub(crate) fn check_limit(&self, bytes: usize) -> Result<(), Error> {
        if bytes as u64 <= self.limit_bytes {
            return Ok(());
        }
        let reason = format!("its values take {bytes} bytes, the limit is {}", self.limit_bytes);
        Err(Error::TooLarge(self.directory.clone(), reason))
    }

    /// Returns the number of cells of each callpath: one for each rank that visited it.
    pub(crate) fn count_cells(&self) -> Result<Vec<usize>, Error> {
        let budget = Budget::new(self.limit_bytes);
        let (mut cells, mut counts) = (vec![0; self.callpaths.rows.len()], Vec::new());
        for file in &self.parts {
            for (row, section) in &file.part.times {
                counts.clear();
                let mut cursor = section.cursor(&file.bytes, &budget);
                times::read_counts(&mut cursor, file.part.ranks, &mut counts)
                    .map_err(|damage| file.damaged(damage))?;
                cells[*row] += counts.iter().filter(|&&count| count > 0).count();
                budget.give_back();
            }
        }
        Ok(cells)
    }

    /// Writes the values of each callpath on each rank over all executions. `starts` are the places
    /// of the callpaths' first cells.
    pub(crate) fn fill_cells(
        &self,
        columns: &mut Columns<'_>,
        starts: Vec<usize>,
        detail: Detail,
        unit: Unit,
    ) -> Result<(), Error> {
        let budget = Budget::new(self.limit_bytes);
        let (dense, mut next) = (columns.ranks.is_empty(), starts);
        let mut children = self.no_children();
        for file in &self.parts {
            let first_rank = file.part.first_rank;
            let ahead = if dense { (first_rank - self.first_rank) as usize } else { 0 };
            self.walk_back(
                file,
                &budget,
                None,
                detail,
                &mut children,
                |row, summaries, children_ns, _, _| {
                    let behind =
                        columns.put(next[row] + ahead, first_rank, summaries, children_ns, unit);
                    if !dense {
                        next[row] = behind;
                    }
                    budget.give_back();
                    Ok(())
                },
            )
            .map_err(|damage| file.damaged(damage))?;
        }
        Ok(())
    }

    /// Returns summaries and series of one callpath, and the rank of each of the summaries' counts.
    pub(crate) fn times(&self, row: usize) -> Result<Times, Error> {
        let (mut all, mut places, mut series) = Times::default();
        let budget = Budget::new(self.limit_bytes);
        let mut children = self.no_children();
        for file in &self.parts {
            let ranks = (file.part.first_rank, file.part.ranks);
            let Some(wanted) = self.needed_for(row, file, &budget) else { continue };
            self.walk_back(
                file,
                &budget,
                Some(&wanted),
                Detail::All,
                &mut children,
                |found, summaries, _, cursor, then| {
                    if found == row {
                        places.extend((ranks.0..).take(ranks.1));
                        all.append(summaries);
                        if let Then::End = then.0 {
                            series.append(std::mem::take(then.1));
                        }
                        times::read_series(cursor, ranks, then.0, &mut series)?;
                    }
                    Ok(())
                },
            )
            .map_err(|damage| file.damaged(damage))?;
        }
        Ok((all, places, series))
    }

    /// Returns the rows of a part that have to be read for one row: also those below it, as far as
    /// sums are exclusive. Returns `None` if the part does not have the row.
    fn needed_for(&self, row: usize, file: &PartFile, budget: &Budget) -> Option<Vec<bool>> {
        let sections = &file.part.times;
        let first = sections.binary_search_by_key(&row, |(row, _)| *row).ok()?;
        let (mut needed, mut exclusive) =
            (vec![false; self.callpaths.rows.len()], vec![false; self.callpaths.rows.len()]);
        needed[row] = true;
        for &(here, section) in &sections[first..] {
            needed[here] |=
                self.callpaths.rows[here].parent().is_some_and(|parent| exclusive[parent]);
            exclusive[here] =
                needed[here] && times::is_exclusive(&section.cursor(&file.bytes, budget));
        }
        Some(needed)
    }

    fn no_children(&self) -> Vec<Children> {
        let mut children = Vec::new();
        children.resize_with(self.callpaths.rows.len(), Children::default);
        children
    }

    /// Passes the summaries of each callpath of a part, or of the `wanted` ones, to `visit`, with
    /// the times of its children rank by rank, and the cursor after the summaries.
    ///
    /// A parent is before its children in the dictionary. So when walking backwards, the times of
    /// each callpath's children are known. `children` is storage for these times, one for each
    /// callpath.
    fn walk_back<'a>(
        &'a self,
        file: &'a PartFile,
        budget: &'a Budget,
        wanted: Option<&[bool]>,
        detail: Detail,
        children: &mut [Children],
        mut visit: impl FnMut(
            usize,
            &mut Summaries<u64>,
            &[u64],
            &mut Cursor<'a>,
            (Then, &mut Elements<u64>),
        ) -> Result<(), Damage>,
    ) -> Result<(), Damage> {
        let ranks = (file.part.first_rank, file.part.ranks);
        let mut summaries = Summaries::default();
        for &(row, section) in file.part.times.iter().rev() {
            if wanted.is_some_and(|wanted| !wanted[row]) {
                continue;
            }
            summaries.clear();
            let own = std::mem::take(&mut children[row]);
            let (mut cursor, mut series) =
                (section.cursor(&file.bytes, budget), Elements::default());
            let then = times::read_summaries(
                &mut cursor,
                ranks,
                detail,
                &own,
                &mut summaries,
                &mut series,
            )?;
            if let Some(parent) = self.callpaths.rows[row].parent() {
                children[parent].add(&summaries);
            }
            visit(row, &mut summaries, &own.by_rank, &mut cursor, (then, &mut series))?;
        }
        // Parents without any finished visit on these ranks.
        for parent in
            file.part.times.iter().filter_map(|(row, _)| self.callpaths.rows[*row].parent())
        {
            if !children[parent].by_rank.is_empty() {
                children[parent] = Children::default();
            }
        }
        Ok(())
    }

    /// Returns the metrics of one callpath, by key.
    pub(crate) fn metrics(&self, row: usize) -> Result<BTreeMap<String, Metric>, Error> {
        let mut found = BTreeMap::new();
        let budget = Budget::new(self.limit_bytes);
        self.each_section(
            row,
            |part| &part.metrics,
            &budget,
            |cursor, first_rank, ranks| metrics::read(cursor, first_rank, ranks, &mut found),
        )?;
        Ok(found)
    }

    /// Returns the messages of one callpath.
    pub(crate) fn messages(&self, row: usize) -> Result<Messages, Error> {
        self.communication(row).map(|(messages, _)| messages)
    }

    /// Returns the edges to one callpath.
    pub(crate) fn edges(&self, row: usize) -> Result<Edges, Error> {
        self.communication(row).map(|(_, edges)| edges)
    }

    fn communication(&self, row: usize) -> Result<(Messages, Edges), Error> {
        let mut found = Default::default();
        let budget = Budget::new(self.limit_bytes);
        let ids: Vec<u64> = self.callpaths.rows.iter().map(|callpath| callpath.id).collect();
        for file in &self.parts {
            let sections = &file.part.communication;
            // The section of a row has its key, or the next greater one.
            let at = sections.partition_point(|(rows, _)| rows.end <= row);
            let Some((rows, section)) = sections.get(at) else { continue };
            let of = Of { first_rank: file.part.first_rank, ranks: file.part.ranks, ids: &ids };
            let mut cursor = section.cursor(&file.bytes, &budget);
            communication::read(&mut cursor, rows, of, row, &mut found)
                .map_err(|damage| file.damaged(damage))?;
        }
        Ok(found)
    }

    /// Returns the causes of waiting of all ranks.
    pub(crate) fn causes(&self) -> Result<Causes, Error> {
        let mut found = Causes::default();
        self.each_part(
            |part| part.causes.as_ref(),
            |cursor, ranks| causes::read(cursor, ranks, self.callpaths.rows.len(), &mut found),
        )?;
        Ok(found)
    }

    /// Returns the events of all ranks.
    pub(crate) fn events(&self) -> Result<Events, Error> {
        let mut found = Events::default();
        self.each_part(
            |part| part.events.as_ref(),
            |cursor, ranks| events::read(cursor, ranks, &mut found),
        )?;
        Ok(found)
    }

    /// Returns the commands of all ranks.
    pub(crate) fn commands(&self) -> Result<Commands, Error> {
        let mut found = Commands::default();
        self.each_part(
            |part| part.commands.as_ref(),
            |cursor, ranks| commands::read(cursor, ranks, &mut found),
        )?;
        Ok(found)
    }

    /// Reads a section of all ranks in each part that has it: the cursor, the first rank and the
    /// number of ranks.
    fn each_part(
        &self,
        section: impl Fn(&Part) -> Option<&Section>,
        mut read: impl FnMut(&mut Cursor<'_>, (u32, usize)) -> Result<(), Damage>,
    ) -> Result<(), Error> {
        let budget = Budget::new(self.limit_bytes);
        for file in &self.parts {
            let Some(section) = section(&file.part) else { continue };
            let mut cursor = section.cursor(&file.bytes, &budget);
            read(&mut cursor, (file.part.first_rank, file.part.ranks))
                .map_err(|damage| file.damaged(damage))?;
        }
        Ok(())
    }

    fn each_section<'a>(
        &'a self,
        row: usize,
        list: impl Fn(&Part) -> &[(usize, Section)],
        budget: &'a Budget,
        mut read: impl FnMut(&mut Cursor<'a>, u32, usize) -> Result<(), Damage>,
    ) -> Result<(), Error> {
        for file in &self.parts {
            let sections = list(&file.part);
            let Ok(at) = sections.binary_search_by_key(&row, |(row, _)| *row) else { continue };
            let mut cursor = sections[at].1.cursor(&file.bytes, budget);
            read(&mut cursor, file.part.first_rank, file.part.ranks)
                .map_err(|damage| file.damaged(damage))?;
        }
        Ok(())
    }
}
