//! Enters a sandbox in which nearly every system call ends the program, before its first region or
//! after it, as its argument says, and continues to work.

use std::io::Write;
use std::process::ExitCode;

use tinyprof::{profile, profile_scope};

/// Calls that a program needs to print and to end, and the question for the sandbox.
const ALLOWED: [libc::c_long; 9] = [
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_munmap,
    libc::SYS_prctl,
    libc::SYS_brk,
];

#[profile]
fn work() {
    profile_scope!("inner");
}

/// Makes every other call end the process.
fn enter_sandbox() {
    let jump = |value, if_equal| {
        let code = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
        filter(code, value, if_equal)
    };
    let returned = |value| filter(libc::BPF_RET | libc::BPF_K, value, 0);
    // The first word that a filter sees is the number of the call.
    let mut program = vec![filter(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0)];
    for (place, call) in ALLOWED.iter().enumerate() {
        let to_the_end = u8::try_from(ALLOWED.len() - place).expect("there are few");
        program.push(jump(u32::try_from(*call).expect("it is a small number"), to_the_end));
    }
    program.push(returned(libc::SECCOMP_RET_KILL_PROCESS));
    program.push(returned(libc::SECCOMP_RET_ALLOW));
    let length = u16::try_from(program.len()).expect("there are few");
    let program = libc::sock_fprog { len: length, filter: program.as_mut_ptr() };
    // SAFETY: takes no pointer.
    assert_eq!(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }, 0);
    let mode = libc::SECCOMP_MODE_FILTER;
    // SAFETY: the program is valid during the call.
    assert_eq!(unsafe { libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const program) }, 0);
}

fn filter(code: u32, value: u32, if_equal: u8) -> libc::sock_filter {
    let code = u16::try_from(code).expect("it is a small number");
    libc::sock_filter { code, jt: if_equal, jf: 0, k: value }
}

fn main() -> ExitCode {
    let is_early = std::env::args().nth(1).as_deref() == Some("early");
    // The program's own buffers are made before.
    print(&mut std::io::stdout(), "begin");
    if !is_early {
        work();
    }
    enter_sandbox();
    // Enough that their list needs more memory.
    for _ in 0..20_000 {
        work();
    }
    print(&mut std::io::stdout(), "the result is 42");
    ExitCode::from(7)
}

fn print(out: &mut impl Write, text: &str) {
    writeln!(out, "{text}").expect("the test reads it");
}
