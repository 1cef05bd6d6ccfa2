//! The terminal: taken over while the screen is shown, and restored afterwards, however that ends.

use std::error::Error;
use std::io::{self, IsTerminal as _, Stdout, Write as _};
use std::panic::{self, AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use ratatui_core::buffer::Buffer;
use ratatui_core::terminal::Terminal;
use ratatui_termion::TermionBackend;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use termion::event::Key;
use termion::input::TermRead as _;
use termion::raw::{IntoRawMode as _, RawTerminal};
use termion::screen::{AlternateScreen, IntoAlternateScreen as _};

/// The longest wait for an event. After that, the size of the terminal and pending signals are
/// checked.
const TICK: Duration = Duration::from_millis(100);

type Output = AlternateScreen<RawTerminal<Stdout>>;

/// A terminal that has been taken over.
pub(super) struct Live {
    terminal: Terminal<TermionBackend<Output>>,
    keys: Receiver<Key>,
    signal: Arc<AtomicUsize>,
}

/// An event to handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Key(Key),
    /// Nothing, for a while.
    Tick,
    /// The end: there will be no more keys, or a signal asks to stop.
    Over,
}

impl Live {
    /// Redraws the whole screen in its current size.
    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Buffer)) -> io::Result<()> {
        self.terminal.draw(|frame| draw(frame.buffer_mut())).map(|_| ())
    }

    /// Waits for the next key, but not for long.
    pub(super) fn next(&self) -> Event {
        let key = self.keys.recv_timeout(TICK);
        match key {
            _ if self.signal.load(Relaxed) != 0 => Event::Over,
            Ok(key) => Event::Key(key),
            Err(RecvTimeoutError::Timeout) => Event::Tick,
            Err(RecvTimeoutError::Disconnected) => Event::Over,
        }
    }
}

/// Runs `work` on the terminal, then restores it. A signal that ends programs ends this one after
/// that, and the message of a panic is printed where it can be read.
pub(super) fn on_terminal(
    work: impl FnOnce(&mut Live) -> io::Result<()>,
) -> Result<(), Box<dyn Error>> {
    let signal = Arc::new(AtomicUsize::new(0));
    for (number, value) in [(SIGHUP, 1), (SIGINT, 2), (SIGTERM, 15)] {
        signal_hook::flag::register_usize(number, Arc::clone(&signal), value)?;
    }
    let told = Arc::new(Mutex::new(String::new()));
    let place = Arc::clone(&told);
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        *place.lock().unwrap_or_else(PoisonError::into_inner) = panic.to_string();
    }));
    let done = catch_unwind(AssertUnwindSafe(|| work(&mut take_over(Arc::clone(&signal))?)));
    panic::set_hook(before);
    // The sequence that restores the screen may still be in the buffer, which a signal's default
    // action does not write.
    let written = io::stdout().flush();
    let done = done.unwrap_or_else(|panic| {
        let told = told.lock().unwrap_or_else(PoisonError::into_inner);
        // If standard error is closed, there is nowhere left to report it.
        writeln!(io::stderr(), "{told}").ok();
        resume_unwind(panic)
    });
    if let Ok(number @ 1..) = i32::try_from(signal.load(Relaxed)) {
        signal_hook::low_level::emulate_default_handler(number)?;
    }
    done.and(written).map_err(|error| format!("cannot draw on the terminal: {error}").into())
}

fn take_over(signal: Arc<AtomicUsize>) -> io::Result<Live> {
    let (sender, keys) = channel();
    // Standard input may be something other than the terminal.
    let input: Box<dyn io::Read + Send> = if io::stdin().is_terminal() {
        Box::new(io::stdin())
    } else {
        Box::new(termion::get_tty()?)
    };
    // The thread waits for keys forever, and ends with the process.
    thread::spawn(move || {
        for key in input.keys().map_while(Result::ok) {
            if sender.send(key).is_err() {
                break;
            }
        }
    });
    let output = io::stdout().into_raw_mode()?.into_alternate_screen()?;
    let mut terminal = Terminal::new(TermionBackend::new(output))?;
    terminal.hide_cursor()?;
    Ok(Live { terminal, keys, signal })
}
