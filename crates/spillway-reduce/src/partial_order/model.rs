//! The reduced transition system: states are expanded by their chosen transitions.

use super::CycleProviso;
use super::blocks::in_blocks;
use super::chains::{ChainBuffers, ChainRunner};
use super::choice::TransitionChoice;
use super::program_chooser::ProgramChooser;
use crate::simultaneous::{SimultaneousSets, SimultaneousSteps};
use spillway_analysis::bit_sets;
use spillway_analysis::instances::InstanceSets;
use spillway_base::buffer_pool::BufferPool;
use spillway_exec::{GroupedSuccessors, SelectiveStateSpace, split_by_ends};
use spillway_model::{
    ActionCounts, ActionId, Capabilities, ChainedSteps, CycleProvisoStateSpace, ObligationSink,
    PostponingStateSpace, Result, Simulation, StateSpace, StepDescent, SuccessorSink,
    SystemDescription, Violation, any_bits, stop_request,
};
use std::sync::Arc;

/// A transition system whose states are expanded by some of their transitions.
pub(super) struct PartialOrderModel<'m> {
    model: Box<dyn StateSpace + 'm>,
    selective: Arc<dyn SelectiveStateSpace + 'm>,
    choosers: Arc<ProgramChooser<'m>>,
    rooms: BufferPool<ExpansionBuffers<'m>>,
    /// The choices for a search that enforces the cycle proviso.
    enforced: Option<EnforcedChoices<'m>>,
}

/// Choices that need not ascend in the order of the states.
struct EnforcedChoices<'m> {
    choosers: Arc<ProgramChooser<'m>>,
    rooms: BufferPool<ExpansionBuffers<'m>>,
}

/// Buffers for an expansion.
struct ExpansionBuffers<'m> {
    /// The choosers of the expansion.
    choosers: Arc<ProgramChooser<'m>>,
    enabled: InstanceSets,
    chosen: InstanceSets,
    /// For each state of the block, the sets whose transitions are taken simultaneously.
    together: SimultaneousSets,
    /// The states of a block whose successors decide on full expansion.
    partial: Vec<PartialExpansion>,
    successors: GroupedSuccessors,
    /// The number of states of the block with postponed transitions.
    put_off: u64,
    chains: ChainBuffers,
    /// The ends of the chains that start in the successors.
    reached: Vec<u8>,
}

/// Who ensures that no transition is postponed for ever.
enum ProvisoHandling<'o, 's> {
    /// The reduction, by the order of the states.
    AtOnce,
    /// The search, for the states whose successors are added to the sink. `first` is the position of the first state.
    Owed { sink: &'o mut ObligationSink<'s>, first: usize },
    /// The search, for each cycle that it meets.
    Left,
}

/// A state of a block that postpones transitions.
#[derive(Clone, Copy)]
struct PartialExpansion {
    at: usize,
    /// Whether none of the postponed transitions is a proviso obligation.
    is_good: bool,
}

