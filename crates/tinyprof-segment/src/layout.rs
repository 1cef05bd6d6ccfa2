//! Memory layout of a segment: 64-bit little-endian words in lines of eight, addressed by line
//! number.
//!
//! ```text
//! line 0  0 magic  1 version  2 process id, user id  3 start time of the process
//!          4, 5 boot id                         6 thread, clock           7 PID namespace
//! line 1  8 start ticks  9 start ns  10 launch date (unix s)  11 description: line, bytes
//!         12 rank, ranks  13 newest node  14 newest site  15 files that were not to be had
//! line 2  16 visits lost   17 visits in other  18 visits unbalanced      19 clock steps back
//!         20 visits not timed                  21 values not recorded     22 number of the profile
//!         that is being written of all segments of the process, 0: none  23 line of the element
//!                  of a
//!         list that is being changed, 0: none
//! line 3  24 .. 31 what that element was before
//! line 4  32 visits kept out  33 visits too deep  34, 35 visits lost, kept out on threads without
//!          a segment
//!         36 visits without key            37 newest message record    38 messages lost
//!         39 newest edge record
//! line 5  40 edges lost       41 .. 53 facts of the clock, in the order of `ClockFacts::named`
//! line 6  54 .. 60 processor time, in the order of `ProcessorFacts::named`
//!         61 words that others give a meaning, the first a sequence counter: line, number of words
//!         62 events: line, number of words; 0: none
//!         63 commands that the thread has obeyed: line, number of words; 0: none, see
//!         [`obeyed`](crate::obeyed)
//! line 8  64 execution of the latest root region, and what [`execution`] says of the thread
//!         65 .. 71 what the thread answers to commands, line 9 .. 14  72 .. 119 the commands: see
//!         [`control`](crate::control)
//! line 15 ..  blocks of 2^k lines: nodes, sites, lists, the description, tables of the recorder
//!
//! node:  16 words, see [`node`]        message: 8 words, see [`message`]
//! edge:  16 words, see [`edge`]
//! site:  0 the site before this  1 address  2 site id  3 line, column  4 bytes, kind and mode  5
//!          .. fields
//!         a field: tag (1 byte), length (4 bytes), bytes; readers skip tags that they do not know
//! ```
//!
//! Where two numbers share a word, the first is the low half. Word 0, the magic, is written last.
//! An element of a list of past executions has eight words: execution and executions, visits, sum,
//! minimum, maximum, squares low, squares high, variance of the sum. An element of a series has
//! four: execution and visits, sum, minimum, maximum.
//!
//! A node whose site is a metric is not a callpath but a metric of its parent. Its visits are
//! values. Its sum, minimum and maximum are floats, and so is the low word of its squares. Its
//! variance is 0.

/// The first word of a segment: `TPRFSEG` and a zero byte.
pub const MAGIC: u64 = u64::from_le_bytes(*b"TPRFSEG\0");
/// The version of the layout. Segments of other versions are ignored, since no compatibility is
/// promised.
pub const VERSION: u64 = 8;
/// The greatest length of a segment. Readers ignore longer files. A sparse file of any length takes
/// no space, and recorders never write one.
pub const SEGMENT_BYTES_MAX: u64 = 1 << 30;
/// Words per line.
pub const LINE_WORDS: usize = 8;
/// Bytes per line.
pub const LINE_BYTES: usize = LINE_WORDS * 8;
/// Lines of the header.
pub const HEADER_LINES: u32 = 15;

