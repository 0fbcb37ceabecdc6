//! Which action instances are enabled in a state, and the steps of those chosen.
//!
//! All steps are looked at as they always are, and those of other instances are passed by. So what an
//! action's being possible means for others (`else`, `timeout`, `unless`, priorities) does not depend
//! on what is chosen.

use super::steps::{Led, Taken, begun};
use super::{Failure, Interp};
use crate::analysis::instances::{
    ActionInstance, ActionInstances, InstanceId, InstanceSets, NotNumbered, is_in,
};
use crate::exec::{Expansion, LABEL_BYTES, Labelled, Model, Selective, Violation, apart, stop};
use crate::ir::EndRule;

/// An interpreter whose steps can be taken by choice.
#[derive(Debug)]
pub struct Selector<'a> {
    interp: &'a Interp,
    instances: ActionInstances,
}

/// Told of a step: what it begins with, its actions, and where they lead, or the fault.
type BegunVisitor<'a> = dyn FnMut(ActionInstance, &[Taken], Result<Led<'_>, Failure>) + 'a;

impl Interp {
    /// Its steps by choice, or why there are none.
    pub fn selector(&self) -> Result<Selector<'_>, NotNumbered> {
        Ok(Selector { interp: self, instances: ActionInstances::new(&self.program)? })
    }

    /// Tells `visit` every step out of `state` that begins with something `wanted`.
    fn each_step_wanted(
        &self,
        state: &[u8],
        work: &mut Vec<u8>,
        wanted: &dyn Fn(ActionInstance) -> bool,
        visit: &mut BegunVisitor,
    ) {
        if self.takes_turns() {
            return self.each_mover(state, &mut |look| {
                self.take_turn(look, wanted, &mut |taken, result| {
                    visit(self.begun_by(look.mover, taken), taken, result);
                })
            });
        }
        self.each_step(state, work, &mut |taken, result| {
            if let Some(begun) = begun(taken).filter(|&it| wanted(it)) {
                visit(begun, taken, result);
            }
        });
    }

    /// Tells `visit` what is enabled in `state`, some of it perhaps more than once.
    pub(in crate::exec) fn each_enabled(
        &self,
        state: &[u8],
        work: &mut Vec<u8>,
        visit: &mut dyn FnMut(ActionInstance),
    ) {
        match self.takes_turns() {
            true => self.each_mover(state, &mut |look| self.can_do(look, visit)),
            false => self.each_step(state, work, &mut |taken, _| {
                begun(taken).into_iter().for_each(&mut *visit);
            }),
        }
    }

    /// Records the properties that do not hold in `state`, or meet an error when asked.
    pub(crate) fn judge_properties(&self, state: &[u8], out: &mut Expansion) {
        self.broken_properties(state, |number, fault| {
            let check = match fault {
                None => Violation::Property(number),
                Some(fault) => Violation::Fault(fault.kind, self.judging_number(number)),
            };
            out.finding(check, state);
        });
    }

    /// Records which states have no step that leads on and should have one. Where a step back to
    /// where it began is none that leads on, what is enabled is tried, one instance after another.
    pub(in crate::exec) fn judge_deadlocks(
        &self,
        selective: &dyn Selective,
        states: &[u8],
        enabled: &InstanceSets,
        out: &mut Expansion,
    ) {
        selective.instances().assert_fit(enabled, states.len() / self.width());
        let leading = match self.program.end {
            EndRule::NeverStuttering => leading_on(selective, self.width(), states, enabled, out),
            EndRule::Never | EndRule::AllAtValidEnd => Vec::new(),
        };
        for (at, state) in states.chunks_exact(self.width()).enumerate() {
            if stop::is_asked() || out.has_failed() {
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
                self.judge_end(state, |it| out.finding(it, state));
            }
        }
    }
}

/// Which states the steps of their first enabled instance lead on from.
fn leading_on(
    selective: &dyn Selective,
    width: usize,
    states: &[u8],
    enabled: &InstanceSets,
    out: &mut Expansion,
) -> Vec<bool> {
    let mut first = selective.instances().sets();
    first.clear(enabled.len());
    for at in 0..enabled.len() {
        enabled.iter(at).take(1).for_each(|instance| first.insert(at, instance));
    }
    let (mut successors, mut ends) = (Vec::new(), Vec::new());
    let run = |out: &mut Expansion| selective.expand_apart(states, &first, &mut ends, out);
    // What is found here is found again when these steps are taken.
    if out.look(width, &mut successors, run).is_none() || stop::is_asked() {
        return Vec::new();
    }
    let leads = |(state, after): (&[u8], &[u8])| after.chunks_exact(width).any(|it| it != state);
    states.chunks_exact(width).zip(apart(&successors, &ends)).map(leads).collect()
}

