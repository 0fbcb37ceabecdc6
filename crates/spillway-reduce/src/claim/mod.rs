//! The product of a transition system and a never claim, with the semantics of SPIN's `pan`.
//!
//! A state of the product is a state of the system, followed by one to three bytes for the claim. In every state the
//! claim moves first, then the system: a transition is a path of the claim and a transition of the system. If the
//! claim cannot move, the run is dropped, regardless of the system's transitions and violations. A violation in a
//! transition of the system counts once for each path of the claim. There are no deadlocks: if the system cannot
//! move, it stutters, and the claim moves alone.
//!
//! SPIN stores no state between the two moves. When the system starts to stutter, two moves of the claim lead from
//! one stored state to the next, and later a single one, because SPIN takes a move of the claim for the turn of the
//! system. A state *stutters* if it was reached in this way. That is stored only where it matters: not where the
//! claim reaches every location of a single move anyway, on a cycle. SPIN does not store it, so its behaviour depends
//! on the order of its search. If infinite runs are checked, it is always a single move; otherwise the search could
//! miss an accepting location. And once a claim has ended, the product stays in its state.

mod explain;
mod fair_product;
mod first_moves;
mod letters;
mod run_stuttering;
mod stuttering;

use super::{
    NotApplied, PreservedProperties, PropertyClass, Reduction, ReductionKind, ReductionStack,
    ReductionTraits,
};
pub use fair_product::FairProduct;
use first_moves::FirstClaimMoves;
use spillway_analysis::access::AccessTable;
use spillway_exec::interp::ClaimMoves;
use spillway_exec::{FairExpander, Interp};
use spillway_ir::layout::CellId;
use spillway_ir::{Claim, ClaimMove, Entity as _, Layout, LocationId, PropertyKind, TurnRule};
pub use spillway_model::FiniteRunPolicy;
use spillway_model::{
    CandidateBatch, Capabilities, ChainedSteps, Counters, CycleProvisoStateSpace, ExpansionOutcome,
    ProcessSet, StateSpace, StepDescent, SuccessorSink, SystemDescription, Violation, stop_request,
};
use std::collections::BTreeSet;
pub(crate) use stuttering::StutterDependence;

/// The never claim of a program.
#[derive(Clone)]
pub struct NeverClaim<'m> {
    /// The interpreter of the system, which also evaluates the conditions of the claim.
    interp: &'m Interp,
    claim: &'m Claim,
    /// The number and the name of the claim's property.
    property: (u32, &'m str),
    /// The moves from each location.
    from: Vec<Vec<u32>>,
    /// For each location, whether each move from it is a single one that asserts nothing and does not lead to the
    /// end.
    is_plain: Vec<bool>,
    /// Whether the claim may observe `timeout`. As in SPIN, it may only if a process reads `timeout` too.
    knows_timeout: bool,
    /// The number, as an action, of the first move. The moves follow actions and starts.
    first_move: u32,
    /// The bytes of the claim's position.
    bytes: usize,
    /// The meaning of finite runs, if infinite runs are checked.
    ended: Option<FiniteRunPolicy>,
    /// For each location, whether every continuation is accepted, if infinite runs are checked.
    accepts_all: Vec<bool>,
}

/// A transition system and a claim about it.
pub struct ClaimProduct<'m> {
    model: Box<dyn StateSpace + 'm>,
    never: NeverClaim<'m>,
}

/// The position of the claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ClaimPosition {
    location: LocationId,
    /// Whether the system stutters, and the next move is the claim's alone.
    stutters: bool,
}

/// A state of the system in a candidate.
#[derive(Clone, Copy)]
struct SystemRecord<'r> {
    state: &'r [u8],
    /// The processes that the transition to it is fair to, if candidates are records with these.
    movers: &'r [u8],
}