impl<'m> PartialOrderModel<'m> {
    pub fn new(
        model: Box<dyn StateSpace + 'm>,
        selective: Arc<dyn SelectiveStateSpace + 'm>,
        choosers: Arc<ProgramChooser<'m>>,
    ) -> PartialOrderModel<'m> {
        // A search may enforce the proviso for infinite runs.
        let enforced = choosers.is_for_infinite_runs().then(|| EnforcedChoices {
            choosers: Arc::new(choosers.without_demand()),
            rooms: BufferPool::default(),
        });
        PartialOrderModel { model, selective, choosers, rooms: BufferPool::default(), enforced }
    }

    /// Calls `run` for each block of states, with the number of states before it, until `out` asks to stop.
    fn in_blocks(
        &self,
        states: &[u8],
        out: &mut SuccessorSink,
        run: impl FnMut(usize, &[u8], &mut SuccessorSink, &mut ExpansionBuffers<'m>),
    ) {
        let make = || self.buffers(&self.choosers);
        self.rooms.with(make, |work| self.in_blocks_with(work, states, out, run));
    }

    /// As [`in_blocks`](Self::in_blocks), with these buffers.
    fn in_blocks_with(
        &self,
        work: &mut ExpansionBuffers<'m>,
        states: &[u8],
        out: &mut SuccessorSink,
        mut run: impl FnMut(usize, &[u8], &mut SuccessorSink, &mut ExpansionBuffers<'m>),
    ) {
        in_blocks(states, self.model.width(), out, |before, block, out| {
            run(before, block, out, work);
        });
        work.choosers.note(&mut work.chains.rooms);
    }

    /// Returns buffers for expansions by these choosers.
    fn buffers(&self, choosers: &Arc<ProgramChooser<'m>>) -> ExpansionBuffers<'m> {
        let chains = self.chains(choosers);
        ExpansionBuffers {
            choosers: choosers.clone(),
            enabled: self.selective.instances().sets(),
            chosen: self.selective.instances().sets(),
            together: SimultaneousSets::default(),
            partial: Vec::new(),
            successors: GroupedSuccessors::default(),
            put_off: 0,
            chains: ChainBuffers::new(chains),
            reached: Vec::new(),
        }
    }

    /// Computes the enabled and the chosen instances of a block of states. With `needs_proviso` the successors of states
    /// with proviso obligations decide on full expansion. Returns `false` on failure.
    fn examine_block(
        &self,
        states: &[u8],
        out: &mut SuccessorSink,
        needs_proviso: bool,
        work: &mut ExpansionBuffers<'m>,
    ) -> bool {
        let width = self.model.width();
        if let Err(error) = self.selective.enabled(states, &mut work.enabled) {
            out.give_up(error);
            return false;
        }
        work.chosen.clear(states.len() / width);
        work.together.clear();
        work.partial.clear();
        work.put_off = 0;
        for (at, state) in states.chunks_exact(width).enumerate() {
            let enabled = work.enabled.words(at);
            if enabled.iter().all(|&word| word == 0) {
                if self.takes_several() {
                    work.together.add(enabled, &[]);
                }
                continue;
            }
            let TransitionChoice { chosen, needs_no_proviso: is_good, several } =
                work.choosers.choose(state, enabled, &mut work.chains.rooms);
            if self.takes_several() {
                work.together.add(chosen, several);
            }
            work.chosen.words_mut(at).copy_from_slice(chosen);
            if chosen != enabled {
                work.put_off += 1;
                if needs_proviso && !is_good || self.choosers.ignores_self_loops() {
                    work.partial.push(PartialExpansion { at, is_good });
                }
            }
        }
        true
    }

    /// Expands a block by its chosen instances.
    fn expand_block(
        &self,
        states: &[u8],
        out: &mut SuccessorSink,
        handling: ProvisoHandling<'_, '_>,
        work: &mut ExpansionBuffers<'m>,
    ) {
        let needs_proviso = !matches!(handling, ProvisoHandling::Left);
        if !self.examine_block(states, out, needs_proviso, work) {
            return;
        }
        // If all transitions are taken, the base model has code that expands the block at once.
        let comes_through = self.choosers.may_take_several_steps();
        if work.put_off == 0 && !comes_through {
            return self.model.expand(states, out);
        }
        self.selective.check_states(states, &work.enabled, out);
        if work.partial.is_empty() && !comes_through {
            self.selective.expand_chosen(states, &work.chosen, out);
        } else {
            self.expand_separately(states, out, handling, work);
        }
        out.count_partially_expanded(work.put_off);
    }

    /// As `expand_block`, for blocks with states whose successors decide on full expansion.
    fn expand_separately(
        &self,
        states: &[u8],
        out: &mut SuccessorSink,
        mut handling: ProvisoHandling<'_, '_>,
        work: &mut ExpansionBuffers<'m>,
    ) {
        let width = self.model.width();
        let ExpansionBuffers { chosen, together, successors, .. } = work;
        let are_taken = match self.takes_several() {
            true => self.steps().expand(states, together, successors, out),
            false => self.take(states, chosen, successors, out),
        };
        if !are_taken {
            return;
        }
        if !self.follow_chains(out, work) {
            return;
        }
        let ExpansionBuffers { enabled, chosen, partial, successors, .. } = work;
        let ExpansionBuffers { put_off, reached, chains, .. } = work;
        let runs_on = self.choosers.runs_chains();
        let mut besides = self.selective.instances().sets();
        besides.clear(enabled.len());
        let mut is_any = false;
        let all_after: Vec<&[u8]> = successors.groups().collect();
        let GroupedSuccessors { states: direct, ends } = &*successors;
        let all_reached: Vec<&[u8]> =
            split_by_ends(if runs_on { reached } else { direct }, ends).collect();
        for &PartialExpansion { at, is_good } in partial.iter() {
            let state = &states[at * width..][..width];
            let (mut after, ends) =
                (all_after[at].chunks_exact(width), all_reached[at].chunks_exact(width));
            let leads_nowhere = self.choosers.ignores_self_loops() && after.all(|it| it == state);
            let is_left = matches!(handling, ProvisoHandling::Left);
            if leads_nowhere || !is_left && self.needs_full_expansion(state, ends.clone()) {
                *put_off -= 1;
                is_any = true;
                besides.words_mut(at).copy_from_slice(enabled.words(at));
                bit_sets::subtract(besides.words_mut(at), chosen.words(at));
            } else if is_good || is_left {
                continue;
            } else if self.needs_proviso_expansion(state, ends.clone()) {
                is_any = true;
                besides.words_mut(at).copy_from_slice(self.choosers.proviso_transitions(
                    state,
                    enabled.words(at),
                    &mut chains.rooms,
                ));
            } else if let ProvisoHandling::Owed { sink, first } = &mut handling {
                ends.for_each(|successor| sink.add(*first + at, successor));
            }
        }
        if is_any && !runs_on {
            self.selective.expand_chosen(states, &besides, out);
        } else if is_any && self.take(states, &besides, successors, out) {
            self.follow_chains(out, work);
        }
    }

    /// Expands a block by all transitions, each followed to the end of its chain.
    fn expand_to_ends(
        &self,
        states: &[u8],
        out: &mut SuccessorSink,
        work: &mut ExpansionBuffers<'m>,
    ) {
        let successors = &mut work.successors.states;
        successors.clear();
        let run = |inner: &mut SuccessorSink| self.model.expand(states, inner);
        let Some(found) = out.wrap(self.model.width(), successors, run) else { return };
        if !stop_request::is_requested() {
            out.add_findings(found.findings);
            out.add_counters(found.counters);
            self.follow_chains(out, work);
        }
    }

    /// Collects the successors of some states by the chosen instances. Returns `false` on failure.
    fn take(
        &self,
        states: &[u8],
        chosen: &InstanceSets,
        successors: &mut GroupedSuccessors,
        out: &mut SuccessorSink,
    ) -> bool {
        let GroupedSuccessors { states: successors, ends } = successors;
        successors.clear();
        let run = |out: &mut SuccessorSink| {
            self.selective.expand_chosen_with_ends(states, chosen, ends, out)
        };
        let Some(found) = out.wrap(self.model.width(), successors, run) else { return false };
        if stop_request::is_requested() {
            return false;
        }
        out.add_findings(found.findings);
        out.add_counters(found.counters);
        true
    }

    /// Adds the successors, or the ends of their chains if chains are used. Collects these ends in `reached`. Returns
    /// `false` on failure.
    fn follow_chains(&self, out: &mut SuccessorSink, work: &mut ExpansionBuffers<'m>) -> bool {
        let ExpansionBuffers { choosers, successors, reached, chains, .. } = work;
        let mut ends = &successors.states;
        if choosers.runs_chains() {
            reached.clone_from(ends);
            match self.chains(choosers).advance_to_ends(reached, chains) {
                Ok(passed) => {
                    out.count_skipped(passed);
                    out.add_action_counts(std::mem::take(&mut chains.taken));
                }
                Err(error) => {
                    out.give_up(error);
                    return false;
                }
            }
            ends = reached;
        }
        ends.chunks_exact(self.model.width()).for_each(|it| out.candidate(it));
        true
    }

    /// Whether one transition may be composed of several independent ones.
    fn takes_several(&self) -> bool {
        self.choosers.method().takes_several()
    }

    fn steps(&self) -> SimultaneousSteps<'_, 'm> {
        SimultaneousSteps { selective: &*self.selective, width: self.model.width() }
    }

    /// Returns the chains of these choosers.
    fn chains<'r>(&'r self, choosers: &'r ProgramChooser<'m>) -> ChainRunner<'r, 'm> {
        ChainRunner { selective: &*self.selective, choosers, width: self.model.width() }
    }

    /// Returns the states on a shortest path of a transition and a chain; the least of several such paths.
    fn chain_path(
        &self,
        choosers: &ProgramChooser<'m>,
        from: &[u8],
        to: &[u8],
    ) -> Result<Option<Vec<Vec<u8>>>> {
        let mut successors = Vec::new();
        let run = |out: &mut SuccessorSink| self.model.expand(from, out);
        let _ = SuccessorSink::collect(self.model.width(), &mut successors, run)?;
        let (chains, mut least) = (self.chains(choosers), None);
        let mut room = ChainBuffers::new(chains);
        for successor in successors.chunks_exact(self.model.width()) {
            let way = chains.states_along(successor, &mut room)?;
            if way.last().is_some_and(|it| it == to) {
                least = shorter_path(least, Some(way));
            }
        }
        Ok(least)
    }

    /// Whether a state must be fully expanded to preserve infinite runs, given the successors by its chosen
    /// transitions. Each cycle needs a fully expanded state, and each cycle has a transition that does not ascend. So
    /// a state needs it if one of its chosen transitions does not ascend.
    fn needs_full_expansion<'s>(
        &self,
        state: &[u8],
        mut after: impl ExactSizeIterator<Item = &'s [u8]>,
    ) -> bool {
        self.choosers.is_for_infinite_runs()
            && (after.len() == 0 || after.any(|it| !self.choosers.climbs(state, it)))
    }

    /// Whether the proviso transitions of a state are taken at once, given the successors by its chosen transitions.
    fn needs_proviso_expansion<'s>(
        &self,
        state: &[u8],
        mut after: impl ExactSizeIterator<Item = &'s [u8]>,
    ) -> bool {
        match self.choosers.proviso() {
            // Without a successor no obligation can be recorded.
            CycleProviso::Levels => after.len() == 0,
            _ => !after.any(|successor| self.choosers.climbs(state, successor)),
        }
    }
}

