//! Observed evaluation: it notes what it [reads and writes](super::observation).

use super::evaluator::{Evaluator, SlotContent};
use super::generation::GenerationPhase;
use super::node::{BoundNode, Node, NodeId, UpdateNode};
use super::observation::{
    ElementCandidates, ObservedAccesses, ReadAspect, ValuePath, ValuePlace, VariableRead,
    VariableWrite,
};
use crate::level::Level;
use crate::resolve::ids::ExprId;
use crate::resolve::tree::BinaryOperator;
use crate::standard::{Outcome, functions, sets};
use crate::value::Value;
use std::sync::Arc;

/// A value at hand, and its place if it is part of a variable.
pub(super) struct SightedValue<'v> {
    pub value: &'v Value,
    pub place: Option<ValuePlace>,
}

impl<'v> SightedValue<'v> {
    fn elsewhere(value: &'v Value) -> Self {
        Self { value, place: None }
    }

    /// Returns the value of a function at an argument.
    fn at(mut self, argument: &Value) -> Option<Self> {
        self.value = functions::lookup(self.value, argument)?;
        if let Some(place) = &mut self.place {
            place.path.push(argument.clone());
        }
        Some(self)
    }
}

impl<'p> Evaluator<'p> {
    /// Sets which values can be elements of variables.
    pub fn set_candidates(&mut self, candidates: Arc<ElementCandidates>) {
        self.observation.candidates = candidates;
    }

    /// Returns whether the evaluation under way is observed.
    #[inline]
    pub(super) fn is_observed(&self) -> bool {
        self.observation.is_active
    }

    /// Starts or ends observation.
    pub(super) fn observe(&mut self, is_active: bool) {
        self.observation.is_active = is_active;
        let variables = self.program.specification.variables.len();
        self.observation.writes.resize_with(variables, Default::default);
    }

    /// Returns what was noted since the last call.
    pub(super) fn take_observed(&mut self) -> ObservedAccesses {
        let noted = &mut self.observation;
        ObservedAccesses {
            reads: std::mem::take(noted.reads.get_mut()),
            writes: std::mem::take(&mut noted.successors),
            is_opaque: noted.is_opaque.take(),
        }
    }

    /// Notes that the result depends on something that is not noted.
    pub(super) fn note_opaque(&self) {
        self.observation.is_opaque.set(true);
    }

    /// Notes a read. The value of a variable in a successor that is being generated is a function of what was read, or
    /// of the same part in the state.
    #[cold]
    pub(super) fn note_read(&self, mut place: ValuePlace, aspect: ReadAspect) {
        let variable = place.variable as usize;
        if variable >= self.program.variable_count() {
            return self.note_opaque();
        }
        if place.is_next && self.generation.phase != GenerationPhase::Evaluation {
            if matches!(self.observation.writes[variable], VariableWrite::Value) {
                return;
            }
            place.is_next = false;
        }
        self.observation.reads.borrow_mut().push(VariableRead { place, aspect });
    }

    /// Notes a read of the whole value of a variable.
    #[cold]
    pub(super) fn note_variable(&self, variable: u32, is_next: bool) {
        let place = ValuePlace { variable, is_next, path: ValuePath::new() };
        self.note_read(place, ReadAspect::Value);
    }

    /// Notes how the variable that is assigned next gets its value.
    pub(super) fn note_write(&mut self, variable: u32, write: VariableWrite) {
        if self.is_observed() {
            self.observation.writes[variable as usize] = write;
        }
    }

    /// Notes a successor, which has a value for each variable.
    pub(super) fn note_successor(&mut self) {
        let variables = self.program.variable_count();
        let noted = &mut self.observation;
        noted.successors.extend_from_slice(&noted.writes[..variables]);
    }

