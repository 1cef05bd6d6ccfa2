//! Which ranks of a job on several hosts run the profiler, known before they communicate.
//!
//! An internal crate of TinyProf: nothing here is stable. Programs use `tinyprof` and
//! `tinyprof-mpi`.
//!
//! A collective operation of ours on ranks of which some have no profiler would hang the program.
//! On one host, ranks mark a board in shared memory. For several hosts, `tinyprof run`, which is
//! there as long as its launcher is, has a [`Keeper`]:
//!
//! ```text
//! rank, before MPI_Init      tinyprof roll call 1 TOKEN JOB RANK SIZE
//! keeper                     known
//! rank                       here
//! keeper                     noted
//! keeper, when all are here  all                    to each of them
//! rank, after MPI_Init       all?                   if it has not been told so
//! keeper                     all | not all          the same answer to all, for ever
//! ```
//!
//! MPI lets no rank leave `MPI_Init` before all have entered it. So a rank that is not here by the
//! time that one of them asks has no profiler.
//!
//! * [`Invitation`]: where the keeper is, and the token that it asks for, as a variable of the
//!   environment.
//! * [`Member`]: a rank's side. [`Keeper`]: the other one.
//!
//! Lines of text over TCP, in the clear. Who can read the network can take part; nobody else can,
//! as the token has 128 random bits.
//!
//! ```
//! use std::net::{Ipv4Addr, TcpListener};
//! use std::thread;
//! use tinyprof_roll_call::{Answer, Invitation, Keeper, Place};
//!
//! let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
//! let invitation = Invitation::new("a secret", vec![listener.local_addr()?]);
//! let keeper = Keeper::new(&invitation);
//! thread::spawn(move || keeper.listen(&listener));
//!
//! let places = [0, 1].map(|rank| Place { job: "4711.0".into(), rank, size: 2 });
//! let members = places.map(|place| invitation.sign_in(&place).expect("the keeper answers"));
//! assert_eq!(members.map(|member| member.answer()), [Answer::All, Answer::All]);
//! # Ok::<(), std::io::Error>(())
//! ```

mod invitation;
mod keeper;
mod line;
mod member;
mod roll;

pub use invitation::{Invitation, VARIABLE};
pub use keeper::Keeper;
pub use member::{Answer, Member};

/// The place of a rank in its job.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The name that the launcher gives the job, equal on all of its hosts. May be empty.
    pub job: String,
    /// The rank in the world.
    pub rank: u32,
    /// The number of ranks in the world.
    pub size: u32,
}
