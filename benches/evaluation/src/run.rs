//! The parts of docs/evaluation.md: those that are missing, one after the other.

use std::cell::OnceCell;
use std::path::PathBuf;

use crate::application::Programs;
use crate::context::Context;
use crate::how::{How, Task, processors};
use crate::kept::Wanted;
use crate::parts::Part;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    how: How,
    /// Which parts, parted by commas; all of them otherwise
    #[arg(long, value_enum, value_delimiter = ',')]
    parts: Vec<Part>,
    /// How long the run takes that is always on
    #[arg(long, value_name = "S", default_value_t = 600)]
    always_on_s: u64,
    /// Where the profiles are that the authors of the paper published
    #[arg(long)]
    shared_data: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let chosen =
        if arguments.parts.is_empty() { Part::ALL.to_vec() } else { arguments.parts.clone() };
    let task = |&part: &Part| Task {
        part,
        name: part.name(),
        wanted: wanted(arguments, part),
        expected: part.expected(arguments.always_on_s),
    };
    let tasks: Vec<Task<Part>> = chosen.iter().map(task).collect();
    arguments.how.each_missing(&tasks, |part| part.measure(&context(arguments, part)))
}

fn wanted(arguments: &Arguments, part: Part) -> Wanted {
    Wanted {
        commit: arguments.how.commit.clone(),
        repetitions: arguments.how.repetitions,
        always_on_s: if part == Part::AlwaysOn { arguments.always_on_s } else { 0 },
        small: arguments.how.small,
    }
}

fn context(arguments: &Arguments, part: Part) -> Context {
    let how = &arguments.how;
    Context {
        programs: Programs {
            mpiexec: how.mpiexec.clone(),
            on: how.on.clone(),
            off: how.off.clone(),
        },
        ranks: ranks_for(processors()),
        repetitions: how.repetitions,
        always_on_s: arguments.always_on_s,
        small: how.small,
        shared_data: arguments.shared_data.clone(),
        part: part.name(),
        visit_ps: OnceCell::new(),
    }
}

/// Returns the greatest power of two of ranks that each have a processor, up to 16: the sizes of
/// the transform are divisible by it.
fn ranks_for(processors: u32) -> u32 {
    1 << processors.clamp(1, 16).ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_rank_shares_its_processor() {
        assert_eq!([1, 2, 3, 6, 16, 100].map(ranks_for), [1, 2, 2, 4, 16, 16]);
    }
}
