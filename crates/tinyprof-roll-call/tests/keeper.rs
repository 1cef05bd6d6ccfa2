//! What ranks and strangers hear from a keeper.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;

use tinyprof_roll_call::{Answer, Invitation, Keeper, Member, Place};

/// Starts a keeper. Returns the invitation to it.
fn kept() -> (Invitation, SocketAddr) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let address = listener.local_addr().expect("it has one");
    let invitation = Invitation::new("secret", vec![address]);
    let keeper = Keeper::new(&invitation);
    thread::spawn(move || keeper.listen(&listener));
    (invitation, address)
}

fn signed_in(invitation: &Invitation, rank: u32, size: u32) -> Member {
    let place = Place { job: "7.0".into(), rank, size };
    invitation.sign_in(&place).expect("the keeper answers")
}

/// Returns all lines that a keeper answers to these.
fn answers(address: SocketAddr, lines: &str) -> Vec<String> {
    let mut stream = TcpStream::connect(address).expect("it listens");
    // The keeper may have closed the connection before the end.
    stream.write_all(lines.as_bytes()).ok();
    stream.shutdown(Shutdown::Write).ok();
    BufReader::new(stream).lines().map_while(Result::ok).collect()
}

#[test]
fn many_ranks_that_come_at_once_are_all_told() {
    let (invitation, _) = kept();
    let size = 200;
    let ranks: Vec<_> = (0..size)
        .map(|rank| {
            let invitation = invitation.clone();
            thread::spawn(move || signed_in(&invitation, rank, size))
        })
        .collect();
    // MPI lets nobody go on before all have come as far.
    let members: Vec<Member> =
        ranks.into_iter().map(|rank| rank.join().expect("it is here")).collect();
    let answers: Vec<Answer> = members.into_iter().map(Member::answer).collect();
    assert!(answers.iter().all(|answer| *answer == Answer::All), "{answers:?}");
}

#[test]
fn where_a_rank_has_no_profiler_all_others_hear_so() {
    let (invitation, _) = kept();
    let members = [0, 2].map(|rank| signed_in(&invitation, rank, 3));
    assert_eq!(members.map(Member::answer), [Answer::NotAll, Answer::NotAll]);
}

#[test]
fn strangers_hear_nothing() {
    let (invitation, address) = kept();
    let greeting = "tinyprof roll call 1";
    for lines in [
        "\n".to_owned(),
        "GET / HTTP/1.1\r\n\r\n".to_owned(),
        format!("{greeting} secre 0 1 7.0\nhere\n"),
        format!("{greeting} secret2 0 1 7.0\nhere\n"),
        format!("{greeting} secrex 0 1 7.0\nhere\n"),
        format!("{greeting} secret x 1 7.0\nhere\n"),
        format!("{greeting} secret 0 99999999999 7.0\nhere\n"),
        format!("{greeting} {}\n", "a".repeat(10_000)),
    ] {
        assert_eq!(answers(address, &lines), [""; 0], "{lines}");
    }
    // No such place; known, and not entered.
    let beyond = answers(address, &format!("{greeting} secret 1 1 7.0\nhere\n"));
    assert_eq!(beyond, ["known", "not all"]);
    assert_eq!(answers(address, &format!("{greeting} secret 0 1 7.0\ngone\n")), ["known"]);
    // The keeper is still there.
    assert_eq!(signed_in(&invitation, 0, 1).answer(), Answer::All);
}

#[test]
fn without_a_keeper_nothing_is_known() {
    let place = Place { job: String::new(), rank: 0, size: 2 };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let invitation = Invitation::new("a", vec![listener.local_addr().expect("it has one")]);
    // One that ends after it has let the rank in.
    let ended = thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a rank comes");
        let mut lines = BufReader::new(stream.try_clone().expect("it can be")).lines();
        lines.next();
        (&stream).write_all(b"known\n").expect("it is there");
        lines.next();
    });
    let member = invitation.sign_in(&place).expect("it is let in");
    ended.join().expect("it ends");
    assert_eq!(member.answer(), Answer::Unknown);
    assert!(invitation.sign_in(&place).is_none(), "nobody listens");
}