/// Words of the header.
pub mod header {
    #![expect(missing_docs, reason = "the picture above says what each word is")]
    pub const MAGIC: usize = 0;
    pub const VERSION: usize = 1;
    pub const PROCESS: usize = 2;
    pub const START_TIME: usize = 3;
    pub const BOOT_ID: usize = 4;
    pub const THREAD: usize = 6;
    pub const NAMESPACE: usize = 7;
    pub const START_TICKS: usize = 8;
    pub const START_NS: usize = 9;
    pub const LAUNCH_DATE: usize = 10;
    pub const DESCRIPTION: usize = 11;
    pub const RANK: usize = 12;
    pub const LAST_NODE: usize = 13;
    pub const LAST_SITE: usize = 14;
    pub const NOT_MAPPED: usize = 15;
    pub const VISITS_LOST: usize = 16;
    pub const VISITS_IN_OTHER: usize = 17;
    pub const VISITS_UNBALANCED: usize = 18;
    pub const CLOCK_STEPS_BACK: usize = 19;
    pub const VISITS_NOT_TIMED: usize = 20;
    pub const VALUES_NOT_RECORDED: usize = 21;
    pub const PROFILE_ID: usize = 22;
    pub const UNDO_LINE: usize = 23;
    pub const UNDO: usize = 24;
    pub const VISITS_KEPT_OUT: usize = 32;
    pub const VISITS_TOO_DEEP: usize = 33;
    pub const LOST_ELSEWHERE: usize = 34;
    pub const KEPT_OUT_ELSEWHERE: usize = 35;
    pub const VISITS_WITHOUT_KEY: usize = 36;
    pub const LAST_MESSAGE: usize = 37;
    pub const MESSAGES_LOST: usize = 38;
    pub const LAST_EDGE: usize = 39;
    pub const EDGES_LOST: usize = 40;
    pub const CLOCK: usize = 41;
    pub const CLOCK_WORDS: usize = 13;
    pub const PROCESSOR: usize = 54;
    pub const PROCESSOR_WORDS: usize = 7;
    pub const KEPT: usize = 61;
    pub const EVENTS: usize = 62;
    pub const OBEYED: usize = 63;
    pub const EXECUTION: usize = 64;
    pub const ACCEPTS: usize = 65;
    pub const ANSWER: usize = 66;
    pub const ANSWERED_NS: usize = 67;
    pub const RECORDING_UNTIL_NS: usize = 68;
    pub const HELD_SINCE_NS: usize = 69;
    pub const KEEPING: usize = 70;
    pub const OFF_SINCE: usize = 71;
    pub const COMMAND: usize = 72;
    pub const UNTIL_NS: usize = 73;
    pub const CHECK: usize = 74;
    pub const LEASE_NS: usize = 75;
    pub const DATE_NS: usize = 76;
    pub const GIVEN_NS: usize = 77;
    pub const OFF_SINCE_NS: usize = 78;
    pub const OFF_NS: usize = 79;
    pub const GIVER: usize = 80;
    pub const ARGUMENT: usize = 88;
    pub const WORDS: usize = 120;
}
const _: () = assert!(header::WORDS == HEADER_LINES as usize * LINE_WORDS);

/// The words of a node, the record of one callpath on one thread: sixteen, two cache lines.
///
/// ```text
/// word  0  sequence          odd while the owner changes the record
///       1  site              address of the site
///       2  parent  line of the parent's record; high half: the record made before this one
///       3  start  ticks at entry while the region is open; else 0, or what is [`skipped`]
///       4  execution  that the live numbers belong to; high half: its [`kind`], 0 for the usual
///       5  visits  6  sum  7  minimum  8  maximum  9, 10  sum of squares      the live execution
///      11  log of past executions: length, block      12  its stride, capacity in elements
///      13  series: length, block                      14  its stride (0: mode total), capacity
///      15  samples: line of a record of sixteen words, see [`samples`]; 0 if every visit is
///               timed; high half: executions
///          completed (roots), depth (others)
/// ```
///
/// With samples, sum and squares are those of the timed visits, each multiplied by its weight.
pub mod node {
    #![expect(missing_docs, reason = "the picture above says what each word is")]
    pub const SEQUENCE: usize = 0;
    pub const SITE: usize = 1;
    pub const PARENT: usize = 2;
    pub const START: usize = 3;
    pub const EXECUTION: usize = 4;
    pub const VISITS: usize = 5;
    pub const SUM: usize = 6;
    pub const MIN: usize = 7;
    pub const MAX: usize = 8;
    pub const SQUARES: usize = 9;
    pub const PAST: usize = 11;
    pub const SERIES: usize = 13;
    pub const SAMPLES: usize = 15;
    pub const WORDS: usize = 16;
}