/// How the system is expanded.
#[derive(Clone, Copy)]
enum SystemExpansion<'e, 'm> {
    /// As the model expands its states.
    Usual,
    /// By chosen transitions, without a cycle proviso.
    Chosen(&'e dyn CycleProvisoStateSpace),
    /// By chosen transitions, those that lead upwards preferred.
    Ascending(&'e dyn CycleProvisoStateSpace),
    /// By all transitions.
    Full(&'e dyn CycleProvisoStateSpace),
    /// By all transitions, each with the processes that it is fair to.
    Fair(&'e FairExpander<'m>),
}

impl<'e, 'm> SystemExpansion<'e, 'm> {
    /// Returns the expander that records the processes, if there is one.
    fn movers(self) -> Option<&'e FairExpander<'m>> {
        match self {
            SystemExpansion::Fair(movers) => Some(movers),
            _ => None,
        }
    }
}

/// Buffers for the successors of one state.
#[derive(Default)]
struct ProductBuffers {
    successors: Vec<u8>,
    key: Vec<u8>,
    /// The positions that the claim moves to.
    to: Vec<ClaimPosition>,
}

impl<'m> NeverClaim<'m> {
    /// Returns the claim and its moves.
    fn moves(&self) -> ClaimMoves<'_> {
        ClaimMoves { claim: self.claim, from: &self.from }
    }

    /// Returns the claim of the program of `interp`, if it has one.
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

    /// Returns the claim. If `runs` gives the meaning of finite runs, it is checked on infinite runs.
    pub fn for_runs(interp: &'m Interp, runs: Option<FiniteRunPolicy>) -> Option<NeverClaim<'m>> {
        let claim = NeverClaim::of(interp)?;
        Some(match runs {
            None => claim,
            Some(ended) => claim.over_infinite_runs(ended),
        })
    }

    /// Checks that the claim of a program, on infinite runs, does not count repetitions of a state. Returns the reason if
    /// it may. A program without a claim passes.
    pub fn check_counts_no_repetitions(interp: &Interp) -> Result<(), NotApplied> {
        let Some(claim) = NeverClaim::of(interp) else { return Ok(()) };
        let table = AccessTable::new(interp.program(), interp.layout())?;
        claim.check_runs_stutter_closed(&table)
    }

    /// Returns the name.
    pub fn name(&self) -> &'m str {
        self.property.1
    }

    /// Returns the claim checked on the runs that visit accepting locations infinitely often.
    pub fn over_infinite_runs(self, ended: FiniteRunPolicy) -> NeverClaim<'m> {
        let accepts_all = self.claim.locations.keys().map(|at| self.claim.accepts_all(at));
        NeverClaim { ended: Some(ended), accepts_all: accepts_all.collect(), ..self }
    }

    /// Returns the product with a transition system of the program.
    pub fn with(&self, model: impl StateSpace + 'm) -> ClaimProduct<'m> {
        ClaimProduct { model: Box::new(model), never: self.clone() }
    }
}

impl<'m> Reduction<'m> for NeverClaim<'m> {
    fn name(&self) -> String {
        format!("never claim {}", self.property.1)
    }

    /// If the system cannot move, the claim moves alone, and a run that the claim does not follow is dropped.
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

    /// A claim may count the transitions of the system. Only reductions that preserve it may omit some.
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
    /// Returns the product of `model`, a transition system of the program of `interp`, and the program's claim, if it
    /// has one.
    pub fn new(model: impl StateSpace + 'm, interp: &'m Interp) -> Option<ClaimProduct<'m>> {
        Some(NeverClaim::of(interp)?.with(model))
    }

    /// Whether the claim is at an accepting location in a state of the product.
    pub fn is_accepting(&self, state: &[u8]) -> bool {
        let (_, at) = self.split(state);
        self.never.claim.locations[at.location].accepting
    }

    /// Whether the claim is at a location that accepts every continuation, in a state of the product.
    pub fn accepts_all(&self, state: &[u8]) -> bool {
        self.never.accepts_all[self.location(state).index()]
    }

