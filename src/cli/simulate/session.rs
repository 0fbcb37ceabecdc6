//! `simulate --interactive`: a walk whose steps the user chooses.
//!
//! Expressions are conditions of the model. When a command brings a new one, the model is read again with it, and the
//! walk is repeated there.

use super::printed_walk::PrintedWalk;
use super::saved_path;
use super::session_command::{SessionCommand, help_lines};
use crate::cli::breakpoints::{
    self, BreakpointKind, BreakpointSet, WalkBreakpoint, WatchedBreakpoints, breakpoint_name,
};
use crate::cli::expression_watch::{self, ExpressionWatch};
use crate::cli::failure::{self, CommandFailure};
use crate::cli::model_walk::{ModelWalk, WalkStep};
use crate::cli::reachable_graph::walkable;
use crate::cli::signals::CommandInterrupt;
use crate::cli::{CommandResult, print};
use crate::random::SplitMix64;
use crate::report::{count, wrapped};
use crate::session::{SearchJob, SourceModel};
use std::io::{self, BufRead};
use std::path::Path;

/// The maximum number of successive steps that a walk takes without a choice.
const ALONE_MAX: usize = 20;

/// The maximum number of steps of `until`.
const UNTIL_MAX: u64 = 10_000;

/// The maximum number of steps of `random`: the walk keeps each step in memory.
const RANDOM_MAX: u64 = 100_000;

/// The maximum number of steps of one command that are printed while it runs.
const SHOWN_MAX: u64 = 20;

/// The name of the expression of `until` among the properties of the model.
const UNTIL: &str = "until";

/// The start of a session.
pub(super) struct WalkOrigin<'s> {
    /// The job, which reads the model.
    pub job: &'s SearchJob,
    /// The choices of the walk so far.
    pub choices: Vec<usize>,
    /// The seed of random steps.
    pub seed: u64,
    /// The maximum number of steps from here. `None`: no limit.
    pub steps: Option<u64>,
}

/// An expression with its name among the properties of the model.
#[derive(Clone, PartialEq, Eq)]
struct NamedExpression {
    name: String,
    text: String,
}

/// What a session keeps when it reads the model again.
struct SessionState {
    breakpoints: BreakpointSet,
    /// The last command that moved. An empty line repeats it.
    last_move: Option<SessionCommand>,
    random: SplitMix64,
    /// The maximum number of steps of the walk, with the initial state.
    length_max: u64,
    /// Whether the next steps were listed since the last step.
    is_listed: bool,
    /// Ends a command at a signal.
    interrupt: CommandInterrupt,
}

/// A model that is read again.
struct ReadModel {
    model: Box<dyn SourceModel>,
    /// The expressions with which it was read.
    expressions: Vec<NamedExpression>,
    /// The command that continues the session.
    command: Option<SessionCommand>,
}

/// Why a session stops.
enum SessionStop {
    /// The walk has ended.
    Ended,
    /// The walk continues in another model.
    Read(ReadModel),
}

/// Runs a session.
pub(super) fn hold_session(start: WalkOrigin<'_>) -> CommandResult {
    let WalkOrigin { job, mut choices, seed, steps } = start;
    let length = choices.len().max(1) as u64;
    let mut state = SessionState {
        breakpoints: BreakpointSet::default(),
        last_move: None,
        random: SplitMix64::new(seed),
        length_max: steps.map_or(u64::MAX, |it| length.saturating_add(it)),
        is_listed: false,
        interrupt: CommandInterrupt::register(),
    };
    let mut is_new = choices.is_empty();
    let (model, expressions, command) = (job.unreduced_model()?, Vec::new(), None);
    let mut read = ReadModel { model, expressions, command };
    loop {
        let next = {
            let searched = read.model.searched();
            let mut path = ModelWalk::new(&*read.model, walkable(&searched));
            let watches = watches_of(&read.expressions, &path);
            path.watched = watches.iter().map(|it| it.watch.number).collect();
            if !choices.iter().all(|it| path.take(*it)) {
                unreachable!("a further condition changes no step");
            }
            let walk = PrintedWalk::new(path, true);
            let mut session = WalkSession { walk, watches, job, state: &mut state };
            if std::mem::take(&mut is_new) {
                session.follow();
            }
            match session.run(read.command.take()) {
                SessionStop::Ended if session.walk.is_violated() => return Ok(failure::VIOLATED),
                SessionStop::Ended => return Ok(failure::VERIFIED),
                SessionStop::Read(next) => {
                    choices = session.walk.path.choices();
                    next
                }
            }
        };
        read = next;
    }
}

