//! The shapes of communication: each adds a step to a program.

use crate::generate::Builder;
use crate::program::{Kind, Op};

pub(crate) fn pair(builder: &mut Builder, is_large: bool) {
    let (from, to) = builder.pair();
    let bytes = if is_large { builder.large() } else { builder.small() };
    builder.compute(from);
    builder.compute(to);
    builder.add(from, Op::Send(builder.envelope(to, bytes)));
    builder.add(to, Op::Recv(builder.envelope(from, bytes)));
}

/// Messages which are received after others that were sent later.
pub(crate) fn late_receives(builder: &mut Builder) {
    let mut late = Vec::new();
    for _ in 0..builder.random.between(1, 4) {
        builder.tag += 1;
        let (from, to) = builder.pair();
        let bytes = builder.small();
        builder.compute(from);
        builder.add(from, Op::Send(builder.envelope(to, bytes)));
        late.push((to, builder.envelope(from, bytes)));
    }
    for (to, envelope) in late.into_iter().rev() {
        builder.compute(to);
        builder.add(to, Op::Recv(envelope));
    }
}

pub(crate) fn pipeline(builder: &mut Builder, is_large: bool) {
    let bytes = if is_large { builder.large() } else { builder.small() };
    for rank in 0..builder.size() {
        if rank > 0 {
            builder.add(rank, Op::Recv(builder.envelope(rank - 1, bytes)));
        }
        builder.compute(rank);
        if rank + 1 < builder.size() {
            builder.add(rank, Op::Send(builder.envelope(rank + 1, bytes)));
        }
    }
}

/// A master that sends work to each rank, and receives the results in some order.
pub(crate) fn workers(builder: &mut Builder, is_large: bool) {
    let master = builder.random.below(builder.size());
    let bytes = if is_large { builder.large() } else { builder.small() };
    let workers = builder.others(master);
    for &worker in &workers {
        builder.add(master, Op::Send(builder.envelope(worker, bytes)));
        builder.add(worker, Op::Recv(builder.envelope(master, bytes)));
        builder.compute(worker);
    }
    builder.compute(master);
    for &worker in &workers {
        builder.add(worker, Op::Send(builder.envelope(master, bytes)));
        builder.add(master, Op::Recv(builder.envelope(worker, bytes)));
    }
}

pub(crate) fn irecv(builder: &mut Builder) {
    let mut open = Vec::new();
    for _ in 0..builder.random.between(1, 4) {
        builder.tag += 1;
        let (from, to) = builder.pair();
        let bytes = builder.either();
        let slot = builder.slot(to);
        builder.add(to, Op::Irecv(builder.envelope(from, bytes), slot));
        builder.compute(to);
        open.push((from, to, builder.envelope(to, bytes), slot));
    }
    for &(from, _, envelope, _) in &open {
        builder.compute(from);
        builder.add(from, Op::Send(envelope));
    }
    for (_, to, _, slot) in open {
        builder.compute(to);
        builder.add(to, Op::Wait(slot));
    }
}

pub(crate) fn isend(builder: &mut Builder) {
    let mut open = Vec::new();
    for _ in 0..builder.random.between(1, 4) {
        builder.tag += 1;
        let (from, to) = builder.pair();
        let bytes = builder.either();
        let slot = builder.slot(from);
        builder.add(from, Op::Isend(builder.envelope(to, bytes), slot));
        builder.compute(from);
        open.push((from, to, builder.envelope(from, bytes), slot));
    }
    for &(_, to, envelope, _) in &open {
        builder.compute(to);
        builder.add(to, Op::Recv(envelope));
    }
    for (from, _, _, slot) in open {
        builder.add(from, Op::Wait(slot));
    }
}

/// An exchange with both neighbours, as a stencil makes it.
pub(crate) fn halo(builder: &mut Builder) {
    let ranks = builder.size();
    let bytes = builder.either();
    let tag = builder.tag;
    let mut slots = vec![Vec::new(); ranks];
    for (rank, slots) in slots.iter_mut().enumerate() {
        for (direction, neighbour) in
            [(rank + 1) % ranks, (rank + ranks - 1) % ranks].iter().enumerate()
        {
            builder.tag = tag + 1 - direction;
            let slot = builder.slot(rank);
            builder.add(rank, Op::Irecv(builder.envelope(*neighbour, bytes), slot));
            slots.push(slot);
        }
        for (direction, neighbour) in
            [(rank + 1) % ranks, (rank + ranks - 1) % ranks].iter().enumerate()
        {
            builder.tag = tag + direction;
            let slot = builder.slot(rank);
            builder.add(rank, Op::Isend(builder.envelope(*neighbour, bytes), slot));
            slots.push(slot);
        }
    }
    for (rank, slots) in slots.into_iter().enumerate() {
        builder.compute(rank);
        builder.add(rank, Op::Waitall(slots));
        builder.compute(rank);
    }
    builder.tag = tag + 1;
}

