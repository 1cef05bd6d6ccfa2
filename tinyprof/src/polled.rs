//! Regions that are futures.

use crate::record::Site;

/// Runs `future` as one visit of `site`, whose time is that of its polls.
pub async fn polled<F: Future>(site: &'static Site, future: F) -> F::Output {
    let _ = site;
    future.await
}
