//! What is asked beside conditions on states, and is answered from all states once they are reached.

use super::args::{Further, RunArgs};
use super::failure::{self, Failure};
use super::values;
use crate::report::{FurtherAnswer, FurtherResult};
use crate::search::Verdict;
use crate::session::{Contents, ValuesMet};
use std::path::Path;

/// What was asked, answered.
#[derive(Default)]
pub(super) struct Answered {
    /// By question.
    pub(super) further: Vec<FurtherAnswer>,
    /// The most tokens in a place and in a marking, if that is asked and known.
    pub(super) tokens: Option<(i64, i64)>,
}

/// Answers what is asked of the states in a directory whose search came to this.
pub(super) fn answer(args: &RunArgs, dir: &Path, verdict: Verdict) -> Result<Answered, Failure> {
    let mut answered = Answered::default();
    if args.further.is_empty() && !args.asks_space {
        return Ok(answered);
    }
    let is_whole = verdict != Verdict::Incomplete;
    let sums: Vec<Vec<String>> = args.further.iter().filter_map(|it| it.1.variables()).collect();
    let met = match is_whole && (!sums.is_empty() || args.asks_space) {
        true => Some(values::met((dir, args.memory), &Contents::read(dir)?, &sums)?.1),
        false => None,
    };
    let mut most = met.iter().flat_map(|it| &it.asked);
    for (name, asked) in &args.further {
        let came = match asked {
            Further::Refused(why) => FurtherResult::Open(why.clone()),
            _ if !is_whole => FurtherResult::Open("not known yet".to_owned()),
            Further::Most(_) => {
                FurtherResult::Most(most.next().and_then(|it| it.range).map(|range| range.1))
            }
            Further::Branching => {
                FurtherResult::Open("not supported: a formula of branching time".to_owned())
            }
        };
        answered.further.push(FurtherAnswer { name: name.clone(), came });
    }
    // A run-time error leaves states out.
    let is_all = verdict == Verdict::Verified;
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
    match code {
        failure::VERIFIED if is_violated => failure::VIOLATED,
        code => code,
    }
}
