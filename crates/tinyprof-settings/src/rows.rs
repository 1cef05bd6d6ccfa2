//! The macro that makes everything from the rows of the table: descriptions, typed values, and the
//! methods of builders.

/// Expands to `SETTINGS`, to `Settings`, and to two macros with methods of builders.
///
/// A row has the field of `Settings` and its type, then the description, then the parser, then the
/// method of the builder, if programs can set it. `everywhere` has the settings of all programs,
/// `mpi` those of programs on MPI.
macro_rules! settings {
    (
        everywhere { $($everywhere:tt)* }
        mpi { $($mpi:tt)* }
    ) => {
        settings!(@table [false $($everywhere)*] [true $($mpi)*]);
        settings!(@methods everywhere_methods $($everywhere)*);
        settings!(@methods mpi_methods $($mpi)*);
    };

    (@table $([$needs_mpi:literal $(
        $(#[$field_doc:meta])*
        $field:ident: $type:ty {
            key: $key:expr,
            variable: $variable:expr,
            values: $values:expr,
            expected: $expected:expr,
            meaning: $meaning:expr,
            default: $default:expr,
            read: $read:expr,
            $($(#[$method_doc:meta])+ $method:ident($argument:ident: $argument_type:ty) => $value:expr,)?
        }
    )*])*) => {
        /// All settings: first those of all programs, then those of programs on MPI.
        pub const SETTINGS: &[Setting] = &[$($(Setting {
            key: $key,
            variable: $variable,
            values: $values,
            expected: $expected,
            meaning: $meaning,
            default: $default,
            needs_mpi: $needs_mpi,
            method: settings!(@name $($method)?),
            accepts: |value| ($read)(value).is_some(),
        },)*)*];

        /// The values of settings, each one if it is set.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Settings {
            $($($(#[$field_doc])* pub $field: Option<$type>,)*)*
        }

        impl Settings {
            /// The settings when none is set.
            pub const NONE: Self = Self { $($($field: None,)*)* };

            /// Returns the settings of the variables that `lookup` knows, usually
            /// [`std::env::var_os`].
            ///
            /// A value that is not accepted is passed to `refused`, and counts as not set. A path
            /// that is empty is not set.
            #[must_use]
            pub fn read(
                lookup: impl Fn(&str) -> Option<OsString>,
                mut refused: impl FnMut(&Setting, &OsStr),
            ) -> Self {
                Self {
                    $($($field: read_one(&lookup, $variable, $read, &mut refused),)*)*
                }
            }

            /// Returns these settings, and those of `others` that are not set here.
            #[must_use]
            pub fn or(self, others: Self) -> Self {
                Self { $($($field: self.$field.or(others.$field),)*)* }
            }
        }
    };

    (@name) => { None };
    (@name $method:ident) => { Some(stringify!($method)) };

    (@methods $name:ident $(
        $(#[$field_doc:meta])*
        $field:ident: $type:ty {
            key: $key:expr,
            variable: $variable:expr,
            values: $values:expr,
            expected: $expected:expr,
            meaning: $meaning:expr,
            default: $default:expr,
            read: $read:expr,
            $($(#[$method_doc:meta])+ $method:ident($argument:ident: $argument_type:ty) => $value:expr,)?
        }
    )*) => {
        /// Expands to the methods of a builder: a type with a field `settings: Settings`.
        #[doc(hidden)]
        #[macro_export]
        macro_rules! $name {
            () => {
                $($(
                    $(#[$method_doc])+
                    pub fn $method(mut self, $argument: $argument_type) -> Self {
                        self.settings.$field = Some($value);
                        self
                    }
                )?)*
            };
        }
    };
}

pub(crate) use settings;
