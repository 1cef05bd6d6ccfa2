//! Growth of the memory of this process.

/// The resident set at the time of creation.
#[derive(Debug)]
pub(crate) struct Watermark {
    start_bytes: u64,
}

impl Watermark {
    /// Returns the present resident set, and resets the peak to it.
    pub(crate) fn set() -> Self {
        reset_peak();
        Self { start_bytes: status_bytes("VmRSS:") }
    }

    /// Returns the growth of the resident set since then, in bytes.
    pub(crate) fn risen_bytes(&self) -> u64 {
        peak_bytes().saturating_sub(self.start_bytes)
    }
}

/// Returns free memory to the system, and resets the kernel's peak of the resident set to the
/// present value. Where that is not allowed, the peak of the whole process counts.
pub(crate) fn reset_peak() {
    crate::sys::give_memory_back();
    drop(std::fs::write("/proc/self/clear_refs", "5"));
}

/// Returns the peak resident set of this process, in bytes.
pub(crate) fn peak_bytes() -> u64 {
    status_bytes("VmHWM:")
}

/// Returns a line of `/proc/self/status` in bytes, or 0 if it is missing.
fn status_bytes(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kib = line
        .and_then(|line| line.split_whitespace().next())
        .and_then(|number| number.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
