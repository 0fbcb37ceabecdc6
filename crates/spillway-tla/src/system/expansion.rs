//! Expansions: states with their successors and findings, from records where there are some.

use super::SpecificationSystem;
use super::records::{
    ConditionGroup, ConditionSubject, GroupedConditions, KnownVerdict, ObservedSuccessors,
    RecordContext, StateRecords,
};
use super::steps::SuccessorTarget;
use super::view::StateEncoder;
use crate::cells::EncodedState;
use crate::eval::{CheckedCondition, Evaluator, GeneratedStates, SteppedUnit};
use crate::resolve::tree::PropertyPart;
use crate::value::Value;
use spillway_base::buffer_pool::BufferPool;
use spillway_model::{BackEdge, ConditionModality, SuccessorSink, Violation};

/// The records of the threads that expand no states now, and the conditions that they are about.
#[derive(Default)]
pub(super) struct RecordPool {
    pub conditions: GroupedConditions,
    pub idle: BufferPool<StateRecords>,
}

impl RecordPool {
    pub(super) fn new(conditions: GroupedConditions) -> Self {
        Self { conditions, idle: BufferPool::default() }
    }
}

impl SpecificationSystem {
    /// Returns the conditions by group.
    pub(super) fn grouped_conditions(&self) -> GroupedConditions {
        let checks = &self.program.specification.checks;
        let is_invariant = |it: &super::NamedCondition| it.holds == ConditionModality::Always;
        let invariants = self.conditions.iter().all(is_invariant).then(|| {
            self.conditions.iter().map(|it| CheckedCondition::Predicate(it.definition)).collect()
        });
        let steps = checks.properties.iter().flat_map(|it| &it.parts).filter_map(|it| match *it {
            PropertyPart::Step { action, subscript } => {
                Some(CheckedCondition::Step { action, subscript })
            }
            _ => None,
        });
        let constraints =
            |it: &[_]| it.iter().copied().map(CheckedCondition::Predicate).collect::<Vec<_>>();
        let steps = constraints(&checks.action_constraints).into_iter().chain(steps).collect();
        GroupedConditions { invariants, constraints: constraints(&checks.constraints), steps }
    }

    /// Returns records of this thread, if records can be used.
    fn take_records(&self) -> Option<StateRecords> {
        if self.quotient.is_some() || self.view.is_some() {
            return None;
        }
        let variables = self.program.variable_count();
        let records = self.records.idle.take();
        Some(records.unwrap_or_else(|| StateRecords::new(&self.layout, variables)))
    }
}

/// A state that is expanded.
#[derive(Clone, Copy)]
pub(super) struct ExpandedState<'k> {
    /// The bytes with which the search knows it: its number, if it has one, and its key.
    pub numbered: &'k [u8],
    /// Its key.
    pub key: &'k [u8],
    /// The back-edge of its first successor, if there are back-edges.
    pub edge: Option<BackEdge>,
}

/// Expands states.
pub(super) struct StateExpander<'s, 'k> {
    system: &'s SpecificationSystem,
    evaluator: Evaluator<'s>,
    encoder: StateEncoder<'s>,
    /// The last state whose values were needed.
    last: Option<DecodedState<'k>>,
    successors: GeneratedStates,
    /// The key of the successor that was made last.
    key: Vec<u8>,
    /// The values of that successor, if they were needed.
    made: Option<Vec<Value>>,
}

/// A state with its values.
struct DecodedState<'k> {
    row: Vec<Value>,
    key: &'k [u8],
}

impl<'k> DecodedState<'k> {
    fn encoded(&self) -> EncodedState<'_> {
        EncodedState { values: &self.row, key: self.key }
    }
}

/// The expansion of a state under way.
struct StateExpansion<'o, 'a, 'k> {
    state: ExpandedState<'k>,
    edge: Option<BackEdge>,
    is_stuck: bool,
    out: &'o mut SuccessorSink<'a>,
}

impl StateExpansion<'_, '_, '_> {
    fn count(&mut self, system: &SpecificationSystem, number: u32) {
        self.is_stuck = false;
        if let Some(count) = self.out.counts(system.actions.len()).get_mut(number as usize) {
            *count += 1;
        }
    }

    /// Takes what a step leads to. Returns whether more is wanted.
    fn take(
        &mut self,
        encoder: &mut StateEncoder<'_>,
        before: EncodedState<'_>,
        number: u32,
        target: SuccessorTarget<'_>,
    ) -> bool {
        match target {
            SuccessorTarget::State(successor) => {
                encoder.pass_on(successor, Some(before), self.edge, self.out);
                self.edge.iter_mut().for_each(|it| it.index += 1);
            }
            SuccessorTarget::Excluded => self.out.count_excluded(1),
            SuccessorTarget::Failed(fault) => {
                let check = Violation::Fault(fault.kind, number);
                self.out.record_finding(check, self.state.numbered);
            }
        }
        !self.out.has_failed()
    }
}

