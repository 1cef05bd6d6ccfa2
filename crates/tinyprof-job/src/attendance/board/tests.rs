//! Tests of the board of a host.

use super::*;

fn job(name: &str, rank: u32, size: u32) -> Job {
    Job { name: name.to_owned(), rank, size }
}

fn mark_in(directory: &Path, job: &Job) -> io::Result<Board> {
    Board::mark_in(directory, job, false)
}

fn is_complete(board: &Board, size: u32) -> bool {
    board.verdict(size, Some(size)) == Verdict::Complete
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn all_marks_are_a_complete_board_and_no_file_is_left() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path().join("private");
    let boards: Vec<_> =
        (0..3).map(|rank| mark_in(&directory, &job("a", rank, 3)).unwrap()).collect();
    assert_eq!(names(&directory).len(), 1);
    assert!(boards.iter().all(Board::has_rank_0));
    assert!(boards.iter().all(|board| is_complete(board, 3)));
    assert_eq!(names(&directory), [""; 0]);
}

#[test]
fn a_missing_mark_is_missing_for_all_whenever_they_ask() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path().join("private");
    let mark = |name, rank| mark_in(&directory, &job(name, rank, 3)).unwrap();
    let (last, first) = (mark("a", 2), mark("a", 1));
    let other_job = mark("b", 0);
    assert!(!is_complete(&last, 3));
    // A rank that comes after others have asked finds a new board, and neither board is
    // complete.
    let late = mark("a", 0);
    assert!(!is_complete(&late, 3) && !is_complete(&first, 3) && !is_complete(&other_job, 3));
    assert!(!first.has_rank_0() && !last.has_rank_0() && late.has_rank_0());
    // One rank of each board informs the user.
    assert!(last.claim(Line::Apart) && !first.claim(Line::Apart) && late.claim(Line::Apart));
    // A board is not complete either if a mark comes between the questions of two ranks.
    let boards = [mark("c", 0), mark("c", 1)];
    let late = mark("c", 2);
    late.marks()[2].store(0, SeqCst);
    assert!(!is_complete(&boards[0], 3));
    late.marks()[2].store(boards[0].marks()[0].load(SeqCst), SeqCst);
    assert!(!is_complete(&boards[1], 3) && !is_complete(&late, 3));
    assert_eq!(names(&directory), [""; 0]);
}

#[test]
fn all_marks_of_one_host_leave_the_others_open() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path().join("private");
    let marked = |name| [1, 3].map(|rank| mark_in(&directory, &job(name, rank, 4)).unwrap());
    for (name, ranks_here, expected) in [
        ("a", Some(2), Verdict::OfThisHost),
        ("b", None, Verdict::OfThisHost),
        ("c", Some(3), Verdict::Incomplete),
        ("d", Some(4), Verdict::Incomplete),
    ] {
        let boards = marked(name);
        assert_eq!(boards[1].verdict(4, ranks_here), expected, "{name}");
        assert_eq!(boards[0].verdict(4, Some(4)), expected, "{name}: as the other has been told");
    }
}

#[test]
fn a_promise_counts_as_far_as_the_ranks_of_this_host_share_it() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path().join("private");
    // The ranks that are there, each with whether it is promised; the ranks here; the verdict.
    let cases = [
        (&[true, true][..], Some(2), Verdict::Complete),
        (&[true, false], Some(2), Verdict::Complete),
        (&[true], Some(2), Verdict::OfThisHost),
        (&[false], Some(2), Verdict::Incomplete),
        (&[true], Some(1), Verdict::Promised),
        (&[false], Some(1), Verdict::OfThisHost),
        (&[true], None, Verdict::Promised),
    ];
    for (number, (ranks, here, expected)) in cases.into_iter().enumerate() {
        let board = |(rank, promised): (u32, &bool)| {
            let job = job(&number.to_string(), rank, 2);
            Board::mark_in(&directory, &job, *promised).unwrap()
        };
        let boards: Vec<_> = (0..).zip(ranks).map(board).collect();
        for board in &boards {
            assert_eq!(board.verdict(2, here), expected, "{ranks:?} of {here:?}");
        }
    }
    let three = [true, true, false].into_iter().zip(0..);
    let three = three.map(|(promised, rank)| {
        Board::mark_in(&directory, &job("three", rank, 4), promised).unwrap()
    });
    let three: Vec<_> = three.collect();
    assert_eq!(three[0].verdict(4, Some(4)), Verdict::Incomplete, "one has no promise");
}

#[test]
fn ranks_come_to_the_end_and_give_up_on_the_board() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path().join("private");
    let boards = [0, 1, 2].map(|rank| mark_in(&directory, &job("a", rank, 3)).unwrap());
    assert!(boards[0].has_all());
    assert_eq!(boards[0].absent(), [0, 1, 2]);
    boards[1].come();
    assert_eq!(boards[2].absent(), [0, 2]);
    assert!(!boards[0].is_given_up());
    boards[2].give_up();
    assert!(boards[0].is_given_up());
    assert!(boards[0].claim(Line::Abort) && !boards[1].claim(Line::Abort));
    assert!(boards[1].claim(Line::NoEffect), "another line");
    boards.iter().for_each(Board::come);
    assert_eq!(boards[1].absent(), [0_u32; 0]);
}

#[test]
fn a_world_of_another_size_is_not_that_of_the_board() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path().join("private");
    let boards = [0, 1].map(|rank| mark_in(&directory, &job("a", rank, 2)).unwrap());
    assert!(!is_complete(&boards[0], 3) && !is_complete(&boards[1], 2));
    for (rank, size) in [(2, 2), (0, BOARD_RANKS_MAX + 1)] {
        assert!(mark_in(&directory, &job("a", rank, size)).is_err());
    }
}

#[test]
fn marks_of_processes_that_are_gone_do_not_count_and_their_boards_go() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path().join("private");
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let gone = u64::from(child.id()) << 32 | 7;
    child.wait().unwrap();
    let board = mark_in(&directory, &job("a", 0, 2)).unwrap();
    board.marks()[1].store(gone, SeqCst);
    assert!(!is_complete(&board, 2));
    // A job killed in MPI_Init would have left its board.
    let stale = mark_in(&directory, &job("b", 0, 2)).unwrap();
    stale.marks()[0].store(gone, SeqCst);
    let live = mark_in(&directory, &job("c", 0, 2)).unwrap();
    assert_eq!(names(&directory).len(), 1, "the live one's");
    drop((stale, live));
    assert_eq!(names(&directory), [""; 0]);
}

#[test]
fn nothing_that_others_may_touch_is_trusted() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path().join("private");
    let path = mark_in(&directory, &job("a", 0, 2)).unwrap().path.clone();
    symlink(scratch.path().join("elsewhere"), &path).unwrap();
    assert!(mark_in(&directory, &job("a", 0, 2)).is_err());
    fs::remove_file(&path).unwrap();
    fs::write(&path, "").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(mark_in(&directory, &job("a", 0, 2)).is_err());
    fs::remove_file(&path).unwrap();
    for (mode, is_trusted) in [(0o755, true), (0o770, false), (0o707, false)] {
        fs::set_permissions(&directory, fs::Permissions::from_mode(mode)).unwrap();
        let marked = mark_in(&directory, &job("a", 0, 2));
        assert_eq!(marked.is_ok(), is_trusted, "{mode:o}");
    }
}
