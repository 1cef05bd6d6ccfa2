//! The messages of a profile: the matrix of ranks, the largest pairs, sizes, and callpaths.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::{Value, json};
use tinyprof_format::model::{
    Callpath, CallpathIndex, CallpathTable, CallpathValues, MessageKind, Traffic,
};
use tinyprof_report::{MpiCall, Transfers, partner};

use super::columns::{Columns, FINE};
use super::rows::{Bins, PAIRS_LISTED};

/// The messages from one rank to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pair {
    from: usize,
    to: usize,
    traffic: Traffic,
}

/// The messages of a profile, while its callpaths are added.
#[derive(Debug)]
pub(super) struct Messages {
    /// The messages of each rank, by receiver.
    receivers: Vec<BTreeMap<usize, Traffic>>,
    /// Messages whose receiver is not a rank of the profile, or not known.
    elsewhere: Traffic,
    /// The transfers by kind and size class.
    sizes: BTreeMap<MessageKind, BTreeMap<u8, Traffic>>,
    /// The transfers of each callpath that has any.
    callpaths: BTreeMap<CallpathIndex, Transfers>,
}

/// What ranks send to each other.
#[derive(Debug, Default)]
struct Matrix {
    /// The cells that are not empty: row (sender) times number of bins, plus column (receiver).
    cells: BTreeMap<usize, Traffic>,
    pairs: usize,
    most_messages: Vec<Pair>,
    most_bytes: Vec<Pair>,
}

impl Messages {
    /// Creates the messages of a profile of `ranks` ranks, none so far.
    pub(super) fn new(ranks: usize) -> Self {
        Self {
            receivers: vec![BTreeMap::new(); ranks],
            elsewhere: Traffic::default(),
            sizes: BTreeMap::new(),
            callpaths: BTreeMap::new(),
        }
    }

    /// Adds those of a callpath, given its values by rank.
    pub(super) fn add(&mut self, index: CallpathIndex, ranks: &[CallpathValues]) {
        let transfers = Transfers::of_ranks(ranks);
        if transfers.is_empty() {
            return;
        }
        self.callpaths.insert(index, transfers);
        let messages = ranks.iter().enumerate();
        let messages =
            messages.flat_map(|(from, values)| values.messages.iter().map(move |m| (from, m)));
        for (from, (&key, &traffic)) in messages {
            self.sizes
                .entry(key.kind)
                .or_default()
                .entry(key.size_class)
                .or_default()
                .absorb(traffic);
            if key.kind != MessageKind::MessageOut {
                continue;
            }
            let to = partner(key, from).and_then(|to| usize::try_from(to).ok());
            match to.filter(|&to| to < ranks.len()) {
                Some(to) => self.receivers[from].entry(to).or_default().absorb(traffic),
                None => self.elsewhere.absorb(traffic),
            }
        }
    }

    /// Returns the messages for the page, or null if there are none.
    pub(super) fn json(&self, table: &CallpathTable, columns: &mut Columns) -> Value {
        if self.callpaths.is_empty() {
            return Value::Null;
        }
        let bins = Bins::of_matrix(self.receivers.len());
        let matrix = self.matrix(bins);
        json!({
            "ranks_per_bin": bins.ranks_per_bin,
            "bins": bins.count(),
            "gaps": columns.add_ascending(matrix.cells.keys().copied()),
            "messages": column(&matrix, |traffic| traffic.count, columns),
            "bytes": column(&matrix, |traffic| traffic.bytes, columns),
            "pairs": matrix.pairs,
            "largest": { "messages": listed(&matrix.most_messages), "bytes": listed(&matrix.most_bytes) },
            "elsewhere": [self.elsewhere.count, self.elsewhere.bytes],
            "sizes": self.sizes_json(),
            "callpaths": self.callpaths_json(table),
        })
    }

