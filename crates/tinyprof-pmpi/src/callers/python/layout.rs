//! Where the versions of `CPython` keep the frames of a thread, which is nowhere described at run
//! time.

/// Offsets in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// In the state of a thread: the innermost frame, or what leads to it.
    pub(super) of_thread: usize,
    /// In what leads to it: the innermost frame.
    pub(super) of_link: Option<usize>,
    /// In a frame: the code object.
    pub(super) code: usize,
    /// The frame that has called it.
    pub(super) caller: usize,
    pub(super) instruction: Instruction,
}

/// Where a frame keeps what it executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Instruction {
    /// The number of the instruction, in 32 bits, at this offset; and the bytes of each.
    Number(usize, i32),
    /// Its address, in the code object; and the offset of the byte that tells who owns the frame.
    Address(usize, usize),
}

impl Layout {
    /// Returns the layout of a version.
    pub(super) fn of(minor: u32) -> Option<Self> {
        let frame_objects = |instruction, bytes| Self {
            of_thread: 24,
            of_link: None,
            code: 32,
            caller: 24,
            instruction: Instruction::Number(instruction, bytes),
        };
        match minor {
            9 => Some(frame_objects(104, 1)),
            10 => Some(frame_objects(96, 2)),
            11 => Some(Self {
                of_thread: 56,
                of_link: Some(8),
                code: 32,
                caller: 48,
                instruction: Instruction::Address(56, 69),
            }),
            12 => Some(Self {
                of_thread: 56,
                of_link: Some(0),
                code: 0,
                caller: 8,
                instruction: Instruction::Address(56, 70),
            }),
            13 => Some(Self {
                of_thread: 72,
                of_link: None,
                code: 0,
                caller: 8,
                instruction: Instruction::Address(56, 70),
            }),
            _ => None,
        }
    }
}