impl PartialOrderModel<'_> {
    /// Returns the states on a shortest path of simultaneous transitions; the least of several such paths.
    fn together(&self, from: &[u8], to: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
        let mut enabled = self.selective.instances().sets();
        self.selective.enabled(from, &mut enabled)?;
        if enabled.is_none(0) {
            return Ok(None);
        }
        let (mut rooms, mut together) = (self.choosers.rooms(), SimultaneousSets::default());
        let TransitionChoice { chosen, several, .. } =
            self.choosers.choose(from, enabled.words(0), &mut rooms);
        together.add(chosen, several);
        let ways = self.steps().ways(from, together.of(0))?;
        let there = ways.into_iter().filter(|it| it.last().is_some_and(|it| it == to));
        Ok(there.min_by(|one, other| (one.len(), one).cmp(&(other.len(), other))))
    }
}

impl StateSpace for PartialOrderModel<'_> {
    fn width(&self) -> usize {
        self.model.width()
    }

    fn bits(&self) -> u32 {
        self.model.bits()
    }

    fn initial(&self, out: &mut SuccessorSink) {
        self.model.initial(out);
    }

    /// If states are re-expanded, callers that do not handle obligations get the full expansion. Simultaneous
    /// transitions, which have other targets, are added.
    fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
        if self.choosers.may_reexpand() {
            self.model.expand(states, out);
            if !self.takes_several() {
                return;
            }
        }
        self.in_blocks(states, out, |_, block, out, work| {
            self.expand_block(block, out, ProvisoHandling::AtOnce, work);
        });
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        match self.choosers.may_take_several_steps() {
            true => any_bits(self.width()),
            false => self.model.write_masks(),
        }
    }

    fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.model.digest());
        hasher.update(b"partial order ").update(self.choosers.method().name().as_bytes());
        hasher.update(&[self.choosers.has_monitors().into(), self.choosers.may_reexpand().into()]);
        if self.choosers.runs_chains() {
            hasher.update(self.choosers.proviso().name().as_bytes());
        }
        if self.choosers.is_for_infinite_runs() {
            hasher.update(b"whole runs");
        }
        *hasher.finalize().as_bytes()
    }

    fn description(&self) -> &dyn SystemDescription {
        self.model.description()
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            simulation: match self.choosers.may_take_several_steps() {
                true => Some(self),
                false => self.model.capabilities().simulation,
            },
            postponing: self.choosers.may_reexpand().then_some(self),
            cycle_proviso: self.enforced.is_some().then_some(self as &dyn CycleProvisoStateSpace),
            sleep_sets: None,
            dominance: None,
            growing: None,
            views: None,
        }
    }
}

