//! `simulate`: one walk through a model, random or interactive.

use super::args::SimulateArgs;
use super::command::ModelInput;
use super::failure::{VERIFIED, VIOLATED};
use super::model_walk::{ModelWalk, WalkStep};
use super::reachable_graph::walkable;
use super::trace_position::{TracePosition, WalkStart};
use super::{CommandResult, model, print, say, warn};
use crate::escape;
use crate::model::{StateValue, StepOutcome, Violation};
use crate::random::SplitMix64;
use crate::report;
use std::io::BufRead;

/// The default number of random steps.
const STEPS: u64 = 20;

/// The maximum number of successive steps that an interactive walk takes without a choice.
const ALONE_MAX: usize = 20;

/// `spillway simulate`.
pub(super) fn simulate(args: &SimulateArgs) -> CommandResult {
    let input = ModelInput::from_args(&args.model, &args.expert);
    let (model, warnings) = model::open_any(&input, model::open_widest)?;
    let model = &*model;
    if args.from.is_none() {
        // Otherwise the search has printed them.
        warnings.iter().for_each(warn);
    }
    match args.from.as_deref().map(TracePosition::read) {
        None => {
            let searched = model.searched();
            let path = ModelWalk::new(model, walkable(&searched));
            SimulatedWalk { path }.go(args)
        }
        Some(from) => from.walk(model, |WalkStart { walk, to }| {
            let walk = SimulatedWalk { path: walk };
            let at = match walk.path.steps.len() - 1 {
                0 => "at the start".to_owned(),
                step => format!("after step {step}"),
            };
            print(&report::wrapped("", &format!("{at} of the counterexample to {to}")));
            walk.show();
            walk.current_violation().iter().for_each(|it| print(it));
            walk.go(args)
        }),
    }
}

/// A walk on a terminal.
struct SimulatedWalk<'w> {
    path: ModelWalk<'w>,
}

impl SimulatedWalk<'_> {
    /// Takes steps until the requested number is reached, there are no more, or a property is violated.
    fn go(mut self, args: &SimulateArgs) -> CommandResult {
        let mut chooser = match args.interactive {
            true => StepChooser::Person(InteractiveChooser::default()),
            false => StepChooser::Random(SplitMix64::new(args.seed)),
        };
        // The user ends an interactive walk.
        let usual = if args.interactive { u64::MAX } else { STEPS };
        let steps = args.steps.unwrap_or(usual);
        let most = (self.path.steps.len() as u64).saturating_sub(1).saturating_add(steps);
        while self.path.steps.len() as u64 <= most {
            let options = self.path.options(usize::MAX);
            match chooser.choose(&self, &options) {
                WalkCommand::Leave if self.current_violation().is_some() => return Ok(VIOLATED),
                WalkCommand::Leave => return Ok(VERIFIED),
                WalkCommand::Back => self.go_back(),
                WalkCommand::Take(number) => {
                    if self.take_step(options[number].clone()) {
                        return Ok(VIOLATED);
                    }
                }
            }
        }
        if args.steps.is_none() {
            say(format!("note: stopped after {STEPS} steps; --steps N takes more"));
        }
        Ok(VERIFIED)
    }

    /// Takes a step and prints it. Returns whether a property is then violated.
    fn take_step(&mut self, taken: WalkStep) -> bool {
        let ModelWalk { model, walked, ref steps } = self.path;
        let title = taken.step.title();
        print(&report::wrapped(&format!("{:>5}  ", steps.len()), &title));
        let state = match &taken.step.outcome {
            StepOutcome::Successor(state) => state.clone(),
            StepOutcome::Fault(fault) => {
                let sources = model.sources();
                let place = sources.locate(fault.span).unwrap_or_default();
                let kind = fault.kind.violation();
                let told = format!("{kind}: {} ({place})", fault.message);
                print(&report::wrapped(MARGIN, &told));
                for line in report::call_lines(&fault.calls, &mut |span| sources.locate(span)) {
                    print(&report::wrapped(MARGIN, &line));
                }
                if let (Some(before), Some(reached)) = (self.path.state(), &fault.reached) {
                    let after = walked.describe(reached);
                    for line in report::print_changes(&walked.describe(before), &after) {
                        print(&report::wrapped(MARGIN, &line));
                    }
                }
                print(&with(&fault.operands));
                return true;
            }
        };
        let after = walked.describe(&state);
        let lines = match self.path.state() {
            None => report::print_state(model.sources(), &after),
            Some(before) => report::print_changes(&walked.describe(before), &after),
        };
        for line in lines {
            print(&report::wrapped(MARGIN, &line));
        }
        let wrong = self.wrong_in(&state);
        wrong.iter().for_each(|it| print(it));
        self.path.steps.push(taken);
        wrong.is_some()
    }

    /// Describes the violation in the current state, if there is one.
    fn current_violation(&self) -> Option<String> {
        self.path.state().and_then(|it| self.wrong_in(it))
    }

    /// Describes the violation in a state as lines, if there is one.
    fn wrong_in(&self, state: &[u8]) -> Option<String> {
        let ModelWalk { model, walked, .. } = self.path;
        let told = match self.path.violations(state).into_iter().next()? {
            Violation::Property(number) => {
                let info = &walked.properties()[number as usize];
                let place = model.sources().locate(info.span).unwrap_or_default();
                let told = match info.kind {
                    "claim" => format!("the claim `{}` ends here ({place})", info.name),
                    kind => format!("the {kind} `{}` does not hold here ({place})", info.name),
                };
                report::wrapped(MARGIN, &told) + &with(&walked.operands(state, number))
            }
            _ => format!("{MARGIN}deadlock: no step can be taken here\n"),
        };
        Some(told)
    }

    /// Goes back to the last choice.
    fn go_back(&mut self) {
        self.path.steps.pop();
        while self.path.options(usize::MAX).len() == 1 && self.path.steps.pop().is_some() {}
        match self.path.steps.len() {
            0 => print("back to the start\n"),
            number => print(&format!("back to step {}\n", number - 1)),
        }
        self.show();
    }

    /// Prints the current state.
    fn show(&self) {
        let Some(state) = self.path.state() else { return };
        for (name, value) in self.path.walked.describe(state) {
            print(&report::wrapped(MARGIN, &format!("{name} = {value}")));
        }
    }
}

