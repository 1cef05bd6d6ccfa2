//! A profile as reports read it: callpath by callpath, by the library's reader.

use std::error::Error;
use std::path::Path;

use tinyprof_format::error::ReadError;
use tinyprof_format::file::{BufferedDirectory, ProfileReader, ReadOptions};
use tinyprof_format::model::{CallpathIndex, CallpathTable, Manifest, RankFacts};
use tinyprof_report::{ByCallpath, Visit, VisitCauses};
use tinyprof_structure::Structure;

/// The part of the memory limit in which files are kept: opening a file for each of many sections
/// takes longer than reading them.
const BUFFER_PART: u64 = 8;

/// A whole profile on disk.
pub(crate) struct Whole {
    reader: ProfileReader<BufferedDirectory>,
    ranks: Vec<RankFacts>,
    roots: Vec<CallpathIndex>,
}

impl Whole {
    /// Opens the profile in `directory` and verifies its files.
    pub(crate) fn open(directory: &Path, limit_bytes: u64) -> Result<Self, ReadError> {
        let options = ReadOptions::default().with_memory_bytes(limit_bytes);
        let source = BufferedDirectory::new(directory, limit_bytes / BUFFER_PART);
        let reader = ProfileReader::of_source(source, options)?;
        reader.verify_parts()?;
        let ranks = reader.ranks()?;
        let all = reader.callpaths().iter();
        let roots = all.filter(|(_, callpath)| callpath.parent.is_none());
        let roots = roots.map(|(index, _)| index).collect();
        Ok(Self { reader, ranks, roots })
    }

    /// Returns its phases, and the classes of ranks in them.
    pub(crate) fn structure(&self, with_times: bool) -> Result<Structure, ReadError> {
        Structure::read(&self.reader, with_times)
    }
}

impl ByCallpath for Whole {
    fn manifest(&self) -> &Manifest {
        self.reader.manifest()
    }

    fn callpaths(&self) -> &CallpathTable {
        self.reader.callpaths()
    }

    fn ranks(&self) -> &[RankFacts] {
        &self.ranks
    }

    fn each(&self, visit: &mut Visit<'_>) -> Result<(), Box<dyn Error>> {
        self.reader.each_callpath(&self.roots, |index, values| visit(index, values))
    }

    fn each_causes(&self, visit: &mut VisitCauses<'_>) -> Result<(), Box<dyn Error>> {
        self.reader.each_causes(|rank, causes| {
            visit(rank, &causes);
            Ok(())
        })
    }
}
