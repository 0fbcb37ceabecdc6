//! The description of a system for reports: its steps, states and properties, with names and source positions.

use super::{FaultKind, SearchOutcome, StateSpace, StateValue, Violation};
use spillway_base::source::Span;
use std::ops::ControlFlow;

/// A state space that describes its steps, states and properties.
///
/// [`steps`](SystemDescription::steps) returns the same successors as [`StateSpace::expand`], in the same order, with
/// more details. It may be slower. Counterexamples are replayed by it.
pub trait SystemDescription: StateSpace {
    /// Returns every step from `state`, failing steps included, in the order of [`StateSpace::expand`]. Properties
    /// whose evaluation fails in `state` come last, as failing steps.
    fn steps(&self, state: &[u8]) -> Vec<StepDescription>;

    /// Visits every step of start-up, in the order of the initial states of [`StateSpace::initial`], until `visit`
    /// breaks off.
    fn visit_starts(&self, visit: &mut dyn FnMut(StepDescription) -> ControlFlow<()>);

    /// Returns all steps of start-up, for systems with few initial states.
    fn starts(&self) -> Vec<StepDescription> {
        let mut steps = Vec::new();
        self.visit_starts(&mut |step| {
            steps.push(step);
            ControlFlow::Continue(())
        });
        steps
    }

    /// Returns the properties of the system. [`Violation::Property`] is an index into them.
    fn properties(&self) -> Vec<PropertyInfo>;

    /// Returns the property with a number, if there is one.
    fn property(&self, number: u32) -> Option<PropertyInfo> {
        self.properties().into_iter().nth(number as usize)
    }

    /// Returns the violated properties of the counts of a search that has visited all states.
    fn violated_at_end(&self, outcome: &SearchOutcome) -> Vec<EndViolation> {
        let _ = outcome;
        Vec::new()
    }

    /// Returns whether reports give the number of generated states, which the users of the language compare.
    fn counts_generated_states(&self) -> bool {
        false
    }

    /// Returns the name of an action, by its number.
    fn action_name(&self, action: u32) -> String;

    /// Returns the violations in `state` itself: deadlock and properties, but not failing steps.
    fn violations(&self, state: &[u8]) -> Vec<Violation>;

    /// Returns the state as variables in order, each a name and a value.
    fn describe(&self, state: &[u8]) -> Vec<(String, StateValue)>;

    /// Returns the state as [`describe`](Self::describe) does, for a reader of the innermost parts: a value with parts
    /// need not have its own text.
    fn describe_parts(&self, state: &[u8]) -> Vec<(String, StateValue)> {
        self.describe(state)
    }

    /// Returns the further description, if the system is a program. A wrapper forwards or replaces it; a plain system
    /// returns nothing.
    fn program(&self) -> Option<&dyn ProgramDescription>;
}

/// A property that is violated without a violating state, once all states have been visited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndViolation {
    /// The number of the property.
    pub property: u32,
    /// Why its evaluation failed, if it did.
    pub failure: Option<String>,
}

/// The description of a system that is a program: actions with source positions, processes, rules.
pub trait ProgramDescription {
    /// Returns the actions by number, as far as their executions are counted.
    fn actions(&self) -> Vec<ActionInfo>;

    /// Returns the operands of a property in `state`: the variables that the property reads there, with their values.
    fn operands(&self, state: &[u8], property: u32) -> Vec<(String, StateValue)>;

    /// Returns the locations of the processes in a state; empty if there are none.
    fn process_locations(&self, state: &[u8]) -> Vec<ProcessLocation>;

    /// Returns the instances of rules without a process, in a state without successors.
    fn disabled_rules(&self, state: &[u8]) -> Vec<DisabledRuleInstance>;

    /// Returns the property whose evaluation has this action number, if there is one: a failing evaluation is described
    /// as a step.
    fn property_judged_by(&self, action: u32) -> Option<u32>;
}