/// The words of a message record, one for each kind, partner and size class of a callpath: eight, a
/// line.
///
/// ```text
/// word  0  sequence   odd while the owner changes the record
///       1  callpath   line of its node; high half: the message record made before this one
///       2  key        of [`MessageKey`](crate::model::MessageKey), as a number
///       3  count      4  bytes      5 .. 7  unused, 0
/// ```
pub mod message {
    #![expect(missing_docs, reason = "the picture above says what each word is")]
    pub const SEQUENCE: usize = 0;
    pub const CALLPATH: usize = 1;
    pub const KEY: usize = 2;
    pub const COUNT: usize = 3;
    pub const BYTES: usize = 4;
    pub const WORDS: usize = 8;
}

/// The words of an edge record, one for each kind, partner and origin of a callpath's edges:
/// sixteen, two lines.
///
/// ```text
/// word  0  sequence   odd while the owner changes the record
///       1  callpath   line of its node; high half: the edge record made before this one
///       2  key        kind; high half: the partner       3  from  callpath id of the origin
///       4  count      5  bytes      6  sum      7  minimum, in ns; all bits while count is 0
///       8  maximum    9  sum of squares, a float
///      10  compensated waiting     11  transfer     12  waiting due to order    13  late receiver
///      14  order      position among the edge records of the thread     15  unused, 0
/// ```
pub mod edge {
    #![expect(missing_docs, reason = "the picture above says what each word is")]
    pub const SEQUENCE: usize = 0;
    pub const CALLPATH: usize = 1;
    pub const KEY: usize = 2;
    pub const FROM: usize = 3;
    pub const COUNT: usize = 4;
    pub const BYTES: usize = 5;
    pub const SUM: usize = 6;
    pub const MIN: usize = 7;
    pub const MAX: usize = 8;
    pub const SQUARES: usize = 9;
    pub const COMPENSATED: usize = 10;
    pub const TRANSFER: usize = 11;
    pub const WRONG_ORDER: usize = 12;
    pub const LATE_RECEIVER: usize = 13;
    pub const ORDER: usize = 14;
    pub const WORDS: usize = 16;
}

/// Bits in the high half of a node's word `execution`.
///
/// A visit of a node without any of them takes the shortest path. One comparison of the whole word
/// confirms this, and that its execution is the current one of the thread.
pub mod kind {
    /// Its visits are a series. If only this bit is set, the word equals the first word of a series
    /// element of one visit.
    pub const SERIES: u32 = 1;
    /// A root region: each of its visits is an execution.
    pub const ROOT: u32 = 2;
    /// Some of its visits are not timed.
    pub const SAMPLED: u32 = 4;
}

/// Bits in the high half of the thread's execution in the header, which no node has. With one of
/// them, visits do not end on the shortest path.
pub mod execution {
    /// Visits of the thread never take the shortest path.
    pub const IRREGULAR: u32 = 1 << 31;
    /// Visits of the thread are kept one by one, or a command waits for it.
    ///
    /// The only bit that others than the thread set, with an atomic operation. The thread does
    /// without, so that theirs may get lost: they set it until the thread answers.
    pub const WATCHED: u32 = 1 << 30;
}

/// The word of a header that says whether a thread keeps events.
pub mod keeping {
    /// Its window has not begun, or events are not kept.
    pub const WAITING: u64 = 0;
    /// It keeps them, and looks whether its window has ended.
    pub const NOW: u64 = 1;
    /// Its window is over, or there is no memory, or nobody has asked.
    pub const OVER: u64 = 2;
    /// It keeps all of the run, and obeys no commands.
    pub const ALL: u64 = 3;

    /// Returns whether events are kept.
    #[must_use]
    pub const fn is_keeping(word: u64) -> bool {
        matches!(word, NOW | ALL)
    }
}