pub(crate) fn wait_any(builder: &mut Builder) {
    let master = builder.random.below(builder.size());
    let bytes = builder.either();
    let mut slots = Vec::new();
    for worker in builder.others(master) {
        let slot = builder.slot(master);
        builder.add(master, Op::Irecv(builder.envelope(worker, bytes), slot));
        slots.push(slot);
        builder.compute(worker);
        builder.add(worker, Op::Send(builder.envelope(master, bytes)));
    }
    for _ in 0..slots.len() {
        builder.add(master, Op::Waitany(slots.clone()));
        let work = builder.work(master, 0.3);
        builder.add(master, Op::Compute(work));
    }
}

pub(crate) fn probe(builder: &mut Builder) {
    let (from, to) = builder.pair();
    let bytes = builder.either();
    builder.compute(from);
    builder.compute(to);
    builder.add(from, Op::Send(builder.envelope(to, bytes)));
    builder.add(to, Op::Probe(builder.envelope(from, bytes)));
    builder.add(to, Op::Recv(builder.envelope(from, bytes)));
}

pub(crate) fn poll(builder: &mut Builder) {
    let (from, to) = builder.pair();
    let bytes = builder.either();
    let slot = builder.slot(to);
    let work = builder.work(to, 0.05);
    let is_probe = builder.random.chance(0.5);
    if !is_probe {
        builder.add(to, Op::Irecv(builder.envelope(from, bytes), slot));
    }
    builder.compute(from);
    builder.compute(to);
    builder.add(from, Op::Send(builder.envelope(to, bytes)));
    if is_probe {
        builder.add(to, Op::PollProbe(builder.envelope(from, bytes), work));
        builder.add(to, Op::Recv(builder.envelope(from, bytes)));
    } else {
        builder.add(to, Op::Poll(slot, work));
    }
}

pub(crate) fn overlap(builder: &mut Builder) {
    let (from, to) = builder.pair();
    let bytes = builder.either();
    let slot = builder.slot(to);
    builder.add(to, Op::Irecv(builder.envelope(from, bytes), slot));
    builder.compute(from);
    builder.add(from, Op::Send(builder.envelope(to, bytes)));
    let parts = 1 + builder.random.below(10);
    let work = builder.work(to, 1.0 / parts as f64);
    builder.add(to, Op::Overlap(slot, work, parts));
    builder.add(to, Op::Wait(slot));
}

/// A shift along the ring, or an exchange of two ranks.
pub(crate) fn shift(builder: &mut Builder) {
    let bytes = builder.either();
    if builder.random.chance(0.5) {
        let (one, other) = builder.pair();
        for (rank, peer) in [(one, other), (other, one)] {
            builder.compute(rank);
            let envelope = builder.envelope(peer, bytes);
            builder.add(rank, Op::Sendrecv(envelope, envelope));
        }
    } else {
        let ranks = builder.size();
        for rank in 0..ranks {
            builder.compute(rank);
            let to = builder.envelope((rank + 1) % ranks, bytes);
            let from = builder.envelope((rank + ranks - 1) % ranks, bytes);
            builder.add(rank, Op::Sendrecv(to, from));
        }
    }
}

pub(crate) fn collective(builder: &mut Builder, kind: Kind) {
    let root = builder.random.below(builder.size());
    let bytes = if kind == Kind::Barrier { 0 } else { builder.small() };
    for rank in 0..builder.size() {
        builder.compute(rank);
        builder.add(rank, Op::Collective(kind, root, bytes));
    }
}

pub(crate) fn started(builder: &mut Builder) {
    let kind = [Kind::Barrier, Kind::Allreduce, Kind::Bcast][builder.random.below(3)];
    let root = builder.random.below(builder.size());
    let bytes = builder.small();
    for rank in 0..builder.size() {
        let slot = builder.slot(rank);
        builder.compute(rank);
        builder.add(rank, Op::Start(kind, root, bytes, slot));
        builder.compute(rank);
        builder.add(rank, Op::Wait(slot));
    }
}

/// A master that takes what comes first, and works on it.
pub(crate) fn wildcards(builder: &mut Builder) {
    let master = builder.random.below(builder.size());
    let bytes = builder.small();
    let workers = builder.others(master);
    for &worker in &workers {
        builder.compute(worker);
        builder.add(worker, Op::Send(builder.envelope(master, bytes)));
    }
    for _ in &workers {
        let mut envelope = builder.envelope(0, bytes);
        envelope.peer = None;
        builder.add(master, Op::Recv(envelope));
        let work = builder.work(master, 0.3);
        builder.add(master, Op::Compute(work));
    }
}
