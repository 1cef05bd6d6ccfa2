//! Exercises corner cases that few programs use, selected by the argument: `clone`, `exec`,
//! `small-stack`, `rights`.

#![expect(
    clippy::print_stdout,
    reason = "the test looks whether the program's own output is untouched"
)]

use std::ffi::c_void;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use tinyprof::{profile, profile_loop, profile_scope};

#[profile]
fn work() -> u32 {
    profile_scope!("inner");
    leaf();
    42
}

#[profile]
fn leaf() {}

/// Creates a child without `fork`, while regions are open. The child leaves them, enters others,
/// and continues the loop. Returns whether this is the child.
#[profile]
fn around(calls: &mut u32) -> bool {
    let mut is_child = false;
    profile_loop!(
        "step",
        for step in 0..4 {
            if step == 1 {
                // SAFETY: like `fork`, without the C library's additional work; the child has no
                // other threads and allocates nothing until it ends by `_exit`.
                let child = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
                is_child = child == 0;
                if child > 0 {
                    let mut status = 0;
                    // SAFETY: the pointer is valid.
                    unsafe { libc::waitpid(-1, &raw mut status, 0) };
                    assert_eq!(status, 0, "the child has ended well");
                }
            }
            leaf();
            *calls += 1;
        }
    );
    is_child
}

fn clones() {
    let mut calls = 0;
    if around(&mut calls) {
        (0..1000).for_each(|_| assert_eq!(std::hint::black_box(work()), 42));
        let well = calls == 4;
        // SAFETY: ends the child without the parent's exit handlers.
        unsafe { libc::_exit(i32::from(!well)) };
    }
}

/// Ends the program on a thread with a small stack, which enters its first region there unless the
/// stack is the smallest.
extern "C" fn exits(enters: *mut c_void) -> *mut c_void {
    if !enters.is_null() {
        work();
    }
    // SAFETY: a C program does the same; the main thread waits.
    unsafe { libc::exit(7) }
}

fn on_small_stack(bytes: usize) -> ! {
    let enters = bytes > libc::PTHREAD_STACK_MIN;
    if !enters {
        work();
    }
    // SAFETY: integers, for which zeros are valid.
    let mut attributes: libc::pthread_attr_t = unsafe { std::mem::zeroed() };
    let mut thread: libc::pthread_t = 0;
    // SAFETY: the pointer is valid.
    unsafe { libc::pthread_attr_init(&raw mut attributes) };
    // SAFETY: the attributes were initialized above.
    unsafe { libc::pthread_attr_setstacksize(&raw mut attributes, bytes) };
    // SAFETY: all pointers are valid, and the body ignores its argument.
    let failed = unsafe {
        libc::pthread_create(
            &raw mut thread,
            &raw const attributes,
            exits,
            std::ptr::without_provenance_mut(usize::from(enters)),
        )
    };
    assert_eq!(failed, 0);
    loop {
        std::thread::park();
    }
}

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("clone") => clones(),
        Some("exec") => {
            work();
            let this = std::env::current_exe().expect("the system knows it");
            panic!("{}", Command::new(this).arg("after-exec").exec());
        }
        Some("small-stack") => {
            println!("the result is 42");
            on_small_stack(32 << 10);
        }
        Some("smallest-stack") => {
            println!("the result is 42");
            on_small_stack(libc::PTHREAD_STACK_MIN);
        }
        Some("rights") => {
            // SAFETY: reads a value that the kernel passed to the process.
            println!("{}", unsafe { libc::getauxval(libc::AT_SECURE) });
        }
        _ => {}
    }
    let result = work();
    println!("the result is {result}");
    ExitCode::from(7)
}