impl<'s, 'k> StateExpander<'s, 'k> {
    pub(super) fn new(system: &'s SpecificationSystem) -> Self {
        Self {
            system,
            evaluator: Evaluator::new(&system.program),
            encoder: StateEncoder::new(system),
            last: None,
            successors: GeneratedStates::default(),
            key: vec![0; system.layout.width()],
            made: None,
        }
    }

    /// Expands states, with the records of this thread if records can be used.
    pub(super) fn expand_all(
        &mut self,
        states: impl Iterator<Item = ExpandedState<'k>>,
        out: &mut SuccessorSink<'_>,
    ) {
        let mut records = {
            let encoding = self.system.read();
            let grows = encoding.grows_at_once();
            let mut records = (!grows).then(|| self.system.take_records()).flatten();
            if let Some(records) = &mut records {
                let layout = &self.system.layout;
                let context = RecordContext { layout, dictionaries: encoding.dictionaries() };
                self.evaluator.set_candidates(records.set_date(context));
            }
            records
        };
        for state in states {
            if spillway_model::stop_request::is_requested() || out.has_failed() {
                break;
            }
            self.expand(state, records.as_mut(), out);
        }
        if let Some(records) = records {
            self.system.records.idle.put(records);
        }
    }

    fn expand(
        &mut self,
        state: ExpandedState<'k>,
        records: Option<&mut StateRecords>,
        out: &mut SuccessorSink<'_>,
    ) {
        let mut records = records.filter(|_| state.edge.is_none());
        if let Some(it) = &mut records
            && !it.set_state(state.key)
        {
            records = None;
        }
        let mut expansion = StateExpansion { state, edge: state.edge, is_stuck: true, out };
        let stepped = match &mut records {
            Some(records) => self.step_by_records(records, &mut expansion),
            None => None,
        };
        if stepped.is_none() && self.step(&mut expansion).is_none() {
            return;
        }
        if expansion.is_stuck && self.system.checks_deadlock {
            expansion.out.record_finding(Violation::Deadlock, state.numbered);
        }
        self.find(records, &mut expansion);
    }

    /// Returns the values of a state, or nothing after a failure.
    fn decode(&mut self, expansion: &mut StateExpansion<'_, '_, 'k>) -> Option<()> {
        let key = expansion.state.key;
        if self.last.as_ref().is_some_and(|it| std::ptr::eq(it.key, key)) {
            return Some(());
        }
        // Neighbours in the order of keys share most values.
        let last = self.last.as_ref().map(DecodedState::encoded);
        match self.system.decode_row(key, last) {
            Ok(row) => self.last = Some(DecodedState { row, key }),
            Err(error) => {
                expansion.out.fail(error);
                return None;
            }
        }
        Some(())
    }

    /// Evaluates all steps of a state. Returns nothing after a failure of the search.
    fn step(&mut self, expansion: &mut StateExpansion<'_, '_, 'k>) -> Option<()> {
        self.decode(expansion)?;
        let Self { system, evaluator, encoder, last, .. } = self;
        let before = last.as_ref()?.encoded();
        let state = &before.values[..system.program.variable_count()];
        system.visit_steps(evaluator, state, &mut |step, target| {
            expansion.count(system, step.number);
            expansion.take(encoder, before, step.number, target)
        });
        Some(())
    }

    /// Takes the steps of a state from records, and evaluates the units that have none. Returns nothing if that is not
    /// possible, and then has taken no step.
    fn step_by_records(
        &mut self,
        records: &mut StateRecords,
        expansion: &mut StateExpansion<'_, '_, 'k>,
    ) -> Option<()> {
        if !records.look_up_steps() {
            return None;
        }
        let mut stepped = Vec::new();
        if records.misses_steps() {
            self.decode(expansion)?;
            let Self { system, evaluator, last, successors, .. } = self;
            let state = &last.as_ref()?.row[..system.program.variable_count()];
            stepped = records.step_missed(|table, wanted| {
                evaluator.step_units(table, wanted, state, successors)
            })?;
        }
        let mut stepped = stepped.into_iter();
        for number in 0..records.units() {
            let goes_on = match records.outcome(number) {
                Some(outcome) => {
                    let mut successors = records.successors(outcome);
                    successors.all(|it| self.replay(records, it, expansion))
                }
                None => stepped.next().is_none_or(|it| self.take_unit(records, it, expansion)),
            };
            if !goes_on {
                break;
            }
        }
        Some(())
    }

