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
    for (at_ns, verb) in (7..).zip(Verb::ALL) {
        let given = Given::by("ada@login (tinyprof ctl, process 7)", 5, at_ns);
        let given = given.about("-*fields_at*,+größe");
        let number = command(&words, verb, 1_000, &given);
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
    command(&words, Verb::Record, 1_000, &given);
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

/// A thread that obeys whatever is a command, and is not the last one.
#[derive(Default)]
struct Obedient {
    seen: u64,
}

impl Obedient {
    fn look(&mut self, memory: &[AtomicU64]) -> Option<Command> {
        let of = |at: usize| memory[at].load(Relaxed);
        let is_new = of(header::COMMAND) != self.seen;
        self.seen = of(header::COMMAND);
        commanded(of).filter(|_| is_new)
    }
}

#[test]
fn a_client_that_is_killed_at_any_byte_has_given_a_whole_command_or_none() {
    let given = Given::by("ada@login (process 7)", 1, 2).about("-*,+solve");
    let word = pack(2, Verb::Reset.number());
    let count = stores(word, 1_000, &given).count();
    let mut whole = 0;
    // The thread may have seen the command before, or not have come to it; and look or not.
    let cases = (0..count * 9).flat_map(|cut| (0..4).map(move |way| (cut, way & 1, way & 2)));
    for (cut, has_seen, looks) in cases.map(|(cut, seen, looks)| (cut, seen != 0, looks != 0)) {
        let (memory, mut thread) = (words(), Obedient::default());
        let first = command(&memory, Verb::Reset, 500, &Given::by("bob@n1 (process 12)", 3, 4));
        let seen = if has_seen { thread.look(&memory) } else { None };
        assert_eq!((first, seen.is_some()), (1, has_seen));
        for (nth, (at, value)) in stores(word, 1_000, &given).enumerate().take(cut / 9 + 1) {
            let (from, to) = (memory[at].load(Relaxed).to_le_bytes(), value.to_le_bytes());
            let written = if nth == cut / 9 { cut % 9 } else { 8 };
            let bytes =
                std::array::from_fn(|byte| if byte < written { to[byte] } else { from[byte] });
            memory[at].store(u64::from_le_bytes(bytes), Relaxed);
        }
        if let Some(command) = looks.then(|| thread.look(&memory)).flatten() {
            let is_old = !has_seen && command.number == 1 && command.until_ns == 500;
            assert!(is_old || (command.number, command.given) == (2, given), "cut {cut}");
            whole += u32::from(!is_old);
        }
        // The next client is obeyed, and takes no answer for its own that is another's.
        answer(&memory, low(thread.seen), Answer::Done, 5);
        let next = Given::by("eve@n2 (process 3)", 6, 7);
        let number = command(&memory, Verb::Reset, 2_000, &next);
        assert_eq!(answered(&memory, number), None, "cut {cut}");
        let obeyed = thread.look(&memory).expect("it is new");
        assert_eq!((obeyed.number, obeyed.until_ns, obeyed.given), (number, 2_000, next));
    }
    // Its number has changed with the first byte of its word.
    assert_eq!(whole, 16);
}
