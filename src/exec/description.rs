//! What people are told of a model: its steps, with what they are called and where they stand.

use super::{FaultKind, StateSpace, StateValue, Violation};
use crate::ir::ProcessInstance;
use crate::source::Span;
use std::ops::ControlFlow;

/// What explaining needs of a transition system.
pub trait SystemDescription: StateSpace {
    /// Every step out of `state`, faulty ones included, in the order of [`StateSpace::expand`]. Properties
    /// that meet an error when asked in `state` come last, as steps that do.
    fn steps(&self, state: &[u8]) -> Vec<StepDescription>;

    /// Shows every step of start-up, in the order in which [`StateSpace::initial`] gives the initial
    /// states, until `visit` breaks off.
    fn visit_starts(&self, visit: &mut dyn FnMut(StepDescription) -> ControlFlow<()>);

    /// All steps of start-up at once; for models that start in few states.
    fn starts(&self) -> Vec<StepDescription> {
        let mut steps = Vec::new();
        self.visit_starts(&mut |step| {
            steps.push(step);
            ControlFlow::Continue(())
        });
        steps
    }

    /// The names of the model's properties; [`Violation::Property`] is an index into it.
    fn properties(&self) -> Vec<PropertyInfo>;

    /// The property of a number, if there is one.
    fn property(&self, number: u32) -> Option<PropertyInfo> {
        self.properties().into_iter().nth(number as usize)
    }

    /// The model's actions by number, as far as it is counted how often each is taken.
    fn actions(&self) -> Vec<ActionInfo> {
        Vec::new()
    }

    /// What the user calls an action, by its number.
    fn action_name(&self, action: u32) -> String;

    /// What is violated in `state` itself: deadlock and properties, not faulty steps.
    fn violations(&self, state: &[u8]) -> Vec<Violation>;

    /// What decided that a property of states does not hold in one: what it reads there, with the names of that.
    fn operands(&self, _state: &[u8], _property: u32) -> Vec<(String, StateValue)> {
        Vec::new()
    }

    /// Where the processes are in a state, if the model has any.
    fn process_locations(&self, _state: &[u8]) -> Vec<ProcessLocation> {
        Vec::new()
    }

    /// The instances of rules that no process takes, in a state from which nothing leads on.
    fn disabled_rules(&self, _state: &[u8]) -> Vec<DisabledRuleInstance> {
        Vec::new()
    }

    /// The property whose judging this action stands for, if it does: that judging it meets an error is told as a step.
    fn property_judged_by(&self, _action: u32) -> Option<u32> {
        None
    }

    /// The state as the user's variables, in order, each with its name.
    fn describe(&self, state: &[u8]) -> Vec<(String, StateValue)>;
}

/// The first start that is wanted, by its number or what it does, with its number.
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

/// A property as reports call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyInfo {
    /// `assert`, `invariant`.
    pub kind: &'static str,
    /// The user's name for it, or what it says.
    pub name: String,
    /// Where it stands.
    pub span: Span,
}

/// An action as reports call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionInfo {
    /// What the user calls it.
    pub name: String,
    /// Where it stands.
    pub span: Span,
}

/// Where a process is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessLocation {
    /// What the user calls it.
    pub process: String,
    /// What its location is called.
    pub location: String,
    /// Where that stands in the source.
    pub span: Span,
    /// The actions that lead on from there, possible or not; none if it has come to its end.
    pub outgoing: Vec<OutgoingAction>,
}

/// An action that leads on from where a process is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutgoingAction {
    /// What the user calls it.
    pub name: String,
    /// Where its guard stands, if it has one.
    pub guard: Option<Span>,
    /// What decides whether it is possible: what its guard reads, and the channel of its message.
    pub operands: Vec<(String, StateValue)>,
}

/// An instance of a rule that leads on from nowhere in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisabledRuleInstance {
    /// What the user calls the rule.
    pub name: String,
    /// The values of its parameters, with the user's names for them.
    pub parameters: Vec<(String, StateValue)>,
    /// Where it stands in the source.
    pub span: Span,
    /// What its guard lacks; nothing if it holds, and the rule changes nothing.
    pub unmet: Vec<UnmetCondition>,
}

/// A part of a guard that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnmetCondition {
    /// Where it stands in the source.
    pub condition: Span,
    /// What decides it: what it reads.
    pub operands: Vec<(String, StateValue)>,
}

/// One step of the model, as users see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepDescription {
    /// The number of the action (of the receiver's, in a rendezvous).
    pub action: u32,
    /// What the user calls it.
    pub name: String,
    /// The values of its parameters (of both sides, in a rendezvous), with the user's names for them.
    pub parameters: Vec<(String, StateValue)>,
    /// Who takes each of its actions; nobody for actions of no process.
    pub actors: Vec<Option<StepActor>>,
    /// Where the action, or both sides of a rendezvous, stand in the source.
    pub spans: Vec<Span>,
    /// Every action of the step, in order, where processes have pids; else nothing.
    pub actions: Vec<TakenAction>,
    /// The processes that take part, each once, where the model has processes.
    pub movers: Vec<ProcessInstance>,
    /// What came of it.
    pub outcome: StepOutcome,
}

impl StepDescription {
    /// What the user calls it, with who takes it, if there are several like that, and the values of its parameters:
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

    /// Whether it is another step, which meets an error behind which steps go on, as it goes on behind that.
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

/// Actions with who takes them; who takes several in a row is named once, if it is one of several processes of a kind.
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

/// An action's name without the process that is named at its beginning.
pub fn without_process<'n>(action: &'n str, process: &str) -> &'n str {
    let rest = action.strip_prefix(process);
    rest.map_or(action, |it| it.trim_start_matches([':', '.', ' ']))
}

/// Who takes an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepActor {
    /// The process, as states call it: `Sender[0]`.
    pub process: String,
    /// What the user calls the action.
    pub action: String,
    /// Whether it sends.
    pub sends: bool,
}

impl StepActor {
    /// What the process is one of: `Sender`.
    fn kind(&self) -> &str {
        self.process.split('[').next().unwrap_or(&self.process)
    }

    /// The action without the process.
    pub fn action_without_process(&self) -> &str {
        without_process(&self.action, self.kind())
    }
}

/// An action and who takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TakenAction {
    /// The number of the action.
    pub action: u32,
    /// The pid of who takes it.
    pub pid: u32,
}

/// What came of a step.
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
    /// What sort of error.
    pub kind: FaultKind,
    /// What happened, with the values involved.
    pub message: String,
    /// Where in the source.
    pub span: Span,
    /// What decided that an assertion does not hold: what it reads, with the names of that.
    pub operands: Vec<(String, StateValue)>,
    /// The functions in which it happened, the innermost first.
    pub calls: Vec<CallSite>,
    /// What the state was when the step ended, if the step had begun to change it.
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
    /// One of which nothing else is known.
    pub fn new(kind: FaultKind, message: impl Into<String>, span: Span) -> RuntimeFault {
        let (message, operands, calls) = (message.into(), Vec::new(), Vec::new());
        RuntimeFault { kind, message, span, operands, calls, reached: None }
    }
}
