//! Tests of aggregators that write the paper's text format.

use tinyprof_format::file::{OutputFormat, read_text_profile};
use tinyprof_format::text::write_text;

use super::*;

fn text(profile: &tinyprof_format::model::Profile) -> String {
    let mut text = Vec::new();
    write_text(profile, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn the_texts_of_all_parts_are_the_text_of_the_profile() {
    let mut ranks: Vec<_> = (0..7).map(|r| rank(r, &[0, 1, 2], 3, 2)).collect();
    ranks[2] = rank(2, &[0, 3], 1, 4);
    ranks[5] = EventMap::default();
    for aggregators in [1, 3, 7] {
        let scratch = tempfile::tempdir().unwrap();
        let plan = plan(scratch.path(), Some(aggregators), 5);
        flush_all(&ranks, &plan);
        let expected = text(&read_profile(&scratch.path().join("p.tprof")).unwrap());
        // The setting of rank 0 applies.
        let flushed = {
            let size = u32::try_from(ranks.len()).unwrap();
            let (of_rank_0, of_others) =
                (Plan { format: OutputFormat::Csv, ..plan.clone() }, &plan);
            virtual_ranks::run_counted(size, |communicator| {
                let map = &ranks[communicator.rank() as usize];
                let plan = if communicator.rank() == 0 { &of_rank_0 } else { of_others };
                async move { flush_map(&communicator, map, plan).await.unwrap() }
            })
            .0
        };
        let path = scratch.path().join("p.csv");
        assert!(
            flushed.iter().all(|f| f.profile == Some(Ok(path.clone()))),
            "{:?}",
            flushed[0].profile
        );
        let imported = read_text_profile(&path).unwrap();
        assert_eq!(text(&imported.profile), expected);
        assert_eq!(imported.profile.manifest.metadata.executable, "/bin/p");
        let names: HashSet<_> = std::fs::read_dir(&path)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        let parts = (0..aggregators).map(|number| format!("part-{number:05}.csv"));
        assert_eq!(names, parts.chain(["manifest.json".to_owned()]).collect());
    }
}
