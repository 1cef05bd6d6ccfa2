//! Commands: written and read whole, or not at all.

use super::*;

fn words() -> Vec<AtomicU64> {
    (0..header::WORDS).map(|_| AtomicU64::new(0)).collect()
}

#[test]
fn a_command_is_read_as_it_was_written_and_answered_once() {
    let words = words();
    let of = |at: usize| words[at].load(Relaxed);
    assert_eq!(commanded(of), None, "nobody has written one");
    for (number, verb) in (7..).zip(Verb::ALL) {
        let given = Given::by("ada@login (tinyprof ctl, process 7)", 5, u64::from(number));
        let given = given.about("-*fields_at*,+größe");
        command(&words, number, verb, 1_000, &given);
        let read = commanded(of).expect("it is whole");
        assert_eq!((read.number, read.verb(), read.until_ns), (number, Some(verb), 1_000));
        assert_eq!(read.given, given);
        assert_eq!(answered(&words, number), None);
        for given in Answer::ALL {
            answer(&words, number, given, 5);
            assert_eq!(answered(&words, number), Some(given));
        }
    }
    assert_eq!(high(of(header::EXECUTION)), execution::WATCHED);
    assert_eq!(low(of(header::EXECUTION)), 0, "the rest is the thread's");
}

#[test]
fn what_is_written_in_part_or_by_chance_is_no_command() {
    let words = words();
    let given = Given::by("ada", 1, 2).about("-main");
    command(&words, 7, Verb::Record, 1_000, &given);
    let of_given = given.words().map(|(at, _)| at);
    for at in of_given.chain([header::COMMAND, header::UNTIL_NS, header::CHECK]) {
        for bit in 0..64 {
            let of = |word: usize| words[word].load(Relaxed) ^ u64::from(word == at) << bit;
            assert_eq!(commanded(of), None, "word {at}, bit {bit}");
        }
    }
    let unknown = pack(9, 77);
    words[header::COMMAND].store(unknown, Relaxed);
    words[header::CHECK].store(check(unknown, 1_000, &given), Relaxed);
    let read = commanded(|at| words[at].load(Relaxed)).expect("it is whole");
    assert_eq!((read.number, read.verb(), read.verb_number), (9, None, 77));
}

#[test]
fn a_name_is_cut_between_characters() {
    let long = format!("{}é", "a".repeat(63));
    assert_eq!(Given::by(&long, 0, 0).name(), "a".repeat(63));
    assert_eq!(Given::by("ada@größe", 0, 0).name(), "ada@größe");
    assert_eq!(Given::by(&"b".repeat(64), 0, 0).name(), "b".repeat(64));
    let about = |text: &str| Given::by("ada", 0, 0).about(text).argument();
    assert_eq!(about(&"c".repeat(300)), "c".repeat(ARGUMENT_BYTES_MAX));
    assert_eq!((about("").as_str(), about("-a,+ä").as_str()), ("", "-a,+ä"));
}

#[test]
fn what_a_program_accepts_is_a_word() {
    for accepts in Accepts::ALL {
        assert_eq!(Accepts::of_word(accepts.to_word()), accepts);
    }
    assert_eq!(Accepts::of_word(99), Accepts::Nothing);
}

#[test]
fn a_client_that_is_killed_at_any_byte_has_given_a_whole_command_or_none() {
    let old = words();
    command(&old, 7, Verb::Hold, 500, &Given::by("bob@n1 (process 12)", 3, 4));
    let new = words();
    let given = Given::by("ada@login (process 7)", 1, 2).about("-*,+solve");
    command(&new, 8, Verb::Record, 1_000, &given);
    let image =
        |words: &[AtomicU64]| -> Vec<u64> { words.iter().map(|word| word.load(Relaxed)).collect() };
    let (before, after) = (image(&old), image(&new));
    let given_words = given.words().map(|(at, _)| (at, after[at]));
    let last = [(header::CHECK, after[header::CHECK]), (header::COMMAND, after[header::COMMAND])];
    let first = [(header::COMMAND, 0), (header::UNTIL_NS, 1_000)];
    let mut memory = before.clone();
    for (at, value) in first.into_iter().chain(given_words).chain(last) {
        let (from, to) = (memory[at].to_le_bytes(), value.to_le_bytes());
        for written in 0..=8 {
            let bytes =
                std::array::from_fn(|byte| if byte < written { to[byte] } else { from[byte] });
            memory[at] = u64::from_le_bytes(bytes);
            let read = commanded(|word| memory[word]);
            let is_old = read == commanded(|word| before[word]);
            let is_new = read == commanded(|word| after[word]);
            assert!(read.is_none() || is_old || is_new, "word {at}, {written} bytes: {read:?}");
        }
    }
    assert_eq!(commanded(|word| memory[word]), commanded(|word| after[word]));
    // So is what is written over a command by another client that was killed in the middle.
    let mut torn = after.clone();
    torn[header::DATE_NS] = before[header::DATE_NS];
    assert_eq!(commanded(|word| torn[word]), None);
}
