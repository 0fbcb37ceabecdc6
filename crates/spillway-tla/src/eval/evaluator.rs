//! The evaluator: the state of an evaluation, and the evaluation of expressions.

use super::generation::GenerationPhase;
use super::node::{BindingNode, LazyNode, Node, NodeId, SlotId, UnaryNode, is_comparison};
use super::observation::AccessObservation;
use super::program::CompiledSpecification;
use super::state_memo::{Inputs, StateMemos};
use super::units::UnitWalk;
use crate::level::Level;
use crate::resolve::tree::BinaryOperator;
use crate::standard::{
    Failure, FailureReason, Outcome, SearchStatistics, boolean, functions, numbers, sets,
};
use crate::value::{CapturedOperator, LazyValue, Value};
use triomphe::Arc;

/// The greatest depth of nested calls.
const DEPTH_MAX: u32 = 200_000;

/// The stack that must be left before a call, and the size of a new piece of it, in bytes.
const STACK_LEFT_MIN: usize = 128 << 10;
const STACK_PIECE: usize = 4 << 20;

/// Memoised filters of at most this many candidates are enumerated once.
const MEMO_FILTER_MAX: u128 = 1 << 16;

/// Evaluates the expressions of a program. Each thread has its own.
#[derive(Debug)]
pub struct Evaluator<'p> {
    pub(super) program: &'p CompiledSpecification,
    /// The values of the variables in the state, as far as they are assigned.
    pub(super) current: Vec<Option<Value>>,
    /// The values of the variables in the successor, as far as they are assigned.
    pub(super) next: Vec<Option<Value>>,
    /// Whether a variable has its value in the successor.
    pub(super) is_primed: bool,
    /// Whether the state is complete, so that a value that depends on it can be kept.
    pub(super) is_complete: bool,
    /// The frames of the calls under way, one after the other.
    pub(super) stack: Vec<SlotContent>,
    /// The values of constant expressions.
    pub(super) memo: Vec<Option<Value>>,
    /// The constant functions whose tables cannot be evaluated, by the index of the value.
    pub(super) failed_tables: Vec<bool>,
    /// The values of expressions that depend on the state only.
    pub(super) state_memos: StateMemos,
    /// The number of calls under way.
    pub(super) depth: u32,
    /// The level of the state, 1 for initial states, if the search knows it.
    pub(super) level: Option<u32>,
    /// The counts of the search, once it has visited all states.
    pub(super) statistics: Option<SearchStatistics>,
    /// Whether a set that cannot be enumerated became a component of a value.
    pub(super) infinite_components: bool,
    /// The lines that the specification printed.
    pub(super) printed: Vec<String>,
    /// The generation of successors under way.
    pub(super) generation: super::generation::Generation,
    /// What the evaluation under way reads and writes, if it is observed.
    pub(super) observation: AccessObservation,
    /// The walk through units under way.
    pub(super) unit_walk: UnitWalk,
}

/// What a slot holds.
#[derive(Clone, Debug, Default)]
pub(super) enum SlotContent {
    /// Nothing.
    #[default]
    Empty,
    /// A value.
    Value(Value),
    /// An expression that is evaluated when it is used.
    Thunk(Thunk),
    /// The same, with its value in the present state.
    Forced(Value, Thunk),
    /// Another slot, by its index on the stack.
    Forward(u32),
    /// An operator, whose leading arguments are evaluated in a frame.
    Operator { operator: u32, base: u32 },
    /// An operator with its leading arguments.
    CapturedOperator(Arc<CapturedOperator>),
}

/// An expression and its frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thunk {
    /// The expression.
    pub node: NodeId,
    /// The start of its frame on the stack.
    pub base: u32,
    /// The level of its value.
    pub level: Level,
    /// Whether it is a definition of a LET that an action entered. As in TLC, an action enters such a definition wherever
    /// it occurs. An argument is entered only as long as it was not evaluated.
    pub is_definition: bool,
}

impl<'p> Evaluator<'p> {
    /// Creates an evaluator.
    pub fn new(program: &'p CompiledSpecification) -> Self {
        let variables = program.specification.variables.len();
        Self {
            program,
            current: vec![None; variables],
            next: vec![None; variables],
            is_primed: false,
            is_complete: true,
            stack: Vec::new(),
            memo: vec![None; program.memo_reads.len()],
            failed_tables: vec![false; program.memo_reads.len()],
            state_memos: StateMemos::new(program.memo_reads.len()),
            depth: 0,
            level: None,
            statistics: None,
            infinite_components: false,
            printed: Vec::new(),
            generation: Default::default(),
            observation: Default::default(),
            unit_walk: Default::default(),
        }
    }

