//! A profile with messages, for tests.

use std::collections::BTreeMap;

use tinyprof_format::model::{
    CallpathId, CallpathTable, CallpathValues, Edge, EdgeKey, EdgeKind, ExecutionSummary,
    MessageKey, MessageKind, Profile, Region, SiteId, Traffic,
};
use tinyprof_format::text::read_text;

/// Messages from one rank to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) count: u64,
    pub(crate) bytes_each: u64,
}

/// Returns what the ranks of [`profile`] send to each other: every rank to its neighbour, more than
/// the rank before it, and little to the rank on the other side of the machine.
pub(crate) fn sent(ranks: u32) -> Vec<Sent> {
    let of_rank = |from: u32| {
        let near =
            Sent { from, to: (from + 1) % ranks, count: 10 + u64::from(from), bytes_each: 1_000 };
        let far = Sent { from, to: (from + ranks / 2) % ranks, count: 2, bytes_each: 40_000 };
        [near, far]
    };
    (0..ranks).flat_map(of_rank).collect()
}

/// Returns the time in ns that a rank of [`profile`] waits for the one before it.
pub(crate) fn waiting_ns(rank: u32) -> u64 {
    10_000_000 + 1_000_000 * u64::from(rank)
}

/// Returns the edges to a call of a rank: a late sender, and who came last to the reduction.
fn edges(name: &str, rank: u32, ranks: u32, send: CallpathId) -> BTreeMap<EdgeKey, Edge> {
    let offset = |other: u32| i32::try_from(i64::from(other) - i64::from(rank)).expect("small");
    let waited = |kind, partner, from, ns: u64, count| {
        let times = Edge { count, sum_ns: ns, min_ns: ns / 4, max_ns: ns / 2, ..Edge::default() };
        (EdgeKey { kind, partner, from }, times)
    };
    let before = offset((rank + ranks - 1) % ranks);
    match name {
        "MPI_Recv" => [
            waited(EdgeKind::Message, before, send, waiting_ns(rank), 3),
            waited(EdgeKind::MessageToAny, MessageKey::ANY_PARTNER, EdgeKey::UNKNOWN, 70, 1),
        ]
        .into(),
        "MPI_Allreduce" if rank + 1 < ranks => {
            [waited(EdgeKind::AllToAll, offset(ranks - 1), EdgeKey::UNKNOWN, 500, 3)].into()
        }
        _ => BTreeMap::new(),
    }
}

/// Returns a profile of at least 4 ranks with [`sent`] messages. In addition, each rank takes part
/// in a collective operation, writes a file, and sends a message to a rank that is not known. It
/// waits for the rank before it, and all wait for the last one.
pub(crate) fn profile(ranks: u32) -> Profile {
    let text = format!(
        "id,parent,tag,is_loop,times\nmain,null,null,0,{}\n",
        vec!["1"; ranks as usize].join("|")
    );
    let empty = read_text(text.as_bytes()).expect("it is read").profile;
    let names = [
        ("main", ""),
        ("exchange", ""),
        ("MPI_Send at solve (lu.f:123)", "mpi"),
        ("MPI_Recv", "mpi"),
        ("MPI_Allreduce", "mpi"),
        ("MPI_Send", "mpi"),
        ("MPI_File_write", "mpi"),
    ];
    let site = |at: u64| SiteId::from_bits(at + 1);
    let main = CallpathId::root(site(0));
    let exchange = main.child(site(1));
    let parents = [None, Some(main), None, Some(exchange), Some(main), Some(exchange), Some(main)];
    let id = |at: u64, parent: Option<CallpathId>| {
        parent.map_or_else(|| CallpathId::root(site(at)), |parent| parent.child(site(at)))
    };
    let callpaths = (0..).zip(names).zip(parents).map(|((at, (name, module)), parent)| {
        let mut region = Region { module: module.into(), ..Region::named(site(at), name) };
        if module == "mpi" {
            let tag = if name.contains("File") { "IO" } else { "COMM" };
            region.constants.insert("tag".into(), tag.into());
        }
        (id(at, parent), parent, region)
    });
    let callpaths = CallpathTable::from_parents(callpaths);
    let values = callpaths.rows().iter().map(|callpath| {
        let name = callpath.region.name.as_str();
        let of_rank = |rank| CallpathValues {
            edges: edges(name, rank, ranks, exchange.child(site(5))),
            ..values(name, rank, ranks)
        };
        (0..ranks).map(of_rank).collect()
    });
    let values = values.collect();
    Profile { callpaths, values, ..empty }
}

fn values(name: &str, rank: u32, ranks: u32) -> CallpathValues {
    let ns = match name {
        "main" => 1_000_000_000,
        "exchange" => 400_000_000,
        "MPI_Recv" => 200_000_000 + 1_000 * u64::from(rank),
        _ => 50_000_000,
    };
    let mut values = CallpathValues::default();
    let mut visits = 0;
    let mut add = |kind, partner: i64, count: u64, bytes_each: u64| {
        let partner = i32::try_from(partner).expect("a small number");
        let key = MessageKey::new(kind, partner, bytes_each);
        let traffic = Traffic { count, bytes: count * bytes_each };
        values.messages.entry(key).or_default().absorb(traffic);
        visits += count;
    };
    let distance = |other: u32| i64::from(other) - i64::from(rank);
    for Sent { from, to, count, bytes_each } in sent(ranks) {
        match name {
            // The neighbour's messages are sent at two callpaths.
            "MPI_Send" if from == rank && bytes_each == 1_000 => {
                add(MessageKind::MessageOut, distance(to), count - 1, bytes_each);
            }
            "MPI_Send at solve (lu.f:123)" if from == rank => {
                let here = if bytes_each == 1_000 { 1 } else { count };
                add(MessageKind::MessageOut, distance(to), here, bytes_each);
            }
            "MPI_Recv" if to == rank => {
                add(MessageKind::MessageIn, distance(from), count, bytes_each);
            }
            _ => {}
        }
    }
    match name {
        "MPI_Send" => add(MessageKind::MessageOut, MessageKey::ANY_PARTNER.into(), 1, 5),
        "MPI_Allreduce" => {
            add(MessageKind::CollectiveOut, ranks.into(), 3, 8);
            add(MessageKind::CollectiveIn, ranks.into(), 3, 8);
            visits = 3;
        }
        "MPI_File_write" => add(MessageKind::FileOut, 0, 1, 1 << 20),
        _ => visits = visits.max(1),
    }
    let one = ExecutionSummary::of_one_visit(0, ns);
    values.executions = vec![ExecutionSummary { visits, ..one }];
    values
}
