//! How a system is shown to people: its steps, states and properties, with names and source positions.

use super::{FaultKind, StateSpace, StateValue, Violation};
use crate::source::Span;
use std::ops::ControlFlow;

/// A state space that describes its steps, states and properties.
///
/// [`steps`](SystemDescription::steps) gives the same successors as [`StateSpace::expand`], in the same order. It says more
/// and may be slower: counterexamples are replayed by it.
pub trait SystemDescription: StateSpace {
    /// Every step from `state`, failing steps included, in the order of [`StateSpace::expand`]. Properties whose evaluation
    /// fails in `state` come last, as failing steps.
    fn steps(&self, state: &[u8]) -> Vec<StepDescription>;

    /// Shows every step of start-up, in the order in which [`StateSpace::initial`] gives the initial states, until `visit`
    /// breaks off.
    fn visit_starts(&self, visit: &mut dyn FnMut(StepDescription) -> ControlFlow<()>);

    /// All steps of start-up at once, for systems with few initial states.
    fn starts(&self) -> Vec<StepDescription> {
        let mut steps = Vec::new();
        self.visit_starts(&mut |step| {
            steps.push(step);
            ControlFlow::Continue(())
        });
        steps
    }

    /// The properties of the system. [`Violation::Property`] is an index into them.
    fn properties(&self) -> Vec<PropertyInfo>;

    /// The property with a number, if there is one.
    fn property(&self, number: u32) -> Option<PropertyInfo> {
        self.properties().into_iter().nth(number as usize)
    }

    /// The name of an action, by its number.
    fn action_name(&self, action: u32) -> String;

    /// What is violated in `state` itself: deadlock and properties, but not failing steps.
    fn violations(&self, state: &[u8]) -> Vec<Violation>;

    /// The state as variables in order, each a name and a value.
    fn describe(&self, state: &[u8]) -> Vec<(String, StateValue)>;

    /// What else can be shown, if the system is a program. A wrapper forwards or replaces it; a plain system returns
    /// nothing.
    fn program(&self) -> Option<&dyn ProgramDescription>;
}

/// What can be shown of a system that is a program: actions with source positions, processes, rules.
pub trait ProgramDescription {
    /// The actions by number, as far as it is counted how often each is taken.
    fn actions(&self) -> Vec<ActionInfo>;

    /// What decides a property of states in `state`: the variables that the property reads there, with their values.
    fn operands(&self, state: &[u8], property: u32) -> Vec<(String, StateValue)>;

    /// Where the processes are in a state; empty if there are none.
    fn process_locations(&self, state: &[u8]) -> Vec<ProcessLocation>;

    /// The instances of rules of no process, in a state without successors.
    fn disabled_rules(&self, state: &[u8]) -> Vec<DisabledRuleInstance>;

    /// The property whose evaluation has this action number, if it is one: an evaluation that fails is shown as a step.
    fn property_judged_by(&self, action: u32) -> Option<u32>;
}

/// What a program shows, and nothing of other systems.
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

/// The first step of start-up that `is_wanted` accepts, with its number.
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

/// A property, as reports show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyInfo {
    /// Its kind: `assert`, `invariant`, ...
    pub kind: &'static str,
    /// Its name in the model, or its text.
    pub name: String,
    /// Its place in the source.
    pub span: Span,
}

/// An action, as reports show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionInfo {
    /// Its name in the model.
    pub name: String,
    /// Its place in the source.
    pub span: Span,
}

/// The location of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessLocation {
    /// Its name in the model.
    pub process: String,
    /// The name of its location.
    pub location: String,
    /// The location's place in the source.
    pub span: Span,
    /// The actions that leave the location, enabled or not; none if the process has ended.
    pub outgoing: Vec<OutgoingAction>,
}

/// An action that leaves the location of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutgoingAction {
    /// Its name in the model.
    pub name: String,
    /// The place of its guard, if it has one.
    pub guard: Option<Span>,
    /// What decides whether it is enabled: what its guard reads, and the channel of its message.
    pub operands: Vec<(String, StateValue)>,
}

/// An instance of a rule that is disabled in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisabledRuleInstance {
    /// The rule's name in the model.
    pub name: String,
    /// The values of its parameters, with their names.
    pub parameters: Vec<(String, StateValue)>,
    /// Its place in the source.
    pub span: Span,
    /// The parts of its guard that do not hold; none if the guard holds and the rule changes nothing.
    pub unmet: Vec<UnmetCondition>,
}

/// A part of a guard that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnmetCondition {
    /// Its place in the source.
    pub condition: Span,
    /// What decides it: the variables that it reads.
    pub operands: Vec<(String, StateValue)>,
}

/// A step, as people see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepDescription {
    /// The number of the action (of the receiver's, in a rendezvous).
    pub action: u32,
    /// Its name in the model.
    pub name: String,
    /// The values of its parameters (of both sides, in a rendezvous), with their names.
    pub parameters: Vec<(String, StateValue)>,
    /// The process that takes each of its actions; none for an action of no process.
    pub actors: Vec<Option<StepActor>>,
    /// The places of the action, or of both sides of a rendezvous, in the source.
    pub spans: Vec<Span>,
    /// Every action of the step, in order, if processes have pids; else empty.
    pub actions: Vec<TakenAction>,
    /// The processes that take part, each once.
    pub movers: Vec<MovingProcess>,
    /// Its outcome.
    pub outcome: StepOutcome,
}

impl StepDescription {
    /// Its name with the process that takes it, if there are several such processes, and the values of its parameters:
    /// `Sender[1]: out!x`, `ask to own (n: node_2)`.
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

    /// Whether this step continues a step that failed with an error after which steps may continue.
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

/// Actions with the processes that take them. A process that takes several in a row is named once, if it is one of several
/// of its kind.
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

/// An action's name without the name of the process at its beginning.
pub fn without_process<'n>(action: &'n str, process: &str) -> &'n str {
    let rest = action.strip_prefix(process);
    rest.map_or(action, |it| it.trim_start_matches([':', '.', ' ']))
}

/// The process that takes an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepActor {
    /// The process, as states call it: `Sender[0]`.
    pub process: String,
    /// The action's name in the model.
    pub action: String,
    /// Whether it sends.
    pub sends: bool,
}

impl StepActor {
    /// The process type: `Sender`.
    fn kind(&self) -> &str {
        self.process.split('[').next().unwrap_or(&self.process)
    }

    /// The action's name without the process.
    pub fn action_without_process(&self) -> &str {
        without_process(&self.action, self.kind())
    }
}

/// An action and the process that takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TakenAction {
    /// The number of the action.
    pub action: u32,
    /// The pid of the process that takes it.
    pub pid: u32,
}

/// A process that takes part in a step: the number of its type, and which of the processes of that type it is.
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
    /// What happened, with the values involved.
    pub message: String,
    /// Where in the source.
    pub span: Span,
    /// What decides that an assertion does not hold: the variables that it reads, with their names.
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
    /// Where it is called.
    pub span: Span,
}

impl RuntimeFault {
    /// An error of which nothing else is known.
    pub fn new(kind: FaultKind, message: impl Into<String>, span: Span) -> RuntimeFault {
        let (message, operands, calls) = (message.into(), Vec::new(), Vec::new());
        RuntimeFault { kind, message, span, operands, calls, reached: None }
    }
}
