//! The reference semantics: a plain interpreter of programs over packed states.
//!
//! It walks expressions as trees. It reads and writes the packed bits through the [`Layout`], one cell at a time. It
//! caches, reorders and specialises nothing, so these files define the meaning of a program:
//!
//! - `eval`: the value of an expression in a state; `failure`: failed evaluations;
//! - `apply`: the effect of statements and messages on a state;
//! - `frames`: bindings of names, local variables, calls;
//! - `multisets`: multisets; `sorting`: their canonical form;
//! - `scheduling`: the movers of a state and their order;
//! - `steps`: the steps of a state and their order; `step_sink`: their parts, and the consumer of steps; `rendezvous`:
//!   steps of two movers;
//! - `lockstep`: steps of programs whose processes move together; `starts`: the initial states;
//! - `bindings`: the values of an action's parameters that are tried;
//! - `slots`: dynamic processes; `channels`: channels as values;
//! - `claims`: the moves of a claim in a state;
//! - `masks`: the bits of a state that a step can change;
//! - `movers`: the processes that take part in a step, and those that are able to;
//! - `read_recorder`: execution of one action instance, with a record of the cells it reads;
//! - `action_selection`: enabled action instances, and expansion of chosen ones;
//! - `distance`: the distance of a state to a violation;
//! - `describe`: descriptions of states; `disabled_rules`: why no rule is enabled in a state;
//! - `unsupported`: constructs that are rejected before a search begins.

mod action_selection;
mod apply;
mod bindings;
mod channels;
mod claims;
mod covers;
mod describe;
mod disabled_rules;
mod distance;
mod eval;
mod failure;
mod frames;
mod lockstep;
mod masks;
mod movers;
mod multisets;
mod operands;
mod read_recorder;
mod rendezvous;
mod scheduling;
mod slots;
mod sorting;
mod starts;
mod step_sink;
mod steps;
mod unsupported;

pub use action_selection::InterpSelector;
pub use multisets::{MultisetCells, multisets};
pub use read_recorder::{InstanceOutcome, ReadRecorder};

pub(crate) use bindings::IndexScan;
pub(crate) use channels::{ChannelInstance, ChannelReceive};
pub use claims::{ClaimConditions, ClaimMoves, ClaimPath, ClaimPaths, claim_paths_under};
pub use distance::ViolationDistance;
pub use failure::EvalFailure;
use frames::LocalEnv;
pub(crate) use frames::StoreRule;
pub(crate) use scheduling::{MoverContext, MoverMode};
use spillway_analysis::ranges::ranges;
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;
use spillway_ir::layout::{GroupId, InvalidKeyOrder, LocalFrame, StateValidator};
use spillway_ir::{
    Action, ActionId, ActionsByLocation, EndRule, Expr, Layout, LocationId, ProcessId,
    ProcessInstance, Program, ProgramProperty, PropertyId, PropertyKind, Urgency, text,
};
use spillway_model::{
    ActionInfo, Capabilities, ConditionModality, DisabledRuleInstance, ModelError, ProcessLocation,
    ProgramDescription, PropertyInfo, StateSpace, StateValue, StepDescription, StepOutcome,
    SuccessorSink, SystemDescription, TakenAction, Violation, stop_request,
};
pub(crate) use step_sink::{StepAction, StepTarget};
pub(crate) use steps::WITHIN_MAX;

use std::fmt::Write;
use std::ops::ControlFlow;
use unsupported::reject_unsupported;

/// The maximum size of a state in bytes, set by the store.
const BYTES_MAX: usize = u16::MAX as usize;

