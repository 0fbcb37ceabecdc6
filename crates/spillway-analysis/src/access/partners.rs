//! Reads that decide whether a send by rendezvous has a receiver.
//!
//! Whether a rendezvous is possible depends on the locations and conditions of the processes that may receive, and on
//! the message. Nothing else in the state matters. An `else` next to such a send is possible if the send has no
//! receiver.

use super::access_set::AccessSet;
use super::access_table::AccessTable;
use super::collector::AccessCollector;
use crate::instances::{ActionInstance, InstanceSide};
use spillway_ir::{ActionId, Communication, Entity, ProcessEdge};

impl AccessTable<'_> {
    /// Returns the reads that decide whether an action of this mover meets a partner, in addition to its own guard.
    pub(super) fn partner_reads(&self, side: InstanceSide) -> AccessSet {
        // In programs without dynamic processes, a receiver looks for senders.
        if !self.program().has_dynamic_processes() {
            return AccessSet::of_others();
        }
        let mut reads = AccessSet::default();
        let communication = &self.program().actions[side.action].communication;
        if !matches!(communication, Some(Communication::Send { .. })) {
            // A receive by rendezvous is not possible by itself.
            return reads;
        }
        // Receivers are evaluated after the statements of the sender.
        reads.extend_optional(self.effect(&[side], &[]).as_reads());
        for receiver in self.instances().receivers_of(side.action) {
            let sides = self.instances().sides_of(receiver);
            for receiver in sides.filter(|it| !self.is_same_mover(side, *it)) {
                let meeting = ActionInstance::Meeting { sender: side, receiver };
                if !self.never_meet(meeting) {
                    reads.extend_optional(self.receiver_conditions(receiver));
                    reads.extend_optional(self.message(side, receiver));
                }
            }
        }
        reads
    }

    fn is_same_mover(&self, one: InstanceSide, other: InstanceSide) -> bool {
        let process = |action: ActionId| self.program().actions[action].edge.map(|it| it.process);
        process(one.action) == process(other.action) && one.slot == other.slot
    }

    /// Returns the reads that decide whether a process waits for a message by this action.
    fn receiver_conditions(&self, side: InstanceSide) -> AccessSet {
        let program = self.program();
        let action = &program.actions[side.action];
        let mut collector: AccessCollector<'_> = self.collector(side);
        let walk = collector.walk();
        action.guard.iter().for_each(|it| walk.expr(&mut collector, it));
        let Some(ProcessEdge { process, from, .. }) = action.edge else { return collector.take() };
        let life = &program.processes[process].life;
        life.provided.iter().for_each(|it| walk.expr(&mut collector, it));
        let mut reads = collector.take();
        reads.asks.push((self.location_cell(process, side.slot), from));
        // Earlier actions of the receiver may have precedence.
        let all = &self.from[process.index()][from.index()];
        let tier = |id: &ActionId| program.actions[*id].control.tier;
        let has_precedence = |id: &ActionId| tier(id) != tier(&side.action);
        let is_restricted = action.control.otherwise
            || all.iter().take_while(|id| **id != side.action).any(has_precedence);
        if is_restricted || life.priority.is_some() {
            reads.extend_optional(AccessSet::of_others());
        }
        reads
    }
}
