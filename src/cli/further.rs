//! What is asked beside conditions on states, and is answered from all states once they are reached.

use super::args::{Further, RunArgs};
use super::failure::{self, Failure};
use super::progress::Display;
use super::values;
use crate::exec::Violation;
use crate::ir::Branching;
use crate::report::{FurtherAnswer, FurtherResult};
use crate::search::{Control, Outcome, Verdict};
use crate::session::{Contents, Session, TextModel, ValuesMet};

/// What was asked, answered.
#[derive(Default)]
pub(super) struct Answered {
    /// By question.
    pub(super) further: Vec<FurtherAnswer>,
    /// The most tokens in a place and in a marking, if that is asked and known.
    pub(super) tokens: Option<(i64, i64)>,
}

/// Answers what is asked of the states of a session that came to this.
pub(super) fn answer(
    args: &RunArgs,
    (session, model): (&Session<'_>, &TextModel),
    outcome: &Outcome,
    control: &Control,
) -> Result<Answered, Failure> {
    let mut answered = Answered::default();
    if args.further.is_empty() && !args.asks_space {
        return Ok(answered);
    }
    let is_whole = outcome.verdict != Verdict::Incomplete;
    // A run-time error leaves states out.
    let is_all =
        is_whole && outcome.findings.iter().all(|it| !matches!(it.0, Violation::Fault(..)));
    let dir = session.directory.path.as_path();
    let sums: Vec<Vec<String>> = args.further.iter().filter_map(|it| it.1.variables()).collect();
    let met = match is_whole && (!sums.is_empty() || args.asks_space) {
        true => Some(values::met((dir, args.memory), &Contents::read(dir)?, &sums)?.1),
        false => None,
    };
    let formulas: Vec<&Branching<String>> =
        args.further.iter().filter_map(|it| it.1.formula()).collect();
    let branching = match is_whole && !formulas.is_empty() {
        true => {
            let _shown = Display::of_wait("evaluating formulas of branching time".into());
            session.answer_branching(model, &formulas, control)?
        }
        false => Vec::new(),
    };
    let (mut most, mut branching) = (met.iter().flat_map(|it| &it.asked), branching.into_iter());
    for (name, asked) in &args.further {
        let came = match asked {
            Further::Refused(why) => FurtherResult::Open(why.clone()),
            _ if !is_whole => FurtherResult::Open("not known yet".to_owned()),
            Further::Most(_) if !is_all => {
                FurtherResult::Open("a run-time error leaves states out".to_owned())
            }
            Further::Most(_) => {
                FurtherResult::Most(most.next().and_then(|it| it.range).map(|range| range.1))
            }
            Further::Branching(_) => match branching.next() {
                Some(Ok(holds)) => FurtherResult::Holds(holds),
                Some(Err(why)) => FurtherResult::Open(why),
                None => FurtherResult::Open("not known yet".to_owned()),
            },
        };
        answered.further.push(FurtherAnswer { name: name.clone(), came });
    }
    answered.tokens = met.as_ref().filter(|_| args.asks_space && is_all).map(most_tokens);
    Ok(answered)
}

/// The most tokens in a place and in a marking.
fn most_tokens(met: &ValuesMet) -> (i64, i64) {
    let in_places = met.all.iter().filter_map(|it| it.range).map(|it| it.1);
    (in_places.max().unwrap_or(0), met.sums.map_or(0, |it| it.1))
}

/// The exit code of a search that ends with `code`, and of what was answered beside.
pub(super) fn worst(code: u8, further: &[FurtherAnswer]) -> u8 {
    let is_violated = further.iter().any(|it| it.came == FurtherResult::Holds(false));
    let is_open = further.iter().any(|it| matches!(it.came, FurtherResult::Open(_)));
    match code {
        failure::VERIFIED | failure::VIOLATED if is_open => failure::STOPPED,
        failure::VERIFIED if is_violated => failure::VIOLATED,
        code => code,
    }
}
