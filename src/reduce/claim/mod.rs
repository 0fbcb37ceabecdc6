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
//! which of the two it does depends on the order of its search. Where whole runs are looked at, it is always one: else
//! an accepting location might be passed by. And where a claim has come to its end, the product stays.

mod explain;
mod fair_product;
mod first_moves;
mod letters;
mod stuttering;

use super::{
    NotApplied, PreservedProperties, PropertyClass, Reduction, ReductionKind, ReductionStack,
    ReductionTraits,
};
use crate::exec::interp::ClaimMoves;
use crate::exec::{FairExpander, Interp};
use crate::ir::layout::CellId;
use crate::ir::{Claim, ClaimMove, Entity as _, Layout, LocationId, PropertyKind, TurnRule};
use crate::model::{
    CandidateBatch, Capabilities, Counters, ExpansionOutcome, ProcessSet, StateSpace,
    SuccessorSink, SystemDescription, Violation, stop_request,
};
pub use fair_product::FairProduct;
use first_moves::FirstClaimMoves;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
pub(in crate::reduce) use stuttering::StutterDependence;

/// The claim of a program, to be searched with.
#[derive(Clone)]
pub struct NeverClaim<'m> {
    /// Runs the system step by step, and evaluates the claim's conditions.
    interp: &'m Interp,
    claim: &'m Claim,
    /// The number and the name of the property that it is.
    property: (u32, &'m str),
    /// The moves from each location.
    from: Vec<Vec<u32>>,
    /// Of each location whether each move from there is one by itself that asserts nothing and does not lead to the end.
    is_plain: Vec<bool>,
    /// Whether `timeout` means anything to it: to SPIN it does only where a process asks, too.
    knows_timeout: bool,
    /// The number, as an action, of its first move: they come after actions and starts.
    first_move: u32,
    /// The bytes of where it is.
    bytes: usize,
    /// What becomes of runs that end, where it is whole runs that it is looked at for.
    ended: Option<FiniteRunPolicy>,
    /// Of each location whether every run that comes there is accepted, where it is whole runs that it is looked at for.
    accepts_all: Vec<bool>,
}

/// What is said of a run that ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FiniteRunPolicy {
    /// Its last state is repeated for ever.
    Stutter,
    /// Nothing.
    #[serde(rename = "ignore")]
    Ignored,
}

/// A model and a claim about it.
pub struct ClaimProduct<'m> {
    model: Box<dyn StateSpace + 'm>,
    never: NeverClaim<'m>,
}

/// Where the claim is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ClaimPosition {
    location: LocationId,
    /// Whether the system stands still, and the next move is the claim's alone.
    stutters: bool,
}

/// A state of the system as candidates have it.
#[derive(Clone, Copy)]
struct SystemRecord<'r> {
    state: &'r [u8],
    /// The processes that the step to it is fair to, if candidates are records with these.
    movers: &'r [u8],
}

/// Room for the successors of one state.
#[derive(Default)]
struct ProductBuffers {
    successors: Vec<u8>,
    key: Vec<u8>,
    /// Where the claim comes to.
    to: Vec<ClaimPosition>,
}

