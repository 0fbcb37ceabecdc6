//! A model searched together with a claim: their product, as SPIN's `pan` searches it.
//!
//! A state is one of the system and, in one to three bytes behind it, where the claim is. In every
//! state the claim moves first, then the system: a step is a way of the claim and a step of the system.
//! Where the claim cannot move the run is of no more interest, whatever the system could do or
//! violate there; what the system's steps violate counts once for each way of the claim. A deadlock
//! is none: where the system cannot move it stands still, and the claim goes on alone.
//!
//! SPIN stores no state between the two moves. Where the system stands still there are two moves of
//! the claim from one stored state to the next the first time, and one each time after, because what
//! SPIN takes for the system's turn is then a move of the claim. A state *stands still* if it is one
//! that was come to like this. That is remembered only where it makes a difference: not where the
//! claim goes round, and comes anyway wherever one move would bring it. SPIN does not remember it, so
//! which of the two it does depends on the order of its search.

use super::interp::{Way, Ways};
use super::{
    Check, Collected, Expansion, Explain, Interp, Model, Outcome, PropertyInfo, Step, stop,
};
use crate::ir::{Claim, Entity, LocationId, PropertyKind};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// A model and a claim about it.
pub struct Claimed<'m> {
    model: &'m dyn Model,
    /// Runs the system step by step, and evaluates the claim's conditions.
    interp: &'m Interp,
    claim: &'m Claim,
    /// The number and the name of the property that it is.
    property: (u32, &'m str),
    /// The moves from each location.
    from: Vec<Vec<u32>>,
    /// The number, as an action, of its first move: they come after actions and starts.
    first_move: u32,
    /// The bytes of where it is.
    bytes: usize,
}

/// Where the claim is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct At {
    location: LocationId,
    /// Whether the system stands still, and the next move is the claim's alone.
    still: bool,
}

/// How a claim goes on while the system stands still: where it comes by one move from a location,
/// it comes by more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Round {
    /// By two, four or any even number.
    Even,
    /// Not everywhere by an even number, but then by an odd one.
    Odd,
    /// Not everywhere.
    No,
}

/// What can follow a state, before it is known which steps the system takes.
struct Opening {
    /// The ways of the claim that the system's steps follow.
    ways: Vec<Way>,
    /// What is found while the claim goes on.
    ends: Vec<Vec<u32>>,
    faults: Vec<(Vec<u32>, super::Fault)>,
}

/// Room for the successors of one state.
#[derive(Default)]
struct Room {
    successors: Vec<u8>,
    key: Vec<u8>,
}

