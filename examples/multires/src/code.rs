//! Compression without loss: small numbers take few bytes.

use tinyprof::profile;

/// Returns the bytes of a level: seven bits of each number in a byte, the lowest first, the sign
/// being the lowest bit; the highest bit of a byte says that more follow.
#[profile(name = "calBands", tag = "COMP")]
pub(crate) fn compress(values: &[i32]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for &value in values {
        let mut rest = (value << 1 ^ value >> 31).cast_unsigned();
        while rest >= 0x80 {
            bytes.push(0x80 | rest.to_le_bytes()[0]);
            rest >>= 7;
        }
        bytes.push(rest.to_le_bytes()[0]);
    }
    bytes
}

/// Returns the numbers again; nothing if the bytes are no level of `count` numbers.
pub(crate) fn expand(bytes: &[u8], count: usize) -> Option<Vec<i32>> {
    let mut bytes = bytes.iter();
    let mut next = || {
        let mut value = 0_u32;
        for shift in (0..35).step_by(7) {
            let byte = *bytes.next()?;
            value |= u32::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                let sign = (value & 1).cast_signed();
                return Some((value >> 1).cast_signed() ^ -sign);
            }
        }
        None
    };
    let values: Option<Vec<i32>> = (0..count).map(|_| next()).collect();
    values.filter(|_| bytes.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_small_ones_are_short() {
        let values = [0, -1, 63, -64, 64, 5_000, -20_000, i32::MAX, i32::MIN];
        let bytes = compress(&values);
        assert_eq!(bytes.len(), 4 + 2 + 2 + 3 + 5 + 5);
        assert_eq!(expand(&bytes, values.len()).as_deref(), Some(&values[..]));
        assert_eq!(expand(&bytes, values.len() - 1), None, "bytes are left");
        assert_eq!(expand(&bytes[..bytes.len() - 1], values.len()), None, "bytes are missing");
    }
}
