//! The key bindings.

use termion::event::Key;

use super::view::Action;

/// Returns the action of a key; `None` if it has none.
pub(super) fn action_of(key: Key) -> Option<Action> {
    Some(match key {
        Key::Char('q') | Key::Ctrl('c' | 'd') => Action::Quit,
        Key::Up | Key::Char('k') => Action::Up,
        Key::Down | Key::Char('j') => Action::Down,
        Key::PageUp => Action::PageUp,
        Key::PageDown => Action::PageDown,
        Key::Right | Key::Char('l') => Action::Expand,
        Key::Left | Key::Char('h') => Action::Collapse,
        Key::Char('\n' | '\r') => Action::Enter,
        Key::Char('s') => Action::Sort,
        Key::Char('r') => Action::Ranks,
        Key::Char('p') => Action::Pause,
        Key::Char('w') => Action::Why,
        Key::Char('?') => Action::Help,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_one_meaning_and_others_none() {
        assert_eq!(action_of(Key::Char('j')), action_of(Key::Down));
        assert_eq!(
            (action_of(Key::Ctrl('c')), action_of(Key::Char('q'))),
            (Some(Action::Quit), Some(Action::Quit))
        );
        assert_eq!((action_of(Key::Char('x')), action_of(Key::Ctrl('s'))), (None, None));
    }
}
