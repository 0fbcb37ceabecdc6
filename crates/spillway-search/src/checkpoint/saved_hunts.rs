//! The hunts of a search in its checkpoint: how many there were, and what one of them found.

use super::{SavedFinding, SavedSearch, restore_finding};
use rkyv::{Archive, Deserialize, Serialize};
use spillway_model::{HuntedViolation, SearchOutcome, Violation};

/// The hunts of a search so far.
#[derive(Clone, Debug, Default, Archive, Serialize, Deserialize)]
pub struct SavedHunts {
    /// The number of points of the search at which a hunt is due, as far as they are passed.
    pub passed: u32,
    /// The transitions of all hunts.
    pub transitions: u64,
    /// The violation that ended the search, if a hunt found one.
    pub found: Option<SavedHuntFinding>,
}

/// A violation that a hunt found, with a path to it.
#[derive(Clone, Debug, Archive, Serialize, Deserialize)]
pub struct SavedHuntFinding {
    /// The finding. Its level is the number of steps of the path, and its witness the last state.
    pub finding: SavedFinding,
    /// The states of the path, concatenated, an initial one first.
    pub path: Vec<u8>,
    /// The name of the strategy.
    pub strategy: String,
    /// The number of steps between states before the path was shortened.
    pub found_depth: u64,
    /// Whether no path of the searched system to this violation is shorter.
    pub is_shortest: bool,
}

impl SavedHuntFinding {
    /// Returns the states of the path to a violation, if it is the one that was found.
    pub fn path_to(&self, check: Violation) -> Option<Vec<Vec<u8>>> {
        let width = self.finding.witness.len().max(1);
        let (found, _) = restore_finding(&self.finding).ok()?;
        (found == check).then(|| self.path.chunks_exact(width).map(<[u8]>::to_vec).collect())
    }

    /// Returns whether the path leads to the finding.
    fn agrees(&self, width: usize) -> bool {
        let SavedHuntFinding { finding, path, found_depth, .. } = self;
        let states = (path.len() / width) as u64;
        finding.witness.len() == width
            && path.len().is_multiple_of(width)
            && path.ends_with(&finding.witness)
            && states == finding.level + 1
            && *found_depth >= finding.level
            && restore_finding(finding).is_ok()
    }
}

impl SavedHunts {
    /// Adds the violation that a hunt found to the outcome of the search.
    pub fn add_to(&self, outcome: &mut SearchOutcome) {
        let Some(SavedHuntFinding { finding, strategy, found_depth, is_shortest, .. }) =
            &self.found
        else {
            return;
        };
        // A checkpoint with another finding is rejected when it is read.
        let Ok((check, finding)) = restore_finding(finding) else { return };
        outcome.findings.restore(check, finding);
        outcome.hunted = Some(HuntedViolation {
            check,
            strategy: strategy.clone(),
            transitions: self.transitions,
            found_depth: *found_depth,
            is_shortest: *is_shortest,
        });
    }
}

/// A hunt that found a violation has ended the search, and its path leads to the violation.
pub(super) fn hunts_agree(saved: &SavedSearch) -> bool {
    let tags = saved.tag_bytes() + saved.value_bytes();
    let width = saved.width as usize - tags;
    saved.hunts.found.as_ref().is_none_or(|it| saved.verdict == 2 && it.agrees(width))
}

#[cfg(test)]
mod tests {
    use super::super::save_finding;
    use super::*;
    use spillway_model::{Finding, SearchVerdict};

    fn found() -> SavedHuntFinding {
        let finding = Finding { count: 1, level: 2, witness: vec![5, 6] };
        SavedHuntFinding {
            finding: save_finding(Violation::Property(3), finding),
            path: vec![1, 2, 3, 4, 5, 6],
            strategy: "dive".to_owned(),
            found_depth: 9,
            is_shortest: false,
        }
    }

    #[test]
    fn paths_that_do_not_end_in_the_finding_are_rejected() {
        assert!(found().agrees(2));
        let (finding, path) = (found().finding, found().path);
        let wrong = [
            SavedHuntFinding { path: path[..4].to_vec(), ..found() },
            SavedHuntFinding { path: vec![1, 2, 3, 4, 5, 7], ..found() },
            SavedHuntFinding { path: [&[0], &path[..]].concat(), ..found() },
            SavedHuntFinding { path: Vec::new(), ..found() },
            SavedHuntFinding { found_depth: 1, ..found() },
            SavedHuntFinding { finding: SavedFinding { level: 3, ..finding.clone() }, ..found() },
            SavedHuntFinding { finding: SavedFinding { check: 200, ..finding }, ..found() },
        ];
        wrong.iter().for_each(|it| assert!(!it.agrees(2), "{it:?}"));
        assert!(!found().agrees(3));
    }

    #[test]
    fn the_finding_is_part_of_the_outcome() {
        let hunts = SavedHunts { passed: 1, transitions: 70, found: Some(found()) };
        let mut outcome =
            SearchOutcome { verdict: SearchVerdict::Violated, ..SearchOutcome::default() };
        hunts.add_to(&mut outcome);
        let check = Violation::Property(3);
        assert_eq!(outcome.findings.get(check).map(|it| it.level), Some(2));
        let hunted = outcome.hunted.unwrap();
        assert_eq!((hunted.check, hunted.transitions, hunted.found_depth), (check, 70, 9));
        let path = found().path_to(check).unwrap();
        assert_eq!(path, [vec![1, 2], vec![3, 4], vec![5, 6]]);
        assert_eq!(found().path_to(Violation::Deadlock), None);
    }
}