/// The description of a program; empty for other systems.
impl dyn SystemDescription + '_ {
    /// See [`ProgramDescription::actions`].
    pub fn actions(&self) -> Vec<ActionInfo> {
        self.program().map_or_else(Vec::new, |it| it.actions())
    }

    /// See [`ProgramDescription::operands`].
    pub fn operands(&self, state: &[u8], property: u32) -> Vec<(String, StateValue)> {
        self.program().map_or_else(Vec::new, |it| it.operands(state, property))
    }

    /// See [`ProgramDescription::process_locations`].
    pub fn process_locations(&self, state: &[u8]) -> Vec<ProcessLocation> {
        self.program().map_or_else(Vec::new, |it| it.process_locations(state))
    }

    /// See [`ProgramDescription::disabled_rules`].
    pub fn disabled_rules(&self, state: &[u8]) -> Vec<DisabledRuleInstance> {
        self.program().map_or_else(Vec::new, |it| it.disabled_rules(state))
    }

    /// See [`ProgramDescription::property_judged_by`].
    pub fn property_judged_by(&self, action: u32) -> Option<u32> {
        self.program()?.property_judged_by(action)
    }
}

/// Returns the first step of start-up that `is_wanted` accepts, with its number.
pub fn find_start(
    model: &dyn SystemDescription,
    mut is_wanted: impl FnMut(u64, &StepDescription) -> bool,
) -> Option<(u64, StepDescription)> {
    let (mut number, mut found) = (0, None);
    model.visit_starts(&mut |step| match is_wanted(number, &step) {
        true => {
            found = Some((number, step));
            ControlFlow::Break(())
        }
        false => {
            number += 1;
            ControlFlow::Continue(())
        }
    });
    found
}

/// A property in reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyInfo {
    /// Its kind: `assert`, `invariant`, ...
    pub kind: &'static str,
    /// Its name in the model, or its text.
    pub name: String,
    /// Its source position.
    pub span: Span,
}

/// An action in reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionInfo {
    /// Its name in the model.
    pub name: String,
    /// Its source position.
    pub span: Span,
}

/// The location of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessLocation {
    /// Its name in the model.
    pub process: String,
    /// The name of its location.
    pub location: String,
    /// The source position of the location.
    pub span: Span,
    /// The actions that leave the location, enabled or not; none if the process has ended.
    pub outgoing: Vec<OutgoingAction>,
}

/// An action that leaves the location of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutgoingAction {
    /// Its name in the model.
    pub name: String,
    /// The source position of its guard, if it has one.
    pub guard: Option<Span>,
    /// The operands that decide whether it is enabled: those of its guard, and the channel of its message.
    pub operands: Vec<(String, StateValue)>,
}

/// An instance of a rule that is disabled in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisabledRuleInstance {
    /// The rule's name in the model.
    pub name: String,
    /// The values of its parameters, with their names.
    pub parameters: Vec<(String, StateValue)>,
    /// Its source position.
    pub span: Span,
    /// The parts of its guard that do not hold; none if the guard holds and the rule changes nothing.
    pub unmet: Vec<UnmetCondition>,
}

/// A part of a guard that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnmetCondition {
    /// Its source position.
    pub condition: Span,
    /// Its operands: the variables that it reads.
    pub operands: Vec<(String, StateValue)>,
}

/// A step in reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepDescription {
    /// The number of the action; in a rendezvous, of the receiver's action.
    pub action: u32,
    /// Its name in the model.
    pub name: String,
    /// The values of its parameters, with their names; in a rendezvous, of both sides.
    pub parameters: Vec<(String, StateValue)>,
    /// The process that executes each of its actions; none for an action without a process.
    pub actors: Vec<Option<StepActor>>,
    /// The source positions of the action, or of both sides of a rendezvous.
    pub spans: Vec<Span>,
    /// Every action of the step, in order, if processes have pids; otherwise empty.
    pub actions: Vec<TakenAction>,
    /// The processes that take part, each once.
    pub movers: Vec<MovingProcess>,
    /// Its outcome.
    pub outcome: StepOutcome,
}

impl StepDescription {
    /// Creates a step of a system that has neither processes nor source positions.
    pub fn unplaced(action: u32, name: String, outcome: StepOutcome) -> StepDescription {
        StepDescription {
            action,
            name,
            parameters: Vec::new(),
            actors: Vec::new(),
            spans: Vec::new(),
            actions: Vec::new(),
            movers: Vec::new(),
            outcome,
        }
    }

