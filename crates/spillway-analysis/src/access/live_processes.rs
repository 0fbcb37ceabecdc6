//! The processes that exist in a state, for an analysis of the runs from that state.
//!
//! Processes are a stack, and the channels of processes are numbered in its order. So a number denotes the same
//! channel as long as the owner exists, and the owner exists as long as any process above it. Processes that start
//! later get their channels as parameters. The analysis of a live process knows the values of its parameters. The
//! analysis of a later process assumes that its *linking* parameters denote no channel: its user adds the steps that
//! pass a channel on (`docs/reductions/partial-order.md`).

use super::access_set::ChannelSlot;
use super::access_table::AccessTable;
use super::collector::{AccessCollector, MoverSlots};
use crate::constants::constants;
use crate::instances::InstanceSide;
use crate::variable_mentions::VariableMentions;
use spillway_ir::layout::CellId;
use spillway_ir::walk::{self, CodeVisitor, PlaceAccess};
use spillway_ir::{
    ChannelRef, Expr, ExprKind, Owner, Place, PlaceRoot, ProcessId, ProcessInstance, Program, Stmt,
    StmtKind, VarId,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The processes that exist in a state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LiveProcesses {
    /// The processes in the order of their pids.
    pub stack: Vec<ProcessInstance>,
    /// The kinds of processes that may start in the state or later.
    pub open: Vec<ProcessId>,
    /// The parameters that only the start of a process sets, and that denote channels.
    pub linking: Arc<BTreeSet<VarId>>,
}

impl LiveProcesses {
    /// Returns whether a process exists.
    pub fn has(&self, process: ProcessInstance) -> bool {
        self.stack.contains(&process)
    }

    /// Returns whether all processes of a mover start later.
    fn starts_later(&self, mover: &MoverSlots) -> bool {
        let is_free =
            |slot| mover.process.is_some_and(|it| !self.has(ProcessInstance { process: it, slot }));
        mover.process.is_some_and(|it| self.open.contains(&it)) && mover.slots.clone().all(is_free)
    }

    /// Returns the channel of a process that a number denotes as long as a live process exists.
    fn channel(
        &self,
        program: &Program,
        number: i64,
        user: ProcessInstance,
    ) -> Option<ChannelSlot> {
        let common = program.channels_of(Owner::Program).count();
        let position = usize::try_from(number).ok()?.checked_sub(common + 1)?;
        let below = self.stack.iter().position(|it| *it == user)?;
        let own = self.stack[..=below].iter().flat_map(|&ProcessInstance { process, slot }| {
            let channels = program.channels_of(Owner::Process(process));
            channels.map(move |id| ChannelSlot { id, slot })
        });
        own.into_iter().nth(position)
    }
}

impl AccessCollector<'_> {
    /// Returns whether a channel is that of a linking parameter of a process that starts later.
    pub fn is_linked_later(&self, channel: &ChannelRef) -> bool {
        let ChannelRef::Computed(number) = channel else { return false };
        self.omits_later_links
            && self.known.live.is_some_and(|live| {
                let is_linking = own_variable(number).is_some_and(|it| live.linking.contains(&it));
                is_linking && live.starts_later(&self.scope.mover)
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

/// Returns the linking parameters of a program: those that only the start of a process sets, and that code uses as
/// channels.
pub fn linking_parameters(program: &Program) -> BTreeSet<VarId> {
    let mut used = LinkFinder::default();
    walk::program(&mut used, program);
    let mut prologues = VariableMentions::default();
    let lives = program.processes.values().map(|it| &it.life);
    lives.for_each(|it| walk::body(&mut prologues, &it.prologue));
    let starts = |it: &StmtKind| matches!(it, StmtKind::Run { .. });
    let mut processes = program.processes.values();
    if prologues.writes_by_name || processes.any(|it| walk::any_stmt(&it.life.prologue, &starts)) {
        return BTreeSet::new();
    }
    let dynamic = program.processes.values().filter(|it| it.has_slots());
    let parameters: BTreeSet<VarId> = dynamic.flat_map(|it| &it.parameters).copied().collect();
    let constants = constants(program).into_iter();
    let is_linking = |it: &VarId| {
        parameters.contains(it) && used.0.contains(it) && !prologues.writes.contains(it)
    };
    constants.filter(is_linking).collect()
}

/// The variables of movers that are used as channels.
#[derive(Default)]
struct LinkFinder(BTreeSet<VarId>);

impl CodeVisitor for LinkFinder {
    fn channel(&mut self, channel: &ChannelRef, _: PlaceAccess) {
        if let ChannelRef::Computed(number) = channel {
            self.0.extend(own_variable(number));
        }
        walk::channel(self, channel);
    }
}

/// Returns the variable of the mover that an expression reads, if it is nothing else.
pub fn own_variable(number: &Expr) -> Option<VarId> {
    match &number.kind {
        ExprKind::Read(Place { root: PlaceRoot::Variable(it), slot: None, path, .. })
            if path.is_empty() =>
        {
            Some(*it)
        }
        _ => None,
    }
}

/// No known values.
static NOTHING_KNOWN: BTreeMap<CellId, i64> = BTreeMap::new();

impl AccessTable<'_> {
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
