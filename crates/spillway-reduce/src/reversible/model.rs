//! The transition system that visits progenitors only.

use super::local_search::{CaseExecutor, LOCAL_BYTES_MAX, TooManyStates};
use super::state_set::OrderedStateSet;
use spillway_base::buffer_pool::BufferPool;
use spillway_exec::Interp;
use spillway_model::{
    ActionCounts, ActionId, CandidateBatch, Capabilities, ExpansionOutcome, Finding, Findings,
    ModelError, Result, Simulation, StateSpace, SuccessorSink, SystemDescription, Violation,
    any_bits, stop_request,
};
use std::sync::Arc;

/// A transition system that stores only the progenitor of states that reversible rules connect.
pub struct ProgenitorModel<'m> {
    model: Box<dyn StateSpace + 'm>,
    interp: &'m Interp,
    backwards: Arc<CaseExecutor<'m>>,
    searched: ProgenitorExpansion,
    rooms: BufferPool<ProgenitorBuffers>,
}

/// The states of a progenitor that are expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgenitorExpansion {
    /// All: Algorithm 1 of the paper.
    All,
    /// All, with checks that the rules have the expected effects and that their inverses commute.
    AllChecked,
    /// The progenitor and its immediate successors by rules: Algorithm 2 of the paper.
    Immediate {
        /// Whether deadlocks are checked. Then states that no rule leaves are expanded too.
        deadlocks: bool,
        /// Whether checked properties of single states read what rules change. Then they are evaluated in all other
        /// states.
        properties: bool,
    },
}

/// Buffers for the search from a progenitor.
struct ProgenitorBuffers {
    /// A state in work.
    work: Vec<u8>,
    /// The represented states, with the index of each one's predecessor. Behind them are the successors that are not
    /// represented, so that each is looked up once.
    met: OrderedStateSet,
    from: Vec<usize>,
    /// The represented states that are expanded, one after another.
    expanded: Vec<u8>,
    /// Their successors, unsorted.
    candidates: Vec<u8>,
}

