//! The events of a rank, on one clock with all others.

use tinyprof_format::model::{
    EventPolicy, MessageEnd, MessageEvent, RankEvents, ThreadEvents, VisitEvent,
};

use crate::places::{Place, Places};
use crate::schedule::{CALL_NS, INIT_NS, READ_NS, Schedule, Step, WRITE_NS};

struct Thread<'a> {
    places: &'a Places,
    visits: Vec<VisitEvent>,
    messages: Vec<MessageEvent>,
}

pub(crate) fn of_rank(places: &Places, schedule: &Schedule, rank: usize) -> RankEvents {
    let mut thread = Thread { places, visits: Vec::new(), messages: Vec::new() };
    thread.visit(places.main, 1, 0, schedule.end_ns);
    thread.visit(places.init, 2, 0, INIT_NS);
    thread.visit(places.read, 2, INIT_NS, READ_NS);
    thread.visit(places.broadcast, 3, INIT_NS + READ_NS * 2 / 3, READ_NS / 3);
    for (step, own) in schedule.of_rank(rank).enumerate() {
        thread.step(schedule, rank, step, own);
    }
    let end_ns = schedule.steps_end_ns();
    thread.visit(places.write, 2, end_ns, WRITE_NS);
    thread.visit(places.file, 3, end_ns + WRITE_NS / 2, WRITE_NS / 2);
    thread.visit(places.finalize, 2, end_ns + WRITE_NS, CALL_NS);
    thread.visits.sort_by_key(|visit| (visit.begin_ns, visit.depth));
    let recorded = ThreadEvents {
        policy: EventPolicy::Window,
        memory_bytes: 1 << 20,
        visits: thread.visits,
        messages: thread.messages,
        ..ThreadEvents::default()
    };
    RankEvents { origin_ns: 1_000_000, threads_without_memory: 0, threads: vec![recorded] }
}

impl Thread<'_> {
    fn visit(&mut self, place: Place, depth: u32, begin_ns: u64, duration_ns: u64) {
        let callpath = self.places.id(place);
        self.visits.push(VisitEvent { callpath, depth, begin_ns, duration_ns });
    }

    fn step(&mut self, schedule: &Schedule, rank: usize, step: usize, own: Step) {
        let places = self.places;
        let mut now_ns = own.begin_ns;
        for (kernel, (place, _)) in places.work.iter().enumerate() {
            let ns = schedule.kernel_ns(rank, kernel, step);
            self.visit(*place, 3, now_ns, ns);
            now_ns += ns;
        }
        let exchange_ns = now_ns;
        for (&send, to) in places.sends.iter().zip(schedule.after(rank)) {
            self.visit(send, 4, now_ns, CALL_NS);
            self.message(send, now_ns, false, (rank, to), step);
            now_ns += CALL_NS;
        }
        let receives = places.receives.iter().zip(schedule.before(rank)).zip(own.waits_ns);
        for ((&receive, from), wait_ns) in receives {
            self.visit(receive, 4, now_ns, wait_ns + CALL_NS);
            now_ns += wait_ns + CALL_NS;
            self.message(receive, now_ns, true, (rank, from), step);
        }
        self.visit(places.exchange, 3, exchange_ns, now_ns - exchange_ns);
        let reduce_ns = own.waits_ns[2] + CALL_NS;
        self.visit(places.norm, 3, now_ns, reduce_ns);
        self.visit(places.reduce, 4, now_ns, reduce_ns);
        self.visit(places.steps, 2, own.begin_ns, now_ns + reduce_ns - own.begin_ns);
    }

    fn message(
        &mut self,
        place: Place,
        at_ns: u64,
        is_receive: bool,
        (rank, other): (usize, usize),
        step: usize,
    ) {
        let number = |rank: usize| i32::try_from(rank).unwrap_or(i32::MAX);
        let end = MessageEnd {
            is_receive,
            partner: number(other) - number(rank),
            communicator: 0,
            tag: 7,
            number: step as u64,
            bytes: 8_192,
        };
        self.messages.push(MessageEvent { callpath: self.places.id(place), at_ns, end });
    }
}