impl<'m> NeverClaim<'m> {
    /// The claim and its moves.
    fn moves(&self) -> ClaimMoves<'_> {
        ClaimMoves { claim: self.claim, from: &self.from }
    }

    /// The claim of the program of `interp`, if it has one.
    pub fn of(interp: &'m Interp) -> Option<NeverClaim<'m>> {
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
        let (ended, accepts_all) = (None, vec![false; claim.locations.len()]);
        let knows_timeout = claim.reads_timeout() && interp.reads_timeout();
        let is_plain = |&number: &u32| {
            let ClaimMove { action, to, .. } = &claim.moves[number as usize];
            action.body.is_empty() && action.control.turn == TurnRule::Open && !claim.is_end(*to)
        };
        let is_plain =
            from.iter().map(|moves| !knows_timeout && moves.iter().all(is_plain)).collect();
        Some(NeverClaim {
            interp,
            claim,
            property,
            from,
            is_plain,
            knows_timeout,
            first_move,
            bytes,
            ended,
            accepts_all,
        })
    }

    /// The same, looked at for whole runs if it is said what becomes of those that end.
    pub fn for_runs(interp: &'m Interp, runs: Option<FiniteRunPolicy>) -> Option<NeverClaim<'m>> {
        let claim = NeverClaim::of(interp)?;
        Some(match runs {
            None => claim,
            Some(ended) => claim.over_infinite_runs(ended),
        })
    }

    /// Its name.
    pub fn name(&self) -> &'m str {
        self.property.1
    }

    /// The same, looked at for the runs in which it is at accepting locations for ever again.
    pub fn over_infinite_runs(self, ended: FiniteRunPolicy) -> NeverClaim<'m> {
        let accepts_all = self.claim.locations.keys().map(|at| self.claim.accepts_all(at));
        NeverClaim { ended: Some(ended), accepts_all: accepts_all.collect(), ..self }
    }

    /// Its product with a model that runs the program.
    pub fn with(&self, model: impl StateSpace + 'm) -> ClaimProduct<'m> {
        ClaimProduct { model: Box::new(model), never: self.clone() }
    }
}

impl<'m> Reduction<'m> for NeverClaim<'m> {
    fn name(&self) -> String {
        format!("never claim {}", self.property.1)
    }

    /// Where the system can do nothing the claim goes on alone, and a run that the claim does not follow is
    /// left.
    fn traits(&self) -> ReductionTraits {
        let preserves = PreservedProperties::ALL
            .without(PropertyClass::Deadlocks)
            .without(PropertyClass::StepErrors)
            .without(PropertyClass::Invariants)
            .without(PropertyClass::StutterInvariant);
        ReductionTraits::new(Vec::new(), ReductionKind::Product, preserves)
    }

    fn describe_effect(&self, _: &Counters) -> Option<String> {
        None
    }

    /// A claim may count the system's steps: none may be left out but by what knows that it does not.
    fn conflict(&self, before: &ReductionStack<'m>) -> Option<NotApplied> {
        let kept = before.preserves();
        let is_kept = kept.has(PropertyClass::Claims) || kept.has(PropertyClass::StutteringClaims);
        (!is_kept).then_some(NotApplied::CountsPostponedSteps)
    }

    fn changed_cells(&self, _: &Layout) -> BTreeSet<CellId> {
        BTreeSet::new()
    }

    fn is_symmetric(&self) -> bool {
        true
    }

    fn wrap(&self, model: Box<dyn StateSpace + 'm>) -> Box<dyn StateSpace + 'm> {
        Box::new(self.with(model))
    }
}

