//! `simulate`: one walk through a model, at random or by hand.

use super::args::SimulateArgs;
use super::failure::{VERIFIED, VIOLATED};
use super::model;
use super::{Ending, print};
use crate::exec::{Explain, Step, StepOutcome, Violation};
use crate::random::Random;
use crate::report;
use crate::session::TextModel;
use std::io::BufRead;

/// `spillway simulate`.
pub(super) fn simulate(args: &SimulateArgs) -> Ending {
    let model = model::open(&args.model)?;
    let mut chooser = match args.interactive {
        true => Chooser::Person,
        false => Chooser::Random(Random::new(args.seed)),
    };
    let searched = model.searched();
    let mut walk = Walk { model: &model, walked: searched.model().explained(), states: Vec::new() };
    while walk.states.len() as u64 <= args.steps {
        let options = walk.options();
        match chooser.choose(&walk, &options) {
            Wish::Leave => return Ok(VERIFIED),
            Wish::Back => walk.go_back(),
            Wish::Take(number) => {
                if walk.is_wrong_behind(&options[number]) {
                    return Ok(VIOLATED);
                }
            }
        }
    }
    Ok(VERIFIED)
}

/// A walk through a model.
struct Walk<'w> {
    model: &'w TextModel,
    walked: &'w dyn Explain,
    /// The states that it came through.
    states: Vec<Vec<u8>>,
}

impl Walk<'_> {
    /// The steps that are possible.
    fn options(&self) -> Vec<Step> {
        self.states.last().map_or_else(|| self.walked.starts(), |it| self.walked.steps(it))
    }

    /// Takes a step and prints it; whether something is wrong then.
    fn is_wrong_behind(&mut self, step: &Step) -> bool {
        print(&format!("{:>5}  {}\n", self.states.len(), step.title()));
        let state = match &step.outcome {
            StepOutcome::Successor(state) => state.clone(),
            StepOutcome::Fault(fault) => {
                let place = self.model.sources.locate(fault.span).unwrap_or_default();
                let kind = fault.kind.violation();
                print(&format!("       {kind}: {} ({place})\n", fault.message));
                return true;
            }
        };
        let before = self.states.last().map(|it| self.walked.describe(it)).unwrap_or_default();
        for line in report::print_changes(&before, &self.walked.describe(&state)) {
            print(&format!("       {line}\n"));
        }
        let wrong = wrong_in(self.model, self.walked, &state);
        wrong.iter().for_each(|it| print(&format!("       {it}\n")));
        self.states.push(state);
        wrong.is_some()
    }

    /// Goes back to where something was last chosen.
    fn go_back(&mut self) {
        self.states.pop();
        while self.options().len() == 1 && self.states.pop().is_some() {}
        match self.states.len() {
            0 => print("back to the start\n"),
            number => print(&format!("back behind step {}\n", number - 1)),
        }
        self.show();
    }

    /// Prints the state that the walk has come to.
    fn show(&self) {
        let Some(state) = self.states.last() else { return };
        for (name, value) in self.walked.describe(state) {
            print(&format!("       {name} = {value}\n"));
        }
    }
}

/// What is violated in a state, in words.
fn wrong_in(model: &TextModel, walked: &dyn Explain, state: &[u8]) -> Option<String> {
    let check = walked.violations(state).into_iter().next()?;
    Some(match check {
        Violation::Property(number) => {
            let info = &walked.properties()[number as usize];
            let place = model.sources.locate(info.span).unwrap_or_default();
            match info.kind {
                "claim" => format!("the claim `{}` comes to its end here ({place})", info.name),
                kind => format!("the {kind} `{}` does not hold here ({place})", info.name),
            }
        }
        _ => "deadlock: no step can be taken here".to_string(),
    })
}

/// Who decides.
enum Chooser {
    /// A person, asked on the terminal.
    Person,
    /// A generator.
    Random(Random),
}

/// What is to come next.
enum Wish {
    /// The step with this number.
    Take(usize),
    Back,
    Leave,
}

impl Chooser {
    fn choose(&mut self, walk: &Walk<'_>, options: &[Step]) -> Wish {
        match self {
            _ if options.is_empty() => Wish::Leave,
            Chooser::Random(random) => Wish::Take(random.below(options.len())),
            Chooser::Person if options.len() > 1 => ask(walk, options),
            Chooser::Person => Wish::Take(0),
        }
    }
}

/// What can be answered beside a number.
const ANSWERS: &str = "       a number takes that step, b goes back to the last choice, s shows the \
                       state, l lists the steps, q ends\n";

fn ask(walk: &Walk<'_>, options: &[Step]) -> Wish {
    let list = || {
        for (number, step) in options.iter().enumerate() {
            let place = step.spans.first().and_then(|&span| walk.model.sources.locate(span));
            let place = place.unwrap_or_default();
            print(&format!("       [{number}] {}    {place}\n", step.title()));
        }
    };
    list();
    let mut lines = std::io::stdin().lock().lines();
    loop {
        print(&format!("step 0 to {}, or b, s, l, h (help), q: ", options.len() - 1));
        let Some(Ok(line)) = lines.next() else { return Wish::Leave };
        match line.trim() {
            "q" | "quit" => return Wish::Leave,
            "b" | "back" if walk.states.is_empty() => print("this is the start\n"),
            "b" | "back" => return Wish::Back,
            "s" | "state" => walk.show(),
            "l" | "list" => list(),
            "h" | "help" | "?" => print(ANSWERS),
            number => match number.parse() {
                Ok(number) if number < options.len() => return Wish::Take(number),
                _ => print(&format!("there is no step `{number}`; h tells what there is\n")),
            },
        }
    }
}
