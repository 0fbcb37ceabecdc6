//! Questions other than conditions on states. They are answered from all states once these are reached.

use super::args::StateSpaceQuery;
use super::command::SessionOptions;
use super::failure::{self, CommandFailure};
use super::progress::ProgressDisplay;
use super::values;
use crate::model::CtlFormula;
use crate::model::Violation;
use crate::report::{StateSpaceAnswer, StateSpaceResult};
use crate::search::{SearchControl, SearchOutcome, SearchVerdict};
use crate::session::{DirectoryContents, ObservedValues, Session, TextModel, UnansweredFormula};

/// The answers to questions.
#[derive(Default)]
pub(super) struct StateSpaceAnswers {
    /// The answers, in the order of the questions.
    pub(super) answers: Vec<StateSpaceAnswer>,
    /// The maximum number of tokens in a place and in a marking, if requested and known.
    pub(super) tokens: Option<(i64, i64)>,
}

/// Answers the questions about the states of a session with this outcome.
pub(super) fn evaluate_queries(
    args: &SessionOptions,
    session: &Session<'_>,
    model: &TextModel,
    outcome: &SearchOutcome,
    control: &SearchControl,
) -> Result<StateSpaceAnswers, CommandFailure> {
    let mut answered = StateSpaceAnswers::default();
    if args.state_space_queries.is_empty() && !args.asks_space {
        return Ok(answered);
    }
    let is_whole = outcome.verdict != SearchVerdict::Incomplete;
    // The successors of a run-time error were not visited.
    let is_all =
        is_whole && outcome.findings.iter().all(|it| !matches!(it.0, Violation::Fault(..)));
    let dir = session.directory.path.as_path();
    let sums: Vec<Vec<String>> =
        args.state_space_queries.iter().filter_map(|it| it.1.variables()).collect();
    let met = match is_whole && (!sums.is_empty() || args.asks_space) {
        true => Some(
            values::collect_values(
                dir,
                Some(args.limits.memory),
                &DirectoryContents::read(dir)?,
                &sums,
            )?
            .values,
        ),
        false => None,
    };
    let formulas: Vec<&CtlFormula<String>> =
        args.state_space_queries.iter().filter_map(|it| it.1.formula()).collect();
    let branching = match is_whole && !formulas.is_empty() {
        true => {
            let _shown = ProgressDisplay::of_wait("evaluating formulas of branching time".into());
            session.answer_branching(model, &formulas, control)?
        }
        false => Vec::new(),
    };
    let (mut most, mut branching) =
        (met.iter().flat_map(|it| &it.requested), branching.into_iter());
    for (name, asked) in &args.state_space_queries {
        let came = match asked {
            StateSpaceQuery::Refused(why) => StateSpaceResult::Open(why.clone()),
            _ if !is_whole => StateSpaceResult::Open("unknown so far".to_owned()),
            StateSpaceQuery::UpperBound(_) if !is_all => {
                StateSpaceResult::Open("states after a run-time error were not visited".to_owned())
            }
            StateSpaceQuery::UpperBound(_) => {
                let range = most.next().and_then(|it| it.range);
                StateSpaceResult::UpperBound(range.map(|range| range.1))
            }
            StateSpaceQuery::Branching(_) => branching_result(branching.next()),
        };
        answered.answers.push(StateSpaceAnswer { name: name.clone(), result: came });
    }
    answered.tokens = met.as_ref().filter(|_| args.asks_space && is_all).map(most_tokens);
    Ok(answered)
}

/// Returns the result of the evaluation of a formula, if there was one.
fn branching_result(evaluated: Option<Result<bool, UnansweredFormula>>) -> StateSpaceResult {
    match evaluated {
        Some(Ok(holds)) => StateSpaceResult::Holds(holds),
        Some(Err(why)) => StateSpaceResult::Open(why.to_string()),
        None => StateSpaceResult::Open("unknown so far".to_owned()),
    }
}

/// Returns the maximum number of tokens in a place and in a marking.
fn most_tokens(met: &ObservedValues) -> (i64, i64) {
    let in_places = met.all.iter().filter_map(|it| it.range).map(|it| it.1);
    (in_places.max().unwrap_or(0), met.sums.map_or(0, |it| it.1))
}

/// Combines the exit code `code` of a search with the answers to further questions.
pub(super) fn worst_code(code: u8, further: &[StateSpaceAnswer]) -> u8 {
    let is_violated = further.iter().any(|it| it.result == StateSpaceResult::Holds(false));
    let is_open = further.iter().any(|it| matches!(it.result, StateSpaceResult::Open(_)));
    match code {
        failure::VERIFIED | failure::VIOLATED if is_open => failure::STOPPED,
        failure::VERIFIED if is_violated => failure::VIOLATED,
        code => code,
    }
}
