//! The words that mean something in the arguments of a region. Any other is the key of a metric.

use proc_macro2::Ident;

/// What one argument is called, and how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Name,
    Mode,
    RankLocal,
    Crate,
    Skip,
    Only,
    Split,
    Checkpoint,
}

impl Key {
    /// The keys of `#[profile(...)]`.
    pub(crate) const OF_THE_ATTRIBUTE: &[Key] =
        &[Key::Name, Key::Mode, Key::RankLocal, Key::Crate, Key::Split, Key::Only, Key::Skip];
    /// The keys of `profile_scope!`, where the name comes first and bare.
    pub(crate) const AFTER_A_NAME: &[Key] = &[Key::Mode, Key::RankLocal, Key::Crate, Key::Split];
    /// The keys of `profile_loop!`, where the name comes first and bare too.
    pub(crate) const OF_A_LOOP: &[Key] =
        &[Key::Mode, Key::RankLocal, Key::Checkpoint, Key::Crate, Key::Split];

    /// The argument of this name.
    pub(crate) fn of(ident: &Ident) -> Option<Key> {
        let all = Key::OF_THE_ATTRIBUTE.iter().chain(Key::OF_A_LOOP);
        all.copied().find(|key| ident == key.text())
    }

    /// Whether the word is an argument, so that no metric can be called that.
    pub(crate) fn is_reserved(ident: &Ident) -> bool {
        Key::of(ident).is_some()
    }

    pub(crate) fn text(self) -> &'static str {
        match self {
            Key::Name => "name",
            Key::Mode => "mode",
            Key::RankLocal => "rank_local",
            Key::Crate => "crate",
            Key::Skip => "skip",
            Key::Only => "only",
            Key::Split => "split",
            Key::Checkpoint => "checkpoint",
        }
    }

    /// How it is written, for the reader of an error.
    pub(crate) fn usage(self) -> &'static str {
        match self {
            Key::Name => "`name = \"...\"`",
            Key::Mode => "`mode = total` or `mode = each`",
            Key::RankLocal => "`rank_local`",
            Key::Skip => "`skip`",
            Key::Only => "`only(...)`",
            Key::Split => "`split = T::NAME`",
            Key::Checkpoint => "`checkpoint`",
            Key::Crate => "`crate = path::to::tinyprof`",
        }
    }
}
