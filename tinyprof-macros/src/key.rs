//! The names of a region's arguments. Any other name is the key of a metric.

use proc_macro2::Ident;

/// The name and syntax of one argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Name,
    Mode,
    RankLocal,
    Crate,
    Skip,
    Only,
    Split,
    FlushPoint,
}

impl Key {
    /// The keys of `#[profile(...)]`.
    pub(crate) const OF_THE_ATTRIBUTE: &[Key] =
        &[Key::Name, Key::Mode, Key::RankLocal, Key::Crate, Key::Split, Key::Only, Key::Skip];
    /// The keys of `profile_scope!`, in which the name comes first, without a key.
    pub(crate) const AFTER_A_NAME: &[Key] = &[Key::Mode, Key::RankLocal, Key::Crate, Key::Split];
    /// The keys of `profile_loop!`, in which the name also comes first, without a key.
    pub(crate) const OF_A_LOOP: &[Key] =
        &[Key::Mode, Key::RankLocal, Key::FlushPoint, Key::Crate, Key::Split];

    /// Returns the argument with this name.
    pub(crate) fn of(ident: &Ident) -> Option<Key> {
        let all = Key::OF_THE_ATTRIBUTE.iter().chain(Key::OF_A_LOOP);
        all.copied().find(|key| ident == key.text())
    }

    /// Returns whether the word is an argument, and so cannot name a metric.
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
            Key::FlushPoint => "flush_point",
        }
    }

    /// Returns the syntax of the argument, for error messages.
    pub(crate) fn usage(self) -> &'static str {
        match self {
            Key::Name => "`name = \"...\"`",
            Key::Mode => "`mode = total` or `mode = each`",
            Key::RankLocal => "`rank_local`",
            Key::Skip => "`skip`",
            Key::Only => "`only(...)`",
            Key::Split => "`split = T::NAME`",
            Key::FlushPoint => "`flush_point`",
            Key::Crate => "`crate = path::to::tinyprof`",
        }
    }
}
