//! The rules in small cases, and their bounds for all values.

use proptest::prelude::*;

use super::*;
use crate::waiting::Collective;
use crate::ways::{Hints, Near, Place, Ways};

fn clock(intrusion_ns: u64, ideal_ns: u64) -> Clock {
    Clock { intrusion_ns, ideal_ns, ..Clock::default() }
}

fn companion(entry_ns: u64, intrusion_ns: u64, ideal_ns: u64) -> Companion {
    Companion { entry_ns, intrusion_ns, ideal_ns, ..Companion::default() }
}

fn call(entered_ns: u64, left_ns: u64) -> Call {
    Call { entered_ns, left_ns }
}

const SAME: Offset = Offset { ns: 0, uncertainty_ns: 0, latency_ns: 0, ps_per_byte: 0 };

/// Sender and receiver with their intrusions; expected waiting, compensated, transfer, intrusion.
fn check(sent: (u64, u64), received: (u64, u64, u64), expected: (u64, u64, u64, u64)) {
    let mut receiver = clock(received.2, 0);
    let wait = receiver.receive(call(received.0, received.1), &companion(sent.0, sent.1, 0), SAME);
    let found = (wait.waiting_ns, wait.compensated_ns, wait.transfer_ns, receiver.intrusion_ns());
    assert_eq!(found, expected, "{sent:?} {received:?}");
}

#[test]
fn a_message_carries_the_delay_of_its_sender() {
    // Nobody was delayed.
    check((2_000, 0), (1_000, 2_500, 0), (1_000, 1_000, 500, 0));
    // The sender was: without measurement the receiver would have waited less.
    check((2_000, 300), (1_000, 2_500, 0), (1_000, 700, 500, 300));
    // By more than the receiver has waited: it would not have waited.
    check((2_000, 1_700), (1_000, 2_500, 0), (1_000, 0, 500, 1_000));
    // The receiver was, and waiting has swallowed its delay.
    check((2_000, 0), (1_000, 2_500, 800), (1_000, 1_800, 500, 0));
    // The message came early, and would have come early: the delay stays (002 would lose it).
    check((500, 0), (1_000, 1_200, 300), (0, 0, 200, 300));
    // It came early because the receiver was delayed.
    check((500, 0), (1_000, 1_200, 800), (0, 300, 200, 500));
}

#[test]
fn costs_below_a_nanosecond_add_up() {
    let mut clock = Clock::default();
    (0..1_000).for_each(|_| clock.events(1, 13_400));
    assert_eq!(clock.intrusion_ns(), 13_400);
    clock.events(1_000, 13_400);
    assert_eq!(clock.intrusion_ns(), 26_800);
}

#[test]
fn a_message_from_the_future_is_a_contradiction() {
    let mut receiver = clock(0, 0);
    let wait = receiver.receive(call(1_000, 2_000), &companion(2_300, 400, 0), SAME);
    assert_eq!((wait.waiting_ns, wait.transfer_ns), (1_000, 0));
    assert_eq!((receiver.intrusion_ns(), receiver.contradictions()), (400, 1));
}

#[test]
fn offsets_move_the_other_clock() {
    let (mut near, mut far) = (clock(70, 0), clock(70, 0));
    let apart = Offset { ns: -5_000, uncertainty_ns: 10, ..SAME };
    let wait = near.receive(call(1_000, 2_500), &companion(2_000, 300, 0), SAME);
    let wait_far = far.receive(call(1_000, 2_500), &companion(7_000, 300, 0), apart);
    assert_eq!((wait, near), (wait_far, far));
}

#[test]
fn without_offsets_a_short_receive_changes_nothing() {
    for (left_ns, expected_ns) in [(6_000, 50), (6_001, 300)] {
        let mut receiver = clock(50, 0);
        let sent = companion(1_500, 300, 0);
        let wait = receiver.receive(call(1_000, left_ns), &sent, Offset::UNKNOWN);
        assert!(wait.is_guarded);
        assert_eq!((receiver.intrusion_ns(), receiver.guarded()), (expected_ns, 1), "{left_ns}");
    }
    let mut receiver = clock(500, 0);
    receiver.receive(call(1_000, 9_000), &companion(1_500, 9_999, 0), Offset::UNKNOWN);
    assert_eq!(receiver.intrusion_ns(), 8_500, "not more than it had and has waited");
}