/// With chains, a transition is all transitions of a chain. With simultaneous reachability it is a set of independent
/// ones.
impl Simulation for PartialOrderModel<'_> {
    fn concrete_space(&self) -> &dyn StateSpace {
        &*self.model
    }

    fn represents(&self, own: &[u8], below: &[u8]) -> bool {
        own == below
    }

    /// Chooses a path with the fewest transitions.
    fn concretise_step(&self, _: &[u8], from: &[u8], to: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
        if !self.takes_several() {
            return self.chain_path(&self.choosers, from, to);
        }
        let mut successors = Vec::new();
        let run = |out: &mut SuccessorSink| self.model.expand(from, out);
        let _ = SuccessorSink::collect(self.width(), &mut successors, run)?;
        let is_one = successors.chunks_exact(self.width()).any(|it| it == to);
        if is_one { Ok(Some(vec![to.to_vec()])) } else { self.together(from, to) }
    }

    fn unreduced_space(&self) -> Option<&dyn StateSpace> {
        Some(&*self.model)
    }

    fn intermediate_states(&self, own: &[u8], to: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
        if self.takes_several() { self.together(own, to) } else { Ok(None) }
    }

    fn preserves_depth(&self) -> bool {
        false
    }

    fn concrete_violation_path(&self, _: &[u8], _: Violation) -> Result<Vec<Vec<u8>>> {
        Ok(Vec::new())
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

impl CycleProvisoStateSpace for PartialOrderModel<'_> {
    fn expand_chosen(&self, states: &[u8], out: &mut SuccessorSink) {
        let Some(EnforcedChoices { choosers, rooms }) = &self.enforced else { return };
        let make = || self.buffers(choosers);
        rooms.with(make, |work| {
            self.in_blocks_with(work, states, out, |_, block, out, work| {
                self.expand_block(block, out, ProvisoHandling::Left, work);
            });
        });
    }

    /// The choices of the own proviso, without its full expansions.
    fn expand_ascending(&self, states: &[u8], out: &mut SuccessorSink) {
        self.in_blocks(states, out, |_, block, out, work| {
            self.expand_block(block, out, ProvisoHandling::Left, work);
        });
    }

    fn expand_fully(&self, states: &[u8], out: &mut SuccessorSink) {
        let Some(EnforcedChoices { choosers, rooms }) = &self.enforced else { return };
        if !choosers.runs_chains() {
            return self.model.expand(states, out);
        }
        let make = || self.buffers(choosers);
        rooms.with(make, |work| {
            self.in_blocks_with(work, states, out, |_, block, out, work| {
                self.expand_to_ends(block, out, work);
            });
        });
    }

    fn choosing_part<'s>(&self, state: &'s [u8]) -> &'s [u8] {
        state
    }

    fn descent(&self, from: &[u8], to: &[u8]) -> Option<StepDescent> {
        self.choosers.descent(from, to)
    }

    fn chained_steps(&self) -> Option<&dyn ChainedSteps> {
        self.choosers.runs_chains().then_some(self)
    }
}

