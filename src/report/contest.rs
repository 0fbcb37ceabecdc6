//! The results of a search of a Petri net in the format of the Model Checking Contest (<https://mcc.lip6.fr>).

use super::answers::answers;
use super::{Report, StateSpaceAnswer, StateSpaceResult};

/// The techniques, in the contest's terms.
const TECHNIQUES: &str = "TECHNIQUES EXPLICIT STATE_COMPRESSION";

/// Returns the lines of the contest, one for each question.
pub fn contest_lines(report: &Report) -> String {
    let all = answers(report);
    let all = all.iter().map(|it| contest_line(&it.name, it.holds.map(truth)));
    let further = report.further.iter().map(|StateSpaceAnswer { name, result: came }| {
        let says = match came {
            StateSpaceResult::UpperBound(most) => most.map(|it| it.to_string()),
            StateSpaceResult::Holds(holds) => Some(truth(*holds)),
            StateSpaceResult::Open(_) => None,
        };
        contest_line(name, says)
    });
    all.chain(further).collect()
}

/// Returns the contest's line for a question with this answer, if there is one.
pub fn contest_line(name: &str, says: Option<String>) -> String {
    match says {
        Some(says) => format!("FORMULA {name} {says} {TECHNIQUES}\n"),
        None => format!("FORMULA {name} CANNOT_COMPUTE\n"),
    }
}

/// Returns the contest's word for a truth value.
pub fn truth(holds: bool) -> String {
    if holds { "TRUE".to_owned() } else { "FALSE".to_owned() }
}

/// Returns the contest's lines for a state space: its counts, and the maximum number of tokens in a place and in a
/// marking. Without a complete search these are unknown.
pub fn contest_space(report: &Report, most: Option<(i64, i64)>) -> String {
    let Some((in_place, in_marking)) = most else {
        return "STATE_SPACE CANNOT_COMPUTE\n".to_owned();
    };
    let outcome = report.outcome;
    let rows = [
        ("STATES", outcome.states().to_string()),
        ("TRANSITIONS", outcome.counters.transitions.to_string()),
        ("MAX_TOKEN_PER_MARKING", in_marking.to_string()),
        ("MAX_TOKEN_IN_PLACE", in_place.to_string()),
    ];
    rows.map(|(what, number)| format!("STATE_SPACE {what} {number} {TECHNIQUES}\n")).concat()
}