#[test]
fn a_message_travels_while_its_receiver_computes() {
    let far = Offset { latency_ns: 300, ..SAME };
    // Sent at 2,000, here at 2,300; without measurement sent at 1,200, here at 1,500.
    let mut receiver = clock(600, 0);
    let wait = receiver.receive(call(2_000, 2_400), &companion(2_000, 800, 0), far);
    assert_eq!((wait.waiting_ns, wait.transfer_ns), (0, 400));
    assert_eq!(receiver.virtual_ns(2_400), 1_600, "from 1,500 on the transfer of 100");
}

#[test]
fn a_transfer_that_began_before_the_wait_ends_with_it() {
    let sent = Companion { bytes: 8_000, ..companion(2_000, 500, 0) };
    let post = Post { posted_ns: 1_000, intrusion_ns: 0 };
    // Begun at 2,000, so 4,000 long; without measurement from 1,500 to 5,500.
    let mut receiver = clock(100, 0);
    receiver.complete(call(5_000, 6_000), post, &sent, SAME);
    assert_eq!(receiver.virtual_ns(6_000), 5_500);
    // It was over when the rank began to wait; without measurement it would not have been.
    let known = Offset { ps_per_byte: 500, ..SAME };
    let mut receiver = clock(900, 0);
    receiver.complete(call(6_100, 6_200), post, &sent, known);
    assert_eq!(receiver.virtual_ns(6_200), 5_600);
}

#[test]
fn a_synchronous_send_waits_for_the_receive() {
    let mut sender = clock(100, 5);
    let wait = sender.send(call(1_000, 3_500), &companion(3_000, 700, 9), SAME);
    assert_eq!((wait.waiting_ns, wait.compensated_ns), (2_000, 1_400));
    assert_eq!((sender.intrusion_ns(), sender.ideal_ns()), (700, 9));
}

#[test]
fn a_collective_waits_for_the_last_in_virtual_time() {
    // Rank 1 came last, but it is rank 0 that would have come last.
    let mut ranks = [clock(0, 10), clock(900, 40), clock(100, 20)];
    let entries = [2_000, 2_500, 1_000];
    let common = Offset { ns: 1_000_000, ..SAME };
    let all = (0_u32..).zip(ranks).zip(entries);
    let all = all.map(|((rank, clock), at)| clock.meeting(at, common, rank));
    let meeting = all.reduce(Meeting::combine).unwrap();
    assert_eq!((meeting.last_rank, meeting.last_ns), (1, 2_500 - 1_000_000));
    let mut waits = Vec::new();
    for (clock, at) in ranks.iter_mut().zip(entries) {
        waits.push(clock.meet_at(call(at, 2_600), &meeting, common));
    }
    assert_eq!(waits.iter().map(|w| w.waiting_ns).collect::<Vec<_>>(), [500, 0, 1_500]);
    assert_eq!(waits.iter().map(|w| w.compensated_ns).collect::<Vec<_>>(), [0, 400, 1_100]);
    // All leave at 2,100 in virtual time, and at 2,600 in real time.
    assert!(ranks.iter().all(|clock| clock.intrusion_ns() == 500 && clock.ideal_ns() == 40));
}

#[test]
fn several_messages_are_waited_for_as_one() {
    let mut receiver = clock(0, 0);
    let messages = [companion(3_000, 2_500, 7), companion(2_000, 0, 9)];
    let meeting = messages.map(|sent| message(&sent, SAME, 0)).into_iter().reduce(Meeting::combine);
    let wait = receiver.meet(call(1_000, 3_100), &meeting.unwrap());
    assert_eq!((wait.waiting_ns, wait.compensated_ns), (2_000, 1_000));
    assert_eq!((receiver.intrusion_ns(), receiver.ideal_ns()), (1_000, 9));
}

#[test]
fn what_was_waited_for_last_ends_the_call_by_whatever_way() {
    // A call of 200 that has not waited tells how long that is.
    let mut receiver = clock(0, 0);
    receiver.receive(call(100, 300), &companion(50, 0, 0), SAME);
    // The rank has computed until 5,000, and its partner, delayed by 900, has sent at 5,500: it was
    // there at 7,800. Without measurement the rank, itself delayed by 600, waits from 4,400.
    receiver.delay(600);
    let partners = message(&companion(5_500, 900, 0), SAME, 0);
    receiver.meet(call(5_000, 8_000), &partners);
    assert_eq!(receiver.virtual_ns(8_000), 7_100, "the way stays as long, whatever it is");
    // A partner that would have come long before.
    let mut receiver = Clock { intrusion_ns: 600, ..receiver };
    receiver.meet(call(5_000, 8_000), &message(&companion(5_500, 5_000, 0), SAME, 0));
    assert_eq!(receiver.virtual_ns(8_000), 4_600, "then the call takes its 200");
}

