//! Why a rank has waited: delay costs and the critical path, while the program runs.
mod cause;
mod costs;
mod layout;
mod ledger;
mod list;
mod log;
mod page;
mod pulled;
mod shares;

pub use cause::{Activity, Cause};
pub use costs::{Cost, Costs, DelayCost, DelayCosts, Kind};
pub use layout::Sizes;
pub use ledger::{Ledger, Losses, Wait};
pub use page::{Meeting, Page, Wanted};
pub use pulled::Pulled;
