//! The commands of a part's ranks: the last section, left out where no rank was given any.
//!
//! For each rank the length of its commands in bytes (a varint; 0: none), then all of them:
//!
//! ```text
//! commands without room | time off ns | commands        varints
//! for each command:
//! verb | answer | date, unix ns | given, ns since the rank began | late ns + 1 (0: not come)
//!     | lasted ns + 1 (0: not over) | threads      varints, then who has given it (a string), and
//! for verbs that are about something a string of what that is
//! ```

use tinyprof_segment::control::Verb;

use crate::bytes::{Cursor, Malformed, Sink};
use crate::model::{RankCommand, RankCommands, RankFacts};

/// The fewest bytes of a command.
const COMMAND_BYTES_MIN: usize = 8;

/// Encodes the commands of a rank; nothing if there are none.
pub(super) fn encode(commands: &RankCommands) -> Vec<u8> {
    let mut sink = Sink::default();
    if commands.is_empty() {
        return sink.into_vec();
    }
    sink.varint(commands.without_room);
    sink.varint(commands.off_ns);
    sink.varint(commands.commands.len() as u64);
    for command in &commands.commands {
        sink.varint(command.verb.into());
        sink.varint(command.answer.into());
        sink.varint(command.date_ns);
        sink.varint(command.at_ns);
        sink.varint(command.late_ns.map_or(0, |ns| ns.saturating_add(1)));
        sink.varint(command.lasted_ns.map_or(0, |ns| ns.saturating_add(1)));
        sink.varint(command.threads);
        sink.string(&command.by);
        if Verb::has_argument(command.verb) {
            sink.string(&command.argument);
        }
    }
    sink.into_vec()
}

/// Reads the commands of a rank.
pub(super) fn decode(cursor: &mut Cursor<'_>) -> Result<RankCommands, Malformed> {
    let without_room = cursor.varint("the commands without room")?;
    let off_ns = cursor.varint("the time off")?;
    let most = cursor.remaining() / COMMAND_BYTES_MIN;
    let count = cursor.count(most, "the number of commands")?;
    cursor.claim_kept(count, size_of::<RankCommand>(), "the commands")?;
    let commands = (0..count).map(|_| decode_one(cursor)).collect::<Result<_, _>>()?;
    Ok(RankCommands { commands, without_room, off_ns })
}

fn decode_one(cursor: &mut Cursor<'_>) -> Result<RankCommand, Malformed> {
    let verb = cursor.varint_u32("the verb of a command")?;
    let answer = cursor.varint_u32("the answer to a command")?;
    let date_ns = cursor.varint("the date of a command")?;
    let at_ns = cursor.varint("the time of a command")?;
    let late_ns = cursor.varint("the delay of a command")?.checked_sub(1);
    let lasted_ns = cursor.varint("the end of a command")?.checked_sub(1);
    let threads = cursor.varint("the threads of a command")?;
    let by = cursor.string("who has given a command")?;
    let argument = if Verb::has_argument(verb) {
        cursor.string("what a command is about")?
    } else {
        String::new()
    };
    Ok(RankCommand { verb, answer, by, date_ns, at_ns, late_ns, lasted_ns, threads, argument })
}

/// Encodes the section of ranks; none if no rank was given any.
pub(super) fn encode_section(ranks: &[RankFacts]) -> Option<Vec<u8>> {
    if ranks.iter().all(|rank| rank.commands.is_empty()) {
        return None;
    }
    let mut sink = Sink::default();
    for rank in ranks {
        let bytes = encode(&rank.commands);
        sink.varint(bytes.len() as u64);
        sink.bytes(&bytes);
    }
    Some(sink.into_vec())
}

/// Reads the section into the facts of the part's ranks.
pub(super) fn decode_section(
    cursor: &mut Cursor<'_>,
    ranks: &mut [RankFacts],
) -> Result<(), Malformed> {
    for rank in ranks {
        let length = cursor.count(cursor.remaining(), "the length of a rank's commands")?;
        let start = cursor.clone();
        let bytes = cursor.take(length, "the commands of a rank")?;
        if length > 0 {
            let mut own = start.sub(bytes);
            rank.commands = decode(&mut own)?;
            own.finish("the commands of a rank")?;
        }
    }
    Ok(())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns commands that are none like the other.
    pub(in crate::file) fn some_commands(seed: u64) -> RankCommands {
        let filter = Verb::Filter.number();
        let command = |at: u64| RankCommand {
            verb: if at == 3 { filter } else { 1 + u32::try_from(at).unwrap() },
            argument: if at == 3 { format!("-*{seed}") } else { String::new() },
            answer: 1,
            by: format!("größe@n{seed} (tinyprof ctl, process {at})"),
            date_ns: 1_764_259_000_000_000_000 + at,
            at_ns: seed * 1_000 + at,
            late_ns: at.checked_sub(1),
            lasted_ns: (at > 1).then_some(seed),
            threads: at,
        };
        RankCommands { commands: (0..4).map(command).collect(), without_room: seed, off_ns: 17 }
    }

    #[test]
    fn commands_are_read_as_they_were_written() {
        let of = |commands| RankFacts { commands, ..RankFacts::default() };
        let ranks = [of(some_commands(3)), RankFacts::default(), of(some_commands(4))];
        let bytes = encode_section(&ranks).expect("there are some");
        let mut read = vec![RankFacts::default(); 3];
        let mut cursor = Cursor::new(&bytes, 0);
        decode_section(&mut cursor, &mut read).expect("it is whole");
        assert_eq!((&read[..], cursor.remaining()), (&ranks[..], 0));
        assert_eq!(encode_section(&[RankFacts::default()]), None);
        for cut in 0..bytes.len() {
            let mut read = vec![RankFacts::default(); 3];
            let mut cursor = Cursor::new(&bytes[..cut], 0);
            assert!(decode_section(&mut cursor, &mut read).is_err(), "cut at {cut}");
        }
    }
}
