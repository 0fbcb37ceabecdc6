//! The processes that exist in a state, for an analysis of the runs from that state.
//!
//! Processes are a stack, and the channels of processes are numbered in its order. So a number denotes the same
//! channel as long as the owner exists, and the owner exists as long as any process above it. Processes that start
//! later get their channels as parameters. The analysis of a live process knows the values of its parameters. The
//! analysis of a later process assumes that its *linking* parameters denote no channel: its user adds the steps that
//! pass a channel on (`docs/reductions/partial-order.md`).

use super::access_set::ChannelSlot;
use crate::constants::constants;
use crate::variable_mentions::VariableMentions;
use spillway_ir::walk::{self, CodeVisitor, PlaceAccess};
use spillway_ir::{
    ChannelRef, Expr, ExprKind, Owner, Place, PlaceRoot, ProcessId, ProcessInstance, Program,
    StmtKind, VarId,
};
use std::collections::BTreeSet;
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

    /// Returns the channel of a process that a number denotes as long as a live process exists.
    pub(super) fn channel(
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