    fn matrix(&self, bins: Bins) -> Matrix {
        let mut matrix = Matrix::default();
        for (from, receivers) in self.receivers.iter().enumerate() {
            matrix.pairs += receivers.len();
            for (&to, &traffic) in receivers {
                let cell = from / bins.ranks_per_bin * bins.count() + to / bins.ranks_per_bin;
                matrix.cells.entry(cell).or_default().absorb(traffic);
                let pair = Pair { from, to, traffic };
                keep_largest(&mut matrix.most_messages, pair, |traffic| traffic.count);
                keep_largest(&mut matrix.most_bytes, pair, |traffic| traffic.bytes);
            }
        }
        matrix
    }

    /// Returns number and bytes of the transfers by kind and size class.
    fn sizes_json(&self) -> Value {
        let of_kind = |(kind, classes): (&MessageKind, &BTreeMap<u8, Traffic>)| {
            let of_class =
                |(class, traffic): (&u8, &Traffic)| json!([class, traffic.count, traffic.bytes]);
            json!({ "kind": kind.name(), "classes": classes.iter().map(of_class).collect::<Value>() })
        };
        self.sizes.iter().map(of_kind).collect()
    }

    /// Returns the callpaths of MPI functions, and the others that have messages.
    fn callpaths_json(&self, table: &CallpathTable) -> Value {
        let of = |(index, callpath): (CallpathIndex, &Callpath)| {
            let transfers = self.callpaths.get(&index);
            let call = MpiCall::of_region(&callpath.region);
            (call.is_some() || transfers.is_some()).then(|| {
                json!({
                    "callpath": index.row(),
                    "function": call.map(|call| call.function),
                    "place": call.and_then(|call| call.call_site),
                    "bytes_out": transfers.map_or(0, |transfers| transfers.out().bytes),
                    "bytes_in": transfers.map_or(0, |transfers| transfers.into_rank().bytes),
                })
            })
        };
        table.iter().filter_map(of).collect()
    }
}

/// Adds a pair to a list in descending order, and removes the least if the list gets too long.
/// Equal pairs keep the order of their ranks.
fn keep_largest(largest: &mut Vec<Pair>, pair: Pair, of: fn(&Traffic) -> u64) {
    let at =
        largest.partition_point(|other| Reverse(of(&other.traffic)) <= Reverse(of(&pair.traffic)));
    largest.insert(at, pair);
    largest.truncate(PAIRS_LISTED);
}

fn listed(pairs: &[Pair]) -> Value {
    let of = |pair: &Pair| json!([pair.from, pair.to, pair.traffic.count, pair.traffic.bytes]);
    pairs.iter().map(of).collect()
}

