//! A rank's side of the roll call.

use std::io;
use std::net::TcpStream;
use std::time::Duration;

use crate::line::{ALL, ASKED, GREETING, HERE, KNOWN, NOT_ALL, NOTED, read, write};
use crate::{Invitation, Place};

/// How long a rank tries each address at first.
const QUICK: Duration = Duration::from_millis(300);
/// How long it tries all addresses then. A keeper to which many ranks come at once may not hear of
/// one before its system asks again, after one and three seconds.
const SLOW: Duration = Duration::from_secs(4);
/// The least of that for each address.
const SLOW_LEAST: Duration = Duration::from_millis(1_200);
/// How long it waits for being known.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a rank that is here waits for an answer. Others may have got it, so it is worth more.
const PATIENCE_FOR_ANSWER: Duration = Duration::from_secs(10);

/// The answer to whether all ranks of a job are here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// All ranks have a profiler. All of them get this answer.
    All,
    /// Not all ranks have one. All that ask get this answer.
    NotAll,
    /// The keeper does not answer any more.
    Unknown,
}

/// A rank that is here.
#[derive(Debug)]
pub struct Member {
    stream: TcpStream,
    /// What the keeper has said instead of counting it.
    first: Option<String>,
}

impl Invitation {
    /// Signs a rank in. To be called before MPI is initialised. Blocks for at most 6 s where nobody
    /// listens at four addresses, and 10 s more where nobody answers. `None` if there is no
    /// keeper, or if it does not know the place.
    #[must_use]
    pub fn sign_in(&self, place: &Place) -> Option<Member> {
        let stream = self.connected()?;
        self.sign_in_on(&stream, place).ok()?;
        // From here on the keeper may count this rank, whether or not its word arrives in time.
        let first = read(&stream).ok().filter(|line| line != NOTED);
        Some(Member { stream, first })
    }

    /// Returns a connection to the first address at which somebody listens.
    fn connected(&self) -> Option<TcpStream> {
        let addresses = self.addresses();
        let ways = u32::try_from(addresses.len()).ok().filter(|ways| *ways > 0)?;
        [QUICK, (SLOW / ways).max(SLOW_LEAST)].into_iter().find_map(|patience| {
            addresses.iter().find_map(|at| TcpStream::connect_timeout(at, patience).ok())
        })
    }

    fn sign_in_on(&self, stream: &TcpStream, place: &Place) -> io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        let Place { job, rank, size } = place;
        let job: String = job.split_whitespace().collect();
        let token = self.token();
        write(stream, &format!("{GREETING} {token} {rank} {size} {job}"))?;
        if read(stream)? != KNOWN {
            return Err(io::ErrorKind::InvalidData.into());
        }
        write(stream, HERE)
    }
}

impl Member {
    /// Returns whether all ranks of the job are here. To be called after MPI is initialised; an
    /// earlier question has the answer [`Answer::NotAll`], for all ranks. Blocks for at most ten
    /// seconds, and not at all if the keeper has said so already.
    #[must_use]
    pub fn answer(self) -> Answer {
        self.asked().unwrap_or(Answer::Unknown)
    }

    fn asked(&self) -> io::Result<Answer> {
        self.stream.set_read_timeout(Some(PATIENCE_FOR_ANSWER))?;
        let mut line = match &self.first {
            Some(line) => line.clone(),
            None if self.is_told()? => read(&self.stream)?,
            None => NOTED.to_owned(),
        };
        if line == NOTED {
            write(&self.stream, ASKED)?;
        }
        while line == NOTED {
            line = read(&self.stream)?;
        }
        match line.as_str() {
            ALL => Ok(Answer::All),
            NOT_ALL => Ok(Answer::NotAll),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// Returns whether the keeper has said something that was not read yet.
    fn is_told(&self) -> io::Result<bool> {
        self.stream.set_nonblocking(true)?;
        let peeked = self.stream.peek(&mut [0]);
        self.stream.set_nonblocking(false)?;
        Ok(matches!(peeked, Ok(1)))
    }
}