impl<'m> ClaimProduct<'m> {
    /// The product of `model`, which runs the program of `interp`, and the program's claim, if it has
    /// one.
    pub fn new(model: impl StateSpace + 'm, interp: &'m Interp) -> Option<ClaimProduct<'m>> {
        Some(NeverClaim::of(interp)?.with(model))
    }

    /// Whether the claim is at an accepting location in a state of the product.
    pub fn is_accepting(&self, state: &[u8]) -> bool {
        let (_, at) = self.split(state);
        self.never.claim.locations[at.location].accepting
    }

    /// The claim.
    pub fn claim(&self) -> &Claim {
        self.never.claim
    }

    /// Where the claim is in a state of the product.
    pub fn location(&self, state: &[u8]) -> LocationId {
        self.split(state).1.location
    }

    fn number(&self, number: u32) -> u32 {
        self.never.first_move + number
    }

    /// What is violated where the claim comes to its end, or, where whole runs are looked at, to where it accepts whatever follows.
    pub fn check(&self) -> Violation {
        Violation::Property(self.property())
    }

    /// The number of the claim among the properties of the program.
    pub fn property(&self) -> u32 {
        self.never.property.0
    }

    /// Whether these bytes are a state of the system and a place of the claim.
    fn is_state(&self, state: &[u8]) -> bool {
        state.len() == self.width() && {
            let (system, at) = self.split(state);
            self.never.interp.are_states(system)
                && at.location.index() < self.never.claim.locations.len()
        }
    }

    fn split<'s>(&self, state: &'s [u8]) -> (&'s [u8], ClaimPosition) {
        let (system, code) = state.split_at(self.model.width());
        let code = code.iter().fold(0, |code: u64, &byte| code << 8 | u64::from(byte));
        let location = LocationId::from_index((code / 2) as usize);
        (system, ClaimPosition { location, stutters: code % 2 == 1 })
    }

    fn join(&self, system: &[u8], at: ClaimPosition, key: &mut Vec<u8>) {
        let code = 2 * at.location.index() as u64 + u64::from(at.stutters);
        key.clear();
        key.extend_from_slice(system);
        key.extend_from_slice(&code.to_be_bytes()[8 - self.never.bytes..]);
    }

    /// With `movers` candidates are records, of the states and the processes that steps are fair to.
    fn expand_one(
        &self,
        state: &[u8],
        movers: Option<&FairExpander<'m>>,
        room: &mut ProductBuffers,
        out: &mut SuccessorSink,
    ) {
        let (system, at) = self.split(state);
        // A claim that moves alone keeps nobody from moving: nobody can, or all that is of interest has happened.
        let to_all = movers.map(|it| ProcessSet::first(it.processes().count()).to_bytes());
        let to_all = to_all.as_ref().map_or(&[][..], |it| &it[..]);
        if self.never.accepts_all[at.location.index()] {
            out.record_finding(self.check(), state);
        }
        if self.has_ended(at) {
            room.key.clear();
            room.key.extend_from_slice(state);
            room.key.extend_from_slice(to_all);
            return out.candidate(&room.key);
        }
        if self.never.claim.is_end(at.location) {
            out.record_finding(self.check(), state);
        }
        let stays = SystemRecord { state: system, movers: to_all };
        let mut opening = None;
        if !self.successor_positions(system, at, &mut room.to) {
            let opening = opening.insert(self.opening(system, at));
            let ways =
                opening.ways.iter().map(|way| ClaimPosition { location: way.to, stutters: false });
            room.to.clear();
            room.to.extend(ways);
        }
        if !room.to.is_empty() {
            let expanded = self.expand_system(system, movers, &mut room.successors, out);
            let Some(expanded) = expanded else { return };
            let Some(moved) = self.add_outcome(state, room.to.len(), expanded, out) else { return };
            if moved {
                self.join_all(to_all.len(), room, out);
            } else {
                let opening = opening.get_or_insert_with(|| self.opening(system, at));
                for (_, to) in self.stutter(system, at, opening) {
                    self.add_joined(stays, to, &mut room.key, out);
                }
            }
        }
        if let Some(opening) = opening {
            for (_, to) in self.ended(&opening) {
                self.add_joined(stays, to, &mut room.key, out);
            }
            self.record_opening(state, &opening, out);
        }
    }

    /// Records what the claim's first move from a state violates.
    fn record_opening(&self, state: &[u8], opening: &FirstClaimMoves, out: &mut SuccessorSink) {
        if self.never.ended.is_none() {
            opening.ends.iter().for_each(|_| out.record_finding(self.check(), state));
        }
        for (moves, fault) in &opening.faults {
            let last = moves.last().map_or(0, |&last| self.number(last));
            out.record_finding(Violation::Fault(fault.kind, last), state);
        }
    }

    /// Adds a state of the system and a place of the claim as a candidate, in a record.
    fn add_joined(
        &self,
        record: SystemRecord<'_>,
        at: ClaimPosition,
        key: &mut Vec<u8>,
        out: &mut SuccessorSink,
    ) {
        self.join(record.state, at, key);
        key.extend_from_slice(record.movers);
        out.candidate(key);
    }

    /// The candidates of each successor of the system, in records with so many bytes behind it, and each place the claim comes to.
    fn join_all(&self, behind: usize, room: &mut ProductBuffers, out: &mut SuccessorSink) {
        let ProductBuffers { successors, key, to } = room;
        let width = self.model.width();
        for &at in &*to {
            for successor in successors.chunks_exact(width + behind) {
                let (state, movers) = successor.split_at(width);
                self.add_joined(SystemRecord { state, movers }, at, key, out);
            }
        }
    }

    /// Collects the system's successors; none if it failed.
    fn expand_system(
        &self,
        system: &[u8],
        movers: Option<&FairExpander<'m>>,
        successors: &mut Vec<u8>,
        out: &mut SuccessorSink,
    ) -> Option<ExpansionOutcome> {
        successors.clear();
        let record = self.model.width() + movers.map_or(0, |_| ProcessSet::BYTES);
        let run = |inner: &mut SuccessorSink| match movers {
            None => self.model.expand(system, inner),
            Some(movers) => movers.expand(system, inner),
        };
        out.wrap(record, successors, run)
    }

    /// Adds what came of the system's expansion; tells whether it moved, or nothing if that is not known. What is wrong with
    /// its steps is found as often as the claim has ways.
    fn add_outcome(
        &self,
        state: &[u8],
        ways: usize,
        expanded: ExpansionOutcome,
        out: &mut SuccessorSink,
    ) -> Option<bool> {
        let ExpansionOutcome { counters, findings, .. } = expanded;
        // Each excluded transition of the system is one of the product for each move of the claim.
        out.count_excluded(counters.excluded * ways as u64);
        let transitions = counters.transitions - counters.excluded;
        out.add_counters(Counters { transitions, excluded: 0, ..counters });
        let mut moved = counters.transitions > 0;
        for (check, finding) in findings.iter() {
            let times = match check {
                Violation::Deadlock => 0,
                Violation::Property(_) => 1,
                Violation::Fault(..) => {
                    moved = true;
                    finding.count * ways as u64
                }
            };
            (0..times).for_each(|_| out.record_finding(check, state));
        }
        // If it left early, it is not known whether it can move.
        (!stop_request::is_requested()).then_some(moved)
    }
}

