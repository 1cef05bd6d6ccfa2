//! Tests of work that is done in isolation.

use std::sync::mpsc::channel;

use super::*;

const LONG: Duration = Duration::from_secs(60);

#[test]
fn work_gives_its_result_from_another_thread() {
    let here = std::thread::current().id();
    let text = "moved".to_owned();
    let (there, length) =
        isolated(LONG, move || (std::thread::current().id(), text.len())).unwrap();
    assert_ne!(here, there);
    assert_eq!(length, 5);
}

#[test]
fn a_panic_is_an_error() {
    assert_eq!(isolated(LONG, || panic!("on purpose")), Err::<(), _>(NotDone::Panicked));
}

#[test]
fn an_abort_and_faults_end_the_work_alone() {
    assert_eq!(isolated(LONG, || std::process::abort()), Err::<(), _>(NotDone::Died));
    for signal in [libc::SIGBUS, libc::SIGSEGV, libc::SIGABRT] {
        let raise = move || {
            // SAFETY: a signal to this thread, whose handler parks it.
            unsafe { libc::raise(signal) };
        };
        assert_eq!(isolated(LONG, raise), Err(NotDone::Died), "{signal}");
    }
    assert_eq!(isolated(LONG, || 7), Ok(7), "and the next is done");
}

#[test]
fn an_allocation_that_fails_ends_the_work_alone() {
    let too_much = || {
        let layout = std::alloc::Layout::from_size_align(8, 8).unwrap();
        std::alloc::handle_alloc_error(layout)
    };
    assert_eq!(isolated::<_, ()>(LONG, too_much), Err(NotDone::Died));
}

#[test]
fn work_that_takes_too_long_goes_on_without_its_caller() {
    let (go_on, wait) = channel::<()>();
    let (say, said) = channel();
    let work = move || {
        wait.recv().unwrap();
        say.send(7).unwrap();
    };
    assert_eq!(isolated(Duration::from_millis(1), work), Err(NotDone::Late));
    go_on.send(()).unwrap();
    assert_eq!(said.recv(), Ok(7));
}
