//! The source of the numbers: a directory of this host, or agents on the hosts of a job.

use std::time::Duration;

use super::remote::Remote;
use super::seen::Seen;
use super::watch::Watch;

/// The time between two looks over which a single picture computes rates.
const RATES_OVER: Duration = Duration::from_millis(250);
/// The time between two looks where agents send a picture each second.
const RATES_OVER_THERE: Duration = Duration::from_millis(1_250);

/// The source of the numbers.
#[derive(Debug)]
pub(super) enum Source {
    /// A directory of this host.
    Here(Box<Watch>),
    /// The hosts of a job.
    There(Box<Remote>),
}

impl Source {
    /// Looks once.
    pub(super) fn look(&mut self) -> Seen {
        match self {
            Self::Here(watch) => watch.look(),
            Self::There(remote) => remote.look(),
        }
    }

    /// Returns whether nothing more will come.
    pub(super) fn is_over(&self) -> bool {
        matches!(self, Self::There(remote) if remote.is_over())
    }

    /// Waits before the first look, if it would come too early.
    pub(super) fn wait(&mut self) {
        if let Self::There(remote) = self {
            remote.wait();
        }
    }

    /// Returns the time between two looks over which a single picture computes rates.
    pub(super) fn rates_over(&self) -> Duration {
        match self {
            Self::Here(_) => RATES_OVER,
            Self::There(_) => RATES_OVER_THERE,
        }
    }

    /// Watches the job of this id from now on, of several of this host.
    pub(super) fn choose(&mut self, id: String) {
        if let Self::Here(watch) = self {
            watch.choose(id);
        }
    }

    /// Returns the id of the job that is watched, of several of this host.
    pub(super) fn watched(&self) -> Option<&str> {
        match self {
            Self::Here(watch) => watch.watched(),
            Self::There(_) => None,
        }
    }

    /// Returns what is waited for.
    pub(super) fn awaited(&self) -> String {
        match self {
            Self::Here(watch) => watch.awaited(),
            Self::There(remote) => format!("Nothing to watch on {} yet", remote.what()),
        }
    }

    /// Returns the error of a look that found nothing.
    pub(super) fn nothing(&self) -> String {
        match self {
            Self::Here(watch) => watch.nothing(),
            Self::There(remote) => {
                format!("nothing to show: no agent on {} answers", remote.what())
            }
        }
    }
}
