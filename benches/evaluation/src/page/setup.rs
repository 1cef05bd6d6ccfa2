//! Date and machine of each part's measurement.

use std::path::Path;

use tinyprof_bench_collective::document::table::Table;

use crate::kept::{self, Head};
use crate::parts::Part;
use crate::progress::duration;

pub(super) fn text(results: &Path) -> Result<String, String> {
    let mut heads: Vec<(Part, Option<Head>)> = Vec::new();
    for part in Part::ALL {
        let kept = kept::read::<serde_json::Value>(results, part.name())?;
        heads.push((part, kept.map(|kept| kept.head)));
    }
    Ok(of(&heads))
}

fn of(heads: &[(Part, Option<Head>)]) -> String {
    let mut text = String::new();
    let mut once = |line: String| {
        if !line.is_empty() && !text.contains(&line) {
            text.push_str(&line);
        }
    };
    let measured = || heads.iter().filter_map(|(_, head)| head.as_ref());
    for head in measured() {
        once(if head.place.note.is_empty() {
            String::new()
        } else {
            format!("**{}**\n\n", head.place.note)
        });
    }
    for head in measured() {
        once(format!("* Machine: {}.\n", head.place.machine));
        once(format!("* {}, {}.\n", head.place.system, head.place.mpi));
    }
    let mut table = Table::new(&["part", "commit", "date", "load average before", "took"]);
    for (part, head) in heads {
        let cells = head.as_ref().map_or_else(
            || ["not measured", "-", "-", "-"].map(str::to_owned),
            |head| {
                let commit = head.wanted.commit.clone();
                [commit, head.place.date.clone(), head.load.clone(), duration(head.took_s)]
            },
        );
        table.row(&[&[part.name().to_owned()][..], &cells].concat());
    }
    format!("{text}\n{}", table.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kept::Conditions;
    use crate::kept::tests::head;

    #[test]
    fn a_note_stands_there_as_long_as_one_part_has_it() {
        let plain = head("abc");
        let place = Conditions { note: "Provisional.".into(), ..plain.place.clone() };
        let noted = Head { place, ..plain.clone() };
        let text =
            of(&[(Part::Fft20, Some(plain.clone())), (Part::Tc, Some(noted)), (Part::Weak, None)]);
        assert!(text.starts_with("**Provisional.**\n\n* Machine"), "{text}");
        assert!(
            text.contains("| fft-20 | abc |") && text.contains("| weak | not measured |"),
            "{text}"
        );
        assert!(!of(&[(Part::Fft20, Some(plain))]).contains("**"));
    }
}
