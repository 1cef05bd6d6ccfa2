//! The files of known events.

use super::*;
use crate::export::perfetto::tests::{add_message, events, request};

#[test]
fn states_and_regions_follow_each_other_in_time() {
    let scratch = tempfile::tempdir().unwrap();
    let request = request([Some(events(5_000, 0)), Some(events(5_050, 0))]);
    Paraver.export_into(&request, scratch.path()).unwrap();
    let read = |name: &str| std::fs::read_to_string(scratch.path().join(name)).unwrap();
    let trace = read("trace.prv");
    let (head, records) = trace.split_once('\n').unwrap();
    assert_eq!(head, "#Paraver (01/01/70 at 00:00):150_ns:1(2):1:2(1:1,1:1)");
    let own: Vec<&str> =
        records.lines().filter(|line| line[1..].starts_with(":1:1:1:1:")).collect();
    let expected = [
        "2:1:1:1:1:10:9000001:1",
        "1:1:1:1:1:10:20:1",
        "2:1:1:1:1:20:9000002:2",
        "1:1:1:1:1:20:25:1",
        "2:1:1:1:1:25:9000002:0",
        "2:1:1:1:1:25:9000002:2",
        "1:1:1:1:1:25:100:1",
        "2:1:1:1:1:100:9000002:0",
        "2:1:1:1:1:100:9000001:0",
    ];
    assert_eq!(own, expected);
    let times: Vec<u64> =
        records.lines().map(|line| line.split(':').nth(5).unwrap().parse().unwrap()).collect();
    assert!(times.is_sorted() && times.len() == 18, "{times:?}");
    assert!(
        read("trace.pcf")
            .contains("0    9000002    Region at depth 2\nVALUES\n0    End\n1    main")
    );
    assert!(
        read("trace.row").contains("LEVEL THREAD SIZE 2\nrank 0, thread 0\nrank 1, thread 0\n")
    );
}

#[test]
fn a_message_is_a_record_of_both_ends() {
    let scratch = tempfile::tempdir().unwrap();
    let mut ranks = [events(5_000, 0), events(5_000, 0)];
    add_message(&mut ranks);
    Paraver.export_into(&request(ranks.map(Some)), scratch.path()).unwrap();
    let trace = std::fs::read_to_string(scratch.path().join("trace.prv")).unwrap();
    let messages: Vec<&str> = trace.lines().filter(|line| line.starts_with("3:")).collect();
    assert_eq!(messages, ["3:1:1:1:1:20:20:2:1:2:1:100:100:4096:7"]);
}
