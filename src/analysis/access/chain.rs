//! What a mover does in the same step after its first action.

use super::collect::{Collector, Mover};
use super::object::Access;
use super::table::Table;
use super::walk::Touched;
use crate::analysis::instances::Side;
use crate::ir::{Action, Communication, Edge, Entity, LocationId, ProcessId, Turn};
use std::collections::BTreeSet;
use std::ops::Range;

/// Somebody who goes on alone, in one of some slots.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Within {
    process: ProcessId,
    slots: (u32, u32),
    at: LocationId,
}

/// What goes on within a step.
struct Chain {
    seen: BTreeSet<Within>,
    open: Vec<Within>,
}

impl Chain {
    fn goes_on(&mut self, action: &Action, slots: Range<u32>) {
        let Some(Edge { process, to, .. }) = action.edge else { return };
        let within = Within { process, slots: (slots.start, slots.end), at: to };
        if action.control.turn != Turn::Open && self.seen.insert(within.clone()) {
            self.open.push(within);
        }
    }
}

impl Table<'_> {
    /// Adds all that may follow in the same step once an action has been taken: whatever is
    /// possible then was not asked for before, so nothing of it is sure.
    pub(super) fn go_on(&self, side: Side, effect: &mut Access) {
        let mut chain = Chain { seen: BTreeSet::new(), open: Vec::new() };
        let first = &self.program().actions[side.action];
        chain.goes_on(first, side.slot..side.slot + 1);
        while let Some(Within { process, slots, at }) = chain.open.pop() {
            for &id in &self.from[process.index()][at.index()] {
                let action = &self.program().actions[id];
                let slots = slots.0..slots.1;
                effect.extend_perhaps(self.perhaps(action, slots.clone()));
                chain.goes_on(action, slots);
                self.meets_on(action, effect, &mut chain);
            }
        }
    }

    /// Whoever receives what is sent by rendezvous within a step, and goes on with it.
    fn meets_on(&self, action: &Action, effect: &mut Access, chain: &mut Chain) {
        let Some(Communication::Send { channel, .. }) = &action.communication else { return };
        let program = self.program();
        let sent: BTreeSet<_> =
            channel.meant(program).filter(|it| program.channels[*it].capacity == 0).collect();
        for receiver in program.actions.values() {
            let Some(Communication::Receive { channel, .. }) = &receiver.communication else {
                continue;
            };
            let Some(edge) = receiver.edge else { continue };
            if channel.meant(program).any(|it| sent.contains(&it)) {
                let slots = 0..program.slots(edge.process);
                effect.extend_perhaps(self.perhaps(receiver, slots.clone()));
                chain.goes_on(receiver, slots);
            }
        }
    }

    /// What an action touches if it is looked at, and perhaps taken, by an instance in one of these
    /// slots.
    fn perhaps(&self, action: &Action, slots: Range<u32>) -> Access {
        let Some(edge) = action.edge else { return Access::default() };
        let mover = Mover { process: Some(edge.process), slots: slots.clone() };
        let mut collector = Collector::new(self.known(), mover);
        collector.open();
        let life = &self.program().processes[edge.process].life;
        let walk = collector.walk();
        for condition in [&life.provided, &action.guard].into_iter().flatten() {
            walk.expr(&mut collector, condition);
        }
        self.run(&mut collector, action, false);
        let mut access = collector.take();
        access.reads_anything |= life.priority.is_some();
        for slot in slots {
            access.asks.push((self.known().location_cell(edge.process, slot), edge.from));
        }
        access
    }
}