    /// Returns the program.
    pub fn program(&self) -> &'p CompiledSpecification {
        self.program
    }

    /// Returns the lines that the specification printed since the last call.
    pub fn take_printed(&mut self) -> Vec<String> {
        std::mem::take(&mut self.printed)
    }

    /// Evaluates an expression in the frame that starts at `base`.
    #[inline]
    pub(super) fn eval(&mut self, node: NodeId, base: u32) -> Outcome<Value> {
        let program = self.program;
        let kind = &program.nodes[node as usize];
        let result = match kind {
            Node::Literal(value) => return Ok(value.clone()),
            Node::Local(slot) => self.local(base + slot),
            _ => self.eval_node(node, kind, base),
        };
        match result {
            Ok(value) => Ok(value),
            Err(failure) => Err(failure.at(CompiledSpecification::expression(node))),
        }
    }

    fn eval_node(&mut self, id: NodeId, node: &'p Node, base: u32) -> Outcome<Value> {
        match node {
            Node::Literal(value) => Ok(value.clone()),
            Node::Variable(variable) => self.variable(*variable),
            Node::Local(slot) => self.local(base + slot),
            Node::Memo(memo, inner) => self.memo(*memo, id, inner, base),
            Node::StateMemo(memo, inner) => self.state_memo(*memo, id, inner, base),
            Node::Call { definition, arguments } => self.call(id, *definition, arguments, base),
            Node::CallLocal { slot, arguments } => self.call_local(base + slot, arguments, base),
            Node::Standard { operator, arguments } => self.standard(*operator, arguments, base),
            Node::Arithmetic { operator, left, right } => {
                let left = self.eval(*left, base)?;
                if let Some(right) = self.peek(*right, base) {
                    return numbers::binary(*operator, &left, right);
                }
                let right = self.eval(*right, base)?;
                numbers::binary(*operator, &left, &right)
            }
            Node::Unary(operator, operand) => {
                if self.is_observed()
                    && *operator == UnaryNode::Domain
                    && let Some(domain) = self.domain_observed(*operand, base)
                {
                    return domain;
                }
                let operand = self.eval(*operand, base)?;
                self.unary(*operator, operand)
            }
            Node::Binary(operator, left, right) => self.binary_node(*operator, *left, *right, base),
            Node::FunctionSet(domain, range) => {
                let domain = self.eval(*domain, base)?;
                let range = self.eval(*range, base)?;
                self.function_set(domain, range)
            }
            Node::Prime(operand) => self.primed(*operand, base),
            Node::Unchanged(operand) => self.is_unchanged(*operand, base).map(Value::Bool),
            Node::Enabled(action) => self.is_enabled(*action, base).map(Value::Bool),
            Node::If { condition, yes, no } => {
                let branch = if self.holds_node("IF", *condition, base)? { yes } else { no };
                self.eval(*branch, base)
            }
            Node::Case { arms, other } => match self.arm(arms, *other, base)? {
                Some(value) => self.eval(value, base),
                None => Err(Failure::new(FailureReason::NoCaseArm)),
            },
            Node::Let { bindings, body } => {
                self.bind_lazily(bindings, base, false);
                self.eval(*body, base)
            }
            Node::And(_)
            | Node::Or(_)
            | Node::Implies(..)
            | Node::Quantified { .. }
            | Node::BoxAction { .. }
            | Node::AngleAction { .. } => self.formula(node, base).map(Value::Bool),
            Node::Unsupported(what) => Err(Failure::unsupported(&**what)),
            _ => self.collection(id, node, base),
        }
    }

    /// Returns the value of a variable.
    fn variable(&self, variable: u32) -> Outcome<Value> {
        match self.variable_ref(variable) {
            Some(value) => Ok(value.clone()),
            None => Err(self.unassigned(variable)),
        }
    }

    fn variable_ref(&self, variable: u32) -> Option<&Value> {
        if self.is_observed() {
            self.note_variable(variable, self.is_primed);
        }
        let values = if self.is_primed { &self.next } else { &self.current };
        values[variable as usize].as_ref()
    }

    #[cold]
    pub(super) fn unassigned(&self, variable: u32) -> Box<Failure> {
        let prime = if self.is_primed { "'" } else { "" };
        let name = format!("{}{prime}", self.program.variable_name(variable as usize));
        Failure::new(FailureReason::Unassigned { name })
    }

    /// Returns the value of a slot, and keeps it if it stays valid.
    pub(super) fn local(&mut self, mut index: u32) -> Outcome<Value> {
        loop {
            match &self.stack[index as usize] {
                SlotContent::Value(value) => return Ok(value.clone()),
                SlotContent::Forced(value, it) if self.is_valid(it) => return Ok(value.clone()),
                SlotContent::Forward(target) => index = *target,
                SlotContent::Thunk(thunk) | SlotContent::Forced(_, thunk) => {
                    let thunk = *thunk;
                    return self.force(index, thunk);
                }
                SlotContent::Operator { .. } | SlotContent::CapturedOperator(_) => {
                    return self.call_local(index, &[], 0);
                }
                SlotContent::Empty => return Err(Failure::new(FailureReason::NotCaptured)),
            }
        }
    }

    /// Returns whether the kept value of a thunk is its value here.
    pub(super) fn is_valid(&self, thunk: &Thunk) -> bool {
        !self.is_primed || thunk.level == Level::Constant
    }

    /// Returns whether the value of a thunk may be used without keeping it. Whether an action enters an argument depends on
    /// whether it was evaluated, which its slot shows.
    pub(super) fn may_look_behind(&self, thunk: &Thunk) -> bool {
        self.generation.phase == GenerationPhase::Evaluation
            || !self.program.is_enterable[thunk.node as usize]
    }

    fn force(&mut self, index: u32, thunk: Thunk) -> Outcome<Value> {
        let value = self.deeper(|it| it.eval(thunk.node, thunk.base))?;
        match thunk.level {
            Level::Constant if !thunk.is_definition => {
                self.stack[index as usize] = SlotContent::Value(value.clone());
            }
            Level::Constant | Level::State if !self.is_primed && self.is_complete => {
                self.stack[index as usize] = SlotContent::Forced(value.clone(), thunk);
            }
            _ => {}
        }
        Ok(value)
    }

    /// Runs an evaluation one level deeper, on a new piece of stack if need be.
    pub(super) fn deeper<T>(
        &mut self,
        evaluate: impl FnOnce(&mut Self) -> Outcome<T>,
    ) -> Outcome<T> {
        if self.depth >= DEPTH_MAX {
            return Err(Failure::new(FailureReason::TooDeep));
        }
        self.depth += 1;
        let result = stacker::maybe_grow(STACK_LEFT_MIN, STACK_PIECE, || evaluate(self));
        self.depth -= 1;
        result
    }

    pub(super) fn memo(
        &mut self,
        memo: u32,
        id: NodeId,
        inner: &'p Node,
        base: u32,
    ) -> Outcome<Value> {
        if let Some(value) = &self.memo[memo as usize] {
            return Ok(value.clone());
        }
        let was_primed = std::mem::replace(&mut self.is_primed, false);
        let result = self.eval_node(id, inner, base);
        self.is_primed = was_primed;
        let value = self.enumerate_small(result?);
        self.memo[memo as usize] = Some(value.clone());
        Ok(value)
    }

    fn state_memo(&mut self, memo: u32, id: NodeId, inner: &'p Node, base: u32) -> Outcome<Value> {
        // Initial states have few variables in common with those before.
        if !self.is_complete || self.is_observed() {
            return self.eval_node(id, inner, base);
        }
        if let Some(value) = self.state_memos.get(memo, self.inputs(memo)) {
            return Ok(value.clone());
        }
        let value = self.eval_node(id, inner, base)?;
        // What is evaluated later would see other variables.
        if !matches!(value, Value::Lazy(_)) {
            let variables = if self.is_primed { &self.next } else { &self.current };
            let reads = &self.program.memo_reads[memo as usize];
            let inputs = Inputs { variables, reads, is_primed: self.is_primed };
            self.state_memos.keep(memo, inputs, value.clone());
        }
        Ok(value)
    }

    /// Returns the variables on which a memoised expression depends.
    pub(super) fn inputs(&self, memo: u32) -> Inputs<'_> {
        Inputs {
            variables: if self.is_primed { &self.next } else { &self.current },
            reads: &self.program.memo_reads[memo as usize],
            is_primed: self.is_primed,
        }
    }

    /// Enumerates a lazy filter of few candidates, which is used often.
    fn enumerate_small(&mut self, value: Value) -> Value {
        let Value::Lazy(lazy) = &value else { return value };
        if !matches!(**lazy, LazyValue::Filter(..))
            || !sets::is_small(self, &value, MEMO_FILTER_MAX)
        {
            return value;
        }
        self.attempt(|it| sets::normalise(it, value.clone())).unwrap_or(value)
    }

    /// Runs an evaluation whose failure is not the failure of the evaluation around it.
    pub(super) fn attempt<T>(
        &mut self,
        evaluate: impl FnOnce(&mut Self) -> Outcome<T>,
    ) -> Option<T> {
        let (frames, is_primed) = (self.stack.len(), self.is_primed);
        let result = evaluate(self);
        self.stack.truncate(frames);
        self.is_primed = is_primed;
        result.ok()
    }

    /// Returns a value without evaluation, if it is at hand.
    #[inline]
    pub(super) fn peek(&self, node: NodeId, base: u32) -> Option<&Value> {
        match &self.program.nodes[node as usize] {
            Node::Literal(value) => Some(value),
            _ if self.is_observed() => self.peek_observed(node, base),
            Node::Variable(variable) => self.variable_ref(*variable),
            node => self.peek_compound(node, base),
        }
    }

    fn peek_compound(&self, node: &'p Node, base: u32) -> Option<&Value> {
        match node {
            Node::Memo(memo, _) => self.memo[*memo as usize].as_ref(),
            Node::StateMemo(memo, _) if self.is_complete => {
                self.state_memos.get(*memo, self.inputs(*memo))
            }
            Node::Local(slot) => self.peek_slot(base + slot),
            Node::Prime(operand) if !self.is_primed => {
                match &self.program.nodes[*operand as usize] {
                    Node::Variable(variable) => self.next[*variable as usize].as_ref(),
                    _ => None,
                }
            }
            Node::Field(record, name) => match self.peek(*record, base)? {
                Value::Record(record) => {
                    let names = &record.header.header.slice;
                    let index = names.iter().position(|it| it == name)?;
                    Some(&record.slice[index])
                }
                _ => None,
            },
            Node::Apply(function, argument) => {
                let argument = self.peek(*argument, base)?;
                match self.peek(*function, base) {
                    Some(function) => functions::lookup(function, argument),
                    None => self.kept_application(*function, argument),
                }
            }
            _ => None,
        }
    }

    pub(super) fn peek_slot(&self, mut index: u32) -> Option<&Value> {
        if self.is_observed() {
            return self.peek_slot_observed(index);
        }
        loop {
            match &self.stack[index as usize] {
                SlotContent::Value(value) => return Some(value),
                SlotContent::Forced(value, it) if self.is_valid(it) => return Some(value),
                SlotContent::Forward(target) => index = *target,
                SlotContent::Thunk(thunk) if self.may_look_behind(thunk) => {
                    return self.peek(thunk.node, thunk.base);
                }
                _ => return None,
            }
        }
    }

    /// Evaluates an operator on the values of two operands, without copying those at hand.
    fn binary_node(
        &mut self,
        operator: BinaryOperator,
        left: NodeId,
        right: NodeId,
        base: u32,
    ) -> Outcome<Value> {
        if is_comparison(operator) {
            return self.comparison(operator, left, right, base).map(Value::Bool);
        }
        let left = self.eval(left, base)?;
        let right = self.eval(right, base)?;
        self.binary(operator, left, right)
    }

    /// Applies an operator of the language to two values.
    pub(super) fn binary(
        &mut self,
        operator: BinaryOperator,
        left: Value,
        right: Value,
    ) -> Outcome<Value> {
        match operator {
            BinaryOperator::Union => sets::union(self, left, right),
            BinaryOperator::Intersection => sets::intersection(self, left, right),
            BinaryOperator::Difference => sets::difference(self, left, right),
            _ => self.compare(operator, &left, &right).map(Value::Bool),
        }
    }

    /// Applies an operator of the language to a value.
    pub(super) fn unary(&mut self, operator: UnaryNode, operand: Value) -> Outcome<Value> {
        match operator {
            UnaryNode::Not => Ok(Value::Bool(!boolean("~", &operand)?)),
            UnaryNode::Domain => functions::domain(&operand),
            UnaryNode::BigUnion => sets::big_union(self, &operand),
            UnaryNode::Powerset if sets::is_set(&operand) => {
                Ok(sets::lazy(LazyValue::Subsets(operand)))
            }
            UnaryNode::Powerset => Err(Failure::wrong_kind("SUBSET", "a set", &operand)),
        }
    }

    /// Evaluates an expression in the successor.
    fn primed(&mut self, operand: NodeId, base: u32) -> Outcome<Value> {
        if self.is_primed {
            return Err(Failure::unsupported("a prime within a prime"));
        }
        self.is_primed = true;
        let result = self.eval(operand, base);
        self.is_primed = false;
        result
    }

    /// Returns whether an expression has the same value in the state and in the successor.
    pub(super) fn is_unchanged(&mut self, operand: NodeId, base: u32) -> Outcome<bool> {
        let before = self.eval(operand, base)?;
        let after = self.primed(operand, base)?;
        sets::equals(self, &before, &after)
    }

    /// Returns the value of the first arm of CASE whose condition holds, or `other`.
    pub(super) fn arm(
        &mut self,
        arms: &'p [super::node::ArmNode],
        other: Option<NodeId>,
        base: u32,
    ) -> Outcome<Option<NodeId>> {
        for arm in arms {
            if self.holds_node("CASE", arm.guard, base)? {
                return Ok(Some(arm.value));
            }
        }
        Ok(other)
    }

    /// Fills the slots of LET values.
    pub(super) fn bind_lazily(
        &mut self,
        bindings: &'p [BindingNode],
        base: u32,
        is_definition: bool,
    ) {
        for it in bindings {
            let thunk = Thunk { is_definition, ..self.thunk(&it.value, base) };
            self.stack[(base + it.slot) as usize] = SlotContent::Thunk(thunk);
        }
    }

    /// Returns the thunk of a lazy expression.
    pub(super) fn thunk(&self, lazy: &LazyNode, base: u32) -> Thunk {
        let levels = lazy.free.iter().map(|it| self.slot_level(base + it));
        let level = levels.fold(lazy.level, Level::max);
        Thunk { node: lazy.node, base, level, is_definition: false }
    }

    /// Returns the level of the content of a slot.
    fn slot_level(&self, mut index: u32) -> Level {
        loop {
            match &self.stack[index as usize] {
                SlotContent::Empty | SlotContent::Value(_) => return Level::Constant,
                SlotContent::Thunk(it) | SlotContent::Forced(_, it) => return it.level,
                SlotContent::Forward(target) => index = *target,
                SlotContent::Operator { operator, base } => {
                    return self.operator_level(*operator, *base);
                }
                // Its definition may use variables.
                SlotContent::CapturedOperator(_) => return Level::Action,
            }
        }
    }

    fn operator_level(&self, operator: u32, base: u32) -> Level {
        use super::node::{Argument, Operator};
        match &self.program.operators[operator as usize] {
            Operator::Definition { definition, captured } => {
                let levels = captured.iter().map(|it| match it {
                    Argument::Lazy(it) => self.thunk(it, base).level,
                    Argument::Literal(_) => Level::Constant,
                    Argument::Local(slot) => self.slot_level(base + slot),
                    Argument::Operator(it) => self.operator_level(*it, base),
                });
                levels.fold(self.program.definitions[*definition as usize].level, Level::max)
            }
            Operator::Local(slot) => self.slot_level(base + slot),
            _ => Level::Constant,
        }
    }

    /// Puts a value into a slot of a frame.
    pub(super) fn bind(&mut self, base: u32, slot: SlotId, value: Value) {
        self.stack[(base + slot) as usize] = SlotContent::Value(value);
    }

    /// Evaluates an expression that must be Boolean.
    pub(super) fn holds_node(
        &mut self,
        construct: &'static str,
        node: NodeId,
        base: u32,
    ) -> Outcome<bool> {
        let program = self.program;
        let kind = &program.nodes[node as usize];
        let result = match kind {
            Node::And(_) | Node::Or(_) | Node::Implies(..) | Node::Quantified { .. } => {
                self.formula(kind, base)
            }
            Node::Binary(operator, left, right) if is_comparison(*operator) => {
                self.comparison(*operator, *left, *right, base)
            }
            Node::Unary(UnaryNode::Not, operand) => {
                self.holds_node("~", *operand, base).map(|it| !it)
            }
            Node::Apply(..) | Node::Local(_) | Node::StateMemo(..)
                if let Some(Value::Bool(holds)) = self.peek(node, base) =>
            {
                Ok(*holds)
            }
            Node::Call { .. } => self.call_formula(construct, node, base),
            _ => self.eval(node, base).and_then(|it| boolean(construct, &it)),
        };
        result.map_err(|it| it.at(CompiledSpecification::expression(node)))
    }
}
