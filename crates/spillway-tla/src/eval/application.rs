//! Applications of functions, `f[e]`.
//!
//! TLC does not make the function that `[x \in S |-> e][a]` applies: it tests that `a` is in `S` and evaluates `e` for
//! `a`. An error in `e` for another element of `S` is none, and nothing is evaluated for the other elements. An action
//! enters `e`, so a disjunction in it multiplies successors. The function may be behind a LET, an operator, an argument,
//! IF, CASE, EXCEPT, a prime or another application.
//!
//! [`Facts`](super::facts::Facts) finds the expressions whose value is that of a constructor. [`Evaluator::applied`] finds
//! the constructor in the present state. Everything else that is applied is a value: a variable, a table of a constant
//! definition, a recursive function.
//!
//! A function of the state that uses no name around it keeps the values that were computed, argument by argument.

use super::actions::is_definition;
use super::evaluator::{Evaluator, SlotContent};
use super::generation::{Continuation, Flow, GenerationPhase};
use super::node::{Node, NodeId, UpdateNode};
use super::program::CompiledSpecification;
use crate::standard::{Failure, FailureReason, Outcome, functions, sets};
use crate::value::{LazyValue, Value};
use smallvec::SmallVec;
use triomphe::Arc;

/// A function that is applied.
pub(super) enum AppliedFunction<'p> {
    /// A function that was evaluated.
    Value(Value),
    /// A function whose value is computed for the argument alone.
    Constructor(AppliedConstructor<'p>),
}

/// A function constructor, or EXCEPT of one.
pub(super) struct AppliedConstructor<'p> {
    node: &'p Node,
    /// The start of its frame.
    base: u32,
    /// Whether unprimed variables have the values of the successor.
    is_primed: bool,
    /// The index under which values are kept.
    memo: Option<u32>,
}

/// Why a function is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ApplicationUse {
    /// For its value: a table that is at hand serves.
    Value,
    /// To enter its body as an action.
    Action,
}

impl<'p> Evaluator<'p> {
    /// Evaluates `function[argument]`.
    pub(super) fn apply(
        &mut self,
        function: NodeId,
        argument: NodeId,
        base: u32,
    ) -> Outcome<Value> {
        if !self.is_observed()
            && let Some(argument) = self.peek(argument, base)
            && let Some(function) = self.peek(function, base)
            && let Some(value) = functions::lookup(function, argument)
        {
            return Ok(value.clone());
        }
        let argument = self.eval(argument, base)?;
        if self.is_observed()
            && let Some(value) = self.apply_observed(function, &argument, base)
        {
            return Ok(value);
        }
        if let Some(function) = self.peek(function, base)
            && let Some(value) = functions::lookup(function, &argument)
        {
            return Ok(value.clone());
        }
        if let Some(value) = self.kept_application(function, &argument) {
            return Ok(value.clone());
        }
        match self.value_at(function, &argument, base)? {
            Some(value) => Ok(value),
            None => Err(self.out_of_domain(function, &argument, base)),
        }
    }

    /// Returns the value of a function of the state for an argument, if it was kept.
    pub(super) fn kept_application(&self, function: NodeId, argument: &Value) -> Option<&Value> {
        match &self.program.nodes[function as usize] {
            Node::StateMemo(memo, _) if self.is_complete && !self.is_observed() => {
                self.state_memos.application(*memo, self.inputs(*memo), argument)
            }
            _ => None,
        }
    }

    /// Returns the value of a function for an argument, or nothing if the argument is not in the domain.
    fn value_at(
        &mut self,
        function: NodeId,
        argument: &Value,
        base: u32,
    ) -> Outcome<Option<Value>> {
        let frames = self.stack.len() as u32;
        let value = match self.applied(function, base, ApplicationUse::Value)? {
            AppliedFunction::Value(function) => functions::value_at(self, &function, argument)?,
            AppliedFunction::Constructor(it) => self.value_of_constructor(&it, argument)?,
        };
        self.close_frame(frames);
        Ok(value)
    }

    #[cold]
    fn out_of_domain(&mut self, function: NodeId, argument: &Value, base: u32) -> Box<Failure> {
        match self.attempt(|it| it.eval(function, base)) {
            Some(function) => functions::out_of_domain(&function, argument),
            None => Failure::new(FailureReason::OutOfDomain).with("argument", argument),
        }
    }

