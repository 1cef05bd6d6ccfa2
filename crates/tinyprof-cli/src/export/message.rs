//! Messages of protocol buffers: the few kinds of fields that the format has.

/// A message that is written field by field.
#[derive(Debug, Default)]
pub(super) struct Message(Vec<u8>);

/// The kinds of fields.
const NUMBER: u64 = 0;
const FIXED64: u64 = 1;
const BYTES: u64 = 2;

impl Message {
    /// Appends a number, unless it is 0, which readers assume.
    pub(super) fn number(&mut self, field: u64, number: u64) {
        if number != 0 {
            self.one_of(field, number);
        }
    }

    /// Appends a number of which readers want to know that it is there.
    pub(super) fn one_of(&mut self, field: u64, number: u64) {
        self.varint(field << 3 | NUMBER);
        self.varint(number);
    }

    /// Appends a number in 8 bytes.
    pub(super) fn fixed64(&mut self, field: u64, number: u64) {
        self.varint(field << 3 | FIXED64);
        self.0.extend(number.to_le_bytes());
    }

    /// Appends a list of numbers.
    pub(super) fn packed(&mut self, field: u64, numbers: &[u64]) {
        let mut list = Self::default();
        numbers.iter().for_each(|number| list.varint(*number));
        self.bytes(field, &list.0);
    }

    /// Appends a message within this one.
    pub(super) fn message(&mut self, field: u64, message: &Self) {
        self.bytes(field, &message.0);
    }

    /// Appends bytes or a text.
    pub(super) fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | BYTES);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn varint(&mut self, number: u64) {
        push_varint(&mut self.0, number);
    }
}

/// Appends a number in 7 bits a byte, the lowest first; the highest bit of a byte says that more
/// follow.
pub(crate) fn push_varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 128 {
        bytes.push((number & 127) as u8 | 128);
        number >>= 7;
    }
    bytes.push((number & 127) as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_written_as_the_encoding_s_description_has_them() {
        let mut message = Message::default();
        message.number(1, 150);
        message.number(2, 0);
        message.bytes(2, b"testing");
        message.packed(4, &[3, 270, 86_942]);
        message.one_of(5, 0);
        message.fixed64(6, 258);
        let expected = [
            &[0x08, 0x96, 0x01, 0x12, 0x07][..],
            b"testing",
            &[0x22, 0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05],
            &[0x28, 0x00, 0x31, 0x02, 0x01, 0, 0, 0, 0, 0, 0],
        ]
        .concat();
        assert_eq!(message.into_bytes(), expected);
    }
}
