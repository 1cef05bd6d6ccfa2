//! Regions inside a signal handler.

use crate::program::{Scratch, text, visits};

#[expect(clippy::print_stdout, reason = "how much was lost is worth knowing")]
fn check(sender: &str, rounds: u64) {
    let place = Scratch::new();
    let mut command = place.command("test_signals");
    let output =
        command.arg(sender).arg(rounds.to_string()).env("TINYPROF_REPORT", "off").output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""), "{output:?}");
    let said: Vec<u64> =
        text(&output.stdout).split_whitespace().map(|number| number.parse().unwrap()).collect();
    let [a, b, c, handled] = said[..] else { panic!("{output:?}") };
    assert!(handled > 0, "there were no signals");

    let profile = place.profile();
    let mut main_thread = [("rounds", 1), ("round", rounds), ("a", a), ("b", b), ("c", c)];
    let mut in_handler = 0;
    for (path, visits) in visits(&profile) {
        let last = path.rsplit('<').next().unwrap_or_default();
        match main_thread.iter_mut().find(|(region, _)| *region == last) {
            Some((_, left)) => *left = left.wrapping_sub(visits),
            None => in_handler += visits,
        }
        assert!(
            !path.contains("handler<") || path.ends_with("handler<inside"),
            "{path}: nothing of the program"
        );
    }
    let losses = profile.manifest.losses;
    println!("{handled} visits in the handler, of which {in_handler} were recorded: {losses:?}");
    assert_eq!(
        main_thread.map(|(_, left)| left),
        [0; 5],
        "each visit of the program is recorded once"
    );
    assert_eq!(in_handler + losses.visits_kept_out, handled, "{losses:?}");
}

#[test]
fn a_timer_whose_handler_enters_regions_disturbs_no_measurement() {
    check("timer", 1_000_000);
}

#[test]
fn signals_as_fast_as_they_can_be_sent_disturb_no_measurement() {
    check("thread", 100_000);
}
