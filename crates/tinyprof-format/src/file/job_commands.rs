//! The commands that a job has obeyed, from the facts of all its ranks.

use super::ProfileReader;
use super::part::{self, PartSection};
use super::source::Source;
use crate::error::ReadError;
use crate::model::{JobCommands, RankCommands, RankFacts};

impl<S: Source> ProfileReader<S> {
    /// Returns the commands that the ranks were given, by rank; none of ranks that were given none.
    ///
    /// # Errors
    /// If the index of a part or its section of commands is damaged, or too large for the limit.
    pub fn rank_commands(&self) -> Result<Vec<(u32, RankCommands)>, ReadError> {
        let memory_limit = self.memory_limit();
        let mut all = Vec::new();
        for (number, part) in self.manifest().parts.iter().enumerate() {
            let index = self.index(number, &memory_limit)?;
            let Some(entry) = index.sections.get(&PartSection::Commands) else { continue };
            let mut facts = vec![RankFacts::default(); part.ranks as usize];
            self.section(&part.file, *entry, &memory_limit, |section| {
                part::decode_commands(section, &mut facts, index.version)
            })?;
            let of_part = (part.first_rank..).zip(facts.into_iter().map(|facts| facts.commands));
            all.extend(of_part.filter(|(_, commands)| !commands.is_empty()));
        }
        Ok(all)
    }

    /// Returns the commands of the job: each once, with the ranks that were late.
    ///
    /// # Errors
    /// As [`rank_commands`](Self::rank_commands).
    pub fn commands(&self) -> Result<JobCommands, ReadError> {
        let ranks = self.rank_commands()?;
        let ranks: Vec<_> = ranks.iter().map(|(rank, commands)| (*rank, commands)).collect();
        Ok(JobCommands::of(&ranks))
    }
}
