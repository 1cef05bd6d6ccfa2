//! Waits that were too short to look for their cause, until one is looked at.

/// The calls and partners whose waits are kept.
const PLACES: usize = 8;

/// The waits of a call for a rank, together.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    callpath: u64,
    partner: u32,
    ns: u64,
}

/// Waits by call and partner. Two that share a place push each other out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Deferred([Entry; PLACES]);

impl Deferred {
    /// Adds a wait, and returns the time of those that it has pushed out, in ns.
    #[inline]
    pub(super) fn add(&mut self, callpath: u64, partner: u32, ns: u64) -> u64 {
        let entry = &mut self.0[place(callpath, partner)];
        if (entry.callpath, entry.partner) == (callpath, partner) {
            entry.ns += ns;
            return 0;
        }
        std::mem::replace(entry, Entry { callpath, partner, ns }).ns
    }

    /// Takes the waits of a call for a partner, and returns their time, in ns.
    pub(super) fn take(&mut self, callpath: u64, partner: u32) -> u64 {
        let entry = &mut self.0[place(callpath, partner)];
        if (entry.callpath, entry.partner) != (callpath, partner) {
            return 0;
        }
        std::mem::take(&mut entry.ns)
    }

    /// Forgets all waits, and returns their time, in ns.
    pub(super) fn give_up(&mut self) -> u64 {
        self.0.iter_mut().map(|entry| std::mem::take(&mut entry.ns)).sum()
    }
}

/// Returns where the waits of a call for a partner are. Callpaths are hashes.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "a remainder")]
const fn place(callpath: u64, partner: u32) -> usize {
    (((callpath >> 8) ^ partner as u64) % PLACES as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_wait_is_lost() {
        let (mut deferred, mut given_up_ns, mut taken_ns) = (Deferred::default(), 0, 0);
        for number in 0..1_000_u64 {
            let (callpath, partner) = ((number % 7) << 8, (number % 3) as u32);
            given_up_ns += deferred.add(callpath, partner, number);
            if number % 5 == 0 {
                taken_ns += deferred.take(callpath, partner);
            }
        }
        assert!(given_up_ns > 0 && taken_ns > 0);
        assert_eq!(given_up_ns + taken_ns + deferred.give_up(), 999 * 500);
        assert_eq!(deferred.give_up(), 0);
    }

    #[test]
    fn waits_of_one_call_for_one_rank_are_together() {
        let mut deferred = Deferred::default();
        assert_eq!(deferred.add(256, 1, 30) + deferred.add(256, 1, 12), 0);
        assert_eq!(deferred.take(256, 2) + deferred.take(512, 1), 0);
        assert_eq!(deferred.take(256, 1), 42);
    }
}
