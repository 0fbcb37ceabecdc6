//! Hunts between the levels of a search, for violations that are deeper than its levels.
//!
//! Breadth-first search meets a deep violation last. A depth-first dive or a random walk often meets it soon. So the
//! search hunts at the end of the level with which it has executed [`FIRST_AFTER`] transitions, and again each time it
//! has executed [`FACTOR`] times as many. A smaller system is decided before that, with a shortest counterexample.
//!
//! A number of transitions bounds a hunt. It has one thread and its own seed. So hunts depend on neither time, threads
//! nor interruptions, and the same search always hunts in the same way. An interrupted hunt begins again when the search
//! resumes.
//!
//! The path of a finding is shortened, and the reference semantics replays it. The checkpoint contains it, since the
//! levels do not contain its last states.

use super::ExternalSearch;
use crate::checkpoint::{SavedHuntFinding, save_finding};
use crate::control::SearchPhase;
use crate::hunt::{
    BOUNDED_BYTES_MAX, HuntBounds, HuntEnd, HuntFinding, HuntOutcome, HuntProgress, HuntTarget,
    ShortenLimits, TargetDistance, hunt, shorten_path, transitions_for_width,
};
use crate::trace::Counterexample;
use crate::{MemoryPlan, SearchControl, SearchLimits};
use spill::Result;
use spillway_model::{Finding, is_reachability_kind};

/// The number of transitions of the search with which the first hunt is due.
const FIRST_AFTER: u64 = 50_000;

/// The factor from there to the next hunt.
const FACTOR: u64 = 64;

/// The transitions of the first hunt.
const FIRST_TRANSITIONS: u64 = 40_000;

/// The divisor of the transitions of the search that yields those of a later hunt.
const SHARE: u64 = 200;

/// The most transitions for shortening a path.
const SHORTEN_TRANSITIONS: u64 = 200_000;

/// The divisor of the memory budget that yields the memory of a hunt.
const MEMORY_SHARE: u64 = 16;

impl MemoryPlan {
    /// Returns the plan of a search that hunts if `hunts` is set: the memory of a hunt is taken from the filter.
    pub(super) fn for_hunts(self, hunts: bool) -> MemoryPlan {
        let bytes = if hunts { self.hunt_bytes() } else { 0 };
        MemoryPlan { filter: self.filter.saturating_sub(bytes), ..self }
    }

    /// Returns the bytes of a hunt. They depend only on the budget, so that each session hunts in the same way.
    fn hunt_bytes(&self) -> u64 {
        (self.budget / MEMORY_SHARE).min(BOUNDED_BYTES_MAX)
    }
}

/// Returns the number of transitions of the search with which hunt number `number` is due.
fn due_after(number: u32) -> u64 {
    FIRST_AFTER.saturating_mul(FACTOR.saturating_pow(number))
}

impl ExternalSearch<'_> {
    /// Hunts at the end of a level if a hunt is due. Returns whether the hunt found a violation.
    pub(super) fn hunt_if_due(&mut self) -> Result<bool> {
        let executed = self.whole_levels.counters.transitions;
        if executed < due_after(self.hunts.passed) || !self.may_hunt() {
            return Ok(false);
        }
        let phase = self.enter(SearchPhase::Hunting);
        let hunted = self.hunt(executed);
        self.enter(phase);
        let Some(found) = hunted? else { return Ok(false) };
        self.hunts.found = Some(found);
        Ok(true)
    }

    /// Returns whether the first violation ends the search, wherever it is. A hunt in a system whose encoding grows
    /// would change the encoding.
    fn may_hunt(&self) -> bool {
        let SearchLimits { hunts, stop_on_violation, stop_when_answered, shortest, .. } =
            self.limits;
        let has_other_end =
            self.levels_max.is_some() || self.is_enough.is_some() || self.concludes.is_some();
        let searches_witnesses = || {
            let properties = self.model.description().properties();
            properties.iter().any(|it| is_reachability_kind(it.kind))
        };
        hunts
            && stop_on_violation
            && !stop_when_answered
            && !shortest
            && !has_other_end
            && self.model.capabilities().growing.is_none()
            && !searches_witnesses()
    }

    /// Hunts once, given the transitions of the search. Returns the replayed finding.
    fn hunt(&mut self, executed: u64) -> Result<Option<SavedHuntFinding>> {
        let number = self.hunts.passed;
        let checks = self.limits.checks;
        let distances = TargetDistance::for_checks(checks);
        let target = HuntTarget { model: self.model, checks, accepts: None, distances };
        let bytes = self.plan.hunt_bytes();
        let transitions = if number == 0 { FIRST_TRANSITIONS } else { executed / SHARE };
        let (seed, width) = (u64::from(number) + 1, self.model.width());
        let bounds = HuntBounds { seed, transitions, bytes, width };
        let Some(options) = bounds.options() else { return Ok(None) };
        match hunt(&target, &options, self.control, &HuntProgress::default()) {
            Ok(HuntOutcome { end: HuntEnd::Stopped, .. }) => Ok(None),
            Ok(outcome) => {
                self.pass(executed, outcome.totals().transitions);
                self.replayed(outcome, bytes)
            }
            // The search itself meets an error of the model, unless it ends with a violation before.
            Err(_) => {
                self.pass(executed, 0);
                Ok(None)
            }
        }
    }

    /// Records that the hunts up to this number of transitions of the search took place.
    fn pass(&mut self, executed: u64, transitions: u64) {
        self.hunts.transitions += transitions;
        while due_after(self.hunts.passed) <= executed {
            self.hunts.passed += 1;
        }
    }

    /// Shortens the path of a finding and replays it.
    fn replayed(&self, outcome: HuntOutcome, bytes: u64) -> Result<Option<SavedHuntFinding>> {
        let Some(HuntFinding::Violation { check, states }) = outcome.finding else {
            return Ok(None);
        };
        let control = SearchControl::default();
        let found_depth = states.len().saturating_sub(1) as u64;
        let transitions = transitions_for_width(SHORTEN_TRANSITIONS, self.model.width());
        let bounds = ShortenLimits { transitions, bytes };
        let shortened = shorten_path(self.model, check, states, bounds, &control)?;
        let Some(witness) = shortened.states.last().cloned() else { return Ok(None) };
        let path = shortened.states.concat();
        let level = shortened.states.len() as u64 - 1;
        Counterexample::along(self.model, check, shortened.states, &control)?;
        Ok(Some(SavedHuntFinding {
            finding: save_finding(check, Finding { count: 1, level, witness }),
            path,
            strategy: outcome.found_by.map_or("", |it| it.strategy).to_owned(),
            found_depth,
            is_shortest: shortened.is_shortest,
        }))
    }
}