/// A program ready to be interpreted.
#[derive(Debug)]
pub struct Interp {
    program: Program,
    layout: Layout,
    /// Distinguishes states from other bytes.
    codes: StateValidator,
    from: ActionsByLocation,
    /// Actions that belong to no process.
    free: Vec<ActionId>,
    channels: channels::ChannelOrder,
    /// Whether any location is committed.
    has_committed: bool,
    /// Whether any action has a priority.
    has_priorities: bool,
    /// Every multiset of a state.
    multisets: Vec<MultisetCells>,
    /// The bit position of each multiset.
    rows: Vec<sorting::MultisetBits>,
    /// Whether the program has dynamic processes.
    has_slots: bool,
    /// Whether any expression reads `timeout`.
    has_timeout: bool,
    /// Properties that are evaluated on single states, with their numbers.
    judged: Vec<(u32, StateProperty)>,
    /// Assumptions: conditions that hold in all states that are not excluded.
    assumptions: Vec<Expr>,
    /// Conditions on states without steps in which processes remain, with the numbers of the properties.
    at_ends: Vec<(u32, Expr)>,
    /// The constraints. A state that violates one has no outgoing steps.
    constraints: Vec<Expr>,
    /// The binding plan of each action that has one.
    plans: Vec<Option<bindings::ActionBindingPlan>>,
    digest: [u8; 32],
    /// Records the cells that are read, if requested.
    reads: Option<read_recorder::CellReads>,
}

/// A property of single states. It is violated if the process is at the location and the condition is false.
#[derive(Clone, Debug)]
struct StateProperty {
    at: Option<(ProcessId, LocationId)>,
    condition: Expr,
}

impl Interp {
    /// Prepares a valid program, or names a construct that is not executed yet. States have bits only for the values
    /// that variables can have ([`ranges`]).
    pub fn new(program: Program) -> Result<Interp, Diagnostic> {
        let layout = match ranges(&program) {
            Some(ranges) => Layout::with_ranges(&program, &ranges),
            None => Layout::new(&program),
        };
        Interp::with_layout(program, layout)
    }

    /// Does the same, with bits for all declared values of variables.
    pub fn as_declared(program: Program) -> Result<Interp, Diagnostic> {
        let layout = Layout::new(&program);
        Interp::with_layout(program, layout)
    }

    /// Prepares a program that a rewrite pass made of this one. It has the same states and stores nothing that this
    /// one cannot. Returns `None` if it has constructs that are not executed.
    pub fn rewritten(&self, mut program: Program) -> Option<Interp> {
        program.number_exprs();
        let mut layout = self.layout.clone();
        // Actions that the original program does not have.
        for _ in layout.frames.actions.len()..program.actions.len() {
            layout.frames.actions.push(LocalFrame::default());
        }
        Interp::with_layout(program, layout).ok()
    }

    fn with_layout(mut program: Program, layout: Layout) -> Result<Interp, Diagnostic> {
        reject_unsupported(&program)?;
        if layout.bytes > BYTES_MAX {
            let message = format!(
                "a state of this model takes {} bytes, but at most {BYTES_MAX} can be stored",
                layout.bytes
            );
            return Err(Diagnostic::error(Span::default(), message)
                .help("make its arrays shorter, its channels smaller or its processes fewer"));
        }
        let digest = digest(&mut program, &layout);
        let from = ActionsByLocation::leaving(&program);
        let free = program.actions.iter().filter(|(_, it)| it.edge.is_none());
        let free = free.map(|(id, _)| id).collect();
        let has_slots = program.has_dynamic_processes();
        let has_committed = !has_slots && has_committed_location(&program);
        let judged = state_properties_of(&program);
        let assumptions = conditions_of(&program, |it| match it {
            PropertyKind::Assumption(condition) => Some(condition),
            _ => None,
        });
        let constraints = conditions_of(&program, |it| match it {
            PropertyKind::Constraint(condition) => Some(condition),
            _ => None,
        });
        let at_ends = (program.properties.iter())
            .filter_map(|(id, property)| match &property.kind {
                PropertyKind::AtEnd(condition) => Some((id.0, condition.clone())),
                _ => None,
            })
            .collect();
        let has_priorities = program.actions.values().any(|action| action.priority != 0);
        let multisets = multisets::multisets(&program, &layout);
        let rows = sorting::rows(&layout, &multisets);
        let provided = program.processes.values().filter_map(|it| it.life.provided.as_ref());
        let has_timeout = program.actions.values().any(Action::reads_timeout)
            || provided.into_iter().any(Expr::reads_timeout);
        let codes = layout.codes();
        Ok(Interp {
            plans: bindings::ActionBindingPlan::all(&program),
            channels: channels::ChannelOrder::new(&program),
            program,
            layout,
            codes,
            from,
            free,
            has_committed,
            has_priorities,
            multisets,
            rows,
            has_slots,
            has_timeout,
            judged,
            assumptions,
            at_ends,
            constraints,
            digest,
            reads: None,
        })
    }

