//! Descriptions of the product: its transitions, and how a claim reaches its end.

use super::{ClaimPosition, ClaimProduct, FirstClaimMoves};
use spillway_exec::interp::ClaimPath;
use spillway_ir::{Entity as _, LocationId};
use spillway_model::{
    ActionInfo, DisabledRuleInstance, ProcessLocation, ProgramDescription, PropertyInfo,
    RuntimeFault, StateValue, StepDescription, StepOutcome, SystemDescription, TakenAction,
    Violation,
};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// The transition of an infinite run after the system has ended.
const AT_REST: &str = "no process can move";

/// The transition of an infinite run that is already violated.
const DECIDED: &str = "the property is already violated";

impl SystemDescription for ClaimProduct<'_> {
    fn steps(&self, state: &[u8]) -> Vec<StepDescription> {
        if !self.is_state(state) {
            return Vec::new();
        }
        let (system, at) = self.split(state);
        if self.has_ended(at) {
            let round = self.never.from[at.location.index()].last().copied();
            let outcome = StepOutcome::Successor(state.to_vec());
            let step = self.alone(round.as_slice(), outcome);
            return vec![StepDescription { name: DECIDED.to_owned(), spans: Vec::new(), ..step }];
        }
        let mut opening = self.opening(system, at);
        let mut all: Vec<StepDescription> = Vec::new();
        for (moves, to) in self.ended(&opening) {
            let mut key = Vec::new();
            self.join(system, to, &mut key);
            all.push(self.alone(moves, StepOutcome::Successor(key)));
        }
        if opening.ways.is_empty() {
            all.extend(self.faulty(&opening));
            return all;
        }
        let steps = self.never.interp.steps(system);
        if steps.is_empty() {
            for (way, to) in self.stutter(system, at, &mut opening) {
                let mut key = Vec::new();
                self.join(system, to, &mut key);
                let step = self.alone(&way.moves, StepOutcome::Successor(key));
                all.push(match self.never.ended {
                    None => step,
                    Some(_) => {
                        StepDescription { name: AT_REST.to_owned(), spans: Vec::new(), ..step }
                    }
                });
            }
        }
        for way in &opening.ways {
            all.extend(steps.iter().map(|step| self.after(way, step)));
        }
        all.extend(self.faulty(&opening));
        all
    }

    fn visit_starts(&self, visit: &mut dyn FnMut(StepDescription) -> ControlFlow<()>) {
        self.never.interp.visit_starts(&mut |step| visit(self.begun(step)));
    }

    fn properties(&self) -> Vec<PropertyInfo> {
        self.never.interp.properties()
    }

    fn property(&self, number: u32) -> Option<PropertyInfo> {
        self.never.interp.property(number)
    }

    fn action_name(&self, action: u32) -> String {
        match action.checked_sub(self.never.first_move) {
            Some(number) if (number as usize) < self.never.claim.moves.len() => {
                self.move_name(number)
            }
            _ => self.never.interp.action_name(action),
        }
    }

    fn violations(&self, state: &[u8]) -> Vec<Violation> {
        if !self.is_state(state) {
            return Vec::new();
        }
        let (system, at) = self.split(state);
        let mut found = BTreeSet::new();
        let mut opening = self.opening(system, at);
        if !opening.ways.is_empty() {
            let violated = self.never.interp.violations(system).into_iter();
            found.extend(violated.filter(|check| matches!(check, Violation::Property(_))));
            if self.never.interp.steps(system).is_empty() {
                self.stutter(system, at, &mut opening);
            }
        }
        if self.never.claim.is_end(at.location) || !opening.ends.is_empty() {
            found.insert(self.check());
        }
        found.into_iter().collect()
    }

    fn describe(&self, state: &[u8]) -> Vec<(String, StateValue)> {
        if !self.is_state(state) {
            return vec![("no state".into(), format!("{state:02x?}").into())];
        }
        let (system, at) = self.split(state);
        let mut place = self.never.claim.locations[at.location].name.clone();
        if at.stutters {
            place += ", the system has ended";
        }
        // The claim comes first, so that its line keeps its position when processes start and end.
        let is_word = |it: char| it.is_alphanumeric() || it == '_';
        let own = match self.never.name() {
            name if name.chars().all(is_word) => format!("claim {name}"),
            // A formula is long, and is printed above the run.
            _ => "claim".to_owned(),
        };
        let own = (own, place.into());
        [own].into_iter().chain(self.never.interp.describe(system)).collect()
    }

    fn program(&self) -> Option<&dyn ProgramDescription> {
        Some(self)
    }
}

impl ProgramDescription for ClaimProduct<'_> {
    fn actions(&self) -> Vec<ActionInfo> {
        self.never.interp.actions()
    }

    /// Returns what the claim reads on the moves to its end, or to a location that accepts every continuation.
    fn operands(&self, state: &[u8], property: u32) -> Vec<(String, StateValue)> {
        match property == self.property() {
            true => self.decisive(state),
            false => self.never.interp.operands(self.split(state).0, property),
        }
    }

    fn process_locations(&self, state: &[u8]) -> Vec<ProcessLocation> {
        self.never.interp.process_locations(self.split(state).0)
    }

    /// A claim replaces deadlock checks, so no report needs disabled rules.
    fn disabled_rules(&self, _: &[u8]) -> Vec<DisabledRuleInstance> {
        Vec::new()
    }

    /// Properties whose evaluation fails are shown by their action names alone.
    fn property_judged_by(&self, _: u32) -> Option<u32> {
        None
    }
}