/// Visits that are not timed, in the word `start` of a node.
///
/// The word contains the number of visits drawn, and how many of them remain. Those that have
/// occurred are visits of the live execution in addition to the ones counted by the node.
pub mod skipped {
    /// The bit that is set if the word is not a time.
    pub const MARK: u64 = 1 << 63;
    /// One remaining visit. Their number is in the rest of the high half, and the number drawn in
    /// the low half.
    const ONE: u64 = 1 << 32;

    /// Returns the number of remaining visits; 0 for a word that is a time.
    #[must_use]
    pub const fn remaining(start: u64) -> u32 {
        if start & MARK == 0 { 0 } else { high(start & !MARK) }
    }

    /// Returns the number of visits that have occurred; 0 for a word that is a time.
    #[must_use]
    pub const fn passed(start: u64) -> u64 {
        if start & MARK == 0 { 0 } else { (start % ONE).saturating_sub(remaining(start) as u64) }
    }

    /// Returns the word after one more visit; none for a time, or if no visit remains.
    #[must_use]
    #[inline]
    pub const fn one_less(start: u64) -> Option<u64> {
        if start >= MARK + ONE { Some(start - ONE) } else { None }
    }

    /// Returns the word for `drawn` visits, fewer than 2^31, of which `remaining` remain.
    #[must_use]
    pub const fn word(drawn: u32, remaining: u32) -> u64 {
        MARK | (remaining as u64) << 32 | drawn as u64
    }

    const fn high(word: u64) -> u32 {
        (word >> 32) as u32
    }
}

/// The words of the record of a callpath's samples, two lines: sums over the timed visits of the
/// live execution.
///
/// ```text
/// word  0  weight: how many visits they stand for  1  how many of them stand for more than
///          themselves
///       2 .. 4  floats: the sums of w (w - 1), w (w - 1) x and w (w - 1) x^2 for weight w and
///                ticks x
///       5  log2 of the weight of the next visit that is timed; high half: what it is to be after
///                that
///       6  visits that follow the next in its block; high half: those that came before the last
///                that was timed
///       7  visits that were timed since the budget was last looked at
///       8  visits of the live execution that the timed ones stand for besides themselves  9
///                those of all before it
///      10  float: ticks that a timed visit takes itself, which those that it stands for did not
///               11  float: its uncertainty
///      12 .. 15  unused
/// ```
pub mod samples {
    #![expect(missing_docs, reason = "the picture above says what each word is")]
    pub const WEIGHT: usize = 0;
    pub const SAMPLED: usize = 1;
    pub const SPREAD: usize = 2;
    pub const SHIFT: usize = 5;
    pub const BLOCK: usize = 6;
    pub const TIMED: usize = 7;
    pub const STOOD_FOR: usize = 8;
    pub const STOOD_FOR_BEFORE: usize = 9;
    pub const COST: usize = 10;
    pub const COST_ERROR: usize = 11;
    pub const WORDS: usize = 16;
}

/// The words of a site's description.
pub mod site {
    #![expect(missing_docs, reason = "the picture above says what each word is")]
    pub const BEFORE: usize = 0;
    pub const ADDRESS: usize = 1;
    pub const ID: usize = 2;
    pub const PLACE: usize = 3;
    pub const KIND: usize = 4;
    pub const FIELDS: usize = 5;
    /// The kind of a metric. Regions have the numbers of `RegionKind`.
    pub const METRIC: u32 = 3;
    /// Tags of fields.
    pub const NAME: u8 = 1;
    pub const MODULE: u8 = 2;
    pub const FILE: u8 = 3;
    /// Present if the region is rank-local.
    pub const RANK_LOCAL: u8 = 4;
    /// The key of a constant. Its value is the next field.
    pub const KEY: u8 = 5;
    pub const VALUE: u8 = 6;
}

/// Words per element of the list of past executions.
pub const PAST_WORDS: usize = 8;
/// Words per element of a series.
pub const SERIES_WORDS: usize = 4;

/// The clock numbers in a header.
pub mod clock {
    /// A tick is a nanosecond of `CLOCK_MONOTONIC`.
    pub const MONOTONIC: u32 = 0;
    /// The processor's counter: TSC on x86-64, CNTVCT on aarch64.
    pub const COUNTER: u32 = 1;
}