    /// Returns the same system with the cell groups of its states in the given order: the same states and steps, with
    /// other keys.
    pub fn with_order(self, order: &[GroupId]) -> Result<Interp, InvalidKeyOrder> {
        let Interp { mut program, layout, .. } = self;
        let layout = layout.reordered(order)?;
        let digest = digest(&mut program, &layout);
        let rows = sorting::rows(&layout, &self.multisets);
        let codes = layout.codes();
        Ok(Interp { program, layout, codes, digest, rows, ..self })
    }

    /// Returns whether the bytes are states of the program, one after another: every cell holds one of its codes. All
    /// other methods rely on it.
    pub fn are_states(&self, states: &[u8]) -> bool {
        self.codes.are_states(states)
    }

    /// Fails `out` unless the bytes are states.
    pub(crate) fn reject_non_states(&self, states: &[u8], out: &mut SuccessorSink) -> bool {
        let checked = self.check(states);
        let is_refused = checked.is_err();
        checked.unwrap_or_else(|error| out.give_up(error));
        is_refused
    }

    /// Returns an error unless the bytes are states.
    pub(crate) fn check(&self, states: &[u8]) -> spillway_model::Result<()> {
        if self.are_states(states) {
            return Ok(());
        }
        let mut each = states.chunks(self.width());
        let wrong = each.find(|state| !self.codes.is_state(state)).unwrap_or_default();
        let reason = format!("the bytes {wrong:02x?} are not one of its states");
        Err(ModelError::failed(reason))
    }