/// Adds a successor, and the instance of the step to it.
type AddStep<'a> = dyn FnMut(&mut Expansion, &[u8], InstanceId) + 'a;

impl Selector<'_> {
    /// Adds the steps of what is chosen, each by `add` in so many bytes, and says where those of each state end.
    fn expand_some(
        &self,
        states: &[u8],
        chosen: &InstanceSets,
        ends: &mut Vec<u64>,
        out: &mut Expansion,
        (bytes, add): (usize, &mut AddStep),
    ) {
        let (interp, width) = (self.interp, self.interp.width());
        ends.clear();
        ends.resize(states.len() / width, 0);
        if interp.refuse_others(states, out) {
            return;
        }
        let mut added = 0;
        self.instances.assert_fit(chosen, states.len() / width);
        let mut work = Vec::with_capacity(width);
        for (at, state) in states.chunks_exact(width).enumerate() {
            if stop::is_asked() {
                return;
            }
            let words = chosen.words(at);
            let wanted = |it| is_in(words, self.instances.number(it));
            interp.each_step_wanted(state, &mut work, &wanted, &mut |begun, taken, result| {
                match result {
                    Ok(led) => {
                        interp.count_taken(taken, led, out);
                        match led {
                            Led::To(successor) => {
                                added += bytes as u64;
                                add(out, successor, self.instances.number(begun));
                            }
                            Led::LeftOut => out.leave_out(1),
                            Led::OnTheWay => {}
                        }
                    }
                    Err(fault) => {
                        let action = interp.told(taken, true);
                        out.finding(Violation::Fault(fault.kind, action.0), state);
                    }
                }
            });
            ends[at] = added;
        }
    }
}

impl Selective for Selector<'_> {
    fn instances(&self) -> &ActionInstances {
        &self.instances
    }

    fn enabled(&self, states: &[u8], sets: &mut InstanceSets) -> spill::Result<()> {
        self.interp.check(states)?;
        let width = self.interp.width();
        sets.clear(states.len() / width);
        self.instances.assert_fit(sets, states.len() / width);
        let mut work = Vec::with_capacity(width);
        for (at, state) in states.chunks_exact(width).enumerate() {
            self.interp.each_enabled(state, &mut work, &mut |it| {
                sets.insert(at, self.instances.number(it));
            });
        }
        Ok(())
    }

    fn expand_apart(
        &self,
        states: &[u8],
        chosen: &InstanceSets,
        ends: &mut Vec<u64>,
        out: &mut Expansion,
    ) {
        let add = &mut |out: &mut Expansion, successor: &[u8], _| out.candidate(successor);
        self.expand_some(states, chosen, ends, out, (self.interp.width(), add));
    }

    fn expand_labelled_apart(
        &self,
        states: &[u8],
        chosen: &InstanceSets,
        ends: &mut Vec<u64>,
        out: &mut Labelled,
    ) {
        let add = &mut |out: &mut Expansion, successor: &[u8], instance: InstanceId| {
            out.record(successor, &instance.0.to_le_bytes());
        };
        let bytes = self.interp.width() + LABEL_BYTES;
        self.expand_some(states, chosen, ends, out.records(), (bytes, add));
    }

    fn judge(&self, states: &[u8], enabled: &InstanceSets, out: &mut Expansion) {
        let interp = self.interp;
        if interp.refuse_others(states, out) {
            return;
        }
        interp.judge_deadlocks(self, states, enabled, out);
        for state in states.chunks_exact(interp.width()) {
            interp.judge_properties(state, out);
        }
    }
}

/// Whether every step of an instance leads back to `state`.
fn stays(
    selective: &dyn Selective,
    state: &[u8],
    instance: InstanceId,
    out: &mut Expansion,
) -> bool {
    let mut chosen = selective.instances().sets();
    chosen.clear(1);
    chosen.insert(0, instance);
    let mut successors = Vec::new();
    let run = |out: &mut Expansion| selective.expand_chosen(state, &chosen, out);
    out.look(state.len(), &mut successors, run).is_some_and(|collected| {
        let leads_nowhere = collected.findings.is_empty() && collected.left_out == 0;
        leads_nowhere && successors.chunks_exact(state.len()).all(|successor| successor == state)
    })
}
