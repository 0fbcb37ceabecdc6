//! The rest of a step after its first action.

use super::access_set::AccessSet;
use super::access_table::AccessTable;
use super::collector::{AccessCollector, MoverSlots};
use super::failure_analysis::FailureAnalysis;
use super::failure_kinds::FailureKinds;
use super::walk::AccessVisitor;
use crate::instances::InstanceSide;
use spillway_ir::{
    Action, ActionId, Communication, Entity, LocationId, ProcessEdge, ProcessId, TurnRule,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A process that continues a step, in one of some slots.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct AtomicPosition {
    process: ProcessId,
    slots: (u32, u32),
    at: LocationId,
}

/// The control graph within a step.
struct AtomicGraph {
    /// The possible positions within the step and their successors, one entry for each way.
    next: BTreeMap<AtomicPosition, Vec<AtomicPosition>>,
    open: Vec<AtomicPosition>,
}

impl AtomicGraph {
    fn reach(&mut self, within: AtomicPosition) {
        if !self.next.contains_key(&within) {
            self.next.insert(within.clone(), Vec::new());
            self.open.push(within);
        }
    }

    /// Returns the number of states within a step from a position on, at most `INSIDE_MAX`.
    fn states_inside(
        &self,
        from: &AtomicPosition,
        counted: &mut BTreeMap<AtomicPosition, u64>,
    ) -> u64 {
        if let Some(&count) = counted.get(from) {
            return count;
        }
        // A position that is reached again meanwhile is on a cycle.
        counted.insert(from.clone(), INSIDE_MAX);
        let mut count = 1u64;
        for next in &self.next[from] {
            count = count.saturating_add(self.states_inside(next, counted)).min(INSIDE_MAX);
        }
        counted.insert(from.clone(), count);
        count
    }
}

/// The number of states within a step from which on the step may be too long or may branch too much.
const INSIDE_MAX: u64 = 1 << 15;

impl AccessTable<'_> {
    /// Adds all accesses that may follow in the same step after an action. The guard does not cover the later
    /// actions, so none of their accesses is certain.
    pub(super) fn extend_with_sequence(&self, side: InstanceSide, effect: &mut AccessSet) {
        let mut chain = AtomicGraph { next: BTreeMap::new(), open: Vec::new() };
        let action = &self.program().actions[side.action];
        let Some(first) = self.position_after(action, side.slot..side.slot + 1, effect) else {
            return;
        };
        let sends = |it: &Action| matches!(it.communication, Some(Communication::Send { .. }));
        let mut sends_within = sends(action);
        let mut is_first = action.control.turn == TurnRule::First;
        chain.reach(first.clone());
        while let Some(within) = chain.open.pop() {
            for &id in &self.from[within.process.index()][within.at.index()] {
                let action = &self.program().actions[id];
                is_first |= action.control.turn == TurnRule::First;
                sends_within |= sends(action);
                let slots = within.slots.0..within.slots.1;
                effect.extend_optional(self.possible_access(action, slots.clone()));
                let mut next: Vec<AtomicPosition> =
                    self.position_after(action, slots, effect).into_iter().collect();
                next.extend(self.rendezvous_positions(action, effect));
                next.iter().for_each(|it| chain.reach(it.clone()));
                chain.next.entry(within.clone()).or_default().extend(next);
            }
        }
        // The step may not end. A `d_step` must not send by rendezvous.
        effect.failures.other |= chain.states_inside(&first, &mut BTreeMap::new()) >= INSIDE_MAX;
        effect.failures.other |= is_first && sends_within && self.has_rendezvous();
    }

    /// Returns the position of the mover after an action, if the step continues. A `d_step` must continue.
    fn position_after(
        &self,
        action: &Action,
        slots: Range<u32>,
        effect: &mut AccessSet,
    ) -> Option<AtomicPosition> {
        let ProcessEdge { process, to, .. } = action.edge?;
        let always = |id: &ActionId| {
            let next = &self.program().actions[*id];
            next.guard.is_none() && next.communication.is_none()
        };
        let goes_on = self.from[process.index()][to.index()].iter().any(always);
        effect.failures.other |= action.control.turn == TurnRule::First && !goes_on;
        let within = AtomicPosition { process, slots: (slots.start, slots.end), at: to };
        (action.control.turn != TurnRule::Open).then_some(within)
    }

    fn has_rendezvous(&self) -> bool {
        self.program().channels.values().any(|it| it.capacity == 0)
    }

    /// Returns the positions of possible receivers of a rendezvous within a step that continue it.
    fn rendezvous_positions(&self, action: &Action, effect: &mut AccessSet) -> Vec<AtomicPosition> {
        let mut next = Vec::new();
        let Some(Communication::Send { channel, .. }) = &action.communication else { return next };
        let program = self.program();
        let sent: BTreeSet<_> = channel
            .possible_channels(program)
            .filter(|it| program.channels[*it].capacity == 0)
            .collect();
        for receiver in program.actions.values() {
            let Some(Communication::Receive { channel, .. }) = &receiver.communication else {
                continue;
            };
            let Some(edge) = receiver.edge else { continue };
            if channel.possible_channels(program).any(|it| sent.contains(&it)) {
                let slots = 0..program.slots(edge.process);
                effect.extend_optional(self.possible_access(receiver, slots.clone()));
                // Each slot is a way of its own.
                let within = self.position_after(receiver, slots.clone(), effect);
                next.extend(slots.flat_map(|_| within.clone()));
            }
        }
        next
    }

    /// Returns the ways in which an action may fail that is evaluated, and perhaps taken, within a step.
    fn action_failures(&self, action: &Action, collector: AccessCollector<'_>) -> FailureKinds {
        let mut judge = FailureAnalysis::new(collector);
        let process = action.edge.map(|edge| &self.program().processes[edge.process]);
        let provided = process.and_then(|it| it.life.provided.as_ref());
        provided.into_iter().chain(&action.guard).for_each(|it| judge.condition(it));
        action.communication.iter().for_each(|it| judge.readiness(it));
        judge.take_action(action);
        judge.take()
    }

    /// Returns the accesses of an action that an instance in one of these slots evaluates, and perhaps takes.
    fn possible_access(&self, action: &Action, slots: Range<u32>) -> AccessSet {
        let Some(edge) = action.edge else { return AccessSet::default() };
        let mover = MoverSlots { process: Some(edge.process), slots: slots.clone() };
        let mut collector = AccessCollector::new(self.known(), mover);
        collector.begin_optional();
        let life = &self.program().processes[edge.process].life;
        let walk = collector.walk();
        for condition in [&life.provided, &action.guard].into_iter().flatten() {
            walk.expr(&mut collector, condition);
        }
        self.run(&mut collector, action, false);
        let mut access = collector.take();
        access.reads_anything |= life.priority.is_some();
        access.failures = self.action_failures(action, collector);
        access.failures.other |= life.priority.is_some();
        for slot in slots {
            access.asks.push((self.known().location_cell(edge.process, slot), edge.from));
        }
        access
    }
}