#[expect(clippy::cast_precision_loss, reason = "what is shown in colours and three digits")]
fn column(matrix: &Matrix, of: fn(&Traffic) -> u64, columns: &mut Columns) -> Value {
    let values: Vec<f64> = matrix.cells.values().map(|traffic| of(traffic) as f64).collect();
    columns.add(&values, FINE)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tinyprof_format::model::Profile;
    use tinyprof_report::Totals;
    use tinyprof_rules::Rules;

    use super::super::page;
    use super::super::payload::Shown;
    use super::*;
    use crate::messages_example::{self as example, Sent};

    fn messages(profile: &Profile) -> Messages {
        let mut messages = Messages::new(profile.ranks.len());
        let rows = profile.callpaths.iter().zip(&profile.values);
        rows.for_each(|((index, _), values)| messages.add(index, values));
        messages
    }

    fn communication(profile: &Profile) -> Value {
        messages(profile).json(&profile.callpaths, &mut Columns::default())
    }

    fn all_pairs(ranks: u32) -> Vec<[u64; 4]> {
        let of = |&Sent { from, to, count, bytes_each }: &Sent| {
            [from.into(), to.into(), count, count * bytes_each]
        };
        example::sent(ranks).iter().map(of).collect()
    }

    #[test]
    fn a_profile_without_messages_has_no_such_data() {
        let mut profile = example::profile(4);
        profile.values.iter_mut().flatten().for_each(|values| values.messages.clear());
        assert_eq!(communication(&profile), Value::Null);
    }

    #[test]
    fn cells_are_the_sums_of_the_ranks_of_their_bins() {
        let check = |ranks: u32, ranks_per_bin: usize| {
            let bins = Bins { ranks: ranks as usize, ranks_per_bin };
            let messages = messages(&example::profile(ranks));
            let found = messages.matrix(bins);
            let mut expected: BTreeMap<usize, Traffic> = BTreeMap::new();
            for Sent { from, to, count, bytes_each } in example::sent(ranks) {
                let bin = |rank: u32| rank as usize / ranks_per_bin;
                let traffic = Traffic { count, bytes: count * bytes_each };
                expected.entry(bin(from) * bins.count() + bin(to)).or_default().absorb(traffic);
            }
            assert_eq!(found.cells, expected, "{ranks} ranks, {ranks_per_bin} a bin");
            assert_eq!(found.pairs, 2 * ranks as usize);
            let elsewhere = Traffic { count: ranks.into(), bytes: 5 * u64::from(ranks) };
            assert_eq!(messages.elsewhere, elsewhere);
        };
        check(4, 1);
        check(10, 1);
        check(10, 2);
        check(11, 4);
    }

    #[test]
    fn the_largest_pairs_are_exact_and_in_order() {
        let found = communication(&example::profile(40));
        let mut expected = all_pairs(40);
        expected.sort_by_key(|pair| Reverse(pair[2]));
        assert_eq!(found["largest"]["messages"], json!(expected[..10]));
        expected.sort_by_key(|pair| (Reverse(pair[3]), pair[0]));
        assert_eq!(found["largest"]["bytes"], json!(expected[..10]));
    }

    #[test]
    fn sizes_and_callpaths_are_sums_over_ranks() {
        let found = communication(&example::profile(4));
        let sent = json!({ "kind": "message_out", "classes": [[3, 4, 20], [10, 46, 46_000], [16, 8, 320_000]] });
        assert_eq!(found["sizes"][0], sent);
        let of = |name: &str| {
            let callpaths = found["callpaths"].as_array().expect("a list");
            let is = |one: &&Value| one["function"] == name && one["place"].is_null();
            callpaths
                .iter()
                .find(is)
                .map(|one| [&one["bytes_out"], &one["bytes_in"]].map(Value::clone))
        };
        assert_eq!(of("MPI_Recv"), Some([json!(0), json!(366_000)]));
        assert_eq!(of("MPI_Allreduce"), Some([json!(96), json!(96)]));
        assert_eq!(of("exchange"), None);
    }

    /// Writes pages and what they should show, for `web/tests/communication.test.js`.
    #[test]
    #[ignore = "writes the pages that scripts/browser.sh tests, into TINYPROF_PAGES"]
    fn pages_with_messages() {
        let folder = std::env::var_os("TINYPROF_PAGES").expect("TINYPROF_PAGES is set");
        for (name, ranks) in [("messages", 16), ("many-messages", 1_024)] {
            let profile = example::profile(ranks);
            let regions = serde_json::Value::Array(Vec::new());
            let totals = Totals::of_profile(&profile);
            let (profile, totals) = (&profile, &totals);
            let rules = &Rules::default();
            let (regions, timeline, opens_timeline, whole) = (&regions, None, false, None);
            let shown =
                Shown { name, profile, totals, regions, timeline, opens_timeline, rules, whole };
            let page = page::of_profiles(&[shown], None).expect("a small profile");
            let file = Path::new(&folder).join(name);
            std::fs::write(file.with_extension("html"), page).expect("it is written");
            let pairs = serde_json::to_vec(&all_pairs(ranks)).expect("numbers");
            std::fs::write(file.with_extension("json"), pairs).expect("it is written");
        }
    }
}