    /// Returns the executed program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Returns the layout of its variables in a state.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    fn location(&self, state: &[u8], process: ProcessId) -> LocationId {
        let cell = self.layout.locations[process].first;
        let code = self.value_in(state, cell).unwrap_or_default();
        LocationId(code as u32)
    }

    /// Reports the properties that fail in `state`, and those that meet an error during evaluation.
    fn broken_properties(&self, state: &[u8], mut report: impl FnMut(u32, Option<EvalFailure>)) {
        for (number, judged) in &self.judged {
            match self.holds_in(judged, state) {
                Ok(true) => {}
                Ok(false) => report(*number, None),
                Err(fault) => report(*number, Some(fault)),
            }
        }
    }

    /// Returns whether a property of single states holds in one.
    fn holds_in(&self, judged: &StateProperty, state: &[u8]) -> Result<bool, EvalFailure> {
        match judged.at {
            Some((process, at)) if self.location(state, process) != at => Ok(true),
            _ => Ok(self.eval(&judged.condition, state, &LocalEnv::default())? != 0),
        }
    }

    /// Returns the actions of a process from one of its locations.
    pub(crate) fn actions_from(&self, process: ProcessId, at: LocationId) -> &[ActionId] {
        self.from.at(process, at)
    }

    /// Returns whether any action, or any `provided` condition of a process, reads `timeout`.
    pub fn reads_timeout(&self) -> bool {
        self.has_timeout
    }

    /// Returns the actions without a process.
    pub(crate) fn free_actions(&self) -> &[ActionId] {
        &self.free
    }

    /// Returns every multiset of a state, inner ones before those that contain them.
    pub(crate) fn multisets(&self) -> &[MultisetCells] {
        &self.multisets
    }

    /// Returns the properties of single states: the number, the process location at which it applies, and the
    /// condition.
    pub(crate) fn state_properties(
        &self,
    ) -> impl Iterator<Item = (u32, Option<(ProcessId, LocationId)>, &Expr)> {
        self.judged.iter().map(|(number, judged)| (*number, judged.at, &judged.condition))
    }

    /// Returns whether the condition of a property of single states holds.
    pub(crate) fn evaluate_property(
        &self,
        state: &[u8],
        property: u32,
    ) -> Result<bool, EvalFailure> {
        match self.judged.iter().find(|(number, _)| *number == property) {
            Some((_, it)) => Ok(self.eval(&it.condition, state, &LocalEnv::default())? != 0),
            None => Ok(true),
        }
    }

    /// Returns the number of the evaluation of a property, as an action. These numbers follow all starts. An error of
    /// the evaluation is reported as a step that fails.
    pub(crate) fn property_action_number(&self, property: u32) -> u32 {
        self.start_number(self.program.starts.len() as u32) + property
    }

    /// Finds the violations of a state without outgoing steps.
    pub(crate) fn check_end_state(&self, state: &[u8], mut find: impl FnMut(Violation)) {
        if !self.is_within_constraints(state) {
            return;
        }
        if !self.is_valid_end(state) {
            return find(Violation::Deadlock);
        }
        if self.at_ends.is_empty() || !self.has_processes(state) {
            return;
        }
        for (number, condition) in &self.at_ends {
            let holds = self.eval(condition, state, &LocalEnv::default());
            if !holds.is_ok_and(|it| it != 0) {
                find(Violation::Property(*number));
            }
        }
    }

    /// Returns whether all constraints hold in a state.
    fn is_within_constraints(&self, state: &[u8]) -> bool {
        let holds = |it: &Expr| self.eval(it, state, &LocalEnv::default()).is_ok_and(|it| it != 0);
        self.constraints.iter().all(holds)
    }

    fn is_valid_end(&self, state: &[u8]) -> bool {
        match self.program.end {
            EndRule::Never | EndRule::NeverStuttering => false,
            EndRule::AllAtValidEnd => self.all_at_end(state),
        }
    }

    /// Returns whether a step to `successor` counts as a step that leaves the state.
    pub(crate) fn is_non_stuttering(&self, state: &[u8], successor: &[u8]) -> bool {
        self.program.end != EndRule::NeverStuttering || state != successor
    }

    /// Returns the number of a start, as an action. Starts follow all actions.
    fn start_number(&self, start: u32) -> u32 {
        self.program.actions.len() as u32 + start
    }

    /// Returns the action that represents a step. If there are several, the last is the one at fault.
    pub(crate) fn representative_action(&self, taken: &[StepAction], is_fault: bool) -> ActionId {
        let at = if self.has_slots && is_fault { taken.last() } else { taken.first() };
        at.map_or(ActionId(0), |it| it.action)
    }

    fn step(&self, state: &[u8], taken: &[StepAction], outcome: StepOutcome) -> StepDescription {
        let pid = |it: &StepAction| {
            let process = self.program.actions[it.action].edge?.process;
            let pid = self.pid(state, ProcessInstance { process, slot: it.slot });
            Some(TakenAction { action: it.action.0, pid: u32::try_from(pid).ok()? })
        };
        let with_pids = if self.has_slots { taken } else { &[] };
        let movers = self.movers_of(taken).into_iter().map(Into::into).collect();
        let action = self.representative_action(taken, matches!(outcome, StepOutcome::Fault(_)));
        let actions: Vec<&Action> =
            taken.iter().map(|it| &self.program.actions[it.action]).collect();
        StepDescription {
            action: action.0,
            name: actions.iter().map(|action| action.name.as_str()).collect::<Vec<_>>().join(" + "),
            parameters: taken.iter().flat_map(|it| self.parameters_of(it)).collect(),
            actors: taken.iter().map(|it| self.actor(state, it)).collect(),
            spans: actions.iter().map(|action| action.span).collect(),
            actions: with_pids.iter().filter_map(pid).collect(),
            movers,
            outcome,
        }
    }
}

fn has_committed_location(program: &Program) -> bool {
    let mut locations = program.processes.values().flat_map(|it| it.locations.values());
    locations.any(|it| it.urgency == Urgency::Committed)
}

/// Returns the conditions of the properties of a kind.
fn conditions_of(program: &Program, of_kind: fn(&PropertyKind) -> Option<&Expr>) -> Vec<Expr> {
    program.properties.values().filter_map(|it| of_kind(&it.kind).cloned()).collect()
}

/// Returns the properties of single states, with their numbers.
fn state_properties_of(program: &Program) -> Vec<(u32, StateProperty)> {
    let judged = program.properties.iter().filter_map(|(id, property)| {
        let (at, condition) = match &property.kind {
            PropertyKind::Invariant(condition) | PropertyKind::Cover(condition) => {
                (None, condition)
            }
            PropertyKind::AssertionAt { process, location, condition } => {
                (Some((*process, *location)), condition)
            }
            PropertyKind::Automaton(_)
            | PropertyKind::Assumption(_)
            | PropertyKind::AtEnd(_)
            | PropertyKind::Constraint(_)
            | PropertyKind::Claim(_)
            | PropertyKind::Reached => return None,
        };
        Some((id.0, StateProperty { at, condition: condition.clone() }))
    });
    judged.collect()
}