impl<'m> Claimed<'m> {
    /// The product of `model`, which runs the program of `interp`, and the program's claim, if it has
    /// one.
    pub fn new(model: &'m dyn Model, interp: &'m Interp) -> Option<Claimed<'m>> {
        let program = interp.program();
        let (id, property, claim) =
            program.properties.iter().find_map(|(id, property)| match &property.kind {
                PropertyKind::Claim(claim) => Some((id, property, &**claim)),
                _ => None,
            })?;
        let mut from = vec![Vec::new(); claim.locations.len()];
        for (number, it) in claim.moves.iter().enumerate() {
            from[it.from.index()].push(number as u32);
        }
        let codes = 2 * claim.locations.len() as u64;
        let bytes = (1..8).find(|bytes| codes <= 1 << (8 * bytes)).unwrap_or(8);
        let first_move = (program.actions.len() + program.starts.len()) as u32;
        let property = (id.0, property.name.as_str());
        Some(Claimed { model, interp, claim, property, from, first_move, bytes })
    }

    /// The claim's name.
    pub fn name(&self) -> &str {
        self.property.1
    }

    /// The numbers, as actions, of the moves that bring the claim to its end in a state; none if it
    /// is there.
    pub fn last_moves(&self, state: &[u8]) -> Option<Vec<u32>> {
        if !self.is_state(state) {
            return None;
        }
        let (system, at) = self.split(state);
        if self.claim.is_end(at.location) {
            return Some(Vec::new());
        }
        let mut opening = self.opening(system, at);
        if self.interp.steps(system).is_empty() {
            self.stand_still(system, at, &mut opening);
        }
        let last = opening.ends.first()?;
        Some(last.iter().map(|&number| self.number(number)).collect())
    }

    fn number(&self, number: u32) -> u32 {
        self.first_move + number
    }

    fn check(&self) -> Check {
        Check::Property(self.property.0)
    }

    /// Whether these bytes are a state of the system and a place of the claim.
    fn is_state(&self, state: &[u8]) -> bool {
        state.len() == self.width() && {
            let (system, at) = self.split(state);
            self.interp.are_states(system) && at.location.index() < self.claim.locations.len()
        }
    }

    fn split<'s>(&self, state: &'s [u8]) -> (&'s [u8], At) {
        let (system, code) = state.split_at(self.model.width());
        let code = code.iter().fold(0, |code: u64, &byte| code << 8 | u64::from(byte));
        let location = LocationId::from_index((code / 2) as usize);
        (system, At { location, still: code % 2 == 1 })
    }

    fn join(&self, system: &[u8], at: At, key: &mut Vec<u8>) {
        let code = 2 * at.location.index() as u64 + u64::from(at.still);
        key.clear();
        key.extend_from_slice(system);
        key.extend_from_slice(&code.to_be_bytes()[8 - self.bytes..]);
    }

    fn ways(&self, system: &[u8], at: LocationId, timeout: bool) -> Ways {
        self.interp.claim_ways((self.claim, &self.from), at, system, timeout)
    }

    /// Whether `timeout` means anything to the claim: to SPIN it does only where a process asks, too.
    fn knows_timeout(&self) -> bool {
        self.claim.asks_for_timeout() && self.interp.asks_for_timeout()
    }

    /// Whether `timeout` holds once the claim has been found able to move.
    fn is_timeout(&self, system: &[u8]) -> bool {
        self.knows_timeout() && !self.interp.can_move_at_once(system)
    }

    /// The first move of the claim from a state.
    fn opening(&self, system: &[u8], at: At) -> Opening {
        let mut ways = self.ways(system, at.location, false);
        // It is asked again where it can do nothing without `timeout`, as well as where the system can.
        if (ways.all.is_empty() && self.knows_timeout()) || self.is_timeout(system) {
            ways = self.ways(system, at.location, true);
        }
        let Ways { all, mut ends, faults } = ways;
        if !at.still {
            let at_end = all.iter().filter(|way| self.claim.is_end(way.to));
            ends.extend(at_end.map(|way| way.moves.clone()));
        }
        Opening { ways: all, ends, faults }
    }

    /// Where a claim comes to while the system stands still, and what is found on the way, for each
    /// of its first ways.
    fn stand_still(&self, system: &[u8], at: At, opening: &mut Opening) -> Vec<(Way, At)> {
        if at.still || self.round(system, at.location) == Round::Odd {
            let arrive = |way: &Way| (way.clone(), self.settled(system, way.to));
            return opening.ways.iter().map(arrive).collect();
        }
        let timeout = self.is_timeout(system);
        let mut arrivals = Vec::new();
        for first in &opening.ways {
            let Ways { all, ends, faults } = self.ways(system, first.to, timeout);
            let after = |moves: Vec<u32>| [first.moves.clone(), moves].concat();
            for Way { moves, to } in all {
                arrivals.push((Way { moves: after(moves), to }, self.settled(system, to)));
            }
            opening.ends.extend(ends.into_iter().map(after));
            opening.faults.extend(faults.into_iter().map(|(moves, fault)| (after(moves), fault)));
        }
        arrivals
    }

    /// A location come to while the system stands still.
    fn settled(&self, system: &[u8], location: LocationId) -> At {
        At { location, still: self.round(system, location) == Round::No }
    }

    /// Whether the claim, while the system stands still, comes by two or more moves from a location
    /// wherever it comes by one.
    fn round(&self, system: &[u8], location: LocationId) -> Round {
        let timeout = self.is_timeout(system);
        let targets = |at: LocationId| -> Vec<LocationId> {
            self.ways(system, at, timeout).all.iter().map(|way| way.to).collect()
        };
        let once = targets(location);
        // Where it comes by an even number of moves, and where by an odd one of three or more.
        let mut seen = [BTreeSet::new(), BTreeSet::new()];
        let mut open: Vec<(LocationId, usize)> =
            once.iter().flat_map(|&at| targets(at)).map(|at| (at, 0)).collect();
        while let Some((at, odd)) = open.pop() {
            if seen[odd].insert(at) {
                open.extend(targets(at).into_iter().map(|to| (to, 1 - odd)));
            }
        }
        let [even, odd] = seen;
        match once {
            once if once.iter().all(|at| even.contains(at)) => Round::Even,
            once if once.iter().all(|at| even.contains(at) || odd.contains(at)) => Round::Odd,
            _ => Round::No,
        }
    }

    fn expand_one(&self, state: &[u8], room: &mut Room, out: &mut Expansion) {
        let (system, at) = self.split(state);
        if self.claim.is_end(at.location) {
            out.finding(self.check(), state);
        }
        let mut opening = self.opening(system, at);
        if !opening.ways.is_empty() {
            let Room { successors, key } = room;
            let moved = self.expand_system((system, state), opening.ways.len(), successors, out);
            match moved {
                None => return,
                Some(true) => {
                    for way in &opening.ways {
                        for successor in successors.chunks_exact(self.model.width()) {
                            self.join(successor, At { location: way.to, still: false }, key);
                            out.candidate(key);
                        }
                    }
                }
                Some(false) => {
                    for (_, to) in self.stand_still(system, at, &mut opening) {
                        self.join(system, to, key);
                        out.candidate(key);
                    }
                }
            }
        }
        opening.ends.iter().for_each(|_| out.finding(self.check(), state));
        for (moves, fault) in &opening.faults {
            let last = moves.last().map_or(0, |&last| self.number(last));
            out.finding(Check::Fault(fault.kind, last), state);
        }
    }

    /// The system's successors, and whether it moved; none if it failed. What is wrong with its steps
    /// is found as often as the claim has ways.
    fn expand_system(
        &self,
        (system, state): (&[u8], &[u8]),
        ways: usize,
        successors: &mut Vec<u8>,
        out: &mut Expansion,
    ) -> Option<bool> {
        successors.clear();
        let run = |inner: &mut Expansion| self.model.expand(system, inner);
        let Collected { transitions, left_out, findings } =
            out.wrap(self.model.width(), successors, run)?;
        out.leave_out(left_out * ways as u64);
        let mut moved = transitions > 0;
        for (check, finding) in findings.iter() {
            let times = match check {
                Check::Deadlock => 0,
                Check::Property(_) => 1,
                Check::Fault(..) => {
                    moved = true;
                    finding.count * ways as u64
                }
            };
            (0..times).for_each(|_| out.finding(check, state));
        }
        // If it left early, it is not known whether it can move.
        (!stop::is_asked()).then_some(moved)
    }

    /// A step of the system, after a way of the claim.
    fn after(&self, way: &Way, step: &Step) -> Step {
        let mut step = step.clone();
        if let Outcome::Successor(system) = &step.outcome {
            let mut key = Vec::new();
            self.join(system, At { location: way.to, still: false }, &mut key);
            step.outcome = Outcome::Successor(key);
        }
        step.actions = [self.taken(&way.moves), step.actions].concat();
        step
    }

    /// A step of the claim alone.
    fn alone(&self, moves: &[u32], outcome: Outcome) -> Step {
        let last = moves.last().copied().unwrap_or_default();
        let names: Vec<String> = moves.iter().map(|&number| self.move_name(number)).collect();
        let span = |&number: &u32| self.claim.moves[number as usize].action.span;
        Step {
            action: self.number(last),
            name: names.join(" + "),
            spans: moves.iter().map(span).collect(),
            actions: self.taken(moves),
            outcome,
        }
    }

    fn taken(&self, moves: &[u32]) -> Vec<(u32, u32)> {
        moves.iter().map(|&number| (self.number(number), 0)).collect()
    }

    fn move_name(&self, number: u32) -> String {
        self.claim.moves[number as usize].action.name.clone()
    }

    /// A step that leads to where the claim begins.
    fn begun(&self, mut step: Step) -> Step {
        if let Outcome::Successor(system) = &step.outcome {
            let (mut key, at) = (Vec::new(), At { location: self.claim.start, still: false });
            self.join(system, at, &mut key);
            step.outcome = Outcome::Successor(key);
        }
        step
    }
}

