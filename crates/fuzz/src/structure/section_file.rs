//! A file of sections, taken apart and put together again from `docs/format.md` alone.

use super::Tape;

const FOOTER_BYTES: usize = 24;
const ENTRY_BYTES: usize = 24;

/// A section: its key and its bytes.
pub(super) type Section = (u32, Vec<u8>);

/// A file of sections.
#[derive(Clone, Debug)]
pub(super) struct SectionFile {
    magic: Vec<u8>,
    version: [u8; 4],
    /// The file's own numbers.
    pub(super) fields: Vec<u32>,
    pub(super) sections: Vec<Section>,
    /// True if the sections have frames, which versions before 1.0 did not have.
    framed: bool,
    lie: Option<Lie>,
}

/// An error in the frame of a file whose checksums are right.
#[derive(Clone, Copy, Debug)]
enum Lie {
    /// The index entry of that section.
    Entry(usize, Field, u64),
    /// The frame before the section.
    Frame(usize, u64),
    IndexOffset(u64),
    Count(u32),
    Cut(usize),
    Tail(u8),
}

#[derive(Clone, Copy, Debug)]
enum Field {
    Key,
    Offset,
    Length,
    Checksum,
}

fn le_32(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes.try_into().expect("four bytes"))
}

fn le_64(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
}

impl SectionFile {
    /// Splits a whole file whose header has `fields` numbers of its own.
    pub(super) fn parse(bytes: &[u8], fields: usize) -> Self {
        let header = 12 + 4 * fields;
        let (body, footer) = bytes.split_at(bytes.len() - FOOTER_BYTES);
        let index = usize::try_from(le_64(&footer[..8])).expect("a small file");
        let sections = body[index..].chunks_exact(ENTRY_BYTES).map(|entry| {
            let offset = usize::try_from(le_64(&entry[4..12])).expect("a small file");
            let length = usize::try_from(le_64(&entry[12..20])).expect("a small file");
            (le_32(&entry[..4]), body[offset..offset + length].to_vec())
        });
        Self {
            magic: bytes[..8].to_vec(),
            version: bytes[8..12].try_into().expect("four bytes"),
            fields: bytes[12..header].chunks_exact(4).map(le_32).collect(),
            sections: sections.collect(),
            framed: bytes[8] >= 1,
            lie: None,
        }
    }