impl StateSpace for Interp {
    fn width(&self) -> usize {
        self.layout.bytes
    }

    fn bits(&self) -> u32 {
        self.layout.bits
    }

    fn initial(&self, out: &mut SuccessorSink) {
        let zero = vec![0; self.width()];
        covers::clear_covers();
        self.run_starts(|number, result| {
            covers::report_covers(&zero, out);
            match result {
                Ok(state) => out.candidate(state),
                Err(fault) => {
                    out.record_finding(
                        Violation::Fault(fault.kind, self.start_number(number)),
                        &zero,
                    );
                }
            }
            match out.has_failed() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
    }

    fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
        if self.reject_non_states(states, out) {
            return;
        }
        for state in states.chunks_exact(self.width()) {
            if stop_request::is_requested() {
                return;
            }
            let mut stuck = true;
            covers::clear_covers();
            self.each_step(state, &mut |taken, result| match result {
                Ok(StepTarget::To(successor)) => {
                    stuck &= !self.is_non_stuttering(state, successor);
                    out.candidate(successor);
                }
                Ok(StepTarget::LeftOut) => {
                    stuck = false;
                    out.count_excluded(1);
                }
                Ok(StepTarget::Intermediate) => out.count_actions(taken.iter().map(|it| it.action)),
                Err(fault) => {
                    stuck &= fault.kind.always_continues_step();
                    let action = self.representative_action(taken, true);
                    out.record_finding(Violation::Fault(fault.kind, action.0), state);
                }
            });
            covers::report_covers(state, out);
            if stuck {
                self.check_end_state(state, |it| out.record_finding(it, state));
            }
            self.check_properties(state, out);
        }
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        self.find_write_masks()
    }

    fn digest(&self) -> [u8; 32] {
        self.digest
    }

    fn description(&self) -> &dyn SystemDescription {
        self
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities::NONE
    }
}

impl SystemDescription for Interp {
    fn steps(&self, state: &[u8]) -> Vec<StepDescription> {
        let mut steps = Vec::new();
        if !self.codes.is_state(state) {
            return steps;
        }
        self.each_step(state, &mut |taken, result| {
            let outcome = match result {
                Ok(StepTarget::To(successor)) => StepOutcome::Successor(successor.to_vec()),
                Ok(StepTarget::LeftOut | StepTarget::Intermediate) => return,
                Err(fault) => StepOutcome::Fault(*fault),
            };
            steps.push(self.step(state, taken, outcome));
        });
        self.broken_properties(state, |number, fault| {
            let Some(fault) = fault else { return };
            let action = self.property_action_number(number);
            let property = &self.program.properties[PropertyId(number)];
            let kind = kind_of(&property.kind);
            steps.push(StepDescription {
                action,
                name: format!("evaluating the {kind} {}", property.name),
                parameters: Vec::new(),
                actors: Vec::new(),
                spans: vec![property.span],
                actions: Vec::new(),
                movers: Vec::new(),
                outcome: StepOutcome::Fault(*fault),
            });
        });
        steps
    }

    fn visit_starts(&self, visit: &mut dyn FnMut(StepDescription) -> ControlFlow<()>) {
        self.run_starts(|number, result| {
            let start = &self.program.starts[number as usize];
            let outcome = match result {
                Ok(state) => StepOutcome::Successor(state.to_vec()),
                Err(fault) => StepOutcome::Fault(*fault),
            };
            let (name, spans) = (start.name.clone(), vec![start.span]);
            let (action, actions) = (self.start_number(number), Vec::new());
            visit(StepDescription {
                action,
                name,
                parameters: Vec::new(),
                actors: Vec::new(),
                spans,
                actions,
                movers: Vec::new(),
                outcome,
            })
        });
    }

    fn properties(&self) -> Vec<PropertyInfo> {
        self.program.properties.values().map(info_of).collect()
    }