#[test]
fn a_large_message_is_announced_and_asked_for() {
    let far = Offset { latency_ns: 100, ps_per_byte: 1_000, ..SAME };
    let rank = clock(0, 0);
    let sent = Companion { bytes: 50, flags: Companion::BLOCKS, ..companion(2_000, 300, 0) };
    let post = |posted_ns, intrusion_ns| Post { posted_ns, intrusion_ns };
    let times = |of: Meeting| (of.last_ns, of.arrived_ns, of.arrived_virtual_ns);
    // Both ready at 2,100, without measurement at 1,900; asked for, and sent.
    assert_eq!(times(rank.incoming(post(1_950, 50), &sent, far, 0)), (2_000, 2_350, 2_150));
    // The receive is the later one of both.
    assert_eq!(times(rank.incoming(post(3_000, 0), &sent, far, 0)), (2_000, 3_250, 3_250));
    let small = Companion { flags: 0, ..sent };
    assert_eq!(times(rank.incoming(post(3_000, 0), &small, far, 0)), (2_000, 2_150, 1_850));
    // As the sender: announced at 3,000; the receiver was there at 2,000.
    assert_eq!(times(rank.answer(post(3_000, 0), &sent, far, 0)), (2_000, 3_250, 3_250));
}

#[test]
fn a_large_message_that_was_there_has_been_asked_for() {
    let far = Offset { latency_ns: 100, ps_per_byte: 1_000, ..SAME };
    let post = Post { posted_ns: 1_000, intrusion_ns: 0 };
    let ended_ns = |flags| {
        let mut receiver = clock(9_000, 0);
        let sent = Companion { bytes: 50, flags, ..companion(2_000, 0, 0) };
        receiver.complete(call(10_000, 10_010), post, &sent, far);
        receiver.virtual_ns(10_010)
    };
    // Without measurement the call would have begun at 1,000, and waited for the message.
    assert_eq!(ended_ns(0), 2_160, "one way and its bytes");
    assert_eq!(ended_ns(Companion::BLOCKS), 2_360, "three ways and its bytes");
}

#[test]
fn uncertainty_comes_with_what_decides() {
    let mut receiver = clock(0, 0);
    receiver.delay(300);
    assert_eq!(receiver.uncertainty_ns(), 100);
    let sent = companion(2_000, 0, 0).with_uncertainty(Uncertainty::of(40));
    receiver.receive(call(1_000, 2_000), &sent, SAME);
    assert_eq!(receiver.uncertainty_ns(), 40, "that of the sender, for whom the rank has waited");
    // Of two that would have come together, the less sure one.
    receiver.delay(900);
    receiver.receive(
        call(3_000, 3_900),
        &companion(3_000, 900, 0).with_uncertainty(Uncertainty::of(1)),
        SAME,
    );
    assert_eq!(receiver.uncertainty_ns(), 340);
    receiver.doubt(10_000);
    assert_eq!(receiver.uncertainty_ns(), 900, "all of the delay may be hidden");
}

prop_compose! {
    fn any_companion()(
        callpath: u64, twin: u32, flags: u32, sequence: u64, entry_ns: u64, intrusion_ns: u64, ideal_ns: u64,
        bytes: u64,
    ) -> Companion {
        Companion {
            callpath, twin, flags, sequence, entry_ns, intrusion_ns, ideal_ns, bytes,
        }
    }
}

