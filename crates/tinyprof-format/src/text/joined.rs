//! Joining texts of consecutive ranks into one profile.

use super::read::Imported;
use crate::model::{CallpathFile, CallpathTable, CallpathValues, Manifest, Profile};

/// Returns one profile of several texts: the ranks of the first, then those of the second, and so
/// on.
///
/// A callpath that is missing in some texts is absent on their ranks. None if there is no text.
///
/// # Panics
/// Never: a table has fewer than 2^32 rows, and texts have fewer ranks.
#[must_use]
pub(crate) fn join_ranks(texts: impl IntoIterator<Item = Imported>) -> Option<Imported> {
    let mut texts: Vec<Imported> = texts.into_iter().collect();
    let tables = texts.iter().map(|text| &text.profile.callpaths);
    let table = tables.fold(CallpathTable::default(), |all, table| all.union(table));
    let mut joined = texts.drain(..1.min(texts.len())).next()?;
    let ranks = std::mem::take(&mut joined.profile.ranks);
    let mut values = rows(&table, &joined.profile, ranks.len());
    joined.profile.ranks = ranks;
    for text in texts {
        let before =
            u32::try_from(joined.profile.ranks.len()).expect("there are fewer than 2^32 ranks");
        for (all, here) in
            values.iter_mut().zip(rows(&table, &text.profile, text.profile.ranks.len()))
        {
            all.extend(here);
        }
        joined.profile.ranks.extend(text.profile.ranks);
        joined.salvage.absorb(text.salvage, before);
        absorb(&mut joined.profile.manifest, &text.profile.manifest);
    }
    let callpaths = u32::try_from(table.len()).expect("a table has fewer than 2^32 rows");
    joined.profile.manifest.callpaths = CallpathFile { callpaths, ..CallpathFile::default() };
    Some(Imported { profile: Profile { callpaths: table, values, ..joined.profile }, ..joined })
}

/// Returns the values of a profile of `ranks` ranks, in the order of a table that contains all its
/// callpaths.
fn rows(table: &CallpathTable, profile: &Profile, ranks: usize) -> Vec<Vec<CallpathValues>> {
    let index = profile.callpaths.index_by_id();
    let row = |id| index.get(id).map(|at| profile.values[at.row()].clone());
    let absent = || vec![CallpathValues::default(); ranks];
    table.rows().iter().map(|callpath| row(&callpath.id).unwrap_or_else(absent)).collect()
}

fn absorb(manifest: &mut Manifest, later: &Manifest) {
    manifest.ranks += later.ranks;
    manifest.metadata.jobsize = manifest.ranks;
    manifest.executions = manifest.executions.max(later.executions);
    manifest.complete &= later.complete;
    if manifest.incomplete_because.is_none() {
        manifest.incomplete_because.clone_from(&later.incomplete_because);
    }
}

#[cfg(test)]
mod tests {
    use super::super::read_text;
    use super::*;

    fn text(rows: &str) -> Imported {
        read_text(format!("\"id\",\"parent\",\"tag\",\"is_loop\",\"times\"\n{rows}").as_bytes())
            .unwrap()
    }

    #[test]
    fn ranks_follow_each_other_and_callpaths_may_be_absent() {
        let first = text("\"a\",\"null\",\"null\",\"0\",\"1|2\"\n");
        let second =
            text("\"a\",\"null\",\"null\",\"0\",\"x\"\n\"a<b\",\"a\",\"null\",\"0\",\"4\"\n");
        let joined = join_ranks([first, second]).unwrap();
        let sums = |path: &str| -> Vec<Option<u64>> {
            let index = joined.profile.find(path).unwrap();
            let of_rank = |rank| joined.profile.values(index, rank);
            let sum = |v: &CallpathValues| (!v.is_absent()).then(|| v.inclusive_ns());
            (0..joined.profile.ranks.len()).map(|rank| sum(of_rank(rank))).collect()
        };
        assert_eq!(sums("a"), [Some(1_000_000_000), Some(2_000_000_000), None]);
        assert_eq!(sums("a<b"), [None, None, Some(4_000_000_000)]);
        assert_eq!(joined.profile.manifest.ranks, 3);
        assert_eq!(joined.salvage.values_lost, 1);
        assert_eq!(joined.salvage.problems[0].rank, Some(2), "ranks are those of the whole");
        assert!(!joined.profile.manifest.complete);
        assert!(join_ranks([]).is_none());
    }
}
