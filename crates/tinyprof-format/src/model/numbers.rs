//! Structs of numbers that are stored in an order, each stated once: field, name, and how it adds
//! up.

/// Defines a struct of public numbers, with their names, in the order in which a profile stores
/// them. New ones go to the end. Where fields have rules, `merge` adds another struct's numbers:
/// by their `sum` (as far as it fits) or the `max`; a `kept` one is not changed.
macro_rules! numbers {
    (
        $(#[$of_struct:meta])*
        pub struct $name:ident {
            $($(#[$of_field:meta])* $field:ident: $type:ident = $rule:ident,)*
        }
    ) => {
        numbers! {
            $(#[$of_struct])*
            pub struct $name {
                $($(#[$of_field])* $field: $type,)*
            }
        }

        impl $name {
            /// Adds the numbers of another one, each by its rule.
            fn merge(&mut self, other: &Self) {
                $(numbers!(@merge $rule $type, self.$field, other.$field);)*
            }
        }
    };
    (
        $(#[$of_struct:meta])*
        pub struct $name:ident {
            $($(#[$of_field:meta])* $field:ident: $type:ident,)*
        }
    ) => {
        $(#[$of_struct])*
        pub struct $name {
            $($(#[$of_field])* pub $field: $type,)*
        }

        impl $name {
            /// The names of the numbers, in the order in which a profile stores them.
            pub const NAMES: [&'static str; [$(stringify!($field)),*].len()] =
                [$(stringify!($field)),*];

            /// The number of numbers.
            pub const COUNT: usize = Self::NAMES.len();

            /// Returns the names and numbers, in the order in which a profile stores them.
            #[must_use]
            #[inline]
            pub const fn named(&self) -> [(&'static str, u64); Self::COUNT] {
                [$((stringify!($field), numbers!(@to $type, self.$field))),*]
            }

            /// Creates it from numbers in the order of [`named`](Self::named). What does not fit
            /// becomes the largest.
            #[must_use]
            #[inline]
            pub const fn from_numbers([$($field),*]: [u64; Self::COUNT]) -> Self {
                Self { $($field: numbers!(@from $type, $field)),* }
            }
        }
    };
    (@to u64, $number:expr) => { $number };
    (@to u32, $number:expr) => { $number as u64 };
    (@to f64, $number:expr) => { $number.to_bits() };
    (@from u64, $number:expr) => { $number };
    (@from u32, $number:expr) => { $crate::model::numbers::to_u32($number) };
    (@from f64, $number:expr) => { f64::from_bits($number) };
    (@merge kept $type:ident, $ours:expr, $theirs:expr) => {};
    (@merge sum u64, $ours:expr, $theirs:expr) => { $ours = $ours.saturating_add($theirs) };
    (@merge sum f64, $ours:expr, $theirs:expr) => { $ours += $theirs };
    (@merge max u64, $ours:expr, $theirs:expr) => { $ours = $ours.max($theirs) };
}

pub(super) use numbers;

/// Returns a number in 32 bits, the largest one for what does not fit.
#[expect(clippy::cast_possible_truncation, reason = "it fits")]
pub(super) const fn to_u32(number: u64) -> u32 {
    if number > u32::MAX as u64 { u32::MAX } else { number as u32 }
}

#[cfg(test)]
mod tests {
    #![expect(unreachable_pub, reason = "the macro makes public structs")]

    numbers! {
        /// One of each.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct Numbers {
            /// A sum.
            first: u64 = sum,
            /// A maximum.
            second: u64 = max,
            /// A sum of real numbers.
            third: f64 = sum,
            /// A number of 32 bits.
            fourth: u32 = kept,
        }
    }

    #[test]
    fn numbers_keep_their_order_and_follow_their_rules() {
        let words = [u64::MAX, 2, 1.5_f64.to_bits(), 4];
        let mut numbers = Numbers::from_numbers(words);
        assert_eq!(numbers, Numbers { first: u64::MAX, second: 2, third: 1.5, fourth: 4 });
        assert_eq!(numbers.named().map(|(_, number)| number), words);
        assert_eq!(numbers.named().map(|(name, _)| name), Numbers::NAMES);
        assert_eq!(Numbers::NAMES, ["first", "second", "third", "fourth"]);
        numbers.merge(&Numbers::from_numbers([1, 1, 2.0_f64.to_bits(), u64::MAX]));
        assert_eq!(numbers, Numbers { third: 3.5, ..Numbers::from_numbers(words) });
        assert_eq!(Numbers::from_numbers([0, 0, 0, 1 << 32]).fourth, u32::MAX);
    }
}