impl ClaimProduct<'_> {
    /// Returns the moves, numbered as actions, that bring the claim to its end in a state; empty if it is at its end.
    /// Returns `None` if no such moves exist.
    pub fn last_moves(&self, state: &[u8]) -> Option<Vec<u32>> {
        if !self.is_state(state) {
            return None;
        }
        let (system, at) = self.split(state);
        if self.never.claim.is_end(at.location) {
            return Some(Vec::new());
        }
        let mut opening = self.opening(system, at);
        if self.never.interp.steps(system).is_empty() {
            self.stutter(system, at, &mut opening);
        }
        let last = opening.ends.first()?;
        Some(last.iter().map(|&number| self.number(number)).collect())
    }

    /// Whether some states may accept every continuation, if infinite runs are checked.
    pub fn may_be_decided(&self) -> bool {
        let mut locations = self.never.claim.locations.keys();
        let is_last =
            |it: LocationId| self.never.accepts_all[it.index()] || self.never.claim.is_end(it);
        self.never.ended.is_some() && locations.any(is_last)
    }

    /// Whether every continuation of a state is accepted, if infinite runs are checked.
    pub fn is_decided(&self, state: &[u8]) -> bool {
        self.is_state(state) && self.never.ended.is_some() && {
            let (system, at) = self.split(state);
            self.never.accepts_all[at.location.index()]
                || self.has_ended(at)
                || self.last_way(&self.opening(system, at)).is_some()
        }
    }

    /// Returns the moves that bring the claim to its end, or to a location that accepts every continuation.
    fn last_way<'o>(&self, opening: &'o FirstClaimMoves) -> Option<&'o [u32]> {
        let leads = |way: &&ClaimPath| self.never.accepts_all[way.to.index()];
        let way = opening.ways.iter().find(leads).map(|it| &it.moves).or(opening.ends.first());
        way.map(Vec::as_slice)
    }

    /// Returns the values that these moves read in a state.
    fn decisive(&self, state: &[u8]) -> Vec<(String, StateValue)> {
        let (system, at) = self.split(state);
        let opening = self.opening(system, at);
        let mut found: Vec<(String, StateValue)> = Vec::new();
        for &number in self.last_way(&opening).unwrap_or_default() {
            let guard = self.never.claim.moves[number as usize].action.guard.iter();
            for operand in guard.flat_map(|it| self.never.interp.operands_of_condition(it, system))
            {
                if !found.contains(&operand) {
                    found.push(operand);
                }
            }
        }
        found
    }

    /// Describes a transition of the system after a path of the claim.
    fn after(&self, way: &ClaimPath, step: &StepDescription) -> StepDescription {
        let mut step = step.clone();
        if let StepOutcome::Successor(system) = &step.outcome {
            let mut key = Vec::new();
            self.join(system, ClaimPosition { location: way.to, stutters: false }, &mut key);
            step.outcome = StepOutcome::Successor(key);
        }
        step.actions = [self.taken(&way.moves), step.actions].concat();
        step
    }

    /// Describes a transition of the claim alone.
    fn alone(&self, moves: &[u32], outcome: StepOutcome) -> StepDescription {
        let last = moves.last().copied().unwrap_or_default();
        let names: Vec<String> = moves.iter().map(|&number| self.move_name(number)).collect();
        let span = |&number: &u32| self.never.claim.moves[number as usize].action.span;
        StepDescription {
            action: self.number(last),
            name: names.join(" + "),
            parameters: Vec::new(),
            actors: Vec::new(),
            spans: moves.iter().map(span).collect(),
            actions: self.taken(moves),
            movers: Vec::new(),
            outcome,
        }
    }

    fn taken(&self, moves: &[u32]) -> Vec<TakenAction> {
        let taken = |&number: &u32| TakenAction { action: self.number(number), pid: 0 };
        moves.iter().map(taken).collect()
    }

    fn move_name(&self, number: u32) -> String {
        self.never.claim.moves[number as usize].action.name.clone()
    }

    /// Describes a transition to a state in which the claim is at its start.
    fn begun(&self, mut step: StepDescription) -> StepDescription {
        if let StepOutcome::Successor(system) = &step.outcome {
            let (mut key, at) =
                (Vec::new(), ClaimPosition { location: self.never.claim.start, stutters: false });
            self.join(system, at, &mut key);
            step.outcome = StepOutcome::Successor(key);
        }
        step
    }

    /// Describes the faults of the claim as transitions.
    fn faulty(&self, opening: &FirstClaimMoves) -> Vec<StepDescription> {
        let fault = |(moves, fault): &(Vec<u32>, RuntimeFault)| {
            self.alone(moves, StepOutcome::Fault(fault.clone()))
        };
        opening.faults.iter().map(fault).collect()
    }
}