    /// Notes the read of a value at hand.
    fn note_sighted<'v>(&self, sighted: SightedValue<'v>, aspect: ReadAspect) -> &'v Value {
        if let Some(place) = sighted.place {
            self.note_read(place, aspect);
        }
        sighted.value
    }

    /// As [`peek`](Evaluator::peek), and notes the read.
    #[cold]
    pub(super) fn peek_observed(&self, node: NodeId, base: u32) -> Option<&Value> {
        let sighted = self.sight(node, base)?;
        Some(self.note_sighted(sighted, ReadAspect::Value))
    }

    /// As [`peek_slot`](Evaluator::peek_slot), and notes the read.
    #[cold]
    pub(super) fn peek_slot_observed(&self, index: u32) -> Option<&Value> {
        let sighted = self.sight_slot(index)?;
        Some(self.note_sighted(sighted, ReadAspect::Value))
    }

    /// Returns a value without evaluation, if it is at hand. The caller notes what it reads of the value.
    pub(super) fn sight(&self, node: NodeId, base: u32) -> Option<SightedValue<'_>> {
        match &self.program.nodes[node as usize] {
            Node::Literal(value) => Some(SightedValue::elsewhere(value)),
            Node::Variable(variable) => self.sight_variable(*variable, self.is_primed),
            Node::Memo(memo, _) => self.memo[*memo as usize].as_ref().map(SightedValue::elsewhere),
            Node::Local(slot) => self.sight_slot(base + slot),
            Node::Prime(operand) if !self.is_primed => {
                match &self.program.nodes[*operand as usize] {
                    Node::Variable(variable) => self.sight_variable(*variable, true),
                    _ => None,
                }
            }
            Node::Field(record, name) => match self.sight(*record, base)? {
                it if matches!(it.value, Value::Record(_)) => it.at(&Value::Str(*name)),
                _ => None,
            },
            Node::Apply(function, argument) => {
                let argument = self.peek(*argument, base)?;
                self.sight(*function, base)?.at(argument)
            }
            _ => None,
        }
    }

    fn sight_variable(&self, variable: u32, is_next: bool) -> Option<SightedValue<'_>> {
        let values = if is_next { &self.next } else { &self.current };
        let value = values[variable as usize].as_ref()?;
        let place = ValuePlace { variable, is_next, path: ValuePath::new() };
        Some(SightedValue { value, place: Some(place) })
    }

    fn sight_slot(&self, mut index: u32) -> Option<SightedValue<'_>> {
        loop {
            match &self.stack[index as usize] {
                SlotContent::Value(value) => return Some(SightedValue::elsewhere(value)),
                // Its reads were noted when it was evaluated.
                SlotContent::Forced(value, it) if self.is_valid(it) => {
                    return Some(SightedValue::elsewhere(value));
                }
                SlotContent::Forward(target) => index = *target,
                SlotContent::Thunk(thunk) if self.may_look_behind(thunk) => {
                    return self.sight(thunk.node, thunk.base);
                }
                _ => return None,
            }
        }
    }

    /// Evaluates `function[argument]` if the function is at hand, and reads no more than its value there.
    #[cold]
    pub(super) fn apply_observed(
        &mut self,
        function: NodeId,
        argument: &Value,
        base: u32,
    ) -> Option<Value> {
        let sighted = self.sight(function, base)?.at(argument)?;
        Some(self.note_sighted(sighted, ReadAspect::Value).clone())
    }

    /// Evaluates `DOMAIN function` if the function is at hand, and reads no more than its domain.
    #[cold]
    pub(super) fn domain_observed(
        &mut self,
        function: NodeId,
        base: u32,
    ) -> Option<Outcome<Value>> {
        let sighted = self.sight(function, base)?;
        let domain = functions::domain(sighted.value);
        self.note_sighted(sighted, ReadAspect::Domain);
        Some(domain)
    }

    /// Evaluates a comparison with a set that is part of a variable, and reads no more than the result needs.
    #[cold]
    pub(super) fn comparison_observed(
        &mut self,
        operator: BinaryOperator,
        operands: [NodeId; 2],
        base: u32,
    ) -> Outcome<Option<bool>> {
        match operator {
            BinaryOperator::In | BinaryOperator::NotIn => {
                self.membership_observed(operator, operands, base)
            }
            BinaryOperator::SubsetOrEqual => self.subset_observed(operands, base),
            _ => Ok(None),
        }
    }

    fn membership_observed(
        &mut self,
        operator: BinaryOperator,
        operands: [NodeId; 2],
        base: u32,
    ) -> Outcome<Option<bool>> {
        let [element, set] = operands;
        let is_part =
            |it: &SightedValue<'_>| matches!(it.value, Value::Set(_)) && it.place.is_some();
        if !self.sight(set, base).is_some_and(|it| is_part(&it)) {
            return Ok(None);
        }
        let element = self.eval(element, base)?;
        let Some(sighted) = self.sight(set, base).filter(is_part) else { return Ok(None) };
        if !element.is_canonical() {
            return Ok(None);
        }
        let Value::Set(elements) = sighted.value else { return Ok(None) };
        let is_member = sets::contains_sorted(&elements.slice, &element)?;
        self.note_sighted(sighted, ReadAspect::Member(element));
        Ok(Some(is_member == (operator == BinaryOperator::In)))
    }

    /// Evaluates the set of a bound. If the set is part of a variable, reads no more than which elements pass the screen of
    /// the bound: for the others, the body does not hold, whether they are in the set or not.
    pub(super) fn eval_screened(&mut self, bound: &'p BoundNode, base: u32) -> Outcome<Value> {
        if let Some(set) = self.screened(bound, base) {
            return Ok(set);
        }
        self.eval(bound.set, base)
    }

    fn screened(&mut self, bound: &'p BoundNode, base: u32) -> Option<Value> {
        if !self.is_observed() || !self.has_constant_screen(bound, base) {
            return None;
        }
        let SightedValue { value: set @ Value::Set(_), place: Some(place) } =
            self.sight(bound.set, base)?
        else {
            return None;
        };
        let set = set.clone();
        let candidates = Arc::clone(&self.observation.candidates);
        let candidates = candidates.of(&place)?;
        self.note_read(place.clone(), ReadAspect::Candidates);
        for candidate in candidates {
            if self.passes(bound, candidate, base) {
                self.note_read(place.clone(), ReadAspect::Member(candidate.clone()));
            }
        }
        Some(set)
    }

    /// Notes what the test reads whether a set that is part of a variable is a subset of a constant set: which elements it
    /// has that are not in the other set.
    pub(super) fn note_subset(&mut self, place: ValuePlace, whole: &Value) {
        if !self.is_observed() {
            return;
        }
        let candidates = Arc::clone(&self.observation.candidates);
        let Some(candidates) = candidates.of(&place) else {
            return self.note_read(place, ReadAspect::Value);
        };
        self.note_read(place.clone(), ReadAspect::Candidates);
        for candidate in candidates {
            if self.attempt(|it| sets::contains(it, whole, candidate)) != Some(true) {
                self.note_read(place.clone(), ReadAspect::Member(candidate.clone()));
            }
        }
    }

    /// Evaluates `part \subseteq whole` if the first set is part of a variable and the other one is constant.
    fn subset_observed(&mut self, operands: [NodeId; 2], base: u32) -> Outcome<Option<bool>> {
        let [part, whole] = operands;
        if self.program.specification[ExprId(whole)].level != Level::Constant
            || !matches!(self.program.nodes[whole as usize], Node::Memo(..))
        {
            return Ok(None);
        }
        let Some(SightedValue { value: part @ Value::Set(_), place: Some(place) }) =
            self.sight(part, base)
        else {
            return Ok(None);
        };
        let part = part.clone();
        let whole = self.eval(whole, base)?;
        self.note_subset(place, &whole);
        sets::is_subset(self, &part, &whole).map(Some)
    }

    /// Returns whether a value passes a screen, as far as it can be evaluated.
    fn passes(&mut self, bound: &'p BoundNode, candidate: &Value, base: u32) -> bool {
        if self.bind_element(bound, base, candidate.clone()).is_err() {
            return true;
        }
        for test in &bound.screen {
            match self.attempt(|it| it.holds_node("a screen", test.node, base)) {
                Some(true) => {}
                Some(false) => return false,
                None => return true,
            }
        }
        true
    }

    /// Returns whether a bound has a screen whose evaluation has no effect here. An action enters an argument that was not
    /// evaluated.
    fn has_constant_screen(&self, bound: &BoundNode, base: u32) -> bool {
        let is_plain = |slot: &u32| {
            bound.slots.contains(slot)
                || match &self.stack[self.resolve_slot(base + slot) as usize] {
                    SlotContent::Value(_) => true,
                    SlotContent::Thunk(it) => {
                        it.level == Level::Constant && !self.program.is_enterable[it.node as usize]
                    }
                    _ => false,
                }
        };
        !bound.screen.is_empty() && bound.screen.iter().all(|it| it.free.iter().all(is_plain))
    }

    /// Evaluates the value that is assigned to a variable, and notes how it is made from the value in the state.
    pub(super) fn eval_assigned(
        &mut self,
        variable: u32,
        node: NodeId,
        base: u32,
    ) -> Outcome<Value> {
        let program = self.program;
        let is_same =
            |it: NodeId| matches!(program.entered(it), Node::Variable(it) if *it == variable);
        let (value, write) = match program.entered(node) {
            Node::Variable(it) if *it == variable => {
                (self.present(variable)?, VariableWrite::Unchanged)
            }
            Node::If { condition, yes, no } => {
                let branch = if self.holds_node("IF", *condition, base)? { yes } else { no };
                return self.eval_assigned(variable, *branch, base);
            }
            Node::Except { function, updates } if is_same(*function) => {
                self.eval_changed(variable, updates, base)?
            }
            Node::Binary(operator @ BinaryOperator::Union, left, right) if is_same(*left) => {
                self.eval_set_change(*operator, variable, *right, base)?
            }
            Node::Binary(operator @ BinaryOperator::Union, left, right) if is_same(*right) => {
                self.eval_set_change(*operator, variable, *left, base)?
            }
            Node::Binary(operator @ BinaryOperator::Difference, left, right) if is_same(*left) => {
                self.eval_set_change(*operator, variable, *right, base)?
            }
            _ => (self.eval(node, base)?, VariableWrite::Value),
        };
        self.note_write(variable, write);
        Ok(value)
    }

    /// Returns the value of a variable in the state. The caller notes what it reads.
    fn present(&self, variable: u32) -> Outcome<Value> {
        self.current[variable as usize].clone().ok_or_else(|| self.unassigned(variable))
    }

    /// Evaluates EXCEPT of a variable.
    fn eval_changed(
        &mut self,
        variable: u32,
        updates: &'p [UpdateNode],
        base: u32,
    ) -> Outcome<(Value, VariableWrite)> {
        let mut value = self.present(variable)?;
        let mut paths = Vec::with_capacity(updates.len());
        for update in updates {
            let path = self.update_path(update, base)?;
            let place = |length: usize| {
                let path = path[..length].iter().cloned().collect();
                ValuePlace { variable, is_next: false, path }
            };
            // A path that does not exist changes nothing.
            (0..path.len()).for_each(|it| self.note_read(place(it), ReadAspect::Domain));
            if update.old.is_some() {
                self.note_read(place(path.len()), ReadAspect::Value);
            }
            value = self.update(value, &path, update, base)?;
            paths.push(path.into_iter().collect());
        }
        Ok((value, VariableWrite::Parts(paths)))
    }

    /// Evaluates the union of a variable and another set, or a difference.
    fn eval_set_change(
        &mut self,
        operator: BinaryOperator,
        variable: u32,
        other: NodeId,
        base: u32,
    ) -> Outcome<(Value, VariableWrite)> {
        let set = self.present(variable)?;
        let other = self.eval(other, base)?;
        let write = match (&set, &other) {
            (Value::Set(_), Value::Set(_)) if operator == BinaryOperator::Union => {
                VariableWrite::With(other.clone())
            }
            (Value::Set(_), Value::Set(_)) => VariableWrite::Without(other.clone()),
            _ => {
                self.note_variable(variable, false);
                VariableWrite::Value
            }
        };
        Ok((self.binary(operator, set, other)?, write))
    }
}
