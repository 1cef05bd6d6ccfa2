//! A pass over all callpaths of a profile, in the memory of a few of them.
//!
//! Callees come before their callers. Where a section stores exclusive sums, the inclusive sums of
//! the callees are needed: they are added up while the callees pass, so that none is read twice.

use super::ProfileReader;
use super::decoded_sections::DecodedSections;
use super::exclusive::position_of;
use super::read::{files_bytes, verify_part};
use super::read_options::encoded_bytes_max;
use super::source::Source;
use super::times::Sums;
use crate::bytes::MemoryLimit;
use crate::error::ReadError;
use crate::model::{CallpathIndex, CallpathValues, ExecutionSummary};

/// The inclusive sums of the callees of a callpath that is still to come: by rank, the first
/// execution of each summary with its sum, in ascending order.
type Called = Vec<Vec<(u32, u64)>>;

/// A callpath on the way from a root to the current one.
#[derive(Debug)]
struct Open {
    callpath: CallpathIndex,
    /// The number of callees that are done.
    done: usize,
    called: Called,
    called_bytes: u64,
}

impl<S: Source> ProfileReader<S> {
    /// Passes the values of every rank at each callpath below `roots`, and at these, to `visit`:
    /// callees before their callers. The roots must not be below one another.
    ///
    /// # Errors
    /// If the index of a part or a section of a callpath is damaged, or too large for the limit;
    /// and the errors of `visit`.
    ///
    /// # Panics
    /// If a callpath is not in this profile.
    ///
    /// # Cost
    /// Memory for the values of one callpath, and 16 bytes for each of its executions on each rank
    /// for every callpath around it. Each section is read once.
    pub fn each_callpath<E: From<ReadError>>(
        &self,
        roots: &[CallpathIndex],
        mut visit: impl FnMut(CallpathIndex, &mut [CallpathValues]) -> Result<(), E>,
    ) -> Result<(), E> {
        let memory_limit = self.memory_limit_of_pass();
        for number in 0..self.manifest().parts.len() {
            // What this claims is kept until the end.
            self.index(number, &memory_limit)?;
        }
        let mut sections = DecodedSections::default();
        for &root in roots {
            let mut open = vec![Open::new(root)];
            while let Some(top) = open.last_mut() {
                if let Some(&callee) = self.children()[top.callpath.row()].get(top.done) {
                    top.done += 1;
                    open.push(Open::new(callee));
                    continue;
                }
                let Some(Open { callpath, called, called_bytes, .. }) = open.pop() else { break };
                let (kept, passing) = (memory_limit.kept_bytes(), memory_limit.passing_bytes());
                let (row, sections_before) = (callpath.row(), sections.bytes());
                let mut values = self.read_row(row, &called, &mut sections, &memory_limit)?;
                drop(called);
                memory_limit.back_to_kept(kept - sections_before + sections.bytes());
                memory_limit.back_to(passing - called_bytes);
                if let Some(caller) = open.last_mut() {
                    caller
                        .add(&values, &memory_limit)
                        .map_err(|()| self.too_deep(&memory_limit))?;
                }
                visit(callpath, &mut values)?;
            }
        }
        Ok(())
    }

    /// Verifies the length and the checksum of each part. [`each_callpath`](Self::each_callpath)
    /// notices damage in the sections that it reads, but none between them.
    ///
    /// # Errors
    /// As `ReadOptions::read`.
    pub fn verify_parts(&self) -> Result<(), ReadError> {
        let memory_limit = self.memory_limit_of_pass();
        let parts = &self.manifest().parts;
        parts.iter().try_for_each(|part| verify_part(self.source(), part, &memory_limit))
    }

    /// Returns the values of every rank at the callpath of a row, given those of its callees.
    fn read_row(
        &self,
        row: usize,
        called: &Called,
        sections: &mut DecodedSections,
        memory_limit: &MemoryLimit,
    ) -> Result<Vec<CallpathValues>, ReadError> {
        let mut values = self.empty(self.manifest().ranks as usize, memory_limit)?;
        let mut rest = values.as_mut_slice();
        let mut first = 0;
        for (number, part) in self.manifest().parts.iter().enumerate() {
            let (here, later) = rest.split_at_mut(part.ranks as usize);
            rest = later;
            sections.read(self, (number, row), here, memory_limit)?;
            if let Sums::Exclusive { single } = self.read_times(number, row, here, memory_limit)? {
                let called = called.get(first..).unwrap_or_default();
                here.iter_mut().zip(called).for_each(|(own, called)| {
                    make_inclusive(&mut own.executions, called, single);
                });
            }
            first += part.ranks as usize;
        }
        Ok(values)
    }

    fn memory_limit_of_pass(&self) -> MemoryLimit {
        let bytes = files_bytes(self.source(), self.manifest());
        self.memory_limit().of_pass_over(encoded_bytes_max(bytes))
    }

    fn too_deep(&self, memory_limit: &MemoryLimit) -> ReadError {
        let reason = "the sums of the callees of nested callpaths".to_owned();
        let path = self.source().path(super::manifest::MANIFEST);
        ReadError::OverLimit { path, limit_bytes: memory_limit.limit_bytes(), reason }
    }
}

impl Open {
    fn new(callpath: CallpathIndex) -> Self {
        Self { callpath, done: 0, called: Vec::new(), called_bytes: 0 }
    }

    /// Adds the inclusive sums of a callee. Fails if memory for them is not left.
    fn add(&mut self, callee: &[CallpathValues], memory_limit: &MemoryLimit) -> Result<(), ()> {
        let mut claim = |bytes: usize| {
            self.called_bytes += bytes as u64;
            memory_limit.claim_temporary(bytes as u64).then_some(()).ok_or(())
        };
        if self.called.is_empty() {
            claim(size_of_val(callee))?;
            self.called.resize_with(callee.len(), Vec::new);
        }
        for (called, values) in self.called.iter_mut().zip(callee) {
            // A list that grows may take twice its length.
            let more = values.executions.len().saturating_sub(called.len());
            claim(2 * more * size_of::<(u32, u64)>())?;
            called.reserve_exact(more);
            values.executions.iter().enumerate().for_each(|(at, summary)| add(called, at, summary));
        }
        Ok(())
    }
}

/// Adds a summary of a callee, which most likely belongs at `guess`.
fn add(called: &mut Vec<(u32, u64)>, guess: usize, summary: &ExecutionSummary) {
    match position_of(called, summary.execution, guess, |(execution, _)| *execution) {
        Ok(at) => called[at].1 = called[at].1.wrapping_add(summary.sum_ns),
        Err(at) => called.insert(at, (summary.execution, summary.sum_ns)),
    }
}

/// Makes the exclusive sums of a rank inclusive.
fn make_inclusive(own: &mut [ExecutionSummary], called: &[(u32, u64)], single: bool) {
    for (guess, summary) in own.iter_mut().enumerate() {
        let found = position_of(called, summary.execution, guess, |(execution, _)| *execution);
        let below = found.map_or(0, |at| called[at].1);
        summary.sum_ns = summary.sum_ns.wrapping_add(below);
        if single {
            *summary = ExecutionSummary::of_one_visit(summary.execution, summary.sum_ns);
        }
    }
}