proptest! {
    /// With latencies and posts, too, intrusion is not negative and virtual time goes on.
    #[test]
    fn virtual_time_never_goes_back(
        posted_ns in 4_000_u64..6_000, computed_ns in 0_u64..4_000, duration_ns in 0_u64..9_000,
        at_post in 0_u64..1_000, since in 0_u64..1_000, sent_ns in 2_000_u64..20_000,
        theirs in 0_u64..2_000, latency_ns in 0_u64..2_000,
    ) {
        let entered_ns = posted_ns + computed_ns;
        let call = call(entered_ns, entered_ns + duration_ns);
        let mut receiver = clock(at_post + since.min(computed_ns), 0);
        let before_ns = receiver.virtual_ns(entered_ns);
        let post = Post { posted_ns, intrusion_ns: at_post };
        let offset = Offset { latency_ns, ..SAME };
        receiver.complete(call, post, &companion(sent_ns, theirs, 0), offset);
        prop_assert!(receiver.virtual_ns(call.left_ns) >= before_ns);
    }

    #[test]
    fn no_companion_makes_it_panic(
        sent in any_companion(), entered_ns: u64, left_ns: u64, intrusion_ns: u64,
        ns: i64, uncertainty_ns: u64, latency_ns: u64, posted_ns: u64,
    ) {
        let mut receiver = clock(intrusion_ns, 0);
        let common = Offset { ns, uncertainty_ns, latency_ns, ps_per_byte: latency_ns };
        receiver.receive(call(entered_ns, left_ns), &sent, common);
        receiver.send(call(entered_ns, left_ns), &sent, common);
        let post = Post { posted_ns, intrusion_ns };
        receiver.complete(call(entered_ns, left_ns), post, &sent, common);
        let meeting = receiver.meeting(entered_ns, common, 0);
        receiver.meet_at(call(entered_ns, left_ns), &meeting, common);
        receiver.events(u64::MAX, intrusion_ns);
        receiver.useful(u64::MAX);
    }

    /// Waiting and transfer are the parts of the call, and a rank's virtual time never goes back.
    #[test]
    fn the_parts_make_the_whole(
        entered_ns in 5_000_u64..10_000, duration_ns in 0_u64..9_000, mine in 0_u64..4_000,
        sent_ns in 5_000_u64..20_000, theirs in 0_u64..4_000,
    ) {
        let call = call(entered_ns, entered_ns + duration_ns);
        let mut receiver = clock(mine, 0);
        let before_ns = receiver.virtual_ns(call.entered_ns);
        let wait = receiver.receive(call, &companion(sent_ns, theirs, 0), SAME);
        prop_assert!(wait.partner_ns <= signed(call.left_ns));
        prop_assert!(wait.waiting_ns + wait.transfer_ns == duration_ns);
        let after_ns = receiver.virtual_ns(call.left_ns);
        prop_assert!(after_ns >= before_ns);
        let within_ns = wait.compensated_ns + wait.transfer_ns;
        prop_assert_eq!(duration(after_ns - before_ns), within_ns);
    }
}

/// Returns what another rank of a collective operation has told.
fn member(rank: u32, entered_ns: i64, intrusion_ns: u64) -> Member {
    (rank, Some((Meeting::new(entered_ns, intrusion_ns, 0, rank), Hints::default())))
}

#[test]
fn a_rank_that_leaves_when_its_parent_has_entered_is_delayed_by_that_one() {
    // Rank 2 is the parent of rank 3 in a binomial tree, and comes long after the root.
    let place = Place { kind: Collective::FromRoot, rank: 3, ranks: 4, root: 0, bytes: 8 };
    let members = [member(0, 1_000, 0), member(1, 900, 0), member(2, 50_000, 40_000)];
    let (mut clock, mut ways) = (Clock::default(), Ways::default());
    let (call, post) = (call(2_000, 51_000), Post { posted_ns: 2_000, intrusion_ns: 0 });
    let all = Near::all(place);
    let waited = clock.meet_along(call, post, place, all, members.into_iter(), &mut ways);
    let (wait, last) = waited.unwrap().expect("the root is waited for");
    assert_eq!((wait.waiting_ns, last), (0, 0), "the root was there before");
    assert_eq!(clock.intrusion_ns(), 40_000);
}

#[test]
fn a_rank_that_leaves_before_its_parent_enters_depends_on_the_root_alone() {
    let place = Place { kind: Collective::FromRoot, rank: 3, ranks: 4, root: 0, bytes: 8 };
    let members = [member(0, 30_000, 5_000), (1, None), (2, None)];
    let (mut clock, mut ways) = (Clock::default(), Ways::default());
    let (call, post) = (call(2_000, 31_000), Post { posted_ns: 2_000, intrusion_ns: 0 });
    let all = Near::all(place);
    let waited = clock.meet_along(call, post, place, all, members.into_iter(), &mut ways);
    let (wait, _) = waited.unwrap().expect("the root is waited for");
    assert_eq!((wait.waiting_ns, wait.compensated_ns), (28_000, 23_000));
    assert_eq!(clock.intrusion_ns(), 5_000);
}

