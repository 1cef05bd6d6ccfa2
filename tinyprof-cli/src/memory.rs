//! The memory limit of a command for reading profiles: `--memory`, once for the whole command.

use std::sync::OnceLock;

use tinyprof_format::file::ReadOptions;

static OPTIONS: OnceLock<ReadOptions> = OnceLock::new();

/// Sets the limit that the user gave; only the first call counts.
pub(crate) fn allow(bytes: Option<u64>) {
    let options = ReadOptions::default();
    OPTIONS.get_or_init(|| bytes.map_or(options, |bytes| options.with_memory_bytes(bytes)));
}

/// Returns the options of this command's readers.
pub(crate) fn read_options() -> ReadOptions {
    OPTIONS.get().copied().unwrap_or_default()
}

/// Parses a number of bytes, such as `512MiB`, `4GiB` or `1000000`.
pub(crate) fn parse_bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match &text[digits.len()..] {
        "" | "B" => 0,
        "KiB" => 10,
        "MiB" => 20,
        "GiB" => 30,
        "TiB" => 40,
        _ => return Err("expected a size with its unit, as in 512MiB or 4GiB".to_owned()),
    };
    let number: u64 =
        digits.trim_end().parse().map_err(|_| "expected a whole number before the unit")?;
    number
        .checked_mul(1 << shift)
        .filter(|&n| n > 0)
        .ok_or_else(|| "expected a size that can be".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units_and_nonsense_is_refused() {
        assert_eq!(parse_bytes("512MiB"), Ok(512 << 20));
        assert_eq!((parse_bytes("4 GiB"), parse_bytes("7")), (Ok(4 << 30), Ok(7)));
        for nonsense in ["", "GiB", "0", "-1GiB", "4GB", "1.5GiB", "99999999TiB"] {
            assert!(parse_bytes(nonsense).is_err(), "{nonsense}");
        }
    }
}
