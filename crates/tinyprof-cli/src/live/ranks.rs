//! The ranks of one callpath as a row of cells: one for each rank, or for several if there is not
//! enough room. A cell is a digit, so that it is readable without colour.

use tinyprof_picture::Slow;
use tinyprof_report::cells::{shown, time_cell};
use tinyprof_report::escaped;

use super::frame::Frame;

/// The contents of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    /// None of its ranks visited the callpath.
    Absent,
    /// The slowest of its ranks, in tenths of the slowest of all: 9 for the last tenth.
    Tenth(u8),
}

impl Cell {
    pub(super) fn symbol(self) -> char {
        match self {
            Self::Absent => '.',
            Self::Tenth(tenth) => char::from(b'0' + tenth),
        }
    }
}

/// Returns the number of places of the picture per cell if there is room for `room` cells.
fn places_a_cell(places: usize, room: usize) -> usize {
    places.div_ceil(room.max(1)).max(1)
}

/// Returns the cells of a callpath in at most `room` columns.
pub(super) fn cells(frame: &Frame, row: usize, room: usize) -> Vec<Cell> {
    let times = &frame.sample.picture.places[row].bins;
    let slowest = times.iter().flatten().max().copied().unwrap_or(0);
    let cell = |bin: &[Option<u64>]| match bin.iter().flatten().max() {
        None => Cell::Absent,
        Some(_) if slowest == 0 => Cell::Tenth(0),
        Some(&time) => {
            let tenth = u128::from(time) * 10 / u128::from(slowest);
            Cell::Tenth(u8::try_from(tenth).unwrap_or(9).min(9))
        }
    };
    times.chunks(places_a_cell(times.len(), room)).map(cell).collect()
}

/// Returns the legend of the cells, in one line.
pub(super) fn legend(frame: &Frame, row: usize, room: usize) -> String {
    let picture = &frame.sample.picture;
    let places = picture.places[row].bins.len();
    let each = match picture.ranks_a_bin() * places_a_cell(places, room) {
        1 => "a digit for each".to_owned(),
        several => format!("a digit for the slowest of {several}"),
    };
    format!("{} by rank: {each}; 9 is the slowest, . none", shown(&frame.rows[row].name))
}

/// Returns the slowest ranks of a callpath with their hosts and times, slowest first; above those
/// of one that waits, for whom.
pub(super) fn slowest(frame: &Frame, row: usize, count: usize) -> Vec<String> {
    let line = |slow: &Slow| {
        let (rank, host) = (slow.rank.0, escaped(&slow.host));
        format!("rank {rank:<6} {host:<20} {:>9}", time_cell(slow.inclusive_ns.into()))
    };
    let index = frame.sample.picture.callpaths.iter().nth(row).map(|(index, _)| index);
    let waited_for = index.and_then(|index| frame.sample.waited_for.get(&index));
    let cause = waited_for.map(|waited| waits_words(&waited.text()));
    let slowest = frame.sample.picture.places[row].slowest.iter().map(line);
    cause.into_iter().chain(slowest).take(count).collect()
}

/// Says for whom a callpath waits: the slowest ranks are not the cause.
fn waits_words(ranks: &str) -> String {
    match ranks {
        "many" => "waits, for many ranks; the slowest have waited longest:".to_owned(),
        ranks => {
            let noun = if ranks.contains(['-', ',']) { "ranks" } else { "rank" };
            format!("waits, most for {noun} {ranks}; the slowest have waited longest:")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::example::{sample, waiting};
    use super::*;

    fn row(frame: &Frame, ranks: usize, room: usize) -> String {
        let at = frame.rows.iter().position(|row| row.name == "compute").expect("it is there");
        assert_eq!(frame.sample.picture.size as usize, ranks);
        cells(frame, at, room).into_iter().map(Cell::symbol).collect()
    }

    #[test]
    fn a_rank_has_a_cell_until_there_is_no_room() {
        let few = Frame::new(sample(5, 1), None);
        assert_eq!(row(&few, 5, 80), "9.9.9", "compute is on even ranks");
        let many = Frame::new(sample(4096, 1), None);
        assert_eq!((row(&many, 4096, 64).len(), row(&many, 4096, 40).len()), (64, 32));
        let at = many.rows.iter().position(|row| row.name == "compute").expect("it is there");
        assert!(legend(&many, at, 40).contains("the slowest of 128;"));
        assert!(
            row(&many, 4096, 0).len() == 1 && row(&Frame::new(sample(2, 1), None), 2, 1) == "9"
        );
    }

    #[test]
    fn above_the_slowest_of_a_waiting_call_is_whom_it_waits_for() {
        let frame = Frame::new(waiting(), None);
        let of = |name: &str| frame.rows.iter().position(|row| row.name == name).expect("a row");
        let lines = slowest(&frame, of("MPI_Recv"), 5);
        assert!(lines[0].starts_with("waits, most for rank 0; "), "{lines:?}");
        assert!(slowest(&frame, of("MPI_Send"), 5)[0].starts_with("rank "), "{lines:?}");
    }

    #[test]
    fn slower_ranks_have_greater_digits() {
        let frame = Frame::new(sample(10, 1), None);
        let exchange =
            frame.rows.iter().position(|row| row.name == "exchange").expect("it is there");
        let cells: String = cells(&frame, exchange, 80).into_iter().map(Cell::symbol).collect();
        // From 30 to 39 ms.
        assert_eq!(cells, "7788889999");
        let slowest = slowest(&frame, exchange, 2);
        assert!(
            slowest[0].starts_with("rank 9 ") && slowest[1].starts_with("rank 8 "),
            "{slowest:?}"
        );
        assert!(slowest[0].ends_with("39.0ms"), "{slowest:?}");
    }
}
