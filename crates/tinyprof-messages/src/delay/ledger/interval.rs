//! The interval since two ranks last synchronised, and what they did differently in it.

use super::{Ledger, Wait};
use crate::delay::cause::{Activity, Cause};
use crate::delay::layout::{ANCHOR_HEAD, PARTNER_HEAD};
use crate::delay::list::{List, Word};
use crate::delay::pulled::{Origin, Pulled};

impl Ledger<'_> {
    /// Shares a wait out among its causes, by what both ranks did since they last synchronised.
    pub(super) fn explain(&mut self, wait: &Wait, pulled: &Pulled) {
        let own = self.partner(wait.partner).map(|place| (self.words[place + 1].get(), place));
        let since_ns = own.map_or(0, |(at_ns, _)| at_ns);
        match pulled.origin {
            Origin::Partner(at_ns) if at_ns > since_ns => {
                let then = (pulled.clock_then(), pulled.blame_then());
                return self.compare(wait, pulled, pulled.reader_then(), then);
            }
            Origin::Instance(instance, at_ns) if at_ns > since_ns => {
                if let Some(anchor) = self.anchor(instance) {
                    let (clock, _) = self.sizes.of_moment(anchor + ANCHOR_HEAD);
                    let then = (pulled.clock_then(), pulled.blame_then());
                    return self.compare(wait, pulled, List::new(&self.words[clock]), then);
                }
            }
            _ => {}
        }
        let Some((_, place)) = own else {
            let set = wait.partner as usize % self.sizes.sets();
            self.losses.forgotten += u64::from(self.has_forgotten[set]);
            return self.compare(wait, pulled, List::EMPTY, (List::EMPTY, List::EMPTY));
        };
        let (own, _) = self.sizes.of_moment(place + PARTNER_HEAD);
        let (clock, blame) = self.sizes.of_moment(place + PARTNER_HEAD + self.sizes.moment());
        let [own, clock, blame] = [own, clock, blame].map(|range| List::new(&self.words[range]));
        self.compare(wait, pulled, own, (clock, blame));
    }

    /// Compares the activities of both ranks since the moments at which they synchronised.
    fn compare<O: Word, T: Word>(
        &mut self,
        wait: &Wait,
        pulled: &Pulled,
        own_then: List<'_, O>,
        (clock_then, blame_then): (List<'_, T>, List<'_, T>),
    ) {
        let (words, own) = (&self.words[self.sizes.clock()], self.clock());
        let mut rest_ns = pulled.clock().total_since(clock_then);
        let mut own_rest_ns = own.total_since(own_then);
        for (activity, ns) in pulled.clock().since(clock_then) {
            if ns == 0 {
                continue;
            }
            rest_ns = rest_ns.saturating_sub(ns);
            let place = self.clock.place(words, activity);
            let own_ns = place.map_or(0, |place| own.place_since(own_then, place));
            let cause = Cause::new(wait.partner, Activity::from_number(activity));
            self.shares.direct(cause, ns.saturating_sub(own_ns));
        }
        for (_, ns) in own.since(own_then) {
            own_rest_ns = own_rest_ns.saturating_sub(ns);
        }
        let other = Cause::new(wait.partner, Activity::OTHER);
        self.shares.direct(other, rest_ns.saturating_sub(own_rest_ns));
        let mut rest_ns = pulled.blame().total_since(blame_then);
        for (cause, ns) in pulled.blame().since(blame_then) {
            rest_ns = rest_ns.saturating_sub(ns);
            self.shares.propagated(Cause::from_word(cause), ns);
        }
        self.shares.propagated(Cause::OTHER, rest_ns);
    }
}