/// Both choices have chains of their own.
impl ChainedSteps for PartialOrderModel<'_> {
    fn path(&self, from: &[u8], to: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
        let own = self.chain_path(&self.choosers, from, to)?;
        let Some(EnforcedChoices { choosers, .. }) = &self.enforced else { return Ok(own) };
        Ok(shorter_path(own, self.chain_path(choosers, from, to)?))
    }
}

/// Returns the shorter of two paths; of two paths of one length, the least.
fn shorter_path(one: Option<Vec<Vec<u8>>>, other: Option<Vec<Vec<u8>>>) -> Option<Vec<Vec<u8>>> {
    one.into_iter().chain(other).min_by(|one, other| (one.len(), one).cmp(&(other.len(), other)))
}

impl PostponingStateSpace for PartialOrderModel<'_> {
    fn expand_reduced(&self, states: &[u8], out: &mut SuccessorSink, owed: &mut ObligationSink) {
        self.in_blocks(states, out, |before, block, out, work| {
            self.expand_block(
                block,
                out,
                ProvisoHandling::Owed { sink: owed, first: before },
                work,
            );
        });
    }

    fn expand_postponed(&self, states: &[u8], out: &mut SuccessorSink) {
        let width = self.model.width();
        self.in_blocks(states, out, |_, block, out, work| {
            if let Err(error) = self.selective.enabled(block, &mut work.enabled) {
                return out.give_up(error);
            }
            work.chosen.clear(block.len() / width);
            for (at, state) in block.chunks_exact(width).enumerate() {
                let rest = self.choosers.proviso_transitions(
                    state,
                    work.enabled.words(at),
                    &mut work.chains.rooms,
                );
                work.chosen.words_mut(at).copy_from_slice(rest);
            }
            self.selective.expand_chosen(block, &work.chosen, out);
        });
    }
}