    /// Returns the state of the system in a state of the product.
    pub fn system<'s>(&self, state: &'s [u8]) -> &'s [u8] {
        self.split(state).0
    }

    /// Returns the state of the product in which the claim has not left its first location.
    pub fn at_start(&self, system: &[u8]) -> Vec<u8> {
        let at = ClaimPosition { location: self.never.claim.start, stutters: false };
        let mut state = Vec::with_capacity(self.width());
        self.join(system, at, &mut state);
        state
    }

    /// Returns the claim.
    pub fn claim(&self) -> &Claim {
        self.never.claim
    }

    /// Returns the location of the claim in a state of the product.
    pub fn location(&self, state: &[u8]) -> LocationId {
        self.split(state).1.location
    }

    fn number(&self, number: u32) -> u32 {
        self.never.first_move + number
    }

    /// Returns the violation for a claim at its end or, if infinite runs are checked, at a location that accepts
    /// every continuation.
    pub fn check(&self) -> Violation {
        Violation::Property(self.property())
    }

    /// Returns the number of the claim among the properties of the program.
    pub fn property(&self) -> u32 {
        self.never.property.0
    }

    /// Whether some bytes are a state of the system and a position of the claim.
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

    /// Expands a state. With [`SystemExpansion::Fair`], candidates are records of states and the processes that transitions
    /// are fair to.
    fn expand_one(
        &self,
        state: &[u8],
        expansion: SystemExpansion<'_, 'm>,
        room: &mut ProductBuffers,
        out: &mut SuccessorSink,
    ) {
        let (system, at) = self.split(state);
        let movers = expansion.movers();
        // A transition of the claim alone is fair to all processes: none is enabled, or the run is already decided.
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
            let expanded = self.expand_system(system, expansion, &mut room.successors, out);
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

    /// Records the violations in the first moves of the claim.
    fn record_opening(&self, state: &[u8], opening: &FirstClaimMoves, out: &mut SuccessorSink) {
        if self.never.ended.is_none() {
            opening.ends.iter().for_each(|_| out.record_finding(self.check(), state));
        }
        for (moves, fault) in &opening.faults {
            let last = moves.last().map_or(0, |&last| self.number(last));
            out.record_finding(Violation::Fault(fault.kind, last), state);
        }
    }

    /// Adds a state of the system and a position of the claim as a candidate, in a record.
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

    /// Adds the candidates for each successor of the system and each claim position. The records have `behind` bytes
    /// after the state.
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

    /// Collects the successors of the system. Returns `None` on failure.
    fn expand_system(
        &self,
        system: &[u8],
        expansion: SystemExpansion<'_, 'm>,
        successors: &mut Vec<u8>,
        out: &mut SuccessorSink,
    ) -> Option<ExpansionOutcome> {
        successors.clear();
        let record = self.model.width() + expansion.movers().map_or(0, |_| ProcessSet::BYTES);
        let run = |inner: &mut SuccessorSink| match expansion {
            SystemExpansion::Usual => self.model.expand(system, inner),
            SystemExpansion::Chosen(model) => model.expand_chosen(system, inner),
            SystemExpansion::Ascending(model) => model.expand_ascending(system, inner),
            SystemExpansion::Full(model) => model.expand_fully(system, inner),
            SystemExpansion::Fair(movers) => movers.expand(system, inner),
        };
        out.wrap(record, successors, run)
    }

    /// Adds the result of the system's expansion. Returns whether the system moved, or `None` if that is unknown. A
    /// violation in its transitions counts once for each path of the claim.
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
        // If the expansion stopped early, it is unknown whether the system can move.
        (!stop_request::is_requested()).then_some(moved)
    }
}

impl<'m> ClaimProduct<'m> {
    /// Expands states in this way.
    fn expand_all(
        &self,
        states: &[u8],
        expansion: SystemExpansion<'_, 'm>,
        out: &mut SuccessorSink,
    ) {
        let mut room = ProductBuffers::default();
        for state in states.chunks_exact(self.width()) {
            if stop_request::is_requested() {
                return;
            }
            if !self.is_state(state) {
                return out.fail(format!("the bytes {state:02x?} are not one of its states"));
            }
            self.expand_one(state, expansion, &mut room, out);
        }
    }
}

/// The number of initial states of the system that are collected before the claim joins them.
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
        self.expand_all(states, SystemExpansion::Usual, out);
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
        let chooses = self.model.capabilities().cycle_proviso.is_some();
        Capabilities {
            cycle_proviso: chooses.then_some(self as &dyn CycleProvisoStateSpace),
            ..Capabilities::NONE
        }
    }
}

/// The model chooses. So the choice does not depend on the position of the claim.
impl CycleProvisoStateSpace for ClaimProduct<'_> {
    fn expand_chosen(&self, states: &[u8], out: &mut SuccessorSink) {
        let Some(model) = self.model.capabilities().cycle_proviso else { return };
        self.expand_all(states, SystemExpansion::Chosen(model), out);
    }

    fn expand_ascending(&self, states: &[u8], out: &mut SuccessorSink) {
        let Some(model) = self.model.capabilities().cycle_proviso else { return };
        self.expand_all(states, SystemExpansion::Ascending(model), out);
    }

    fn expand_fully(&self, states: &[u8], out: &mut SuccessorSink) {
        let Some(model) = self.model.capabilities().cycle_proviso else { return };
        self.expand_all(states, SystemExpansion::Full(model), out);
    }

    fn choosing_part<'s>(&self, state: &'s [u8]) -> &'s [u8] {
        self.split(state).0
    }

    fn descent(&self, from: &[u8], to: &[u8]) -> Option<StepDescent> {
        let (from, to) = (self.split(from).0, self.split(to).0);
        let model = self.model.capabilities().cycle_proviso;
        model.map_or(Some(StepDescent::Equal), |it| it.descent(from, to))
    }

    fn chained_steps(&self) -> Option<&dyn ChainedSteps> {
        self.model.capabilities().cycle_proviso?.chained_steps()
    }
}