impl<'m> ProgenitorModel<'m> {
    pub(super) fn new(
        model: Box<dyn StateSpace + 'm>,
        interp: &'m Interp,
        backwards: Arc<CaseExecutor<'m>>,
        searched: ProgenitorExpansion,
    ) -> ProgenitorModel<'m> {
        ProgenitorModel { model, interp, backwards, searched, rooms: BufferPool::default() }
    }

    fn with_room<T>(&self, run: impl FnOnce(&mut ProgenitorBuffers) -> T) -> T {
        let width = self.model.width();
        let make = || ProgenitorBuffers {
            work: self.backwards.work(),
            met: OrderedStateSet::new(width),
            from: Vec::new(),
            expanded: Vec::new(),
            candidates: Vec::new(),
        };
        self.rooms.with(make, run)
    }

    /// Expands all states that a progenitor represents.
    fn search_from(&self, state: &[u8], room: &mut ProgenitorBuffers, out: &mut SuccessorSink) {
        let ProgenitorBuffers { work, met, from, .. } = room;
        if self.backwards.closure_from(state, work, met, from).is_err() {
            return out.fail(too_many());
        }
        self.choose_expanded(room, out);
        let ProgenitorBuffers { work, met, expanded, candidates, .. } = room;
        let width = self.model.width();
        let (own, own_bytes) = (met.len(), met.bytes());
        candidates.clear();
        let is_checked = self.searched == ProgenitorExpansion::AllChecked;
        let mut steps = OrderedStateSet::new(width);
        let mut gather = |candidates: &mut Vec<u8>, out: &mut SuccessorSink| {
            for candidate in candidates.chunks_exact(width) {
                if met.number_of(candidate) < own && is_checked {
                    steps.insert(candidate);
                }
            }
            candidates.clear();
            if met.bytes() - own_bytes > LOCAL_BYTES_MAX {
                out.fail(too_many());
            }
        };
        let run = |inner: &mut SuccessorSink| self.model.expand(expanded, inner);
        let batch = CandidateBatch { width, buffer: candidates, limit: CANDIDATES * width };
        let collected = out.wrap_in_batches(batch, &mut gather, run);
        let Some(ExpansionOutcome { counters, findings, .. }) = collected else { return };
        gather(candidates, out);
        if stop_request::is_requested() || out.has_failed() {
            return;
        }
        out.add_findings(found_from(&findings, state));
        out.count_excluded(counters.excluded);
        let is_other = |state: &[u8]| met.number(state).is_some_and(|it| it >= own);
        for candidate in met.iter().skip(own) {
            let mut is_undone = false;
            self.backwards.each_before(candidate, work, |before| {
                is_undone = is_other(before);
                is_undone
            });
            if !is_undone {
                out.candidate(candidate);
            }
        }
        if is_checked {
            met.truncate(own);
            self.check(met, &steps, work, out);
        }
    }

    /// Sets `expanded` to the represented states to expand, and evaluates properties in the others.
    fn choose_expanded(&self, room: &mut ProgenitorBuffers, out: &mut SuccessorSink) {
        let ProgenitorBuffers { work, met, from, expanded, .. } = room;
        expanded.clear();
        let ProgenitorExpansion::Immediate { deadlocks, properties } = self.searched else {
            return expanded.extend_from_slice(met.states());
        };
        let (first, mut ends) = (met.get(0), Vec::new());
        let judge =
            |state: &[u8], inner: &mut SuccessorSink| self.interp.check_properties(state, inner);
        let run = |inner: &mut SuccessorSink| {
            for (state, &from) in met.iter().zip(&*from) {
                let mut leads_on = false;
                if from != 0 && deadlocks {
                    self.backwards.each_after(state, work, |_| {
                        leads_on = true;
                        true
                    });
                }
                match from == 0 {
                    true => expanded.extend_from_slice(state),
                    // Other states have the same successors.
                    false if deadlocks && !leads_on => ends.extend_from_slice(state),
                    false if properties => judge(state, inner),
                    false => {}
                }
            }
            let mut unwanted = Vec::new();
            let width = self.model.width();
            let run = |inner: &mut SuccessorSink| self.model.expand(&ends, inner);
            if let Some(expanded) = inner.wrap_uncounted(width, &mut unwanted, run) {
                inner.add_findings(expanded.findings);
            }
        };
        if let Some(judged) = out.wrap(self.model.width(), &mut Vec::new(), run) {
            out.add_findings(found_from(&judged.findings, first));
        }
    }

    /// Fails unless the rules had the expected effects and their inverses commute.
    fn check(
        &self,
        met: &OrderedStateSet,
        steps: &OrderedStateSet,
        work: &mut [u8],
        out: &mut SuccessorSink,
    ) {
        let told = |state: &[u8]| {
            let values = self.interp.describe(state).into_iter();
            values.map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
        };
        if let Some(state) = met.iter().skip(1).find(|it| !steps.contains(it)) {
            let state = told(state);
            return out.fail(format!("a rule that was found reversible does not lead to {state}"));
        }
        for state in met.iter() {
            if !self.commute_at(state, work) {
                let state = told(state);
                return out
                    .fail(format!("the inverses of reversible rules do not commute at {state}"));
            }
        }
    }

    /// Whether the order in which two possible rules are undone in a state is irrelevant.
    fn commute_at(&self, state: &[u8], work: &mut [u8]) -> bool {
        let before = |state: &[u8], work: &mut [u8]| {
            let mut all = Vec::new();
            self.backwards.each_before(state, work, |before| {
                all.push(before.to_vec());
                false
            });
            all
        };
        let all = before(state, work);
        let further: Vec<_> = all.iter().map(|it| before(it, work)).collect();
        let meet = |one: usize, other: usize| {
            all[one] == all[other] || further[one].iter().any(|it| further[other].contains(it))
        };
        (0..all.len()).all(|one| (0..one).all(|other| meet(one, other)))
    }

    /// Returns the states that a progenitor represents.
    pub fn states_from(&self, state: &[u8]) -> Result<Vec<Vec<u8>>> {
        Ok(self.represented_states(state)?.0.iter().map(<[u8]>::to_vec).collect())
    }

    /// Returns the path, by rules, to the first represented state whose successors and findings satisfy `wanted`.
    fn way_where(
        &self,
        from: &[u8],
        wanted: impl Fn(&[u8], &Findings) -> bool,
    ) -> Result<Option<Vec<Vec<u8>>>> {
        if !self.interp.are_states(from) {
            return Ok(None);
        }
        let (met, parents) = self.represented_states(from)?;
        let mut successors = Vec::new();
        for (at, state) in met.iter().enumerate() {
            successors.clear();
            let run = |out: &mut SuccessorSink| self.model.expand(state, out);
            let collected = SuccessorSink::collect(self.width(), &mut successors, run)?;
            if wanted(&successors, &collected.findings) {
                return Ok(Some(way_to(&met, &parents, at)));
            }
        }
        Ok(None)
    }

    /// Returns the represented states, with the index of each one's predecessor.
    fn represented_states(&self, state: &[u8]) -> Result<(OrderedStateSet, Vec<usize>)> {
        let (mut met, mut from) = (OrderedStateSet::new(self.model.width()), Vec::new());
        let found =
            self.backwards.closure_from(state, &mut self.backwards.work(), &mut met, &mut from);
        match found {
            Ok(()) => Ok((met, from)),
            Err(TooManyStates) => Err(ModelError::failed(too_many())),
        }
    }
}

