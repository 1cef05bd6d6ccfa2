//! A minimal writer of the tar format (POSIX ustar), for plain files only.

use std::io::{self, Write};

/// The block size to which everything is padded.
const BLOCK_BYTES: usize = 512;

/// The largest file size that eleven octal digits can express.
const MOST_BYTES: u64 = (1 << 33) - 1;

/// Writes the header of a file of `bytes` bytes. The contents and then [`pad`] must follow.
///
/// # Errors
/// If `out` cannot be written, or if the format cannot hold the length.
pub(super) fn header(out: &mut (dyn Write + Send), name: &str, bytes: u64) -> io::Result<()> {
    if bytes > MOST_BYTES {
        return Err(io::Error::other(format!(
            "{name} would have {bytes} bytes; CubeX holds 8 GiB: use --rank or --path"
        )));
    }
    let mut block = [0; BLOCK_BYTES];
    let mut put = |offset: usize, text: &str| {
        block[offset..offset + text.len()].copy_from_slice(text.as_bytes());
    };
    put(0, name);
    put(100, "0000644\0");
    put(108, "0000000\0");
    put(116, "0000000\0");
    put(124, &format!("{bytes:011o}\0"));
    put(136, "00000000000\0");
    put(148, "        ");
    put(156, "0");
    put(257, "ustar\x0000");
    let sum: u32 = block.iter().map(|&byte| u32::from(byte)).sum();
    let checksum = format!("{sum:06o}\0 ");
    block[148..156].copy_from_slice(checksum.as_bytes());
    out.write_all(&block)
}

/// Fills the last block of a file of `bytes` bytes.
pub(super) fn pad(out: &mut (dyn Write + Send), bytes: u64) -> io::Result<()> {
    let rest = usize::try_from(bytes % BLOCK_BYTES as u64).unwrap_or(0);
    out.write_all(&[0; BLOCK_BYTES][..(BLOCK_BYTES - rest) % BLOCK_BYTES])
}

/// Writes the end of the archive.
pub(super) fn end(out: &mut (dyn Write + Send)) -> io::Result<()> {
    out.write_all(&[0; 2 * BLOCK_BYTES])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_says_its_own_checksum_and_the_length() {
        let mut out = Vec::new();
        header(&mut out, "anchor.xml", 1_000).unwrap();
        assert_eq!(out.len(), BLOCK_BYTES);
        assert_eq!(&out[124..136], b"00000001750\0");
        let said = u32::from_str_radix(std::str::from_utf8(&out[148..154]).unwrap(), 8).unwrap();
        out[148..156].copy_from_slice(b"        ");
        assert_eq!(out.iter().map(|&byte| u32::from(byte)).sum::<u32>(), said);
        assert!(header(&mut Vec::new(), "0.data", MOST_BYTES + 1).is_err());
    }

    #[test]
    fn files_end_with_their_block() {
        for (bytes, expected) in [(0, 0), (1, 511), (511, 1), (512, 0), (513, 511)] {
            let mut out = Vec::new();
            pad(&mut out, bytes).unwrap();
            assert_eq!(out.len(), expected, "{bytes}");
        }
    }
}
