//! The libraries that an executable names: the entries `NEEDED` of a 64-bit ELF file.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// The greatest numbers of program headers, of dynamic entries, and of bytes of a name that are
/// read. Executables have a dozen, a hundred, and a few dozen.
const HEADERS_MAX: u64 = 256;
const ENTRIES_MAX: u64 = 4_096;
const NAME_BYTES_MAX: usize = 256;

/// The lengths of a program header and of a dynamic entry, in bytes.
const HEADER_BYTES: usize = 56;
const ENTRY_BYTES: usize = 16;

const MAGIC: &[u8] = b"\x7fELF";
const CLASS_64: u8 = 2;

/// Types of program headers.
const LOAD: u32 = 1;
const DYNAMIC: u32 = 2;

/// Tags of dynamic entries.
const END: u64 = 0;
const NEEDED: u64 = 1;
const STRING_TABLE: u64 = 5;

/// A part of the file that is mapped.
struct Mapped {
    address: u64,
    offset: u64,
    bytes: u64,
}

/// Returns the names of the libraries that `executable` is linked to; none if it is no executable
/// of this machine, or is linked statically.
pub(super) fn needed(executable: &Path) -> Vec<String> {
    libraries(executable).unwrap_or_default()
}

fn libraries(executable: &Path) -> Option<Vec<String>> {
    // The argument of a command may name a pipe or a device.
    if !executable.metadata().ok()?.is_file() {
        return None;
    }
    let file = File::open(executable).ok()?;
    let start: [u8; 64] = at(&file, 0)?;
    let is_native = cfg!(target_endian = "little") == (start[5] == 1);
    if !start.starts_with(MAGIC) || start[4] != CLASS_64 || !is_native {
        return None;
    }
    let headers_at = word(&start, 32)?;
    let count = u64::from(u16::from_ne_bytes([start[56], start[57]])).min(HEADERS_MAX);
    let (mut mapped, mut dynamic) = (Vec::new(), None);
    for number in 0..count {
        let offset = headers_at.checked_add(number * HEADER_BYTES as u64)?;
        let header: [u8; HEADER_BYTES] = at(&file, offset)?;
        let kind = u32::from_ne_bytes(*header.first_chunk()?);
        let (offset, address, bytes) = (word(&header, 8)?, word(&header, 16)?, word(&header, 32)?);
        match kind {
            LOAD => mapped.push(Mapped { address, offset, bytes }),
            DYNAMIC => dynamic = Some((offset, bytes)),
            _ => {}
        }
    }
    let (offset, bytes) = dynamic?;
    let (mut names, mut strings) = (Vec::new(), None);
    for number in 0..(bytes / ENTRY_BYTES as u64).min(ENTRIES_MAX) {
        let entry: [u8; ENTRY_BYTES] = at(&file, offset.checked_add(number * ENTRY_BYTES as u64)?)?;
        match (word(&entry, 0)?, word(&entry, 8)?) {
            (END, _) => break,
            (NEEDED, name) => names.push(name),
            (STRING_TABLE, address) => strings = Some(address),
            _ => {}
        }
    }
    let address = strings?;
    let of = mapped.iter().find(|mapped| {
        address.checked_sub(mapped.address).is_some_and(|beyond| beyond < mapped.bytes)
    })?;
    let strings_at = of.offset.checked_add(address - of.address)?;
    names.into_iter().map(|name| text(&file, strings_at.checked_add(name)?)).collect()
}

fn at<const BYTES: usize>(file: &File, offset: u64) -> Option<[u8; BYTES]> {
    let mut bytes = [0; BYTES];
    file.read_exact_at(&mut bytes, offset).ok()?;
    Some(bytes)
}

fn word(bytes: &[u8], start: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(start..start + 8)?.try_into().ok()?))
}

fn text(file: &File, offset: u64) -> Option<String> {
    let mut bytes = [0; NAME_BYTES_MAX];
    let length = file.read_at(&mut bytes, offset).ok()?;
    let name = bytes[..length].split(|byte| *byte == 0).next()?;
    Some(String::from_utf8_lossy(name).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_needs_the_c_library_and_other_files_need_nothing() {
        let own = needed(Path::new("/proc/self/exe"));
        assert!(own.iter().any(|name| name.starts_with("libc.so")), "{own:?}");
        for other in ["/proc/self/status", "/", "/none", "/dev/null"] {
            assert_eq!(needed(Path::new(other)), [""; 0], "{other}");
        }
    }

    #[test]
    fn damage_anywhere_is_no_crash() {
        let whole = std::fs::read("/proc/self/exe").expect("it is there");
        let scratch = tempfile::tempdir().expect("a temporary directory");
        let path = scratch.path().join("damaged");
        let mut random = 1_u64;
        for round in 0..100 {
            let mut damaged = whole[..4096.min(whole.len())].to_vec();
            for _ in 0..4 {
                random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                let at = 5 + usize::try_from(random >> 40).expect("24 bits") % 1_000;
                damaged[at] = random.to_le_bytes()[3];
            }
            damaged.truncate(4096 - round * 30);
            std::fs::write(&path, &damaged).expect("a file");
            needed(&path);
        }
    }
}
