//! A word of each thread that a library reads as fast as an executable does.
//!
//! A thread-local of Rust in a shared library costs a call of `__tls_get_addr` and twice as many
//! instructions as the rest that a call of MPI costs before it is timed. This word is in the part
//! that every thread has from its start, at an offset that the loader has stored (ELF's *initial
//! exec* model). Of that part libraries that are loaded later may use a little (glibc: 1,664
//! bytes), and this is a word.

/// Returns the word of the calling thread: 0, or what it has stored last.
#[inline(always)]
pub(crate) fn get() -> usize {
    place::get()
}

/// Stores the word of the calling thread.
pub(crate) fn set(word: usize) {
    place::set(word);
}

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(any(miri, loom))
))]
mod place {
    use std::arch::{asm, global_asm};

    global_asm!(
        ".pushsection .tbss.tinyprof_thread_word,\"awT\",@nobits",
        ".globl tinyprof_thread_word",
        ".hidden tinyprof_thread_word",
        ".type tinyprof_thread_word, @object",
        ".size tinyprof_thread_word, 8",
        ".p2align 3",
        "tinyprof_thread_word:",
        ".zero 8",
        ".popsection",
    );

    #[inline(always)]
    pub(super) fn get() -> usize {
        let word: usize;
        // SAFETY: reads the thread's own word, whose offset the loader or the linker has stored.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            asm!(
                "mov {word}, qword ptr [rip + tinyprof_thread_word@GOTTPOFF]",
                "mov {word}, qword ptr fs:[{word}]",
                word = out(reg) word,
                options(pure, readonly, nostack, preserves_flags),
            );
        }
        // SAFETY: reads the thread's own word, whose offset the loader or the linker has stored.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            asm!(
                "mrs {word}, tpidr_el0",
                "adrp {offset}, :gottprel:tinyprof_thread_word",
                "ldr {offset}, [{offset}, #:gottprel_lo12:tinyprof_thread_word]",
                "ldr {word}, [{word}, {offset}]",
                word = out(reg) word,
                offset = out(reg) _,
                options(pure, readonly, nostack, preserves_flags),
            );
        }
        word
    }

    pub(super) fn set(word: usize) {
        // SAFETY: writes the thread's own word, as `get` reads it.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            asm!(
                "mov {place}, qword ptr [rip + tinyprof_thread_word@GOTTPOFF]",
                "mov qword ptr fs:[{place}], {word}",
                place = out(reg) _,
                word = in(reg) word,
                options(nostack, preserves_flags),
            );
        }
        // SAFETY: writes the thread's own word, as `get` reads it.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            asm!(
                "mrs {place}, tpidr_el0",
                "adrp {offset}, :gottprel:tinyprof_thread_word",
                "ldr {offset}, [{offset}, #:gottprel_lo12:tinyprof_thread_word]",
                "str {word}, [{place}, {offset}]",
                place = out(reg) _,
                offset = out(reg) _,
                word = in(reg) word,
                options(nostack, preserves_flags),
            );
        }
    }
}

#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(any(miri, loom))
)))]
mod place {
    use std::cell::Cell;

    thread_local! {
        static WORD: Cell<usize> = const { Cell::new(0) };
    }

    #[inline(always)]
    pub(super) fn get() -> usize {
        WORD.get()
    }

    pub(super) fn set(word: usize) {
        WORD.set(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_has_its_own_word() {
        set(1);
        let other = std::thread::spawn(|| {
            let before = get();
            set(2);
            (before, get())
        });
        assert_eq!(other.join().unwrap(), (0, 2));
        assert_eq!(get(), 1);
        set(0);
    }
}
