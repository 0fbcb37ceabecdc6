//! Which action instances are enabled in a state, and the steps of those chosen, compiled.
//!
//! For each thing that can be asked there is code of its own (see `purpose`), made when it is asked
//! first. What cannot be made is the interpreter's.

use super::Jit;
use super::code::Code;
use super::compile::compile;
use super::purpose::Purpose;
use super::runtime::Choice;
use crate::analysis::instances::{ActionInstances, InstanceSets, NotNumbered};
use crate::exec::{Expansion, Labelled, Model, Selective, interp};
use std::sync::{Arc, OnceLock};

/// A compiled program whose steps can be taken by choice.
pub struct Selector<'a> {
    jit: Arc<Jit<'a>>,
    reference: interp::Selector<'a>,
    looking: OnceLock<Option<Code>>,
    choosing: OnceLock<Option<Code>>,
    labelling: OnceLock<Option<Code>>,
    judging: OnceLock<Option<Code>>,
}

impl<'a> Jit<'a> {
    /// Its steps by choice, or why there are none.
    pub fn selector(self: &Arc<Self>) -> Result<Selector<'a>, NotNumbered> {
        Ok(Selector {
            jit: self.clone(),
            reference: self.interp.selector()?,
            looking: OnceLock::new(),
            choosing: OnceLock::new(),
            labelling: OnceLock::new(),
            judging: OnceLock::new(),
        })
    }
}

impl Selector<'_> {
    /// The code for a purpose, if it can be made.
    fn code<'s>(&'s self, at: &'s OnceLock<Option<Code>>, purpose: Purpose) -> Option<&'s Code> {
        at.get_or_init(|| compile(self.jit.interp, purpose, self.jit.limits).ok()).as_ref()
    }

    /// Runs code that takes steps, which only reads sets, and says where those of each state end.
    fn choose(
        &self,
        code: &Code,
        states: &[u8],
        chosen: &InstanceSets,
        ends: &mut Vec<u64>,
        out: &mut Expansion,
    ) {
        let count = states.len() / self.jit.width();
        ends.clear();
        ends.resize(count, 0);
        if self.jit.interp.refuse_others(states, out) {
            return;
        }
        self.instances().assert_fit(chosen, count);
        let sets = chosen.all_words().as_ptr().cast_mut();
        let choice =
            Choice { instances: self.instances(), sets, ends: ends.as_mut_ptr(), added: 0 };
        self.jit.run(code, states, Some(choice), out, None);
    }
}

impl Selective for Selector<'_> {
    fn instances(&self) -> &ActionInstances {
        self.reference.instances()
    }

    fn enabled(&self, states: &[u8], sets: &mut InstanceSets) -> spill::Result<()> {
        let Some(code) = self.code(&self.looking, Purpose::Enabled(self.instances())) else {
            return self.reference.enabled(states, sets);
        };
        self.jit.interp.check(states)?;
        let count = states.len() / self.jit.width();
        sets.clear(count);
        self.instances().assert_fit(sets, count);
        let choice = Choice {
            instances: self.instances(),
            sets: sets.all_words_mut().as_mut_ptr(),
            ends: std::ptr::null_mut(),
            added: 0,
        };
        let run = |out: &mut Expansion| self.jit.run(code, states, Some(choice), out, None);
        let collected = Expansion::collect(self.jit.width(), &mut Vec::new(), run)?;
        debug_assert_eq!(collected.transitions, 0, "no step is taken");
        Ok(())
    }

    fn expand_apart(
        &self,
        states: &[u8],
        chosen: &InstanceSets,
        ends: &mut Vec<u64>,
        out: &mut Expansion,
    ) {
        match self.code(&self.choosing, Purpose::Choose(self.instances())) {
            None => self.reference.expand_apart(states, chosen, ends, out),
            Some(code) => self.choose(code, states, chosen, ends, out),
        }
    }

    fn expand_labelled_apart(
        &self,
        states: &[u8],
        chosen: &InstanceSets,
        ends: &mut Vec<u64>,
        out: &mut Labelled,
    ) {
        match self.code(&self.labelling, Purpose::Label(self.instances())) {
            None => self.reference.expand_labelled_apart(states, chosen, ends, out),
            Some(code) => self.choose(code, states, chosen, ends, out.records()),
        }
    }

    fn judge(&self, states: &[u8], enabled: &InstanceSets, out: &mut Expansion) {
        let Some(code) = self.code(&self.judging, Purpose::Judge) else {
            return self.reference.judge(states, enabled, out);
        };
        if self.jit.interp.refuse_others(states, out) {
            return;
        }
        self.jit.interp.judge_deadlocks(self, states, enabled, out);
        self.jit.run(code, states, None, out, None);
    }
}