/// How many initial states of the system are gathered before the claim joins them.
const STARTS_AT_ONCE: usize = 256;

impl Model for Claimed<'_> {
    fn width(&self) -> usize {
        self.model.width() + self.bytes
    }

    fn bits(&self) -> u32 {
        let codes = 2 * self.claim.locations.len().max(1) as u64;
        self.model.bits() + (u64::BITS - (codes - 1).leading_zeros())
    }

    fn initial(&self, out: &mut Expansion) {
        let (width, at) = (self.model.width(), At { location: self.claim.start, still: false });
        let (mut states, mut key) = (Vec::new(), Vec::new());
        let mut pass_on = |states: &mut Vec<u8>, out: &mut Expansion| {
            for state in states.chunks_exact(width) {
                self.join(state, at, &mut key);
                out.candidate(&key);
            }
            states.clear();
        };
        let (limit, run) =
            (STARTS_AT_ONCE * width, |inner: &mut Expansion| self.model.initial(inner));
        let Some(collected) = out.wrap_in_batches(width, &mut states, limit, &mut pass_on, run)
        else {
            return;
        };
        pass_on(&mut states, out);
        for (check, finding) in collected.findings.iter() {
            self.join(&finding.witness, at, &mut key);
            (0..finding.count).for_each(|_| out.finding(check, &key));
        }
    }

    fn expand(&self, states: &[u8], out: &mut Expansion) {
        let mut room = Room::default();
        for state in states.chunks_exact(self.width()) {
            if stop::is_asked() {
                return;
            }
            if !self.is_state(state) {
                return out.fail(format!("the bytes {state:02x?} are none of its states"));
            }
            self.expand_one(state, &mut room, out);
        }
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        let own = vec![0xff; self.bytes];
        let alone = vec![0; self.model.width()];
        let masks = self.model.write_masks().into_iter().chain([alone]);
        masks.map(|mask| [mask, own.clone()].concat()).collect()
    }

    fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.model.digest()).update(b"claim ").update(self.name().as_bytes());
        *hasher.finalize().as_bytes()
    }

    fn explained(&self) -> &dyn Explain {
        self
    }

    fn stands_for(&self, own: &[u8], explained: &[u8]) -> bool {
        own == explained
    }
}

