//! How far the memory of this process rose.

/// The resident set when it was made.
#[derive(Debug)]
pub(crate) struct Watermark {
    start_bytes: u64,
}

impl Watermark {
    /// The present one, to which the highest is set back.
    pub(crate) fn set() -> Self {
        reset_peak();
        Self { start_bytes: status_bytes("VmRSS:") }
    }

    /// How far the resident set has risen above what it was, in bytes.
    pub(crate) fn risen_bytes(&self) -> u64 {
        peak_bytes().saturating_sub(self.start_bytes)
    }
}

/// Gives back what is free, and sets the kernel's mark of the highest resident set to the present
/// one. Where that is not allowed, the mark of the whole process counts.
pub(crate) fn reset_peak() {
    crate::sys::give_memory_back();
    drop(std::fs::write("/proc/self/clear_refs", "5"));
}

/// The highest resident set of this process, in bytes.
pub(crate) fn peak_bytes() -> u64 {
    status_bytes("VmHWM:")
}

/// A line of `/proc/self/status` in bytes; 0 where there is none.
fn status_bytes(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kib = line
        .and_then(|line| line.split_whitespace().next())
        .and_then(|number| number.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