/// The number of candidates that are processed together.
const CANDIDATES: usize = 4096;

fn too_many() -> String {
    format!(
        "the states that reversible rules lead to from one, or their successors, take more than {} MiB: leave the \
         reduction out, or name fewer rules",
        LOCAL_BYTES_MAX >> 20
    )
}

/// Moves findings from represented states to the progenitor.
fn found_from(findings: &Findings, state: &[u8]) -> Findings {
    let mut here = Findings::default();
    for (check, Finding { count, level, .. }) in findings.iter() {
        let finding = Finding { count: *count, level: *level, witness: state.to_vec() };
        here.restore(check, finding);
    }
    here
}

/// Returns the states on the path to a represented state.
fn way_to(met: &OrderedStateSet, from: &[usize], mut at: usize) -> Vec<Vec<u8>> {
    let mut way = Vec::new();
    while at != 0 {
        way.push(met.get(at).to_vec());
        at = from[at];
    }
    way.reverse();
    way
}

impl StateSpace for ProgenitorModel<'_> {
    fn width(&self) -> usize {
        self.model.width()
    }

    fn bits(&self) -> u32 {
        self.model.bits()
    }

    /// Initial states are stored unchanged.
    fn initial(&self, out: &mut SuccessorSink) {
        self.model.initial(out);
    }

    fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
        if !self.interp.are_states(states) {
            return out.fail("these bytes are not one of its states");
        }
        self.with_room(|room| {
            for state in states.chunks_exact(self.width()) {
                if stop_request::is_requested() || out.has_failed() {
                    return;
                }
                self.search_from(state, room, out);
            }
        });
    }

    fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.model.digest()).update(b"reversible ");
        hasher.update(self.backwards.digest());
        *hasher.finalize().as_bytes()
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        any_bits(self.width())
    }

    fn description(&self) -> &dyn SystemDescription {
        self.model.description()
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            simulation: Some(self),
            postponing: None,
            cycle_proviso: None,
            sleep_sets: None,
            dominance: None,
            growing: None,
            views: None,
        }
    }
}

impl Simulation for ProgenitorModel<'_> {
    fn concrete_space(&self) -> &dyn StateSpace {
        &*self.model
    }

    fn represents(&self, own: &[u8], below: &[u8]) -> bool {
        own == below
    }

    /// Returns reversible rules, followed by the transition that leaves the represented states.
    fn concretise_step(&self, _: &[u8], from: &[u8], to: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
        let way = self.way_where(from, |successors, _| {
            successors.chunks_exact(self.width()).any(|it| it == to)
        })?;
        Ok(way.map(|mut way| {
            way.push(to.to_vec());
            way
        }))
    }

    fn concrete_violation_path(&self, from: &[u8], check: Violation) -> Result<Vec<Vec<u8>>> {
        let way = self.way_where(from, |_, findings| findings.count(check) > 0)?;
        Ok(way.unwrap_or_default())
    }

    fn preserves_depth(&self) -> bool {
        false
    }

    fn unreduced_space(&self) -> Option<&dyn StateSpace> {
        Some(&*self.model)
    }

    fn intermediate_states(&self, _: &[u8], _: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
        Ok(None)
    }

    fn equivalent_violations(&self, _: Violation) -> Vec<Violation> {
        Vec::new()
    }

    fn hides_action(&self, _: ActionId) -> bool {
        false
    }

    fn concrete_action_counts(&self, taken: ActionCounts) -> ActionCounts {
        taken
    }
}