impl Explain for Claimed<'_> {
    fn steps(&self, state: &[u8]) -> Vec<Step> {
        if !self.is_state(state) {
            return Vec::new();
        }
        let (system, at) = self.split(state);
        let mut opening = self.opening(system, at);
        if opening.ways.is_empty() {
            return self.faulty(&opening);
        }
        let steps = self.interp.steps(system);
        let mut all: Vec<Step> = Vec::new();
        if steps.is_empty() {
            for (way, to) in self.stand_still(system, at, &mut opening) {
                let mut key = Vec::new();
                self.join(system, to, &mut key);
                all.push(self.alone(&way.moves, Outcome::Successor(key)));
            }
        }
        for way in &opening.ways {
            all.extend(steps.iter().map(|step| self.after(way, step)));
        }
        all.extend(self.faulty(&opening));
        all
    }

    fn each_start(&self, visit: &mut dyn FnMut(Step) -> ControlFlow<()>) {
        self.interp.each_start(&mut |step| visit(self.begun(step)));
    }

    fn properties(&self) -> Vec<PropertyInfo> {
        self.interp.properties()
    }

    fn action_name(&self, action: u32) -> String {
        match action.checked_sub(self.first_move) {
            Some(number) if (number as usize) < self.claim.moves.len() => self.move_name(number),
            _ => self.interp.action_name(action),
        }
    }

    fn violations(&self, state: &[u8]) -> Vec<Check> {
        if !self.is_state(state) {
            return Vec::new();
        }
        let (system, at) = self.split(state);
        let mut found = BTreeSet::new();
        let mut opening = self.opening(system, at);
        if !opening.ways.is_empty() {
            let violated = self.interp.violations(system).into_iter();
            found.extend(violated.filter(|check| matches!(check, Check::Property(_))));
            if self.interp.steps(system).is_empty() {
                self.stand_still(system, at, &mut opening);
            }
        }
        if self.claim.is_end(at.location) || !opening.ends.is_empty() {
            found.insert(self.check());
        }
        found.into_iter().collect()
    }

    fn describe(&self, state: &[u8]) -> Vec<(String, String)> {
        if !self.is_state(state) {
            return vec![("no state".into(), format!("{state:02x?}"))];
        }
        let (system, at) = self.split(state);
        let mut place = self.claim.locations[at.location].name.clone();
        if at.still {
            place += ", the system stands still";
        }
        // First, where its line keeps its number as processes come and go.
        let own = (format!("claim {}", self.name()), place);
        [own].into_iter().chain(self.interp.describe(system)).collect()
    }
}

impl Claimed<'_> {
    /// The claim's own faults, as steps.
    fn faulty(&self, opening: &Opening) -> Vec<Step> {
        let fault = |(moves, fault): &(Vec<u32>, super::Fault)| {
            self.alone(moves, Outcome::Fault(fault.clone()))
        };
        opening.faults.iter().map(fault).collect()
    }
}
