//! Comma-separated values (RFC 4180).

use super::super::values::value_of;
use super::ValuedTrace;
use crate::escape;
use csv::Writer;

/// The head of a column for lassos. Its last row has the number of the step after which the cycle begins.
const GOES_ON: &str = "back to step";

pub(super) fn text(told: &ValuedTrace) -> String {
    let variables = told.variables();
    let mut table = Writer::from_writer(Vec::new());
    let back = told.loop_start.map(|it| it.to_string());
    let goes_on = back.as_ref().map(|_| GOES_ON);
    let head = ["step", "action", "place"].into_iter().chain(goes_on);
    let head = head.chain(variables.iter().copied());
    // Writing to memory does not fail.
    let _ = table.write_record(head.map(cell));
    for (number, (step, values)) in told.steps.iter().enumerate() {
        let value = |name: &&str| {
            let values = values.as_deref().unwrap_or_default();
            cell(&value_of(values, name).map_or(String::new(), ToString::to_string))
        };
        let about = [number.to_string(), cell(&told.title_of(number)), cell(&told.places(step))];
        let is_last = number + 1 == told.steps.len();
        let goes_on = back.clone().map(|it| if is_last { it } else { String::new() });
        let about = about.into_iter().chain(goes_on);
        let _ = table.write_record(about.chain(variables.iter().map(value)));
    }
    let bytes = table.into_inner().unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn cell(text: &str) -> String {
    escape::csv(text).into_owned()
}
