//! The commands that a part's ranks were given while they ran.

use crate::cursor::{Cursor, Damage};

/// The bytes that a command claims, beside its texts.
const COMMAND_BYTES: usize = 120;

/// The verbs of commands that are about something, which is behind their author.
const WITH_ARGUMENT: [u64; 2] = [7, 8];

/// A command as one rank has obeyed it: rank, verb, answer, who has given it, date and time, by how
/// much later it was obeyed, for how long it has lasted, threads, and what it is about.
pub(crate) type Command =
    (u32, u64, u64, String, u64, u64, Option<u64>, Option<u64>, u64, Option<String>);

/// The commands of all ranks, and of each rank that was given any: its rank, the commands without
/// room, and the time for which measuring was off.
#[derive(Debug, Default)]
pub(crate) struct Commands {
    pub(crate) commands: Vec<Command>,
    pub(crate) ranks: Vec<(u32, u64, u64)>,
}

/// Adds the commands of a part of this number of ranks.
pub(crate) fn read(
    cursor: &mut Cursor<'_>,
    (first_rank, ranks): (u32, usize),
    to: &mut Commands,
) -> Result<(), Damage> {
    for rank in (first_rank..).take(ranks) {
        let length = cursor.count(cursor.remaining(), "the length of a rank's commands")?;
        let left = cursor.remaining() - length;
        if length == 0 {
            continue;
        }
        let without_room = cursor.varint("the commands without room")?;
        let off_ns = cursor.varint("the time off")?;
        let count = cursor.count(cursor.remaining(), "the number of commands")?;
        cursor.charge(count.saturating_mul(COMMAND_BYTES), "the commands")?;
        for _ in 0..count {
            let verb: u64 = cursor.varint_u32("the verb of a command")?.into();
            let answer = cursor.varint_u32("the answer to a command")?.into();
            let date_ns = cursor.varint("the date of a command")?;
            let at_ns = cursor.varint("the time of a command")?;
            let late_ns = cursor.varint("the delay of a command")?.checked_sub(1);
            let lasted_ns = cursor.varint("the end of a command")?.checked_sub(1);
            let threads = cursor.varint("the threads of a command")?;
            let by = cursor.string("who has given a command")?.to_owned();
            let argument = if WITH_ARGUMENT.contains(&verb) {
                Some(cursor.string("what a command is about")?.to_owned())
            } else {
                None
            };
            to.commands.push((
                rank, verb, answer, by, date_ns, at_ns, late_ns, lasted_ns, threads, argument,
            ));
        }
        if cursor.remaining() != left {
            return Err(cursor.damage("the commands of a rank have another length"));
        }
        to.ranks.push((rank, without_room, off_ns));
    }
    cursor.finish("a section")
}
