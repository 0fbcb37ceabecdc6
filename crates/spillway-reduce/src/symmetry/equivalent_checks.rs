//! Checks of symmetric processes, which fail together up to renaming.

use spillway_analysis::automorphisms::Automorphism;
use spillway_analysis::equivalence_classes::connected_sets;
use spillway_model::Violation;
use std::collections::BTreeSet;

/// Classes of actions, and of properties, that differ only in their process.
pub(super) struct EquivalentChecks {
    actions: Vec<BTreeSet<u32>>,
    properties: Vec<BTreeSet<u32>>,
}

impl EquivalentChecks {
    pub(super) fn of(found: &[Automorphism]) -> EquivalentChecks {
        let actions = found.iter().flat_map(|it| &it.actions).map(|(one, other)| (one.0, other.0));
        let properties =
            found.iter().flat_map(|it| &it.properties).map(|(one, other)| (one.0, other.0));
        EquivalentChecks {
            actions: connected_sets(actions),
            properties: connected_sets(properties),
        }
    }

    /// Returns the equivalent checks, without the check itself.
    pub(super) fn to(&self, check: Violation) -> Vec<Violation> {
        let others = |kinds: &[BTreeSet<u32>], number: u32| {
            let kind = kinds.iter().find(|it| it.contains(&number)).cloned();
            kind.unwrap_or_default().into_iter().filter(move |&it| it != number)
        };
        match check {
            Violation::Deadlock => Vec::new(),
            Violation::Property(number) => {
                others(&self.properties, number).map(Violation::Property).collect()
            }
            Violation::Fault(kind, action) => {
                others(&self.actions, action).map(|it| Violation::Fault(kind, it)).collect()
            }
        }
    }
}
