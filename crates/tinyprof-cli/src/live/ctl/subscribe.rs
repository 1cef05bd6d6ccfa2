//! `tinyprof ctl subscribe`: the facts of a running job, a JSON document a line, until it ends.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::thread::{self, sleep};

use super::super::queue::Queue;
use super::super::stream::{LOOK, PATIENCE, Stream, write};
use crate::arguments::SubscribeArguments;
use crate::{render, sys};

/// Prints documents until the job has ended, or the reader has left.
///
/// # Errors
/// If there is no such job, or there are several.
pub(super) fn run(arguments: &SubscribeArguments) -> Result<(), Box<dyn Error>> {
    let SubscribeArguments { segments, hosts, interval, choice } = arguments;
    let mut stream = Stream::new(segments, hosts, *interval, choice);
    let queue = Arc::new(Queue::default());
    let of_writer = Arc::clone(&queue);
    // In a thread of its own: a reader that is slow does not make the numbers old.
    let writer = thread::spawn(move || write(&of_writer, io::stdout()));
    stream.feed(&queue, |time| -> Result<bool, Box<dyn Error>> {
        let begun_ns = sys::now().monotonic_ns;
        while !writer.is_finished() {
            let rest = time.saturating_sub(sys::since(begun_ns));
            if rest.is_zero() {
                return Ok(true);
            }
            sleep(LOOK.min(rest));
        }
        Ok(false)
    })?;
    queue.close();
    while !writer.is_finished() && queue.closed_for() < PATIENCE {
        sleep(LOOK);
    }
    let (lost, left) = (queue.lost(), queue.len());
    if lost > 0 {
        render::notes(&[format!("the reader was too slow for {lost} documents")]);
    }
    if !writer.is_finished() {
        render::notes(&[format!("the reader has left {left} documents and more, for 10 s")]);
    }
    Ok(())
}