/// The indentation of the lines below a step.
const MARGIN: &str = "       ";

/// Formats the operands of a violated property, if there are any.
fn with(operands: &[(String, StateValue)]) -> String {
    match operands {
        [] => String::new(),
        _ => report::wrapped(MARGIN, &format!("with {}", report::print_values(operands))),
    }
}

/// The source of decisions.
enum StepChooser {
    /// The user, on the terminal.
    Person(InteractiveChooser),
    /// A random generator.
    Random(SplitMix64),
}

/// The state of an interactive walk.
#[derive(Default)]
struct InteractiveChooser {
    /// The last input. An empty line repeats it.
    last: String,
    /// The number of successive steps without a choice.
    alone: usize,
}

/// A command of the user.
enum WalkCommand {
    /// The step with this number.
    Take(usize),
    Back,
    Leave,
}

impl StepChooser {
    fn choose(&mut self, walk: &SimulatedWalk<'_>, options: &[WalkStep]) -> WalkCommand {
        match self {
            StepChooser::Random(_) if options.is_empty() => WalkCommand::Leave,
            StepChooser::Random(random) => WalkCommand::Take(random.below(options.len())),
            StepChooser::Person(person) if options.len() == 1 && person.alone < ALONE_MAX => {
                person.alone += 1;
                WalkCommand::Take(0)
            }
            StepChooser::Person(person) => {
                person.alone = 0;
                person.ask(walk, options)
            }
        }
    }
}

/// The help on inputs other than a number.
const ANSWERS: &str = "       a number takes that step, b goes back to the last choice,
       s shows the state, l lists the steps, q quits;
       an empty line repeats the last answer\n";

/// Prints steps with their numbers.
fn list(walk: &SimulatedWalk<'_>, options: &[WalkStep]) {
    for (number, WalkStep { step, .. }) in options.iter().enumerate() {
        let place = step.spans.first().and_then(|&span| walk.path.model.sources().locate(span));
        let place = place.unwrap_or_default();
        let fails = matches!(step.outcome, StepOutcome::Fault(_));
        let fails = if fails { ", fails" } else { "" };
        let title = step.title();
        let title = escape::line(&title);
        print(&format!("       [{number}] {title}    {}{fails}\n", escape::line(&place)));
    }
}

impl InteractiveChooser {
    fn ask(&mut self, walk: &SimulatedWalk<'_>, options: &[WalkStep]) -> WalkCommand {
        list(walk, options);
        let mut lines = std::io::stdin().lock().lines();
        loop {
            print(&match options.len().checked_sub(1) {
                Some(0) => "step 0, or b, s, l, h (help), q: ".to_owned(),
                Some(last) => format!("step 0 to {last}, or b, s, l, h (help), q: "),
                None => "no step is left; b, s, h (help), q: ".to_owned(),
            });
            let Some(Ok(line)) = lines.next() else { return WalkCommand::Leave };
            let before = self.last.clone();
            if !line.trim().is_empty() {
                line.trim().clone_into(&mut self.last);
            }
            match self.last.as_str() {
                "" | "l" | "list" => list(walk, options),
                "q" | "quit" => return WalkCommand::Leave,
                "b" | "back" if walk.path.steps.is_empty() => print("this is the start\n"),
                "b" | "back" => return WalkCommand::Back,
                "s" | "state" => walk.show(),
                "h" | "help" | "?" => print(ANSWERS),
                number => match number.parse() {
                    Ok(number) if number < options.len() => return WalkCommand::Take(number),
                    _ => {
                        print(&format!("there is no step `{number}`; h lists the commands\n"));
                        self.last = before;
                    }
                },
            }
        }
    }
}
