//! The times of a profile as plain rows, one per line of CSV or object of JSON: a profile without a
//! format of its own (the paper's Figure 3a).

use serde::{Deserialize, Serialize};
use tinyprof_format::model::{Callpath, CallpathIndex, Profile};

/// One time: of a visit if every visit was kept, otherwise of an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Time {
    pub(crate) region: String,
    /// The callpath from which the region was entered; empty for a root region.
    pub(crate) parent: String,
    pub(crate) rank: u32,
    pub(crate) execution: u32,
    pub(crate) iteration: Option<u32>,
    pub(crate) time_ns: u64,
}

/// Returns all times of a profile, rank by rank in each callpath.
pub(crate) fn times(profile: &Profile) -> Vec<Time> {
    let mut times = Vec::new();
    for (index, callpath) in profile.callpaths.iter() {
        let parent = parent(profile, callpath);
        for (values, rank) in profile.values[index.row()].iter().zip(0..) {
            let time = |execution, iteration, time_ns| Time {
                region: callpath.region.name.clone(),
                parent: parent.clone(),
                rank,
                execution,
                iteration,
                time_ns,
            };
            if values.series.is_empty() {
                times.extend(
                    values.executions.iter().map(|one| time(one.execution, None, one.sum_ns)),
                );
                continue;
            }
            let (mut execution, mut iteration) = (None, 0);
            for visit in &values.series {
                iteration = if execution == Some(visit.execution) { iteration + 1 } else { 0 };
                execution = Some(visit.execution);
                times.push(time(visit.execution, Some(iteration), visit.sum_ns));
            }
        }
    }
    times
}

fn parent(profile: &Profile, callpath: &Callpath) -> String {
    let path = |index: CallpathIndex| profile.callpaths.path(index);
    callpath.parent.map(path).unwrap_or_default()
}

/// Encodes the times as CSV with a header line.
pub(crate) fn to_csv(times: &[Time]) -> Result<Vec<u8>, String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for time in times {
        writer.serialize(time).map_err(|error| error.to_string())?;
    }
    writer.into_inner().map_err(|error| error.to_string())
}

pub(crate) fn from_csv(text: &[u8]) -> Result<Vec<Time>, String> {
    csv::Reader::from_reader(text)
        .deserialize()
        .map(|time| time.map_err(|error| error.to_string()))
        .collect()
}

/// Encodes the times as an array of JSON objects.
pub(crate) fn to_json(times: &[Time]) -> Result<Vec<u8>, String> {
    serde_json::to_vec(times).map_err(|error| error.to_string())
}

pub(crate) fn from_json(text: &[u8]) -> Result<Vec<Time>, String> {
    serde_json::from_slice(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use tinyprof_format::text::read_text;

    use super::*;

    /// Two executions, one of them with a loop; rank 1 does not visit it in the second. The name
    /// would break a line of CSV.
    const TEXT: &[u8] = b"\"id\",\"parent\",\"is_loop\",\"times\"\n\
        \"main\",\"null\",\"0\",\"0.5-0.25|0.6-0.3\"\n\
        \"main<a%2C%22b\",\"main\",\"1\",\"0.1+0.2-0.05|0.3-\"\n";

    #[test]
    fn every_time_of_a_profile_is_a_row_and_comes_back_from_csv_and_json() {
        let times = times(&read_text(TEXT).unwrap().profile);
        let seen: Vec<_> = times
            .iter()
            .map(|t| {
                (&*t.region, &*t.parent, t.rank, t.execution, t.iteration, t.time_ns / 1_000_000)
            })
            .collect();
        let (root, inner) = ("main", "a,\"b");
        assert_eq!(
            seen,
            [
                (root, "", 0, 0, None, 500),
                (root, "", 0, 1, None, 250),
                (root, "", 1, 0, None, 600),
                (root, "", 1, 1, None, 300),
                (inner, root, 0, 0, Some(0), 100),
                (inner, root, 0, 0, Some(1), 200),
                (inner, root, 0, 1, Some(0), 50),
                (inner, root, 1, 0, Some(0), 300),
            ]
        );
        let csv = to_csv(&times).unwrap();
        assert!(csv.starts_with(
            b"region,parent,rank,execution,iteration,time_ns\nmain,,0,0,,500000000\n"
        ));
        assert_eq!(from_csv(&csv).unwrap(), times);
        assert_eq!(from_json(&to_json(&times).unwrap()).unwrap(), times);
    }
}
