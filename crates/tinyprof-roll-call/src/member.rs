//! A rank's side of the roll call.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::line::{ALL, ASKED, GREETING, HERE, KNOWN, NOT_ALL, read, write};
use crate::{Invitation, Place};

/// How long a rank tries each address, and waits for being known.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long a rank that is here waits for an answer. Others may have got it, so it is worth more.
const PATIENCE_FOR_ANSWER: Duration = Duration::from_secs(10);

/// What is known of the ranks of a job.
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
}

impl Invitation {
    /// Signs a rank in. To be called before MPI is initialised. Blocks for at most two seconds for
    /// each address. `None` if no keeper answers there, or if it does not know the place.
    #[must_use]
    pub fn sign_in(&self, place: &Place) -> Option<Member> {
        self.addresses().iter().find_map(|address| self.sign_in_at(*address, place).ok())
    }

    fn sign_in_at(&self, address: SocketAddr, place: &Place) -> io::Result<Member> {
        let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        let Place { job, rank, size } = place;
        let job: String = job.split_whitespace().collect();
        let token = self.token();
        write(&stream, &format!("{GREETING} {token} {rank} {size} {job}"))?;
        if read(&stream)? != KNOWN {
            return Err(io::ErrorKind::InvalidData.into());
        }
        write(&stream, HERE)?;
        Ok(Member { stream })
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
        let mut byte = [0];
        self.stream.set_nonblocking(true)?;
        let is_told = matches!(self.stream.peek(&mut byte), Ok(1));
        self.stream.set_nonblocking(false)?;
        if !is_told {
            write(&self.stream, ASKED)?;
        }
        match read(&self.stream)?.as_str() {
            ALL => Ok(Answer::All),
            NOT_ALL => Ok(Answer::NotAll),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}
