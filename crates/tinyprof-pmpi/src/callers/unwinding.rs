//! How to get from the frame of a function to that of its caller.

use gimli::{
    BaseAddresses, CfaRule, EhFrame, EhFrameHdr, NativeEndian, Register, RegisterRule,
    UnwindContext, UnwindSection,
};

use super::object::Object;

#[cfg(target_arch = "x86_64")]
mod registers {
    use gimli::{Register, X86_64};

    pub(super) const SP: Register = X86_64::RSP;
    pub(super) const FP: Register = X86_64::RBP;
    pub(super) const RETURN: Register = X86_64::RA;
}

#[cfg(target_arch = "aarch64")]
mod registers {
    use gimli::{AArch64, Register};

    pub(super) const SP: Register = AArch64::SP;
    pub(super) const FP: Register = AArch64::X29;
    pub(super) const RETURN: Register = AArch64::X30;
}

use registers::{FP, RETURN, SP};

/// A function that is being executed, right after a call that it has made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// What the call returns to.
    pub(super) pc: usize,
    /// The stack pointer then.
    pub(super) sp: usize,
    /// The register that may be a frame pointer.
    pub(super) fp: usize,
}

/// How to get to the caller of a place. Offsets are in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    /// Whether the frame begins at an offset of the frame pointer, and not of the stack pointer.
    is_of_fp: bool,
    /// From that register to the end of the frame, where the caller's stack pointer is.
    end: i16,
    /// From the end of the frame to the word of the return address.
    return_address: i16,
    /// From the end of the frame to the word of the caller's frame pointer. 0 if it was not saved.
    saved_fp: i16,
}

/// The processors that the wrappers are written for have words of 64 bits.
const WORD_BYTES: u8 = 8;
/// What tells a rule's bits from 0.
const IS_RULE: u64 = 1;
const OF_FP: u64 = 2;

impl Rule {
    /// Finds the rule for an address of the object.
    pub(super) fn find(object: &Object, address: usize) -> Option<Self> {
        let unwinding = object.unwinding?;
        let index_at = unwinding.index.as_ptr().addr() as u64;
        let bases = BaseAddresses::default().set_eh_frame_hdr(index_at);
        let index = EhFrameHdr::new(unwinding.index, NativeEndian);
        let index = index.parse(&bases, WORD_BYTES).ok()?;
        let frames_at = match index.eh_frame_ptr() {
            gimli::Pointer::Direct(at) => at,
            gimli::Pointer::Indirect(_) => return None,
        };
        let bases = bases.set_eh_frame(frames_at);
        let frames = EhFrame::new(unwinding.from(usize::try_from(frames_at).ok()?)?, NativeEndian);
        let mut context = UnwindContext::new();
        let row = index.table()?.unwind_info_for_address(
            &frames,
            &bases,
            &mut context,
            address as u64,
            EhFrame::cie_from_offset,
        );
        let row = row.ok()?;
        let CfaRule::RegisterAndOffset { register, offset } = *row.cfa() else { return None };
        if register != SP && register != FP {
            return None;
        }
        let saved = |register: Register| match row.register(register) {
            Some(RegisterRule::Offset(offset)) => words(offset),
            _ => None,
        };
        let saved_fp = match row.register(FP) {
            None | Some(RegisterRule::Undefined | RegisterRule::SameValue) => 0,
            _ => saved(FP)?,
        };
        Some(Self {
            is_of_fp: register == FP,
            end: words(offset)?,
            return_address: saved(RETURN)?,
            saved_fp,
        })
    }

    pub(super) fn to_bits(self) -> u64 {
        let [end, return_address, saved_fp] = [self.end, self.return_address, self.saved_fp]
            .map(|words| u64::from(words.cast_unsigned()));
        let flags = if self.is_of_fp { OF_FP } else { 0 } | IS_RULE;
        end << 48 | return_address << 32 | saved_fp << 16 | flags
    }

    /// Returns the rule of [`to_bits`](Self::to_bits); `None` of 0.
    #[expect(clippy::cast_possible_truncation, reason = "a quarter of a word")]
    pub(super) fn from_bits(bits: u64) -> Option<Self> {
        let quarter = |shift: u32| ((bits >> shift) as u16).cast_signed();
        (bits & IS_RULE != 0).then(|| Self {
            is_of_fp: bits & OF_FP != 0,
            end: quarter(48),
            return_address: quarter(32),
            saved_fp: quarter(16),
        })
    }

    /// Returns the caller's frame.
    ///
    /// # Safety
    /// The rule is that of the frame's place, which was checked, and the frame is one of this
    /// thread's.
    #[inline]
    pub(super) unsafe fn caller_of(self, frame: &Frame) -> Option<Frame> {
        let end = self.end_of(frame)?;
        // SAFETY: the compiler says that these words are parts of the frame.
        let word = |offset| unsafe { *std::ptr::with_exposed_provenance::<usize>(at(end, offset)) };
        let fp = if self.saved_fp == 0 { frame.fp } else { word(self.saved_fp) };
        Some(Frame { pc: word(self.return_address), sp: end, fp })
    }

    /// As [`caller_of`](Self::caller_of), where the rule may be wrong: as the system reads it.
    pub(super) fn checked_caller_of(self, frame: &Frame) -> Option<Frame> {
        let end = self.end_of(frame)?;
        let pc = read_word(at(end, self.return_address))?;
        let fp = if self.saved_fp == 0 { frame.fp } else { read_word(at(end, self.saved_fp))? };
        Some(Frame { pc, sp: end, fp })
    }

    /// Returns the end of the frame, which is above its begin.
    #[inline]
    fn end_of(self, frame: &Frame) -> Option<usize> {
        let end = at(if self.is_of_fp { frame.fp } else { frame.sp }, self.end);
        (end > frame.sp && end.is_multiple_of(usize::from(WORD_BYTES))).then_some(end)
    }
}

fn at(address: usize, words: i16) -> usize {
    address.wrapping_add_signed(isize::from(words) * isize::from(WORD_BYTES))
}

fn words(bytes: i64) -> Option<i16> {
    let word = i64::from(WORD_BYTES);
    (bytes % word == 0).then(|| i16::try_from(bytes / word).ok()).flatten()
}

/// Reads a word of this process where nothing may be mapped.
pub(super) fn read_word(address: usize) -> Option<usize> {
    let mut word = 0_usize;
    let bytes = usize::from(WORD_BYTES);
    let local = libc::iovec { iov_base: (&raw mut word).cast(), iov_len: bytes };
    let remote =
        libc::iovec { iov_base: std::ptr::with_exposed_provenance_mut(address), iov_len: bytes };
    let own = i32::try_from(std::process::id()).ok()?;
    // SAFETY: the place for the word is valid, and the system checks the other one.
    let read = unsafe { libc::process_vm_readv(own, &raw const local, 1, &raw const remote, 1, 0) };
    (usize::try_from(read) == Ok(bytes)).then_some(word)
}
