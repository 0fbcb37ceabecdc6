//! A table of comma-separated values (RFC 4180).

use super::super::values::value_of;
use super::Told;
use csv::Writer;

pub(super) fn text(told: &Told) -> String {
    let variables = told.variables();
    let mut table = Writer::from_writer(Vec::new());
    let head = ["step", "action", "place"].into_iter().chain(variables.iter().copied());
    // Writing to memory does not fail.
    let _ = table.write_record(head);
    for (number, (step, values)) in told.steps.iter().enumerate() {
        let value = |name: &&str| {
            let values = values.as_deref().unwrap_or_default();
            value_of(values, name).map_or(String::new(), ToString::to_string)
        };
        let about = [number.to_string(), told.title_of(number), told.places(step)];
        let _ = table.write_record(about.into_iter().chain(variables.iter().map(value)));
    }
    let bytes = table.into_inner().unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}