/// How many initial states of the system are gathered before the claim joins them.
const STARTS_AT_ONCE: usize = 256;

impl StateSpace for ClaimProduct<'_> {
    fn width(&self) -> usize {
        self.model.width() + self.never.bytes
    }

    fn bits(&self) -> u32 {
        let codes = 2 * self.never.claim.locations.len().max(1) as u64;
        self.model.bits() + (u64::BITS - (codes - 1).leading_zeros())
    }

    fn initial(&self, out: &mut SuccessorSink) {
        let (width, at) = (
            self.model.width(),
            ClaimPosition { location: self.never.claim.start, stutters: false },
        );
        let (mut states, mut key) = (Vec::new(), Vec::new());
        let mut pass_on = |states: &mut Vec<u8>, out: &mut SuccessorSink| {
            for state in states.chunks_exact(width) {
                self.join(state, at, &mut key);
                out.candidate(&key);
            }
            states.clear();
        };
        let (limit, run) =
            (STARTS_AT_ONCE * width, |inner: &mut SuccessorSink| self.model.initial(inner));
        let batch = CandidateBatch { width, buffer: &mut states, limit };
        let Some(collected) = out.wrap_in_batches(batch, &mut pass_on, run) else {
            return;
        };
        pass_on(&mut states, out);
        for (check, finding) in collected.findings.iter() {
            self.join(&finding.witness, at, &mut key);
            (0..finding.count).for_each(|_| out.record_finding(check, &key));
        }
    }

    fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
        let mut room = ProductBuffers::default();
        for state in states.chunks_exact(self.width()) {
            if stop_request::is_requested() {
                return;
            }
            if !self.is_state(state) {
                return out.fail(format!("the bytes {state:02x?} are none of its states"));
            }
            self.expand_one(state, None, &mut room, out);
        }
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        let own = vec![0xff; self.never.bytes];
        let alone = vec![0; self.model.width()];
        let masks = self.model.write_masks().into_iter().chain([alone]);
        masks.map(|mask| [mask, own.clone()].concat()).collect()
    }

    fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.model.digest()).update(b"claim ").update(self.never.name().as_bytes());
        *hasher.finalize().as_bytes()
    }

    fn description(&self) -> &dyn SystemDescription {
        self
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities::NONE
    }
}