    /// Takes the successors of a unit that was evaluated, and records them. Returns whether more is wanted.
    fn take_unit(
        &mut self,
        records: &mut StateRecords,
        unit: SteppedUnit,
        expansion: &mut StateExpansion<'_, '_, 'k>,
    ) -> bool {
        for index in unit.successors.clone() {
            let number = self.system.action_number(self.successors.actions[index].definition);
            expansion.count(self.system, number);
            let judgement = match self.system.records.conditions.judge_steps() {
                false => None,
                true => self.judge_evaluated(records, index, expansion),
            };
            let goes_on = match judgement {
                Some(judgement) => self.take_judged(judgement, expansion),
                None => self.take_evaluated(index, number, expansion).unwrap_or(false),
            };
            if !goes_on {
                return false;
            }
        }
        self.record_unit(records, unit);
        true
    }

    /// Takes a successor that was evaluated as if there were no records. Returns whether more is wanted.
    fn take_evaluated(
        &mut self,
        index: usize,
        number: u32,
        expansion: &mut StateExpansion<'_, '_, 'k>,
    ) -> Option<bool> {
        let Self { system, evaluator, encoder, last, successors, .. } = self;
        let before = last.as_ref()?.encoded();
        let variables = system.program.variable_count();
        let successor = &successors.values[index * variables..][..variables];
        let target = system.step_target(evaluator, &before.values[..variables], successor);
        Some(expansion.take(encoder, before, number, target))
    }

    /// Judges a successor that was evaluated by the units of conditions, and makes its key. Returns nothing if they do not
    /// decide, or it has no key.
    fn judge_evaluated(
        &mut self,
        records: &mut StateRecords,
        index: usize,
        expansion: &mut StateExpansion<'_, '_, 'k>,
    ) -> Option<KnownJudgement> {
        let Self { system, last, successors, key, made, .. } = self;
        let variables = system.program.variable_count();
        let successor = &successors.values[index * variables..][..variables];
        let before = last.as_ref()?.encoded();
        let encoded = {
            let encoding = system.read();
            system.layout.encode_successor(successor, before, encoding.dictionaries(), key)
        };
        encoded.ok()?;
        records.set_successor(key);
        *made = Some(successor.to_vec());
        self.judge(records, expansion)
    }

    /// Takes the successor whose key was made last. Returns whether more is wanted.
    fn take_judged(
        &mut self,
        judgement: KnownJudgement,
        expansion: &mut StateExpansion<'_, '_, 'k>,
    ) -> bool {
        match judgement {
            KnownJudgement::InModel => expansion.out.record(&self.key, &[]),
            KnownJudgement::Excluded => expansion.out.count_excluded(1),
        }
        !expansion.out.has_failed()
    }

    fn record_unit(&mut self, records: &mut StateRecords, unit: SteppedUnit) -> Option<()> {
        let observed = unit.observed?;
        let Self { system, last, successors, .. } = self;
        let before = last.as_ref()?.encoded();
        let encoding = system.read();
        let (width, variables) = (system.layout.width(), system.program.variable_count());
        let mut keys = vec![0; width * unit.successors.len()];
        let mut actions = Vec::with_capacity(unit.successors.len());
        for (index, key) in unit.successors.zip(keys.chunks_exact_mut(width)) {
            let successor = &successors.values[index * variables..][..variables];
            let encoded =
                system.layout.encode_successor(successor, before, encoding.dictionaries(), key);
            encoded.ok()?;
            actions.push(successors.actions[index].definition);
        }
        let successors = ObservedSuccessors { observed, actions: &actions, keys: &keys };
        let context =
            RecordContext { layout: &system.layout, dictionaries: encoding.dictionaries() };
        records.record_step(unit.number, successors, context)
    }

    /// Takes a successor from a record. Returns whether more is wanted.
    fn replay(
        &mut self,
        records: &mut StateRecords,
        successor: usize,
        expansion: &mut StateExpansion<'_, '_, 'k>,
    ) -> bool {
        let action = records.make_successor(successor, &mut self.key);
        let number = self.system.action_number(action);
        expansion.count(self.system, number);
        self.made = None;
        let judgement = match self.system.records.conditions.judge_steps() {
            false => Some(KnownJudgement::InModel),
            true => self.judge(records, expansion),
        };
        match judgement {
            Some(judgement) => self.take_judged(judgement, expansion),
            None => self.take_made(number, expansion).unwrap_or(false),
        }
    }

