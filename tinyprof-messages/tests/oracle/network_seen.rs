//! What a rank finds out of the network: how long it takes from the moment when both sides are
//! ready until a call has what it waits for. Learned from the calls that have surely waited.

use crate::program::Kind;

/// The number of sorts of ways.
const SORTS: usize = 12;

/// A sort of ways.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sort {
    /// Of a message that is copied.
    Small,
    /// Of a message that waits for its receiver, to the receiver.
    Large,
    /// Of the same, until its sender may go on.
    Answer,
    Collective(Kind),
}

impl Sort {
    fn number(self) -> usize {
        match self {
            Self::Small => 0,
            Self::Large => 1,
            Self::Answer => 2,
            Self::Collective(kind) => 3 + kind as usize,
        }
    }
}

/// The shortest ways of a sort.
#[derive(Clone, Copy, Debug, Default)]
struct Ways {
    /// For each power of two: the size, and the time.
    seen: [Option<(i64, i64)>; 32],
    /// What is expected before one was seen.
    prior_ns: i64,
}

/// What a rank knows of the network.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    ways: [Ways; SORTS],
    latency_ns: i64,
    ps_per_byte: i64,
    /// The latency was measured at the start.
    is_measured: bool,
}

impl Network {
    /// Returns what is known at the start; 0 for unknown.
    pub(crate) fn new(latency_ns: i64, ps_per_byte: i64) -> Self {
        let is_measured = latency_ns > 0;
        let ways = [Ways::default(); SORTS];
        let mut network = Self { ways, latency_ns: 0, ps_per_byte, is_measured: false };
        network.hear(latency_ns);
        Self { is_measured, ..network }
    }

    /// Takes note of a time that the latency does not exceed; 0 for none.
    pub(crate) fn hear(&mut self, latency_ns: i64) {
        let is_less = self.latency_ns == 0 || latency_ns < self.latency_ns;
        if !self.is_measured && latency_ns > 0 && is_less {
            self.latency_ns = latency_ns;
            // A large message is announced, and then asked for.
            for (ways, times) in self.ways.iter_mut().zip([1, 2, 1]) {
                ways.prior_ns = times * latency_ns;
            }
        }
    }

    /// Returns the latency, 0 as long as nothing tells it.
    pub(crate) fn latency(&self) -> i64 {
        match (self.latency_ns, self.ways[0].is_seen()) {
            (0, _) => self.ways[1].crossing() / 2,
            (latency_ns, false) => latency_ns,
            (latency_ns, true) if !self.is_measured => latency_ns,
            _ => self.way(Sort::Small, 8),
        }
    }

    /// Returns the latency that others are told; 0 if it was measured, as they know it.
    pub(crate) fn seen_latency(&self) -> i64 {
        if self.is_measured { 0 } else { self.latency_ns }
    }

    /// Takes note of a way that was waited for.
    pub(crate) fn learn(&mut self, sort: Sort, bytes: u64, way_ns: i64) {
        let seen = &mut self.ways[sort.number()].seen[bytes.clamp(1, 1 << 31).ilog2() as usize];
        if seen.is_none_or(|(_, known)| way_ns < known) {
            *seen = Some((bytes.cast_signed(), way_ns));
        }
        match sort {
            Sort::Small => self.hear(way_ns),
            Sort::Large => self.hear(self.ways[1].crossing() / 2),
            Sort::Answer => self.hear(self.ways[2].crossing()),
            Sort::Collective(_) => {}
        }
    }

    /// Returns an estimate of a way: along the line through the two nearest sizes.
    pub(crate) fn way(&self, sort: Sort, bytes: u64) -> i64 {
        self.ways[sort.number()].of(bytes.cast_signed(), self.ps_per_byte)
    }

    /// Returns whether anything tells the ways of this sort.
    pub(crate) fn knows(&self, sort: Sort) -> bool {
        let ways = &self.ways[sort.number()];
        ways.prior_ns > 0 || ways.is_seen()
    }

    /// Returns by how much a way of this sort may be wrong, if anything tells it.
    pub(crate) fn unsure(&self, sort: Sort) -> Option<i64> {
        let ways = &self.ways[sort.number()];
        if ways.is_seen() { Some(0) } else { self.is_measured.then_some(self.latency_ns / 10) }
    }
}

impl Ways {
    fn is_seen(&self) -> bool {
        self.seen.iter().any(Option::is_some)
    }

    /// Returns the time of no bytes, if two sizes tell it; or else 0.
    fn crossing(&self) -> i64 {
        if self.seen.iter().flatten().count() > 1 { self.of(1, 0) } else { 0 }
    }

    fn of(&self, bytes: i64, ps_per_byte: i64) -> i64 {
        let mut known: Vec<(i64, i64)> = self.seen.iter().flatten().copied().collect();
        known.sort_by_key(|(size, _)| (size - bytes).abs());
        let way = match known[..] {
            [] => self.prior_ns + bytes * ps_per_byte / 1_000,
            [(size, way)] => way + (bytes - size) * ps_per_byte / 1_000,
            [(size, way), (other, other_way), ..] => {
                let slope = (other_way - way) as f64 / (other - size) as f64;
                way + (slope.max(0.0) * (bytes - size) as f64) as i64
            }
        };
        way.max(0)
    }
}
