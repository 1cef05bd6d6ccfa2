//! The terminal: taken over for as long as the screen is there, and given back as it was, however
//! that ends.

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

/// How long nothing happens at most: then it is seen whether the terminal has another size, or a
/// signal has come.
const TICK: Duration = Duration::from_millis(100);

type Output = AlternateScreen<RawTerminal<Stdout>>;

/// A terminal that was taken over.
pub(super) struct Live {
    terminal: Terminal<TermionBackend<Output>>,
    keys: Receiver<Key>,
    signal: Arc<AtomicUsize>,
}

/// What has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Key(Key),
    /// Nothing, for a while.
    Tick,
    /// There will be no more keys, or a signal says that it is over.
    Over,
}

impl Live {
    /// Draws all of the screen anew, in the size that it has now.
    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Buffer)) -> io::Result<()> {
        self.terminal.draw(|frame| draw(frame.buffer_mut())).map(|_| ())
    }

    /// Waits for the next key, and not for long.
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

/// Does `work` on the terminal, and gives it back. A signal that ends programs ends this one after
/// that, and a panic is told where it can be read.
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
    // What gives the screen back may still be in the buffer, which a signal's default action does
    // not write.
    let written = io::stdout().flush();
    let done = done.unwrap_or_else(|panic| {
        let told = told.lock().unwrap_or_else(PoisonError::into_inner);
        // There is nowhere left to say that standard error is closed.
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
    // Standard input may be something else than the terminal.
    let input: Box<dyn io::Read + Send> = if io::stdin().is_terminal() {
        Box::new(io::stdin())
    } else {
        Box::new(termion::get_tty()?)
    };
    // It waits for a key for ever; the end of the process ends it.
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