    /// Returns the function of an applied expression. Frames that this opens stay on the stack, because the constructor is
    /// in one of them.
    pub(super) fn applied(
        &mut self,
        id: NodeId,
        base: u32,
        purpose: ApplicationUse,
    ) -> Outcome<AppliedFunction<'p>> {
        let program = self.program;
        let node = &program.nodes[id as usize];
        if let Node::Local(slot) = node {
            return self.applied_local(base + slot, purpose);
        }
        if !program.is_constructor(id) {
            return self.eval(id, base).map(AppliedFunction::Value);
        }
        match node {
            Node::Memo(memo, inner) => {
                // TLC evaluates a constant definition before the search. Any other constant function is entered.
                if (purpose == ApplicationUse::Value || is_definition(inner))
                    && let Some(table) = self.constant_table(*memo, id, inner, base)
                {
                    return Ok(AppliedFunction::Value(table));
                }
                self.applied_node(id, inner, base, purpose)
            }
            Node::StateMemo(memo, inner) => {
                if purpose == ApplicationUse::Value
                    && let Some(value) = self.peek(id, base)
                {
                    return Ok(AppliedFunction::Value(value.clone()));
                }
                let mut function = self.applied_node(id, inner, base, purpose)?;
                if let AppliedFunction::Constructor(it) = &mut function
                    && self.is_complete
                    && !self.is_observed()
                    && it.is_primed == self.is_primed
                {
                    it.memo = Some(*memo);
                }
                Ok(function)
            }
            node => self.applied_node(id, node, base, purpose),
        }
    }

    fn applied_local(
        &mut self,
        index: u32,
        purpose: ApplicationUse,
    ) -> Outcome<AppliedFunction<'p>> {
        let index = self.resolve_slot(index);
        let thunk = match (&self.stack[index as usize], purpose) {
            (SlotContent::Thunk(thunk), _) => Some(*thunk),
            (SlotContent::Forced(_, thunk), ApplicationUse::Action) if thunk.is_definition => {
                Some(*thunk)
            }
            _ => None,
        };
        match thunk {
            Some(thunk)
                if self.program.is_constructor(thunk.node)
                    || matches!(self.program.nodes[thunk.node as usize], Node::Local(_)) =>
            {
                self.applied(thunk.node, thunk.base, purpose)
            }
            _ => self.local(index).map(AppliedFunction::Value),
        }
    }

    /// Returns the table of a constant function, if its body can be evaluated for the whole domain.
    fn constant_table(
        &mut self,
        memo: u32,
        id: NodeId,
        inner: &'p Node,
        base: u32,
    ) -> Option<Value> {
        if self.failed_tables[memo as usize] {
            return None;
        }
        let table = self.attempt(|it| it.memo(memo, id, inner, base));
        self.failed_tables[memo as usize] = table.is_none();
        table
    }

    /// Returns the function of an applied expression whose value is that of a constructor.
    fn applied_node(
        &mut self,
        id: NodeId,
        node: &'p Node,
        base: u32,
        purpose: ApplicationUse,
    ) -> Outcome<AppliedFunction<'p>> {
        match node {
            Node::Function { .. } | Node::Except { .. } => {
                let is_primed = self.is_primed;
                let constructor = AppliedConstructor { node, base, is_primed, memo: None };
                Ok(AppliedFunction::Constructor(constructor))
            }
            Node::Let { bindings, body } => {
                self.bind_lazily(bindings, base, false);
                self.applied(*body, base, purpose)
            }
            Node::If { condition, yes, no } => {
                let branch = if self.holds_node("IF", *condition, base)? { yes } else { no };
                self.applied(*branch, base, purpose)
            }
            Node::Case { arms, other } => match self.arm(arms, *other, base)? {
                Some(value) => self.applied(value, base, purpose),
                None => Err(Failure::new(FailureReason::NoCaseArm)),
            },
            Node::Call { definition, arguments } => {
                let frame = self.open_frame(*definition, arguments, base);
                let body = self.program.definitions[*definition as usize].body;
                let function = self.deeper(|it| it.applied(body, frame, purpose));
                function.map_err(|it| it.called_from(CompiledSpecification::expression(id)))
            }
            Node::Prime(operand) if !self.is_primed => {
                self.is_primed = true;
                let function = self.applied(*operand, base, purpose);
                self.is_primed = false;
                function
            }
            Node::Apply(function, argument) => {
                self.applied_value([*function, *argument], base, purpose)
            }
            _ => self.eval(id, base).map(AppliedFunction::Value),
        }
    }

    /// Finds the function that `function[argument]` is.
    fn applied_value(
        &mut self,
        application: [NodeId; 2],
        base: u32,
        purpose: ApplicationUse,
    ) -> Outcome<AppliedFunction<'p>> {
        let [function, argument] = application;
        let argument = self.eval(argument, base)?;
        let outer = self.applied(function, base, purpose)?;
        if let AppliedFunction::Constructor(it) = &outer
            && let Node::Function { closure, .. } = it.node
            && self.program.is_constructor(closure.body)
        {
            let was_primed = std::mem::replace(&mut self.is_primed, it.is_primed);
            let function = match self.open_constructor(it, &argument)? {
                Some(frame) => self.applied(closure.body, frame, purpose)?,
                None => return Err(self.out_of_domain(function, &argument, base)),
            };
            self.is_primed = was_primed;
            return Ok(function);
        }
        let value = match &outer {
            AppliedFunction::Value(function) => functions::value_at(self, function, &argument)?,
            AppliedFunction::Constructor(it) => self.value_of_constructor(it, &argument)?,
        };
        match value {
            Some(value) => Ok(AppliedFunction::Value(value)),
            None => Err(self.out_of_domain(function, &argument, base)),
        }
    }

    /// Makes the frame in which the body of a function is evaluated for an argument. Returns nothing if the argument is
    /// not in the domain.
    fn open_constructor(
        &mut self,
        constructor: &AppliedConstructor<'p>,
        argument: &Value,
    ) -> Outcome<Option<u32>> {
        let Node::Function { bounds, closure, .. } = constructor.node else {
            return Err(Failure::unsupported("an application of what is no constructor"));
        };
        let domain = self.function_domain(bounds, constructor.base)?.domain;
        if !sets::contains(self, &domain, argument)? {
            return Ok(None);
        }
        let frame = self.open_closure_frame(closure, constructor.base);
        self.bind_argument(bounds, frame, argument)?;
        Ok(Some(frame))
    }

    /// Returns the value of a constructor for an argument, or nothing if the argument is not in the domain.
    fn value_of_constructor(
        &mut self,
        constructor: &AppliedConstructor<'p>,
        argument: &Value,
    ) -> Outcome<Option<Value>> {
        let was_primed = std::mem::replace(&mut self.is_primed, constructor.is_primed);
        if let Some(memo) = constructor.memo
            && let Some(value) = self.state_memos.application(memo, self.inputs(memo), argument)
        {
            let value = value.clone();
            self.is_primed = was_primed;
            return Ok(Some(value));
        }
        let value = match constructor.node {
            Node::Except { function, updates } => {
                self.value_of_changed(*function, updates, argument, constructor.base)?
            }
            _ => self.value_of_function(constructor, argument)?,
        };
        if let (Some(memo), Some(value)) = (constructor.memo, &value)
            && !matches!(value, Value::Lazy(_))
        {
            self.keep_application(memo, argument, value);
        }
        self.is_primed = was_primed;
        Ok(value)
    }

    fn keep_application(&mut self, memo: u32, argument: &Value, value: &Value) {
        let program = self.program;
        let variables = if self.is_primed { &self.next } else { &self.current };
        let reads = &program.memo_reads[memo as usize];
        let inputs = super::state_memo::Inputs { variables, reads, is_primed: self.is_primed };
        self.state_memos.keep_application(memo, inputs, argument.clone(), value.clone());
    }

    fn value_of_function(
        &mut self,
        constructor: &AppliedConstructor<'p>,
        argument: &Value,
    ) -> Outcome<Option<Value>> {
        let Some(frame) = self.open_constructor(constructor, argument)? else { return Ok(None) };
        let Node::Function { closure, .. } = constructor.node else { return Ok(None) };
        let value = self.deeper(|it| it.eval(closure.body, frame))?;
        self.close_frame(frame);
        Ok(Some(value))
    }

    /// Returns the value of `[function EXCEPT updates]` for an argument. As in TLC, the old value at each path is
    /// evaluated, and no other value.
    fn value_of_changed(
        &mut self,
        function: NodeId,
        updates: &'p [UpdateNode],
        argument: &Value,
        base: u32,
    ) -> Outcome<Option<Value>> {
        let mut changes: SmallVec<[ChangedValue; 2]> = SmallVec::new();
        for update in updates {
            let path = self.update_path(update, base)?;
            let Some((first, path)) = path.split_first() else { continue };
            let known = self.change_of(&changes, first)?;
            let old = match known {
                Some(index) => Some(changes[index].value.clone()),
                None => self.value_at(function, first, base)?,
            };
            // A path that does not exist changes nothing.
            let Some(old) = old else { continue };
            let value = self.update(old, path, update, base)?;
            match known {
                Some(index) => changes[index].value = value,
                None => changes.push(ChangedValue { argument: first.clone(), value }),
            }
        }
        match self.change_of(&changes, argument)? {
            Some(index) => Ok(Some(changes.swap_remove(index).value)),
            None => self.value_at(function, argument, base),
        }
    }

    /// Returns the index of the change for an argument.
    fn change_of(&mut self, changes: &[ChangedValue], argument: &Value) -> Outcome<Option<usize>> {
        for (index, it) in changes.iter().enumerate() {
            if sets::equals(self, &it.argument, argument)? {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    /// `f[e]` as a formula. TLC enters the body of a constructor, but not in an initial predicate.
    pub(super) fn enumerate_application(
        &mut self,
        id: NodeId,
        application: [NodeId; 2],
        base: u32,
        rest: Option<&Continuation<'_>>,
    ) -> Outcome<Flow> {
        let [function, argument] = application;
        if self.is_table(function, base) {
            return self.test(id, base, rest);
        }
        let frames = self.stack.len() as u32;
        let applied = if self.generation.phase == GenerationPhase::Initial {
            AppliedFunction::Value(self.eval(function, base)?)
        } else {
            self.applied(function, base, ApplicationUse::Action)?
        };
        let flow = match applied {
            AppliedFunction::Value(Value::Lazy(lazy))
                if matches!(*lazy, LazyValue::Function(..)) =>
            {
                self.enumerate_closure(&lazy, argument, base, rest)?
            }
            AppliedFunction::Constructor(it)
                if !it.is_primed && matches!(it.node, Node::Function { .. }) =>
            {
                self.enumerate_constructor(&it, application, base, rest)?
            }
            _ => self.test(id, base, rest)?,
        };
        self.close_frame(frames);
        Ok(flow)
    }

    /// Returns whether a function is at hand that is no constructor.
    fn is_table(&self, function: NodeId, base: u32) -> bool {
        let is_name = matches!(self.program.nodes[function as usize], Node::Local(_));
        let is_value = match self.is_observed() {
            // Whether a variable is at hand does not depend on its value.
            true => {
                self.sight(function, base).is_some_and(|it| !matches!(it.value, Value::Lazy(_)))
            }
            false => self.peek(function, base).is_some_and(|it| !matches!(it, Value::Lazy(_))),
        };
        is_value && !is_name && !self.program.is_constructor(function)
    }

    fn enumerate_constructor(
        &mut self,
        constructor: &AppliedConstructor<'p>,
        application: [NodeId; 2],
        base: u32,
        rest: Option<&Continuation<'_>>,
    ) -> Outcome<Flow> {
        let [function, argument] = application;
        let argument = self.eval(argument, base)?;
        let Some(frame) = self.open_constructor(constructor, &argument)? else {
            return Err(self.out_of_domain(function, &argument, base));
        };
        let Node::Function { closure, .. } = constructor.node else {
            return Ok(Flow::Continue(()));
        };
        let flow = self.deeper(|it| it.enumerate(closure.body, frame, rest))?;
        self.close_frame(frame);
        Ok(flow)
    }

    /// `f[e]` where `f` is a recursive function or one of an infinite domain.
    fn enumerate_closure(
        &mut self,
        lazy: &Arc<LazyValue>,
        argument: NodeId,
        base: u32,
        rest: Option<&Continuation<'_>>,
    ) -> Outcome<Flow> {
        let argument = self.eval(argument, base)?;
        if let LazyValue::Function(domain, _) = &**lazy
            && !sets::contains(self, domain, &argument)?
        {
            return Err(functions::out_of_domain(&Value::Lazy(lazy.clone()), &argument));
        }
        let closure = self.open_closure(lazy, &argument)?;
        let flow = self.deeper(|it| it.enumerate(closure.body, closure.frame, rest))?;
        self.close_frame(closure.frame);
        Ok(flow)
    }
}

/// A value of a function that EXCEPT replaces.
struct ChangedValue {
    argument: Value,
    value: Value,
}
