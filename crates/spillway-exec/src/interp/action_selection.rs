//! Enabled action instances of a state, and expansion of chosen instances, in the interpreter.
//!
//! The interpreter looks at all steps as usual and skips those of other instances. So the effect of an enabled action
//! on others (`else`, `timeout`, `unless`, priorities) does not depend on the choice.

use super::Interp;
use super::step_sink::StepTarget;
use crate::action_selection::ChosenInstances;
use crate::{LABEL_BYTES, LabelledSink, SelectiveStateSpace, split_by_ends};
use spillway_analysis::instances::{
    ActionInstance, ActionInstances, InstanceId, InstanceSets, NumberingError, is_in,
};
use spillway_ir::{EndRule, Schedule};
use spillway_model::{StateSpace, SuccessorSink, Violation, stop_request};

/// An interpreter that can expand chosen action instances.
#[derive(Debug)]
pub struct InterpSelector<'a> {
    interp: &'a Interp,
    instances: ActionInstances,
}

impl Interp {
    /// Returns the interface for expanding chosen instances, or why there is none.
    pub fn selector(&self) -> Result<InterpSelector<'_>, NumberingError> {
        Ok(InterpSelector { interp: self, instances: ActionInstances::new(&self.program)? })
    }

    /// Calls `visit` with each enabled instance of `state`, some perhaps more than once.
    pub(crate) fn each_enabled(&self, state: &[u8], visit: &mut dyn FnMut(ActionInstance)) {
        match self.program.schedule {
            Schedule::Interleaved => {
                self.each_mover(state, &mut |look| self.visit_offers(look, visit));
            }
            Schedule::Lockstep => self.lockstep(state, &mut |taken, _| {
                self.begun(None, taken).into_iter().for_each(&mut *visit);
            }),
        }
    }

    /// Records the properties that fail in `state` or meet an error during evaluation.
    pub fn check_properties(&self, state: &[u8], out: &mut SuccessorSink) {
        self.broken_properties(state, |number, fault| {
            let check = match fault {
                None => Violation::Property(number),
                Some(fault) => Violation::Fault(fault.kind, self.property_action_number(number)),
            };
            out.record_finding(check, state);
        });
    }

    /// Records deadlocks among the states. If a step back to the same state does not count, it tries the enabled
    /// instances one after another.
    pub(crate) fn check_deadlocks(
        &self,
        selective: &dyn SelectiveStateSpace,
        states: &[u8],
        enabled: &InstanceSets,
        out: &mut SuccessorSink,
    ) {
        selective.instances().assert_fit(enabled, states.len() / self.width());
        let leading = match self.program.end {
            EndRule::NeverStuttering => {
                non_stuttering_states(selective, self.width(), states, enabled, out)
            }
            EndRule::Never | EndRule::AllAtValidEnd => Vec::new(),
        };
        for (at, state) in states.chunks_exact(self.width()).enumerate() {
            if stop_request::is_requested() || out.has_failed() {
                return;
            }
            let stays = |instance| stays(selective, state, instance, out);
            let is_stuck = match self.program.end {
                EndRule::NeverStuttering => {
                    !leading.get(at).is_some_and(|&leads| leads) && enabled.iter(at).all(stays)
                }
                EndRule::Never | EndRule::AllAtValidEnd => enabled.is_none(at),
            };
            if is_stuck {
                self.check_end_state(state, |it| out.record_finding(it, state));
            }
        }
    }
}

/// Returns, for each state, whether a step of its first enabled instance leaves it.
fn non_stuttering_states(
    selective: &dyn SelectiveStateSpace,
    width: usize,
    states: &[u8],
    enabled: &InstanceSets,
    out: &mut SuccessorSink,
) -> Vec<bool> {
    let mut first = selective.instances().sets();
    first.clear(enabled.len());
    for at in 0..enabled.len() {
        enabled.iter(at).take(1).for_each(|instance| first.insert(at, instance));
    }
    let (mut successors, mut ends) = (Vec::new(), Vec::new());
    let run =
        |out: &mut SuccessorSink| selective.expand_chosen_with_ends(states, &first, &mut ends, out);
    // Findings here are found again when these steps are expanded.
    if out.wrap_uncounted(width, &mut successors, run).is_none() || stop_request::is_requested() {
        return Vec::new();
    }
    let leads = |(state, after): (&[u8], &[u8])| after.chunks_exact(width).any(|it| it != state);
    states.chunks_exact(width).zip(split_by_ends(&successors, &ends)).map(leads).collect()
}

