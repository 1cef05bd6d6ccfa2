//! The side that knows who is here.

use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::line::{ALL, ASKED, GREETING, HERE, KNOWN, NOT_ALL, NOTED, read, write};
use crate::roll::Rolls;
use crate::{Invitation, Place};

/// How long a stranger may be silent.
const PATIENCE: Duration = Duration::from_secs(5);
/// The memory of a thread that talks to one rank, in bytes.
const STACK_BYTES: usize = 64 << 10;

/// Knows which ranks of a job are here, and tells them when all of them are. May be cloned, to
/// listen at several addresses.
#[derive(Clone, Debug)]
pub struct Keeper {
    token: Arc<str>,
    rolls: Arc<Mutex<Rolls<TcpStream>>>,
    hosts: Arc<Mutex<BTreeSet<IpAddr>>>,
}

impl Keeper {
    /// Makes a keeper that admits those who have this invitation.
    #[must_use]
    pub fn new(invitation: &Invitation) -> Self {
        Self { token: invitation.token().into(), rolls: Arc::default(), hosts: Arc::default() }
    }

    /// Returns the addresses of the hosts from which ranks have come.
    #[must_use]
    pub fn hosts(&self) -> Vec<IpAddr> {
        let hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        hosts.iter().copied().collect()
    }

    /// Talks to all who come, each on a thread of its own, for ever. A rank for which there is no
    /// thread or descriptor is not here.
    pub fn listen(&self, listener: &TcpListener) {
        for stream in listener.incoming() {
            let Ok(stream) = stream else {
                // No descriptor is free. Others may end in the meantime.
                thread::sleep(Duration::from_millis(10));
                continue;
            };
            let keeper = self.clone();
            // An error ends the conversation with this rank. The others are not told.
            let talk = move || keeper.talk(&stream).unwrap_or(());
            thread::Builder::new().stack_size(STACK_BYTES).spawn(talk).ok();
        }
    }

    fn talk(&self, stream: &TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        let place = self.admitted(&read(stream)?).ok_or(io::ErrorKind::PermissionDenied)?;
        if let Ok(peer) = stream.peer_addr() {
            self.hosts.lock().unwrap_or_else(PoisonError::into_inner).insert(peer.ip());
        }
        write(stream, KNOWN)?;
        if read(stream)? != HERE {
            return Ok(());
        }
        let Some(number) = self.enter(&place, stream)? else {
            return write(stream, NOT_ALL);
        };
        // From here on it may take as long as MPI takes to begin.
        stream.set_read_timeout(None)?;
        while read(stream)? == ASKED {
            let is_all = self.rolls().answer(&place, number);
            write(stream, if is_all { ALL } else { NOT_ALL })?;
        }
        Ok(())
    }

    /// Enters a rank, and tells all when it is the last one. Nothing else happens between the first
    /// and the last of them, so that a keeper which is killed has told all or none.
    fn enter(&self, place: &Place, stream: &TcpStream) -> io::Result<Option<u64>> {
        let member = stream.try_clone()?;
        let mut rolls = self.rolls();
        let Some((number, told)) = rolls.enter(place, member) else { return Ok(None) };
        // It is counted, whether or not it hears so.
        write(stream, NOTED).ok();
        for member in told {
            // A rank that has ended meanwhile needs no answer.
            write(&member, ALL).ok();
        }
        Ok(Some(number))
    }

    /// Returns the place of a rank that has the token.
    fn admitted(&self, greeting: &str) -> Option<Place> {
        let mut words = greeting.strip_prefix(GREETING)?.strip_prefix(' ')?.splitn(4, ' ');
        let token = words.next()?;
        // Takes equally long for all tokens of this length.
        let differs = token.bytes().zip(self.token.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
        if differs != 0 || token.len() != self.token.len() {
            return None;
        }
        let (rank, size) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some(Place { job: words.next()?.to_owned(), rank, size })
    }

    fn rolls(&self) -> std::sync::MutexGuard<'_, Rolls<TcpStream>> {
        self.rolls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
