//! Enabled action instances of a state, and expansion of chosen instances, in compiled code.
//!
//! There is separate code for each purpose (see `code_purpose`). The interpreter runs what cannot be compiled.

use super::code::MachineCode;
use super::code_purpose::CodePurpose;
use super::deferred_code::DeferredCode;
use super::runtime::InstanceChoice;
use super::{CompiledInput, Jit};
use crate::action_selection::ChosenInstances;
use crate::{LabelledSink, SelectiveStateSpace, interp};
use spillway_analysis::instances::{ActionInstances, InstanceSets, NumberingError};
use spillway_model::{StateSpace, SuccessorSink};
use std::sync::Arc;

/// A compiled program that can expand chosen action instances.
pub struct JitSelector<'a> {
    jit: Arc<Jit<'a>>,
    reference: interp::InterpSelector<'a>,
    looking: DeferredCode,
    choosing: DeferredCode,
    labelling: DeferredCode,
    judging: DeferredCode,
}

impl<'a> Jit<'a> {
    /// Returns the interface for expanding chosen instances, or why there is none.
    pub fn selector(self: &Arc<Self>) -> Result<JitSelector<'a>, NumberingError> {
        Ok(JitSelector {
            jit: self.clone(),
            reference: self.interp.selector()?,
            looking: DeferredCode::default(),
            choosing: DeferredCode::default(),
            labelling: DeferredCode::default(),
            judging: DeferredCode::default(),
        })
    }
}

impl JitSelector<'_> {
    /// Runs code that takes steps and only reads sets, and records where the steps of each state end.
    fn choose(
        &self,
        code: &MachineCode,
        chosen: ChosenInstances<'_>,
        ends: &mut Vec<u64>,
        out: &mut SuccessorSink,
    ) {
        let ChosenInstances { states, sets: chosen } = chosen;
        let count = self.jit.count(states);
        ends.clear();
        ends.resize(count, 0);
        if self.jit.interp.reject_non_states(states, out) {
            return;
        }
        self.instances().assert_fit(chosen, count);
        let sets = chosen.all_words().as_ptr().cast_mut();
        let choice =
            InstanceChoice { instances: self.instances(), sets, ends: ends.as_mut_ptr(), added: 0 };
        self.jit.run(code, CompiledInput { states, choice: Some(choice) }, out, None);
    }
}

impl SelectiveStateSpace for JitSelector<'_> {
    fn instances(&self) -> &ActionInstances {
        self.reference.instances()
    }

    fn enabled(&self, states: &[u8], sets: &mut InstanceSets) -> spillway_model::Result<()> {
        let purpose = CodePurpose::Enabled(self.instances());
        let Some(code) = self.looking.ready(&self.jit, purpose) else {
            let found = self.reference.enabled(states, sets);
            self.looking.count_interpreted(self.jit.count(states), sets.members());
            return found;
        };
        self.jit.interp.check(states)?;
        let count = self.jit.count(states);
        sets.clear(count);
        self.instances().assert_fit(sets, count);
        let choice = InstanceChoice {
            instances: self.instances(),
            sets: sets.all_words_mut().as_mut_ptr(),
            ends: std::ptr::null_mut(),
            added: 0,
        };
        let input = CompiledInput { states, choice: Some(choice) };
        let run = |out: &mut SuccessorSink| self.jit.run(code, input, out, None);
        let collected = SuccessorSink::collect(self.jit.width(), &mut Vec::new(), run)?;
        debug_assert_eq!(collected.counters.transitions, 0, "no step is taken");
        Ok(())
    }

    fn expand_chosen_with_ends(
        &self,
        states: &[u8],
        chosen: &InstanceSets,
        ends: &mut Vec<u64>,
        out: &mut SuccessorSink,
    ) {
        match self.choosing.ready(&self.jit, CodePurpose::Choose(self.instances())) {
            None => self.choosing.interpret(
                self.jit.count(states),
                out,
                |out| out.transitions(),
                |out| self.reference.expand_chosen_with_ends(states, chosen, ends, out),
            ),
            Some(code) => self.choose(code, ChosenInstances { states, sets: chosen }, ends, out),
        }
    }

    fn expand_labelled_with_ends(
        &self,
        states: &[u8],
        chosen: &InstanceSets,
        ends: &mut Vec<u64>,
        out: &mut LabelledSink,
    ) {
        match self.labelling.ready(&self.jit, CodePurpose::Label(self.instances())) {
            None => self.labelling.interpret(
                self.jit.count(states),
                out,
                |out| out.records().transitions(),
                |out| self.reference.expand_labelled_with_ends(states, chosen, ends, out),
            ),
            Some(code) => {
                self.choose(code, ChosenInstances { states, sets: chosen }, ends, out.records())
            }
        }
    }

    fn check_states(&self, states: &[u8], enabled: &InstanceSets, out: &mut SuccessorSink) {
        let Some(code) = self.judging.ready(&self.jit, CodePurpose::Judge) else {
            self.judging.count_interpreted(self.jit.count(states), 0);
            return self.reference.check_states(states, enabled, out);
        };
        if self.jit.interp.reject_non_states(states, out) {
            return;
        }
        self.jit.interp.check_deadlocks(self, states, enabled, out);
        self.jit.run(code, CompiledInput { states, choice: None }, out, None);
    }
}
