//! When each rank does what: times that follow from each other as in a real run.

/// The duration of a call without waiting, in ns.
pub(crate) const CALL_NS: u64 = 2_000;
/// The duration of `MPI_Init`, of what comes before the steps, and of what comes after, in ns.
pub(crate) const INIT_NS: u64 = 20_000_000;
pub(crate) const READ_NS: u64 = 3_000_000;
pub(crate) const WRITE_NS: u64 = 8_000_000;

/// The work of a rank in a step, which begins with all others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) begin_ns: u64,
    /// The sum of its kernels.
    pub(crate) work_ns: u64,
    /// The waiting for the neighbours on the left and above, and in the reduction.
    pub(crate) waits_ns: [u64; 3],
    /// The rank that came last to the reduction.
    pub(crate) last: usize,
}

pub(crate) struct Schedule {
    pub(crate) ranks: usize,
    /// The ranks of a row of the grid.
    pub(crate) width: usize,
    pub(crate) kernels: usize,
    /// Step by step, the ranks.
    steps: Vec<Vec<Step>>,
    pub(crate) end_ns: u64,
}

impl Schedule {
    pub(crate) fn new(ranks: usize, kernels: usize, steps: usize) -> Self {
        let width = ranks.isqrt().max(1);
        let mut schedule = Self { ranks, width, kernels, steps: Vec::new(), end_ns: 0 };
        let mut now_ns = INIT_NS + READ_NS;
        for step in 0..steps {
            let (done, next_ns) = schedule.step(step, now_ns);
            schedule.steps.push(done);
            now_ns = next_ns;
        }
        schedule.end_ns = now_ns + WRITE_NS + CALL_NS;
        schedule
    }

    /// Returns the steps of a rank.
    pub(crate) fn of_rank(&self, rank: usize) -> impl Iterator<Item = Step> + '_ {
        self.steps.iter().map(move |ranks| ranks[rank])
    }

    /// Returns the neighbour on the left, and the one above.
    pub(crate) fn before(&self, rank: usize) -> [usize; 2] {
        [1, self.width].map(|offset| (rank + self.ranks - offset) % self.ranks)
    }

    /// Returns the neighbour on the right, and the one below.
    pub(crate) fn after(&self, rank: usize) -> [usize; 2] {
        [1, self.width].map(|offset| (rank + offset) % self.ranks)
    }

    /// Returns the rank that computes longer than others.
    pub(crate) const fn slow(&self) -> usize {
        self.ranks * 5 / 7
    }

    /// Returns when the steps are over.
    pub(crate) const fn steps_end_ns(&self) -> u64 {
        self.end_ns - WRITE_NS - CALL_NS
    }

    /// Returns the time of a kernel of a rank in a step, in ns.
    pub(crate) fn kernel_ns(&self, rank: usize, kernel: usize, step: usize) -> u64 {
        let base_ns = 2_000_000 / (kernel as u64 % 7 + 1);
        let mut percent = 100;
        if rank == self.slow() {
            percent += 30;
        }
        if kernel == 2 && step >= 12 {
            percent += 150;
        }
        if kernel == 4 && rank % 16 == 3 {
            percent += 20;
        }
        base_ns * percent / 100 + noise(rank, kernel, step) % (base_ns / 20)
    }

    fn step(&self, step: usize, begin_ns: u64) -> (Vec<Step>, u64) {
        let work = |rank| (0..self.kernels).map(|k| self.kernel_ns(rank, k, step)).sum::<u64>();
        let works: Vec<u64> = (0..self.ranks).map(work).collect();
        let mut arrived = Vec::with_capacity(self.ranks);
        let mut done: Vec<Step> = Vec::with_capacity(self.ranks);
        for (rank, &work_ns) in works.iter().enumerate() {
            let mut now_ns = work_ns + 2 * CALL_NS;
            let mut waits_ns = [0; 3];
            for (wait_ns, before) in waits_ns.iter_mut().zip(self.before(rank)) {
                *wait_ns = works[before].saturating_sub(now_ns);
                now_ns += *wait_ns + CALL_NS;
            }
            arrived.push(now_ns);
            done.push(Step { begin_ns, work_ns, waits_ns, last: 0 });
        }
        let last = (0..self.ranks).max_by_key(|&rank| arrived[rank]).unwrap_or(0);
        for (own, arrived_ns) in done.iter_mut().zip(&arrived) {
            own.waits_ns[2] = arrived[last] - arrived_ns;
            own.last = last;
        }
        (done, begin_ns + arrived.get(last).copied().unwrap_or(0) + CALL_NS)
    }
}

/// The same for equal arguments, and in no order that could be seen (the finaliser of
/// `SplitMix64`).
fn noise(rank: usize, kernel: usize, step: usize) -> u64 {
    let mut z = ((rank as u64) << 40) ^ ((kernel as u64) << 20) ^ step as u64;
    z = (z ^ (z >> 30)).wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
