//! Thrift's compact protocol, as far as Parquet's headers need it.

/// What follows a field's number.
#[derive(Clone, Copy)]
enum Type {
    I32 = 5,
    I64 = 6,
    Binary = 8,
    List = 9,
    Struct = 12,
}

/// A struct in the making. Fields are written in the order of their numbers.
#[derive(Default)]
pub(super) struct Struct {
    bytes: Vec<u8>,
    last: u8,
}

impl Struct {
    /// The bytes of the whole struct.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }

    pub(super) fn i32(mut self, field: u8, value: i32) -> Self {
        self.header(field, Type::I32);
        push_varint(&mut self.bytes, zigzag(value.into()));
        self
    }

    pub(super) fn i64(mut self, field: u8, value: i64) -> Self {
        self.header(field, Type::I64);
        push_varint(&mut self.bytes, zigzag(value));
        self
    }

    pub(super) fn text(mut self, field: u8, text: &str) -> Self {
        self.header(field, Type::Binary);
        push_text(&mut self.bytes, text);
        self
    }

    pub(super) fn inner(mut self, field: u8, inner: Self) -> Self {
        self.header(field, Type::Struct);
        self.bytes.extend(inner.finish());
        self
    }

    pub(super) fn structs(mut self, field: u8, list: impl ExactSizeIterator<Item = Self>) -> Self {
        self.list(field, Type::Struct, list.len());
        list.for_each(|inner| self.bytes.extend(inner.finish()));
        self
    }

    pub(super) fn i32s(mut self, field: u8, list: &[i32]) -> Self {
        self.list(field, Type::I32, list.len());
        list.iter().for_each(|&value| push_varint(&mut self.bytes, zigzag(value.into())));
        self
    }

    pub(super) fn texts(mut self, field: u8, list: &[&str]) -> Self {
        self.list(field, Type::Binary, list.len());
        list.iter().for_each(|text| push_text(&mut self.bytes, text));
        self
    }

    /// The difference to the number of the field before, which Parquet keeps below 16, and the type.
    fn header(&mut self, field: u8, of: Type) {
        debug_assert!((1..16).contains(&(field - self.last)), "fields come in order");
        self.bytes.push((field - self.last) << 4 | of as u8);
        self.last = field;
    }

    fn list(&mut self, field: u8, of: Type, length: usize) {
        self.header(field, Type::List);
        match u8::try_from(length) {
            Ok(length @ 0..15) => self.bytes.push(length << 4 | of as u8),
            _ => {
                self.bytes.push(0xf0 | of as u8);
                push_varint(&mut self.bytes, length as u64);
            }
        }
    }
}

/// Seven bits a byte, the lowest first.
pub(super) fn push_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    bytes.push(value.to_le_bytes()[0]);
}

fn push_text(bytes: &mut Vec<u8>, text: &str) {
    push_varint(bytes, text.len() as u64);
    bytes.extend(text.as_bytes());
}

/// Small numbers of either sign as small ones without.
const fn zigzag(value: i64) -> u64 {
    (value.cast_unsigned() << 1) ^ (value >> 63).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_struct_is_spelled_as_the_protocol_wants() {
        let inner = Struct::default().text(1, "ab");
        let bytes = Struct::default().i32(1, -1).i64(3, 300).inner(4, inner).i32s(5, &[1, 2]).finish();
        assert_eq!(bytes, [0x15, 1, 0x26, 0xd8, 4, 0x1c, 0x18, 2, b'a', b'b', 0, 0x19, 0x25, 2, 4, 0]);
    }

    #[test]
    fn long_lists_have_their_length_apart() {
        let bytes = Struct::default().i32s(1, &[0; 20]).finish();
        assert_eq!(bytes[..3], [0x19, 0xf5, 20]);
        assert_eq!(bytes.len(), 3 + 20 + 1);
    }
}