    fn property(&self, number: u32) -> Option<PropertyInfo> {
        self.program.properties.get(PropertyId(number)).map(info_of)
    }

    fn action_name(&self, action: u32) -> String {
        let start = action.checked_sub(self.start_number(0));
        let start = start.and_then(|number| self.program.starts.get(number as usize));
        let judging = action.checked_sub(self.property_action_number(0));
        let property = judging.and_then(|it| self.program.properties.get(PropertyId(it)));
        let action = self.program.actions.get(ActionId(action)).map(|it| &it.name);
        let name = action.or(start.map(|it| &it.name)).or(property.map(|it| &it.name));
        name.cloned().unwrap_or_default()
    }

    fn violations(&self, state: &[u8]) -> Vec<Violation> {
        let mut found = Vec::new();
        if !self.codes.is_state(state) {
            return found;
        }
        let mut stuck = true;
        self.each_step(state, &mut |_, result| {
            stuck &= match result {
                Ok(StepTarget::To(successor)) => !self.is_non_stuttering(state, successor),
                Ok(StepTarget::Intermediate) => true,
                Ok(StepTarget::LeftOut) => false,
                Err(fault) => fault.kind.always_continues_step(),
            };
        });
        if stuck {
            self.check_end_state(state, |it| found.push(it));
        }
        self.broken_properties(state, |number, fault| {
            found.extend(fault.is_none().then_some(Violation::Property(number)));
        });
        found
    }

    fn describe(&self, state: &[u8]) -> Vec<(String, StateValue)> {
        match self.codes.is_state(state) {
            true => self.describe_state(state),
            false => vec![("no state".into(), format!("{state:02x?}").into())],
        }
    }

    fn program(&self) -> Option<&dyn ProgramDescription> {
        Some(self)
    }
}

impl ProgramDescription for Interp {
    fn actions(&self) -> Vec<ActionInfo> {
        let all = self.program.actions.values();
        all.map(|it| ActionInfo { name: it.name.clone(), span: it.extent() }).collect()
    }

    fn operands(&self, state: &[u8], property: u32) -> Vec<(String, StateValue)> {
        self.operands_of(state, property)
    }

    fn process_locations(&self, state: &[u8]) -> Vec<ProcessLocation> {
        self.standing_in(state)
    }

    fn disabled_rules(&self, state: &[u8]) -> Vec<DisabledRuleInstance> {
        self.disabled_in(state)
    }

    fn property_judged_by(&self, action: u32) -> Option<u32> {
        let number = action.checked_sub(self.property_action_number(0))?;
        self.program.properties.get(PropertyId(number)).map(|_| number)
    }
}

/// Returns the report entry of a property.
fn info_of(property: &ProgramProperty) -> PropertyInfo {
    let (kind, name) = (kind_of(&property.kind), property.name.clone());
    PropertyInfo { kind, name, span: property.span }
}

/// Returns the kind of a property, in reports.
fn kind_of(kind: &PropertyKind) -> &'static str {
    match kind {
        PropertyKind::Invariant(_) => "invariant",
        PropertyKind::Cover(_) | PropertyKind::Reached => spillway_model::COVER,
        PropertyKind::Assumption(_) => "assumption",
        PropertyKind::Constraint(_) => ConditionModality::Within.name(),
        PropertyKind::AssertionAt { .. } => "assert",
        PropertyKind::AtEnd(_) => spillway_model::TRACE,
        PropertyKind::Automaton(_) => "automaton",
        PropertyKind::Claim(_) => "claim",
    }
}

/// Returns a digest of the printed program and of the positions of its cells. The model's name does not matter.
fn digest(program: &mut Program, layout: &Layout) -> [u8; 32] {
    struct HashWriter(blake3::Hasher);
    impl std::fmt::Write for HashWriter {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            self.0.update(text.as_bytes());
            Ok(())
        }
    }
    let name = std::mem::take(&mut program.name);
    let mut feed = HashWriter(blake3::Hasher::new());
    // Writing to a hasher does not fail.
    let _ = write!(feed, "{}", text::print(program));
    program.name = name;
    for cell in layout.cells.values() {
        feed.0.update(&cell.bit.to_le_bytes());
    }
    *feed.0.finalize().as_bytes()
}
