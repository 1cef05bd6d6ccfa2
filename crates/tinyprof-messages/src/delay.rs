//! Causes of waiting, while the program runs: delay costs, the critical path, and the imbalance of
//! activities.
//!
//! At a wait of a rank for another one, whatever the other did longer since the two last
//! synchronised is the *delay*; the waiting is shared out among its activities. What the other has
//! waited itself in this time is passed on to those it has waited for: these costs are
//! *propagated*. This is the delay analysis of Scalasca (Böhme, Geimer, Arnold, Voigtlaender, Wolf,
//! ACM TOPC 3(2), 2016), forwards, without a record of events.
//!
//! Each rank has a page in memory that the ranks of a host share:
//!
//! ```text
//!  Ledger ---- writes ----> Page ---- pull ----> Pulled ----> Ledger of the rank that has waited
//!    | add, wait, align                             |
//!    v                                              +-- to_mail, read_mail: between hosts
//!  Costs ---> DelayCosts, in RankCauses
//! ```
//!
//! * [`Ledger`]: the side of the rank: its activities, last synchronisations, blame, and path.
//! * [`Page`], [`Pulled`]: what others read of it, as of the moment at which it came.
//! * [`Costs`]: the result, by callpath of the wait and by cause.
//! * [`Block`]: all words of a rank, for its profile.
//! * [`Kept`]: copies of them in the rank's segment, for a rank that is killed.
//! * [`Imbalance`]: overload and underload of an activity, by number or by length of visits.
//!
//! ```
//! use std::sync::atomic::AtomicU64;
//! use tinyprof_messages::delay::{Activity, Costs, DelayCosts, Ledger, Pulled, Sizes, Wait};
//!
//! let sizes = Sizes::default();
//! let memory =
//!     |words: usize| -> Vec<AtomicU64> { (0..words).map(|_| AtomicU64::new(0)).collect() };
//! let (pages, table) = ([0, 1].map(|_| memory(sizes.words())), memory(Costs::words(64)));
//! let mut late = Ledger::new(&pages[0], sizes, 0);
//! let mut waits = Ledger::new(&pages[1], sizes, 1);
//! let [solve, receive] = [3, 4].map(Activity::from_hash);
//!
//! // Rank 0 computes for 50 us and sends; rank 1 computes for 20 us and waits for the message.
//! late.add(solve, 50_000, 50_000);
//! waits.add(solve, 20_000, 20_000);
//! let wanted = waits.wanted(0, 50_000);
//! let mut pulled = Pulled::new(sizes);
//! assert!(late.page().pull(&wanted, &mut pulled));
//! let wait = Wait {
//!     callpath: 4,
//!     activity: receive,
//!     partner: 0,
//!     entered_ns: 20_000,
//!     left_ns: 51_000,
//!     waited_ns: 30_000,
//!     partner_ns: 50_000,
//!     lost_ns: 0,
//!     is_mutual: false,
//!     is_over: false,
//! };
//! let mut costs = Costs::new(&table);
//! waits.wait(&wait, Some(&pulled), &mut costs);
//!
//! let found = DelayCosts::read(&table).expect("nobody writes");
//! assert_eq!(found.entries[0].cause.rank(), Some(0));
//! assert_eq!(found.entries[0].direct.ns, 30_000);
//! ```

mod block;
mod budget;
mod cause;
mod costs;
mod deferred;
mod imbalance;
mod instance;
mod kept;
mod layout;
mod ledger;
mod list;
mod log;
mod page;
mod parts;
mod pulled;
mod record;
mod shares;

pub use block::Block;
pub use cause::{Activity, Cause};
pub use costs::{Cost, Costs, DelayCost, DelayCosts, Kind};
pub use imbalance::{Imbalance, Visits, path_imbalance_ns};
pub use instance::Instance;
pub use kept::Kept;
pub use layout::Sizes;
pub use ledger::{Ledger, Losses, Wait};
pub use page::{Page, Wanted};
pub use parts::PathPart;
pub use pulled::Pulled;
pub use record::RankCauses;