    /// Returns the bytes of the file. Checksums and lengths fit, except where there is a lie.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut file = [&self.magic[..], &self.version].concat();
        self.fields.iter().for_each(|field| file.extend(field.to_le_bytes()));
        file.extend(crc32fast::hash(&file).to_le_bytes());
        let mut index = Vec::new();
        for (at, (key, bytes)) in self.sections.iter().enumerate() {
            let checksum = crc32fast::hash(bytes);
            if self.framed {
                let length = match self.lie {
                    Some(Lie::Frame(which, length)) if which == at => length,
                    _ => bytes.len() as u64,
                };
                let frame =
                    [&key.to_le_bytes()[..], &length.to_le_bytes(), &checksum.to_le_bytes()]
                        .concat();
                file.extend(&frame);
                file.extend(crc32fast::hash(&frame).to_le_bytes());
            }
            let mut entry = (*key, file.len() as u64, bytes.len() as u64, checksum);
            if let Some(Lie::Entry(which, field, value)) = self.lie
                && which == at
            {
                match field {
                    Field::Key => entry.0 = value as u32,
                    Field::Offset => entry.1 = value,
                    Field::Length => entry.2 = value,
                    Field::Checksum => entry.3 = value as u32,
                }
            }
            index.extend(entry.0.to_le_bytes());
            index.extend(entry.1.to_le_bytes());
            index.extend(entry.2.to_le_bytes());
            index.extend(entry.3.to_le_bytes());
            file.extend(bytes);
        }
        let mut offset = file.len() as u64;
        let mut count = u32::try_from(self.sections.len()).expect("few sections");
        match self.lie {
            Some(Lie::IndexOffset(lie)) => offset = lie,
            Some(Lie::Count(lie)) => count = lie,
            _ => {}
        }
        file.extend(&index);
        file.extend(offset.to_le_bytes());
        file.extend(count.to_le_bytes());
        file.extend(crc32fast::hash(&index).to_le_bytes());
        file.extend(b"TPRFEND\n");
        match self.lie {
            Some(Lie::Cut(at)) => file.truncate(at % file.len()),
            Some(Lie::Tail(bytes)) => file.resize(file.len() + usize::from(bytes), bytes),
            _ => {}
        }
        file
    }

    /// Changes something. `donor` is another file of the same kind, from which sections may be
    /// taken.
    pub(super) fn mutate(&mut self, tape: &mut Tape<'_>, donor: &Self) {
        let count = self.sections.len();
        let at = tape.below(count);
        let other = tape.below(count);
        match tape.byte() % 20 {
            0..=7 => {
                if let Some((_, bytes)) = self.sections.get_mut(at) {
                    edit(bytes, tape);
                }
            }
            8 if count > 1 => {
                let (first, second) = (self.sections[at].1.clone(), self.sections[other].1.clone());
                (self.sections[at].1, self.sections[other].1) = (second, first);
            }
            9 if count > 1 => self.sections.swap(at, other),
            10 if count > 0 => {
                let (mut key, bytes) = self.sections[at].clone();
                if tape.byte() % 4 > 0 {
                    key = tape.number_32(key);
                }
                self.sections.insert(other, (key, bytes));
            }
            11 if count > 0 => drop(self.sections.remove(at)),
            12 if count > 0 => self.sections[at].0 = tape.number_32(self.sections[at].0),
            13 if !self.fields.is_empty() => {
                let field = tape.below(self.fields.len());
                self.fields[field] = tape.number_32(self.fields[field]);
            }
            14 => {
                let place = tape.below(4);
                self.version[place] = tape.byte();
            }
            15 if !donor.sections.is_empty() => {
                let (key, bytes) = donor.sections[tape.below(donor.sections.len())].clone();
                match self.sections.get_mut(at).filter(|_| tape.byte() % 2 == 0) {
                    Some(section) => section.1 = bytes,
                    None => self.sections.push((key, bytes)),
                }
            }
            16 => self.lie_about(at, tape),
            17 => {
                let length = tape.below(64);
                self.sections.insert(at, (tape.number_32(0), tape.bytes(length).to_vec()));
            }
            _ => {
                if let Some((_, bytes)) = self.sections.get_mut(at) {
                    column(bytes, tape);
                }
            }
        }
    }

    fn lie_about(&mut self, at: usize, tape: &mut Tape<'_>) {
        let length = self.sections.get(at).map_or(0, |section| section.1.len() as u64);
        self.lie = Some(match tape.byte() % 9 {
            0 => Lie::Entry(at, Field::Key, tape.number(0)),
            1 => Lie::Entry(at, Field::Offset, tape.number(length)),
            2 => Lie::Entry(at, Field::Length, tape.number(length)),
            3 => Lie::Entry(at, Field::Checksum, tape.number(0)),
            4 => Lie::Frame(at, tape.number(length)),
            5 => Lie::IndexOffset(tape.number(length)),
            6 => Lie::Count(
                tape.number_32(u32::try_from(self.sections.len()).expect("few sections")),
            ),
            7 => Lie::Cut(tape.below(1 << 16)),
            _ => Lie::Tail(tape.byte()),
        });
    }
}

/// Returns the varint at a position, and its length.
fn varint(bytes: &[u8], at: usize) -> (u64, usize) {
    let mut value = 0_u64;
    for (place, &byte) in bytes[at..].iter().enumerate().take(10) {
        value |= u64::from(byte & 0x7f)
            .checked_shl(7 * u32::try_from(place).expect("ten places"))
            .unwrap_or(0);
        if byte < 0x80 {
            return (value, place + 1);
        }
    }
    (value, (bytes.len() - at).min(10))
}

fn to_varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// Changes bytes of a section.
fn edit(bytes: &mut Vec<u8>, tape: &mut Tape<'_>) {
    let at = tape.below(bytes.len());
    let how = tape.byte();
    if bytes.is_empty() {
        bytes.push(how);
        return;
    }
    match how % 8 {
        // A number, because most of a section is numbers.
        0..=2 => {
            let (present, length) = varint(bytes, at);
            bytes.splice(at..at + length, to_varint(tape.number(present)));
        }
        3 => bytes[at] = tape.byte(),
        4 => bytes[at] ^= 1 << (tape.byte() % 8),
        5 => {
            let length = tape.below(16);
            bytes.splice(at..at, tape.bytes(length).iter().copied());
        }
        6 => {
            let end = (at + tape.below(16)).min(bytes.len());
            bytes.drain(at..end);
        }
        _ => {
            let (from, length) = (tape.below(bytes.len()), tape.below(32));
            let copied = bytes[from..(from + length).min(bytes.len())].to_vec();
            bytes.splice(at..at, copied);
        }
    }
}

/// Replaces some bytes with another column: constants of any number, multiples, codes, or an
/// invalid tag.
fn column(bytes: &mut Vec<u8>, tape: &mut Tape<'_>) {
    let at = tape.below(bytes.len() + 1);
    let end = (at + tape.below(12)).min(bytes.len());
    let value = to_varint(tape.number(0));
    let column = match tape.byte() % 5 {
        0 | 1 => [vec![0], value].concat(),
        2 => [vec![3], to_varint(tape.number(1)), vec![1], value].concat(),
        3 => [vec![5, 1], value].concat(),
        _ => [vec![tape.byte()], value].concat(),
    };
    bytes.splice(at..end, column);
}