/// Finds expressions among the properties of the model of a walk.
fn watches_of(expressions: &[NamedExpression], path: &ModelWalk<'_>) -> Vec<WatchedExpression> {
    let watch = |it: &NamedExpression| {
        let watch = ExpressionWatch::of_condition(&it.name, path.model, path.walked)?;
        Some(WatchedExpression { expression: it.clone(), watch })
    };
    expressions.iter().filter_map(watch).collect()
}

/// An expression of the model of a session.
struct WatchedExpression {
    expression: NamedExpression,
    watch: ExpressionWatch,
}

/// A session in one model.
struct WalkSession<'w> {
    walk: PrintedWalk<'w>,
    watches: Vec<WatchedExpression>,
    job: &'w SearchJob,
    state: &'w mut SessionState,
}

/// Steps of one command.
#[derive(Default)]
struct StepCount {
    taken: u64,
    hidden: u64,
}

/// Reads a line of standard input. `None` at its end.
fn read_line() -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    io::stdin().lock().read_until(b'\n', &mut line)?;
    Ok((!line.is_empty()).then_some(line))
}

/// Prints a line.
fn tell(line: &str) {
    print(&format!("{line}\n"));
}

impl WalkSession<'_> {
    /// Executes commands until the walk ends or the model is read again.
    fn run(&mut self, command: Option<SessionCommand>) -> SessionStop {
        let stop = command.and_then(|it| self.execute(it));
        if let Some(stop) = stop {
            return stop;
        }
        loop {
            if self.is_full() {
                tell("the walk ends here, as --steps says");
                return SessionStop::Ended;
            }
            let options = self.options();
            if !std::mem::replace(&mut self.state.is_listed, true) {
                self.walk.list(&options);
            }
            print(&prompt(options.len()));
            let line = self.state.interrupt.at_prompt(read_line);
            let Ok(Some(line)) = line else { return SessionStop::Ended };
            let Ok(line) = String::from_utf8(line) else {
                tell("the line is not UTF-8 text");
                continue;
            };
            let command = match SessionCommand::parse(&line) {
                Ok(command) => command,
                Err(error) => {
                    tell(&error.to_string());
                    continue;
                }
            };
            if let Some(stop) = self.execute(command) {
                return stop;
            }
        }
    }

    fn options(&self) -> Vec<WalkStep> {
        self.walk.path.options(usize::MAX)
    }

    /// Returns whether the walk has its maximum number of steps.
    fn is_full(&self) -> bool {
        self.walk.path.steps.len() as u64 >= self.state.length_max
    }

    fn execute(&mut self, command: SessionCommand) -> Option<SessionStop> {
        let command = match command {
            SessionCommand::Repeat => {
                self.state.last_move.clone().unwrap_or(SessionCommand::Random(1))
            }
            command => command,
        };
        match &command {
            SessionCommand::Take(number) => {
                if !self.take(*number) {
                    return None;
                }
            }
            SessionCommand::Random(steps) => self.take_random(*steps),
            SessionCommand::Until(text) => match self.watch(UNTIL, text) {
                Some(watch) => self.run_until(text, watch),
                None => return self.read_with(UNTIL, text, Some(command.clone())),
            },
            SessionCommand::Undo(steps) => self.undo(*steps),
            SessionCommand::Back => self.go_back(),
            SessionCommand::Break(text) => return self.set_breakpoint(text),
            SessionCommand::Quit => return Some(SessionStop::Ended),
            other => self.show(other),
        }
        if command.moves() {
            self.state.last_move = Some(command);
        }
        None
    }

    /// Executes a command that neither moves nor reads the model again.
    fn show(&mut self, command: &SessionCommand) {
        match command {
            SessionCommand::List => self.walk.list(&self.options()),
            SessionCommand::State => self.walk.show(),
            SessionCommand::Where => {
                self.walk.show_lines();
                self.walk.list(&self.options());
            }
            SessionCommand::Path(steps) => self.walk.show_path(*steps),
            SessionCommand::Chart(steps) => self.walk.show_chart(*steps),
            SessionCommand::ListBreakpoints => self.list_breakpoints(),
            SessionCommand::Delete(number) => self.delete(*number),
            SessionCommand::Save(file) => {
                match saved_path::save(&self.walk.path, self.job, Path::new(file)) {
                    Ok(says) => tell(&says),
                    Err(CommandFailure { message, .. }) => tell(&message),
                }
            }
            _ => help_lines().iter().for_each(|(typed, effect)| {
                print(&wrapped(&format!("  {typed:<19}"), effect));
            }),
        }
    }

    /// Takes the step of a number, and further steps while there is no choice. Returns whether there is such a step.
    fn take(&mut self, number: usize) -> bool {
        let mut options = self.options();
        let steps = match options.len().checked_sub(1) {
            None => "no step is left".to_owned(),
            Some(last) => format!("the steps are 0 to {last}"),
        };
        if number >= options.len() {
            tell(&format!("there is no step `{number}`; {steps} (`help` lists the commands)"));
            return false;
        }
        if !self.step(options.swap_remove(number), true) {
            self.follow();
        }
        true
    }

    /// Takes steps while there is no choice.
    fn follow(&mut self) {
        for _ in 0..ALONE_MAX {
            let mut options = self.options();
            if options.len() != 1 || self.is_full() || self.step(options.swap_remove(0), true) {
                return;
            }
        }
    }

    /// Takes a step. Returns whether steps stop here: at a violation or a breakpoint.
    fn step(&mut self, step: WalkStep, is_shown: bool) -> bool {
        let (model, walked) = (self.walk.path.model, self.walk.path.walked);
        let watched = WatchedBreakpoints::of(self.state.breakpoints.iter(), model, walked);
        let before = watched.facts(self.walk.path.state());
        self.walk.take_step(step, is_shown);
        self.state.is_listed = false;
        let after = watched.facts(self.walk.path.state());
        let Some(taken) = self.walk.path.steps.last() else { return false };
        let hit = watched.hit(&taken.step, &before, &after);
        for it in &hit {
            tell(&format!("breakpoint {}: {} {}", it.number, it.kind.name(), it.text));
        }
        !hit.is_empty() || self.walk.is_violated()
    }

    /// Returns whether an expression holds in the current state.
    fn holds(&self, watch: ExpressionWatch) -> bool {
        let walked = self.walk.path.walked;
        self.walk.path.state().is_some_and(|it| watch.holds(walked, it, &walked.steps(it)))
    }

    /// Takes a random step, if there is one. `None` if no step is left.
    fn random_step(&mut self, steps: &mut StepCount) -> Option<bool> {
        let mut options = self.options();
        if options.is_empty() {
            return None;
        }
        let step = options.swap_remove(self.state.random.below(options.len()));
        let is_shown = steps.taken < SHOWN_MAX;
        steps.taken += 1;
        steps.hidden += u64::from(!is_shown);
        Some(self.step(step, is_shown))
    }

    /// Prints the last step, if it is hidden.
    fn show_hidden(&self, steps: &StepCount) {
        if let Some(further) = steps.hidden.checked_sub(1) {
            if further > 0 {
                let all = count(further, "further step");
                tell(&format!("       ... {all}; `path` prints the last ones"));
            }
            self.walk.show_path(1);
        }
    }

    fn take_random(&mut self, most: u64) {
        let mut steps = StepCount::default();
        let why = loop {
            if steps.taken == most || self.is_full() {
                break None;
            }
            let all = count(steps.taken, "step");
            if self.state.interrupt.is_raised() {
                break Some(format!("stopped by a signal after {all}"));
            }
            if steps.taken == RANDOM_MAX {
                break Some(format!("stopped after {all}; Enter takes further steps"));
            }
            match self.random_step(&mut steps) {
                Some(false) => {}
                Some(true) => break None,
                None => break Some("no step is left".to_owned()),
            }
        };
        self.show_hidden(&steps);
        why.iter().for_each(|it| tell(it));
    }

    /// Takes random steps until an expression holds.
    fn run_until(&mut self, text: &str, watch: ExpressionWatch) {
        let mut steps = StepCount::default();
        let why = loop {
            if self.is_full() {
                break format!("`{text}` did not hold");
            }
            if self.state.interrupt.is_raised() {
                let all = count(steps.taken, "step");
                break format!("`{text}` did not hold; stopped by a signal after {all}");
            }
            if steps.taken == UNTIL_MAX {
                let all = count(steps.taken, "step");
                break format!("`{text}` did not hold within {all}; Enter takes further steps");
            }
            match self.random_step(&mut steps) {
                Some(is_stopped) => {
                    let all = count(steps.taken, "step");
                    if self.holds(watch) {
                        break format!("`{text}` holds after {all}");
                    }
                    if is_stopped {
                        break format!("`{text}` did not hold; stopped after {all}");
                    }
                }
                None => break format!("`{text}` did not hold, and no step is left"),
            }
        };
        self.show_hidden(&steps);
        tell(&why);
    }

    /// Returns the minimum number of steps: the initial state remains if there is only one.
    fn length_min(&self) -> usize {
        let start = ModelWalk::new(self.walk.path.model, self.walk.path.walked);
        usize::from(start.options(2).len() == 1)
    }

    fn undo(&mut self, steps: u64) {
        self.undo_while(|_, undone| undone < steps);
    }

    /// Goes back to the last choice.
    fn go_back(&mut self) {
        self.undo_while(|session, undone| undone == 0 || session.options().len() == 1);
    }

    /// Undoes steps while a condition on the session and the number of undone steps holds.
    fn undo_while(&mut self, goes_on: impl Fn(&Self, u64) -> bool) {
        let (min, mut undone) = (self.length_min(), 0);
        while self.walk.path.steps.len() > min && goes_on(self, undone) && self.walk.undo_step() {
            undone += 1;
        }
        match undone {
            0 => tell("this is the start"),
            _ => {
                self.state.is_listed = false;
                self.walk.show_return();
            }
        }
    }

    fn list_breakpoints(&self) {
        if self.state.breakpoints.iter().next().is_none() {
            return tell("there are no breakpoints; `break WHERE` sets one");
        }
        for it in self.state.breakpoints.iter() {
            tell(&format!("breakpoint {}: {} {}", it.number, it.kind.name(), it.text));
        }
    }

    fn delete(&mut self, number: Option<usize>) {
        match (self.state.breakpoints.delete(number), number) {
            (0, Some(number)) => {
                tell(&format!("there is no breakpoint {number}; `break` lists them"));
            }
            (deleted, _) => tell(&format!("{} deleted", count(deleted as u64, "breakpoint"))),
        }
    }

    fn set_breakpoint(&mut self, text: &str) -> Option<SessionStop> {
        let path = &self.walk.path;
        let kind = match breakpoints::classify(text, path.model, path.walked) {
            Ok(kind) => kind,
            Err(error) => {
                tell(&error.to_string());
                return None;
            }
        };
        let name = breakpoint_name(self.state.breakpoints.next_number());
        let stop = match kind {
            BreakpointKind::Expression => Some(self.read_with(&name, text, None)?),
            _ => None,
        };
        let (shown, number) = (kind.name(), self.state.breakpoints.add(text, kind));
        tell(&format!("breakpoint {number}: {shown} {text}"));
        stop
    }

    /// Returns the expression of a name in the model, if it has this text.
    fn watch(&self, name: &str, text: &str) -> Option<ExpressionWatch> {
        let is_it =
            |it: &&WatchedExpression| it.expression.name == name && it.expression.text == text;
        self.watches.iter().find(is_it).map(|it| it.watch)
    }

    /// Returns why an expression of a model that was read with it is no condition in the current state.
    fn condition_refusal(&self, model: &dyn SourceModel, name: &str) -> Option<String> {
        let searched = model.searched();
        let mut walk = ModelWalk::new(model, walkable(&searched));
        let watch = ExpressionWatch::of_condition(name, model, walk.walked)?;
        walk.watched.push(watch.number);
        self.walk.path.choices().into_iter().for_each(|it| _ = walk.take(it));
        watch.condition_refusal(&walk, walk.state()?)
    }

    /// Reads the model again with an expression in addition to those of the breakpoints. `None` if it is no expression.
    fn read_with(
        &self,
        name: &str,
        text: &str,
        command: Option<SessionCommand>,
    ) -> Option<SessionStop> {
        let of_breakpoint = |it: &WalkBreakpoint| NamedExpression {
            name: breakpoint_name(it.number),
            text: it.text.clone(),
        };
        let is_expression = |it: &&WalkBreakpoint| it.kind == BreakpointKind::Expression;
        let breakpoints = self.state.breakpoints.iter().filter(is_expression).map(of_breakpoint);
        let mut expressions: Vec<NamedExpression> = breakpoints.collect();
        expressions.push(NamedExpression { name: name.to_owned(), text: text.to_owned() });
        let is_program = self.walk.path.model.as_program().is_some();
        let condition =
            |it: &NamedExpression| expression_watch::condition(&it.name, &it.text, is_program);
        let conditions = expressions.iter().map(condition).collect();
        match self.job.model_with_conditions(conditions) {
            Ok(Some(model)) => match self.condition_refusal(&*model, name) {
                None => Some(SessionStop::Read(ReadModel { model, expressions, command })),
                Some(why) => {
                    tell(&format!("`{text}` is no condition: {why}"));
                    None
                }
            },
            Ok(None) => {
                tell("the walk follows a temporal property; no expression is evaluated beside it");
                None
            }
            Err(error) => {
                let language = self.walk.path.model.language().title;
                tell(&format!("`{text}` is no expression of {language} here: {error}"));
                None
            }
        }
    }
}

/// Returns the prompt where a number of steps can be taken.
fn prompt(options: usize) -> String {
    match options.checked_sub(1) {
        Some(0) => "step 0, or a command (h: help): ".to_owned(),
        Some(last) => format!("step 0 to {last}, or a command (h: help): "),
        None => "no step is left; a command (h: help): ".to_owned(),
    }
}