#[test]
fn ways_that_cannot_be_told_apart_are_within_the_uncertainty() {
    // All came long before: nothing tells whether the parent was waited for, who would have come
    // last without measurement.
    let place = Place { kind: Collective::FromRoot, rank: 3, ranks: 4, root: 0, bytes: 8 };
    let members = [member(0, 10_000, 9_000), member(1, 1_000, 0), member(2, 9_000, 0)];
    let mut clock = Clock::default();
    clock.delay(19_000);
    let sure_ns = clock.uncertainty_ns();
    let (call, post) = (call(20_000, 20_100), Post { posted_ns: 20_000, intrusion_ns: 19_000 });
    let (all, mut ways) = (Near::all(place), Ways::default());
    clock.meet_along(call, post, place, all, members.into_iter(), &mut ways).unwrap();
    let [by_parent, by_root] = [11_000, 19_000];
    let (at_ns, unsure_ns) = (clock.intrusion_ns(), clock.uncertainty_ns());
    assert!(unsure_ns > sure_ns, "{unsure_ns}");
    for truth_ns in [by_parent, by_root] {
        assert!(at_ns.abs_diff(truth_ns) <= unsure_ns, "{at_ns} +- {unsure_ns}, {truth_ns}");
    }
}

/// Applies broadcasts in which rank 3 of 4 waits for rank 2, its parent in a binomial tree, for
/// longer or shorter, until the ways are known. Returns when the next one begins.
fn settle(clock: &mut Clock, ways: &mut Ways, place: Place) -> u64 {
    let mut at_ns = 1_000_000;
    for number in 0..40 {
        let waited_ns = 10_000 * (1 + number % 4);
        let near = ways.near(place);
        let parent_ns = signed(at_ns + waited_ns);
        let members = [member(0, signed(at_ns), 0), (1, None), member(2, parent_ns, 0)];
        let needed = members.into_iter().filter(|(other, _)| near.needs(place, *other));
        let call = call(at_ns, at_ns + waited_ns + 1_000);
        let post = Post { posted_ns: at_ns, intrusion_ns: clock.intrusion_ns() };
        clock.meet_along(call, post, place, near, needed, ways).expect("a way that is near");
        at_ns += 100_000;
    }
    at_ns
}

const BEHIND: Place = Place { kind: Collective::FromRoot, rank: 3, ranks: 4, root: 0, bytes: 8 };

#[test]
fn once_the_way_is_known_only_ranks_on_it_are_heard() {
    let (mut clock, mut ways) = (Clock::default(), Ways::default());
    assert!((0..3).all(|other| ways.near(BEHIND).needs(BEHIND, other)), "nothing is known");
    settle(&mut clock, &mut ways, BEHIND);
    let near = ways.near(BEHIND);
    let needed: Vec<u32> = (0..3).filter(|other| near.needs(BEHIND, *other)).collect();
    assert_eq!(needed, [0, 2], "the root, and the parent");
    let of_more = Place { ranks: 5, ..BEHIND };
    assert!(ways.near(of_more).needs(of_more, 1), "those of others may go other ways");
}

#[test]
fn a_call_that_no_near_way_explains_is_compared_with_all() {
    let (mut clock, mut ways) = (Clock::default(), Ways::default());
    let at_ns = settle(&mut clock, &mut ways, BEHIND);
    let (before, near) = (clock, ways.near(BEHIND));
    let post = Post { posted_ns: at_ns, intrusion_ns: 0 };
    // The parent has not entered, so that the way has changed.
    let members = [member(0, signed(at_ns) + 20_000, 5_000), (1, None), (2, None)];
    let needed = members.into_iter().filter(|(other, _)| near.needs(BEHIND, *other));
    let call = call(at_ns, at_ns + 21_000);
    let waited = clock.meet_along(call, post, BEHIND, near, needed, &mut ways);
    assert_eq!((waited, clock), (Err(Unclear), before), "nothing has changed");
    let all = Near::all(BEHIND);
    let waited = clock.meet_along(call, post, BEHIND, all, members.into_iter(), &mut ways);
    let (wait, last) = waited.unwrap().expect("the root is waited for");
    assert_eq!((wait.waiting_ns, last), (20_000, 0));
    assert_eq!(clock.intrusion_ns(), 5_000, "that of the root");
}
