//! Enumerations whose numbers and names are stored, each stated once.

/// Defines an enumeration of kinds with their numbers, from 0 on, and their names.
macro_rules! kinds {
    (
        $(#[$of_enum:meta])*
        pub enum $name:ident {
            $($(#[$of_kind:meta])* $kind:ident = $number:literal $text:literal,)*
        }
    ) => {
        $(#[$of_enum])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum $name {
            $($(#[$of_kind])* $kind = $number,)*
        }

        impl $name {
            /// All kinds, in the order of their numbers.
            pub const ALL: [Self; [$($number),*].len()] = [$(Self::$kind),*];

            /// Returns the kind with this number, if there is one.
            #[must_use]
            pub fn from_number(number: u8) -> Option<Self> {
                Self::ALL.get(usize::from(number)).copied()
            }

            /// Returns the name, for tables and JSON, with `_` between its words.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $text,)*
                }
            }
        }
    };
}

pub(super) use kinds;