    /// Judges the successor that was made last by its units. Returns nothing if they do not decide.
    fn judge(
        &mut self,
        records: &mut StateRecords,
        expansion: &mut StateExpansion<'_, '_, 'k>,
    ) -> Option<KnownJudgement> {
        let mut verdict = |group| self.group_verdict(records, group, expansion);
        let judgement = match verdict(ConditionGroup::Constraints)? {
            KnownVerdict::Holds => KnownJudgement::InModel,
            _ => match verdict(ConditionGroup::Invariants)? {
                KnownVerdict::Holds => KnownJudgement::Excluded,
                _ => return None,
            },
        };
        let steps = verdict(ConditionGroup::Steps)?;
        (steps == KnownVerdict::Holds).then_some(judgement)
    }

    /// Returns the verdict of a group of conditions on the successor that was made last, after evaluation if need be.
    fn group_verdict(
        &mut self,
        records: &mut StateRecords,
        group: ConditionGroup,
        expansion: &mut StateExpansion<'_, '_, 'k>,
    ) -> Option<KnownVerdict> {
        let conditions = &self.system.records.conditions;
        match records.look_up_conditions(group, conditions, true) {
            KnownVerdict::Unknown => return None,
            KnownVerdict::Missed => {}
            known => return Some(known),
        }
        self.decode_made(expansion)?;
        let Self { system, evaluator, last, made, .. } = self;
        let (state, successor) = (&last.as_ref()?.row, made.as_ref()?);
        match group {
            ConditionGroup::Steps => {
                evaluator.set_state(state);
                evaluator.set_successor(successor);
            }
            _ => evaluator.set_state(successor),
        }
        let encoding = system.read();
        let context =
            RecordContext { layout: &system.layout, dictionaries: encoding.dictionaries() };
        let subject = ConditionSubject { context, is_successor: true };
        let holds = records.judge_missed(group, conditions, evaluator, subject);
        holds.then_some(KnownVerdict::Holds)
    }

    /// Decodes the successor that was made last. Returns nothing after a failure of the search.
    fn decode_made(&mut self, expansion: &mut StateExpansion<'_, '_, 'k>) -> Option<()> {
        if self.made.is_some() {
            return Some(());
        }
        self.decode(expansion)?;
        let before = self.last.as_ref().map(DecodedState::encoded);
        match self.system.decode_row(&self.key, before) {
            Ok(successor) => self.made = Some(successor),
            Err(error) => {
                expansion.out.fail(error);
                return None;
            }
        }
        Some(())
    }

    /// Takes the successor that was made last as if there were no records. Returns whether more is wanted, and nothing after
    /// a failure of the search.
    fn take_made(
        &mut self,
        number: u32,
        expansion: &mut StateExpansion<'_, '_, 'k>,
    ) -> Option<bool> {
        self.decode_made(expansion)?;
        let Self { system, evaluator, encoder, last, made, .. } = self;
        let before = last.as_ref()?.encoded();
        let state = &before.values[..system.program.variable_count()];
        let target = system.step_target(evaluator, state, made.as_ref()?);
        Some(expansion.take(encoder, before, number, target))
    }

    /// Finds the conditions that a state decides. Returns nothing after a failure of the search.
    fn find(
        &mut self,
        records: Option<&mut StateRecords>,
        expansion: &mut StateExpansion<'_, '_, 'k>,
    ) -> Option<()> {
        if let Some(records) = records
            && self.all_hold(records, expansion)?
        {
            return Some(());
        }
        self.decode(expansion)?;
        let Self { system, evaluator, last, .. } = self;
        let state = &last.as_ref()?.row[..system.program.variable_count()];
        system.visit_findings(evaluator, state, &mut |finding| {
            expansion.out.record_finding(finding.check(), expansion.state.numbered);
        });
        Some(())
    }

    /// Returns whether all conditions are known to hold in a state, after evaluation of those that were missed.
    fn all_hold(
        &mut self,
        records: &mut StateRecords,
        expansion: &mut StateExpansion<'_, '_, 'k>,
    ) -> Option<bool> {
        let conditions = &self.system.records.conditions;
        let group = ConditionGroup::Invariants;
        let verdict = records.look_up_conditions(group, conditions, false);
        if verdict != KnownVerdict::Missed {
            return Some(verdict == KnownVerdict::Holds);
        }
        self.decode(expansion)?;
        let Self { system, evaluator, last, .. } = self;
        evaluator.set_state(&last.as_ref()?.row);
        let encoding = system.read();
        let context =
            RecordContext { layout: &system.layout, dictionaries: encoding.dictionaries() };
        let subject = ConditionSubject { context, is_successor: false };
        Some(records.judge_missed(group, conditions, evaluator, subject))
    }
}

/// What conditions say about the successor that was made last.
enum KnownJudgement {
    InModel,
    Excluded,
}
