//! Test of the memory of an event map: the memory that the process has touched, as the kernel
//! counts it.

#![expect(clippy::unwrap_used, reason = "a test that cannot do its work fails")]
#![cfg(target_os = "linux")]

use tinyprof::profile_scope;

/// A function that runs `inside` in one of ten regions of its own.
macro_rules! one_of_ten {
    ($name:ident: $($number:literal)*) => {
        fn $name(which: u32, inside: impl Fn()) {
            match which {
                $($number => {
                    profile_scope!("one of ten");
                    inside();
                })*
                _ => unreachable!("there are ten"),
            }
        }
    };
}
one_of_ten!(outer: 0 1 2 3 4 5 6 7 8 9);
one_of_ten!(middle: 0 1 2 3 4 5 6 7 8 9);
one_of_ten!(inner: 0 1 2 3 4 5 6 7 8 9);

fn a_thousand_callpaths() {
    for hundreds in 0..10 {
        outer(hundreds, || {
            for tens in 0..10 {
                middle(tens, || (0..10).for_each(|ones| inner(ones, || ())));
            }
        });
    }
}

/// Returns the KiB that this process has written. Mapped files, such as its own code, do not count.
fn anonymous_kib() -> u64 {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap();
    // The segments are shared memory, unless none was available.
    let kib = |name| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim_end_matches("kB").trim().parse::<u64>().unwrap()
    };
    kib("Anonymous:") + kib("Pss_Shmem:")
}

#[test]
fn a_thousand_callpaths_fit_into_256_kib() {
    assert!(tinyprof::collect::take_over(tinyprof::collect::Ending::default));
    // Reading the number takes memory itself, which must not count.
    anonymous_kib();
    // One execution only: each further one would add to the lists of past executions.
    profile_scope!("root");
    let before = anonymous_kib();
    a_thousand_callpaths();
    let taken = anonymous_kib() - before;
    println!("1,111 callpaths: {taken} KiB");
    assert!((128..=256).contains(&taken), "{taken} KiB");

    (0..100).for_each(|_| a_thousand_callpaths());
    let more = anonymous_kib() - before - taken;
    println!("the same visited a hundred times more: {more} KiB");
    assert!(more <= 64, "{more} KiB");
}
