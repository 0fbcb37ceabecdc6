//! The values in the visited states of a specification, from the descriptions of its states.

use super::Error;
use super::observed_values::{NAMED_MAX, ObservedValues, VariableValues};
use crate::model::{StateValue, SystemDescription};
use crate::search::StateStorage;
use crate::search::checkpoint::SavedSearch;
use crate::search::scan::scan_states;
use crate::search::trace::{StoredLevels, TraceFinder};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Returns the values in the states of the search in `dir`. `None` if the control of the finder stops it. All elements
/// of a function, a sequence or a set count together. Sums are not observed.
///
/// # Errors
///
/// If the disk fails, or the search stores no whole states.
pub fn observe_described_values(
    finder: &TraceFinder<'_>,
    model: &dyn SystemDescription,
    dir: &Path,
    saved: &SavedSearch,
) -> Result<Option<ObservedValues>, Error> {
    let open = Error::open(dir);
    let StateStorage::Sorted(codec) = saved.storage().map_err(&open)? else {
        return Err(Error::NoStates("it stores hashes and back-edges"));
    };
    let levels = StoredLevels { disk: finder.disk, levels: &saved.store.levels, codec: &codec };
    let found = scan_states(finder, levels, DescribedValues::default, |found, state| {
        found.states += 1;
        for (at, (name, value)) in model.describe_parts(state).iter().enumerate() {
            found.add(at, name.clone(), value);
        }
    });
    let Some(found) = found.map_err(&open)? else { return Ok(None) };
    let mut all = DescribedValues::default();
    found.into_iter().for_each(|it| all.merge(it));
    Ok(Some(all.observed()))
}

/// A part of a variable: the position of the variable in the state, and the name with `[]` for an argument.
type PartName = (usize, String);

/// The observations of one thread.
#[derive(Default)]
struct DescribedValues {
    parts: BTreeMap<PartName, PartValues>,
    states: u64,
}

/// The values of a part.
#[derive(Default)]
struct PartValues {
    range: Option<(i64, i64)>,
    /// The first names, at most one more than are shown.
    names: BTreeSet<String>,
}

impl PartValues {
    fn add_range(&mut self, (least, greatest): (i64, i64)) {
        let (low, high) = self.range.unwrap_or((least, greatest));
        self.range = Some((low.min(least), high.max(greatest)));
    }

    fn add_name(&mut self, name: &str) {
        if self.names.len() <= NAMED_MAX as usize && !self.names.contains(name) {
            self.names.insert(name.to_owned());
        }
    }
}

impl DescribedValues {
    fn part(&mut self, variable: usize, name: String) -> &mut PartValues {
        self.parts.entry((variable, name)).or_default()
    }

    /// Adds a value of a part.
    fn add(&mut self, variable: usize, name: String, value: &StateValue) {
        let mut all = |elements: &[StateValue], suffix: &str| {
            elements.iter().for_each(|it| self.add(variable, format!("{name}{suffix}"), it));
        };
        match value {
            StateValue::Written(text, parts) => match &**parts {
                StateValue::Name(_) | StateValue::Truth(_) => {
                    self.part(variable, name).add_name(text);
                }
                parts => self.add(variable, name, parts),
            },
            StateValue::Number(number) => {
                self.part(variable, name).add_range((*number, *number));
            }
            StateValue::Name(_) | StateValue::Truth(_) | StateValue::Undefined => {
                self.part(variable, name).add_name(&value.to_string());
            }
            StateValue::Array(_, elements)
            | StateValue::Queue(elements)
            | StateValue::Message(elements) => all(elements, "[]"),
            StateValue::Set(elements) | StateValue::Bag(elements) => all(elements, "{}"),
            StateValue::Table(pairs) => {
                pairs.iter().for_each(|(_, it)| self.add(variable, format!("{name}[]"), it));
            }
            StateValue::Record(fields) => {
                for (field, it) in fields {
                    self.add(variable, format!("{name}.{field}"), it);
                }
            }
        }
    }

    fn merge(&mut self, other: DescribedValues) {
        self.states += other.states;
        for ((variable, name), values) in other.parts {
            let part = self.part(variable, name);
            values.range.into_iter().for_each(|it| part.add_range(it));
            values.names.iter().for_each(|it| part.add_name(it));
        }
    }

    fn observed(self) -> ObservedValues {
        let all = self.parts.into_iter().map(|((_, name), values)| {
            let is_listed = !values.names.is_empty() && values.names.len() <= NAMED_MAX as usize;
            let names = is_listed.then(|| values.names.into_iter().collect());
            let (range, undefined, changed_by) = (values.range, false, Vec::new());
            VariableValues { name, range, names, undefined, changed_by }
        });
        ObservedValues {
            all: all.collect(),
            sums: None,
            requested: Vec::new(),
            states: self.states,
        }
    }
}
