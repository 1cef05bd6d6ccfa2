//! The model of what a simulation does not execute in its own time: files and computation.
//!
//! The figures are for a machine like Theta (Cray XC40, 64 ranks on a node of 1.3 GHz, Aries
//! dragonfly, Lustre with one metadata server). They are rounded from published figures of it and
//! of similar machines, and are not fitted to any result.

use tinyprof_flush::Milestone;
use tinyprof_flush::scaling_study::LogGp;

/// A parallel file system.
#[derive(Clone, Copy, Debug)]
pub struct FileSystem {
    /// Time to create, close and sync a file without competition, in nanoseconds.
    pub create_ns: u64,
    /// Files that the metadata server creates in a second, if many are created at the same time.
    pub creates_a_second: u64,
    /// Number of data servers.
    pub servers: u64,
    /// Throughput of one server, in bytes a second.
    pub server_bytes_a_second: u64,
    /// Throughput of one sending rank, in bytes a second.
    pub client_bytes_a_second: u64,
}

impl FileSystem {
    /// Returns the time from when `writers` ranks begin to write a file each, until the one with
    /// this number has written its bytes. The metadata server handles them one after the other, the
    /// data servers all at once.
    #[must_use]
    pub fn write_ns(&self, number: u32, writers: u32, bytes: u64) -> u64 {
        let queue_ns = (u64::from(number) + 1) * 1_000_000_000 / self.creates_a_second;
        let share = self.servers * self.server_bytes_a_second / u64::from(writers.max(1));
        let transfer_ns = bytes * 1_000_000 / (share.min(self.client_bytes_a_second) / 1000).max(1);
        self.create_ns + queue_ns + transfer_ns
    }
}

/// A machine.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// The cost of messages, if the network itself is not simulated.
    pub network: LogGp,
    /// Its file system.
    pub files: FileSystem,
    /// Computation of a rank for each value that it encodes, in nanoseconds.
    pub encode_ns_a_value: u64,
    /// Computation of an aggregator for each summary of its part, in nanoseconds.
    pub part_ns_a_value: u64,
}

/// A machine like Theta.
pub const THETA_LIKE: Machine = Machine {
    // Neighbours are on one node of slow cores: a message there costs the copy and the software.
    network: LogGp { latency_ns: 1500, overhead_ns: 1000, gap_ps_a_byte: 500 },
    files: FileSystem {
        create_ns: 1_000_000,
        creates_a_second: 20_000,
        servers: 56,
        server_bytes_a_second: 3_000_000_000,
        client_bytes_a_second: 300_000_000,
    },
    // Four times the limits of this package's bench on the machine at hand: 50 ns, and 0.1 s a
    // million.
    encode_ns_a_value: 200,
    part_ns_a_value: 400,
};

impl Machine {
    /// Returns the time that passes on a rank before `milestone`, besides the messages, if every
    /// rank holds `values` values.
    #[must_use]
    pub fn unexecuted_ns(&self, milestone: Milestone, values: u64) -> u64 {
        match milestone {
            Milestone::Encoded => values * self.encode_ns_a_value,
            Milestone::Written { number, writers, ranks, bytes } => {
                values * u64::from(ranks) * self.part_ns_a_value
                    + self.files.write_ns(number, writers, bytes)
            }
            // The dictionary, the manifest, and the directory's name.
            Milestone::Finished => 3 * self.files.create_ns,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_writers_queue_and_few_are_slow() {
        let files = THETA_LIKE.files;
        // One file of 300 MB from one rank takes a second. The create and its place in the queue
        // are small.
        assert_eq!(files.write_ns(0, 1, 300_000_000), 1_000_000_000 + 1_000_000 + 50_000);
        // The last of 4,096 waits for the creates of all others.
        assert_eq!(files.write_ns(4095, 4096, 0), 4096 * 50_000 + 1_000_000);
        // With this many writers the servers are the limit: 168 GB/s over 16,800 of them.
        assert_eq!(files.write_ns(0, 16_800, 10_000_000), 1_000_000_000 + 1_000_000 + 50_000);
    }
}
