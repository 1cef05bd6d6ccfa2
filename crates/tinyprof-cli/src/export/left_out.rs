//! Formats that this command was built without.

use std::error::Error;
use std::io::Write;

use super::exporter::{Exporter, Notes, Request};

macro_rules! left_out {
    ($($feature:literal $name:ident)*) => {$(
        #[cfg(not(feature = $feature))]
        pub(super) struct $name;

        #[cfg(not(feature = $feature))]
        impl Exporter for $name {
            fn export(
                &self,
                _: &Request<'_>,
                _: &mut (dyn Write + Send),
            ) -> Result<Notes, Box<dyn Error>> {
                Err(concat!(
                    "this command was built without the feature `",
                    $feature,
                    "`: `cargo install --path crates/tinyprof-cli` builds it with all formats"
                )
                .into())
            }
        }
    )*};
}

left_out! {
    "flamegraph" FlameGraph
    "parquet" Parquet
}
