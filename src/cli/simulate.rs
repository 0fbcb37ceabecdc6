//! `simulate`: one walk through a model, at random or by hand.

use super::args::SimulateArgs;
use super::failure::{VERIFIED, VIOLATED};
use super::model;
use super::{Ending, print};
use crate::exec::{Explain, Step, StepOutcome, Value, Violation};
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
    let walked = searched.model().explained();
    let mut options = walked.starts();
    let mut before: Option<Vec<(String, Value)>> = None;
    for number in 0..=args.steps {
        let Some(step) = chooser.choose(&model, &options) else { return Ok(VERIFIED) };
        let taken = &options[step];
        print(&format!("{number:>5}  {}\n", taken.title()));
        let state = match &taken.outcome {
            StepOutcome::Successor(state) => state.clone(),
            StepOutcome::Fault(fault) => {
                let place = model.sources.locate(fault.span).unwrap_or_default();
                let kind = fault.kind.violation();
                print(&format!("       {kind}: {} ({place})\n", fault.message));
                return Ok(VIOLATED);
            }
        };
        let after = walked.describe(&state);
        show(before.as_deref(), &after);
        before = Some(after);
        if let Some(wrong) = wrong_in(&model, walked, &state) {
            print(&format!("       {wrong}\n"));
            return Ok(VIOLATED);
        }
        options = walked.steps(&state);
        if options.is_empty() {
            return Ok(VERIFIED);
        }
    }
    Ok(VERIFIED)
}

/// Prints a whole state, or what changed in it.
fn show(before: Option<&[(String, Value)]>, after: &[(String, Value)]) {
    for line in report::print_changes(before.unwrap_or_default(), after) {
        print(&format!("       {line}\n"));
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

impl Chooser {
    /// The number of the step to take, or nothing to end the walk.
    fn choose(&mut self, model: &TextModel, options: &[Step]) -> Option<usize> {
        match self {
            Chooser::Random(random) if !options.is_empty() => Some(random.below(options.len())),
            Chooser::Person if options.len() > 1 => ask(model, options),
            _ => (!options.is_empty()).then_some(0),
        }
    }
}

fn ask(model: &TextModel, options: &[Step]) -> Option<usize> {
    for (number, step) in options.iter().enumerate() {
        let place = step.spans.first().and_then(|&span| model.sources.locate(span));
        let place = place.unwrap_or_default();
        print(&format!("       [{number}] {}    {place}\n", step.title()));
    }
    let mut lines = std::io::stdin().lock().lines();
    loop {
        print(&format!("step 0 to {}, or q: ", options.len() - 1));
        let line = lines.next()?.ok()?;
        match line.trim().parse() {
            _ if line.trim() == "q" => return None,
            Ok(number) if number < options.len() => return Some(number),
            _ => print(&format!("there is no step `{}`\n", line.trim())),
        }
    }
}
