//! The channels that numbers of live processes denote, and those that actions pass to processes that start later.

use super::access_set::ChannelSlot;
use super::access_table::AccessTable;
use super::collector::{AccessCollector, MoverSlots};
use super::live_processes::{LiveProcesses, own_variable};
use crate::instances::InstanceSide;
use spillway_ir::layout::CellId;
use spillway_ir::{ChannelRef, Expr, ExprKind, ProcessInstance, Program, Stmt, StmtKind, VarId};
use std::collections::BTreeMap;

/// Returns whether all processes of a mover start later.
fn starts_later(live: &LiveProcesses, mover: &MoverSlots) -> bool {
    let Some(process) = mover.process else { return false };
    let mut slots = mover.slots.clone();
    live.open.contains(&process) && slots.all(|slot| !live.has(ProcessInstance { process, slot }))
}

impl AccessCollector<'_> {
    /// Returns whether a channel is that of a linking parameter of a process that starts later.
    pub fn is_linked_later(&self, channel: &ChannelRef) -> bool {
        let ChannelRef::Computed(number) = channel else { return false };
        self.omits_later_links
            && self.known.live.is_some_and(|live| {
                let is_linking = own_variable(number).is_some_and(|it| live.linking.contains(&it));
                is_linking && starts_later(live, &self.scope.mover)
            })
    }

    /// Returns the channel of a live process that a number denotes as long as the mover exists.
    pub fn channel_of_live(&self, number: &Expr) -> Option<ChannelSlot> {
        let number = self.single(number)?;
        let MoverSlots { process, slots } = &self.scope.mover;
        let user = ProcessInstance { process: (*process)?, slot: slots.start };
        let live = self.known.live.filter(|_| slots.len() == 1)?;
        live.channel(self.known.program, number, user)
    }
}

/// No known values.
static NOTHING_KNOWN: BTreeMap<CellId, i64> = BTreeMap::new();

impl AccessTable<'_> {
    /// Returns the channels that a side of an instance may use first.
    pub fn channels_of(&self, side: InstanceSide) -> Vec<ChannelSlot> {
        let communication = self.program().actions[side.action].communication.as_ref();
        communication.map_or_else(Vec::new, |it| self.collector(side).channels(it.channel()))
    }

    /// Returns whether the channel of a side is given to its process when the process starts later.
    pub fn is_linked_later(&self, side: InstanceSide) -> bool {
        let communication = self.program().actions[side.action].communication.as_ref();
        communication.is_some_and(|it| self.collector(side).is_linked_later(it.channel()))
    }

    /// Returns the channels that the action of a side may pass to linking parameters of processes that it starts,
    /// except those that its own process gets as linking parameters later.
    pub fn passed_channels(&self, side: InstanceSide) -> Vec<ChannelSlot> {
        let program = self.program();
        let Some(live) = self.live_processes() else { return Vec::new() };
        let mut arguments = Vec::new();
        let body = &program.actions[side.action].body;
        linking_arguments(program, live, body, &mut arguments);
        let arguments = arguments.into_iter();
        arguments.flat_map(|it| self.channels_of_argument(side, it)).collect()
    }

    fn channels_of_argument(&self, side: InstanceSide, argument: &Expr) -> Vec<ChannelSlot> {
        let (mut collector, computed) =
            (self.collector(side), ChannelRef::Computed(Box::new(argument.clone())));
        let is_linking =
            |it: VarId| self.live_processes().is_some_and(|live| live.linking.contains(&it));
        match &argument.kind {
            ExprKind::ChannelNumber(named @ ChannelRef::Named(_)) => {
                return collector.channels(named);
            }
            _ if own_variable(argument).is_some_and(is_linking) => {
                return collector.channels(&computed);
            }
            _ => {}
        }
        // The slot may have another process later, with other parameters.
        let process = collector.scope.mover.process;
        let is_open = |it: &LiveProcesses| process.is_none_or(|process| it.open.contains(&process));
        if self.live_processes().is_some_and(is_open) {
            collector.known.live = None;
            collector.known.fixed = &NOTHING_KNOWN;
        }
        match &argument.kind {
            ExprKind::ChannelNumber(channel) => collector.channels(channel),
            _ => collector.channels(&computed),
        }
    }
}

/// Collects the arguments that a body passes to linking parameters.
fn linking_arguments<'p>(
    program: &'p Program,
    live: &LiveProcesses,
    body: &'p [Stmt],
    found: &mut Vec<&'p Expr>,
) {
    for stmt in body {
        if let StmtKind::Run { process, arguments, .. } = &stmt.kind {
            let parameters = program.processes[*process].parameters.iter();
            let passed = parameters.zip(arguments).filter(|(it, _)| live.linking.contains(it));
            found.extend(passed.map(|(_, argument)| argument));
        }
        stmt.kind.bodies().for_each(|it| linking_arguments(program, live, it, found));
    }
}
