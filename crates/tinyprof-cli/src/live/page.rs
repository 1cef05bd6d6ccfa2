//! `tinyprof live`: a running job as a page of the browser on this host.
//!
//! ```text
//! source -> app: a look -> json -> feed -> server -> page, by server-sent events
//! page -> server -> commands -> the job; what comes of it -> feed
//! ```
//!
//! The server listens on 127.0.0.1 alone, and answers to whoever knows the random token in the
//! address. It serves its own page, pictures, and the profiles that its commands have written; it
//! reads no file that a request names.

mod commands;
mod feed;
mod request;
mod response;
mod server;

use std::error::Error;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use super::app::App;
use super::screen::State;
use super::{Watching, json, source};
use crate::arguments::{LiveArguments, OnJob};
use crate::html;
use crate::{render, sys};
use commands::Commands;
use feed::Feed;
use server::Server;

/// Serves the page as long as this process runs.
///
/// # Errors
/// If it cannot listen, or the browser not be started.
pub(crate) fn run(arguments: &LiveArguments) -> Result<(), Box<dyn Error>> {
    let &LiveArguments { ref segments, ref hosts, interval, ref iterations, port, open } =
        arguments;
    let watching = Watching::of(segments, hosts, interval);
    let mut app = App::new(source(&watching)).expecting(iterations.clone());
    let feed = Arc::new(Feed::default());
    let commands = Arc::new(Commands::new(OnJob::of(segments, hosts), Arc::clone(&feed)));
    let server = Server::new(port, Arc::clone(&feed), Arc::clone(&commands))
        .map_err(|error| format!("cannot listen on port {port} of 127.0.0.1: {error}"))?;
    let (address, url) = server.address()?;
    server.start();
    render::output(&format!("{url}\n"))?;
    let (port, note) = (address.port(), "only for who knows this address");
    render::notes(&[format!("{note}; from elsewhere: ssh -L {port}:{address} to this host first")]);
    if open {
        html::open(url.as_ref())?;
    }
    let interval = Duration::from_secs(interval.into());
    loop {
        let begun_ns = sys::now().monotonic_ns;
        match commands.chosen() {
            Some(job) => app.choose(job),
            None => app.update(),
        }
        tell(&app, &feed, &commands);
        sleep(interval.saturating_sub(sys::since(begun_ns)));
    }
}

/// Tells pages what the last look has found.
fn tell(app: &App, feed: &Feed, commands: &Arc<Commands>) {
    match &app.state {
        State::Waiting(what) => feed.waiting(app.trouble().unwrap_or(what), &[]),
        State::Choosing(jobs) => feed.waiting("Several jobs run here: choose one", jobs),
        State::Running(frame) => {
            app.watched().iter().for_each(|job| commands.direct_to(job));
            Commands::look(commands, frame);
            feed.picture(json::document(frame, false));
        }
        State::Ended(frame) => feed.picture(json::document(frame, true)),
    }
}