/// Adds a successor with the instance of its step. Returns the number of bytes added.
type AddLabelledStep<'a> = dyn FnMut(&mut SuccessorSink, &[u8], InstanceId) -> u64 + 'a;

impl InterpSelector<'_> {
    /// Adds the chosen steps, each by `add`, and records where those of each state end.
    fn expand_chosen_by(
        &self,
        chosen: ChosenInstances<'_>,
        ends: &mut Vec<u64>,
        out: &mut SuccessorSink,
        add: &mut AddLabelledStep,
    ) {
        let ChosenInstances { states, sets: chosen } = chosen;
        let (interp, width) = (self.interp, self.interp.width());
        ends.clear();
        ends.resize(states.len() / width, 0);
        if interp.reject_non_states(states, out) {
            return;
        }
        let mut added = 0;
        self.instances.assert_fit(chosen, states.len() / width);
        for (at, state) in states.chunks_exact(width).enumerate() {
            if stop_request::is_requested() {
                return;
            }
            let words = chosen.words(at);
            let wanted = |it| is_in(words, self.instances.number(it));
            interp.each_mover(state, &mut |look| {
                interp.mover_steps(look, &wanted, &mut |taken, result| match result {
                    Ok(StepTarget::To(successor)) => {
                        let begun = interp.begun(look.mover, taken);
                        added +=
                            begun.map_or(0, |it| add(out, successor, self.instances.number(it)));
                    }
                    Ok(StepTarget::LeftOut) => out.count_excluded(1),
                    Ok(StepTarget::Intermediate) => {
                        out.count_actions(taken.iter().map(|it| it.action));
                    }
                    Err(fault) => {
                        let action = interp.representative_action(taken, true);
                        out.record_finding(Violation::Fault(fault.kind, action.0), state);
                    }
                })
            });
            ends[at] = added;
        }
    }
}

impl SelectiveStateSpace for InterpSelector<'_> {
    fn instances(&self) -> &ActionInstances {
        &self.instances
    }

    fn enabled(&self, states: &[u8], sets: &mut InstanceSets) -> spillway_model::Result<()> {
        self.interp.check(states)?;
        let width = self.interp.width();
        sets.clear(states.len() / width);
        self.instances.assert_fit(sets, states.len() / width);
        for (at, state) in states.chunks_exact(width).enumerate() {
            self.interp.each_enabled(state, &mut |it| {
                sets.insert(at, self.instances.number(it));
            });
        }
        Ok(())
    }

    fn expand_chosen_with_ends(
        &self,
        states: &[u8],
        chosen: &InstanceSets,
        ends: &mut Vec<u64>,
        out: &mut SuccessorSink,
    ) {
        let chosen = ChosenInstances { states, sets: chosen };
        self.expand_chosen_by(chosen, ends, out, &mut |out, successor, _| {
            out.candidate(successor);
            successor.len() as u64
        });
    }

    fn expand_labelled_with_ends(
        &self,
        states: &[u8],
        chosen: &InstanceSets,
        ends: &mut Vec<u64>,
        out: &mut LabelledSink,
    ) {
        let chosen = ChosenInstances { states, sets: chosen };
        self.expand_chosen_by(chosen, ends, out.records(), &mut |out, successor, it| {
            out.record(successor, &it.0.to_le_bytes());
            (successor.len() + LABEL_BYTES) as u64
        });
    }

    fn check_states(&self, states: &[u8], enabled: &InstanceSets, out: &mut SuccessorSink) {
        let interp = self.interp;
        if interp.reject_non_states(states, out) {
            return;
        }
        interp.check_deadlocks(self, states, enabled, out);
        for state in states.chunks_exact(interp.width()) {
            interp.check_properties(state, out);
        }
    }
}

/// Returns whether every step of an instance leads back to `state`.
fn stays(
    selective: &dyn SelectiveStateSpace,
    state: &[u8],
    instance: InstanceId,
    out: &mut SuccessorSink,
) -> bool {
    let mut chosen = selective.instances().sets();
    chosen.clear(1);
    chosen.insert(0, instance);
    let mut successors = Vec::new();
    let run = |out: &mut SuccessorSink| selective.expand_chosen(state, &chosen, out);
    out.wrap_uncounted(state.len(), &mut successors, run).is_some_and(|collected| {
        let leads_nowhere = collected.findings.is_empty() && collected.counters.excluded == 0;
        leads_nowhere && successors.chunks_exact(state.len()).all(|successor| successor == state)
    })
}
