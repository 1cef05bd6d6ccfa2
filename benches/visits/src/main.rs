//! Makes visits, for tools that count instructions: `visits CASE COUNT`.

use std::hint::black_box;

use tinyprof::{profile, profile_loop, profile_scope};

#[inline(never)]
fn region() {
    profile_scope!("region");
    black_box(());
}

#[inline(never)]
fn keyed(key: &str) {
    profile_scope!("region", split = key);
    black_box(());
}

#[profile(name = "root")]
fn inside(work: impl FnOnce()) {
    work();
}

/// Leaves regions out of the recording.
fn filter(patterns: &str) -> Result<(), &'static str> {
    tinyprof::Builder::new().filter(patterns).start().map_err(|_| "that is a filter")
}

fn main() -> Result<(), &'static str> {
    // Only the visits count, so no profile is written.
    let taken_over = tinyprof::collect::take_over(tinyprof::collect::Ending::default);
    if !taken_over {
        return Err("somebody else writes the profile");
    }
    let mut arguments = std::env::args().skip(1);
    let case = arguments.next().ok_or("which case?")?;
    let visits: u64 =
        arguments.next().and_then(|count| count.parse().ok()).ok_or("how many visits?")?;
    match case.as_str() {
        "region" => inside(|| (0..visits).for_each(|_| region())),
        "split" => inside(|| (0..visits).for_each(|_| keyed(black_box("alloc::vec::Vec<f64>")))),
        "filtered" => {
            filter("-region")?;
            inside(|| (0..visits).for_each(|_| region()));
        }
        "loop_filtered" => {
            filter("-loop")?;
            inside(|| {
                profile_loop!(
                    "loop",
                    mode = each,
                    for visit in 0..visits {
                        black_box(visit);
                    }
                );
            });
        }
        "root" => (0..visits).for_each(|_| region()),
        "loop_total" => inside(|| {
            profile_loop!(
                "loop",
                mode = total,
                for visit in 0..visits {
                    black_box(visit);
                }
            );
        }),
        "loop_each" => inside(|| {
            profile_loop!(
                "loop",
                mode = each,
                for visit in 0..visits {
                    black_box(visit);
                }
            );
        }),
        _ => return Err("no such case"),
    }
    Ok(())
}