    /// Returns its name with the process that executes it, if there are several such processes, and the values of its
    /// parameters: `Sender[1]: out!x`, `ask to own (n: node_2)`.
    pub fn title(&self) -> String {
        let actors: Option<Vec<&StepActor>> = self.actors.iter().map(Option::as_ref).collect();
        let name = match actors {
            Some(actors) if !actors.is_empty() => describe_actors(&actors),
            _ => self.name.clone(),
        };
        if self.parameters.is_empty() {
            return name;
        }
        let values = self.parameters.iter().map(|(name, value)| format!("{name}: {value}"));
        format!("{name} ({})", values.collect::<Vec<_>>().join(", "))
    }

    /// Returns whether this step continues a step that failed with an error after which steps may continue.
    pub fn continues_fault_of(&self, failed: &StepDescription) -> bool {
        let StepOutcome::Fault(fault) = &failed.outcome else { return false };
        let is_fault = matches!(self.outcome, StepOutcome::Fault(_));
        let is_longer = self.actions.len() > failed.actions.len();
        fault.kind.may_continue_step()
            && !failed.actions.is_empty()
            && self.actions.starts_with(&failed.actions)
            && (is_longer || !is_fault)
    }
}

/// Describes actions with their processes. A process that executes several in a row is named once, if it is one of
/// several of its kind.
fn describe_actors(actors: &[&StepActor]) -> String {
    let (mut text, mut last) = (String::new(), None);
    for actor in actors {
        let process = actor.process.as_str();
        let goes_on = last.replace(process) == Some(process);
        let is_numbered = process != actor.kind();
        text += match goes_on && is_numbered {
            true => "; ",
            false if text.is_empty() => "",
            false => " + ",
        };
        text += &match (is_numbered, goes_on) {
            (false, _) => actor.action.clone(),
            (true, true) => actor.action_without_process().to_owned(),
            (true, false) => format!("{process}: {}", actor.action_without_process()),
        };
    }
    text
}

/// Returns an action's name without the name of the process at its beginning.
pub fn without_process<'n>(action: &'n str, process: &str) -> &'n str {
    let rest = action.strip_prefix(process);
    rest.map_or(action, |it| it.trim_start_matches([':', '.', ' ']))
}

/// The process that executes an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepActor {
    /// The name of the process in states: `Sender[0]`.
    pub process: String,
    /// The name of the action in the model.
    pub action: String,
    /// Whether the action is a send.
    pub sends: bool,
}

impl StepActor {
    /// Returns the process type: `Sender`.
    fn kind(&self) -> &str {
        self.process.split('[').next().unwrap_or(&self.process)
    }

    /// Returns the name of the action without the process.
    pub fn action_without_process(&self) -> &str {
        without_process(&self.action, self.kind())
    }
}

/// An action and the process that executes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TakenAction {
    /// The number of the action.
    pub action: u32,
    /// The pid of the process that executes it.
    pub pid: u32,
}

/// A process that takes part in a step: the number of its type, and its index among the processes of that type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MovingProcess {
    /// The number of the process type.
    pub process: u32,
    /// The slot of the process.
    pub slot: u32,
}

/// The outcome of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepOutcome {
    /// The next state.
    Successor(Vec<u8>),
    /// A run-time error.
    Fault(RuntimeFault),
}

/// A run-time error in a step: a violation with a trace, never a crash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuntimeFault {
    /// The kind of error.
    pub kind: FaultKind,
    /// The description of the error, with the values involved.
    pub message: String,
    /// The source position.
    pub span: Span,
    /// The operands of a failed assertion: the variables that it reads, with their names.
    pub operands: Vec<(String, StateValue)>,
    /// The calls in which it happened, the innermost first.
    pub calls: Vec<CallSite>,
    /// The state when the step failed, if the step had begun to change it.
    pub reached: Option<Vec<u8>>,
}

/// A call that had not returned when a step failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallSite {
    /// The function.
    pub function: String,
    /// The source position of the call.
    pub span: Span,
}

impl RuntimeFault {
    /// Creates an error without further details.
    pub fn new(kind: FaultKind, message: impl Into<String>, span: Span) -> RuntimeFault {
        let (message, operands, calls) = (message.into(), Vec::new(), Vec::new());
        RuntimeFault { kind, message, span, operands, calls, reached: None }
    }

    /// Returns the kind of the violation and the message: `assert: MESSAGE`, `error: MESSAGE`.
    pub fn title(&self) -> String {
        format!("{}: {}", self.kind.violation(), self.message)
    }
}
