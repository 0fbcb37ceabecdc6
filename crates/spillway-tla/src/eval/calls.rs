//! Calls: frames, lazy arguments, operators as arguments, closures, standard operators.

use super::evaluator::{Evaluator, SlotContent};
use super::node::{Argument, ClosureNode, Node, NodeId, Operator};
use super::program::CompiledSpecification;
use crate::library::StandardOperator;
use crate::standard::{
    self, ClosureHost, Failure, OperatorHost, Outcome, SearchStatistics, boolean, sets,
};
use crate::value::{
    CapturedContent, CapturedExpression, CapturedOperator, CapturedSlot, LazyValue, SymbolTable,
    Value,
};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use triomphe::Arc;

impl<'p> Evaluator<'p> {
    /// Evaluates a call of a definition.
    pub(super) fn call(
        &mut self,
        id: NodeId,
        definition: u32,
        arguments: &'p [Argument],
        base: u32,
    ) -> Outcome<Value> {
        let frame = self.open_frame(definition, arguments, base);
        let body = self.program.definitions[definition as usize].body;
        let result = self.deeper(|it| it.eval(body, frame));
        self.close_frame(frame);
        result.map_err(|it| it.called_from(CompiledSpecification::expression(id)))
    }

    /// Evaluates a call of a definition that must be Boolean.
    pub(super) fn call_formula(
        &mut self,
        construct: &'static str,
        id: NodeId,
        base: u32,
    ) -> Outcome<bool> {
        let program = self.program;
        let Node::Call { definition, arguments } = &program.nodes[id as usize] else {
            return Err(Failure::unsupported("a call of what is no definition"));
        };
        let frame = self.open_frame(*definition, arguments, base);
        let body = program.definitions[*definition as usize].body;
        let result = self.deeper(|it| it.holds_node(construct, body, frame));
        self.close_frame(frame);
        result.map_err(|it| it.called_from(CompiledSpecification::expression(id)))
    }

    /// Makes the frame of a call and returns its start.
    pub(super) fn open_frame(
        &mut self,
        definition: u32,
        arguments: &'p [Argument],
        base: u32,
    ) -> u32 {
        let frame = self.stack.len() as u32;
        self.push_arguments(arguments, base);
        self.fill_frame(frame, definition);
        frame
    }

    fn fill_frame(&mut self, frame: u32, definition: u32) {
        let slots = self.program.definitions[definition as usize].slots;
        self.stack.resize_with((frame + slots) as usize, Default::default);
    }

    /// Drops a frame and those above.
    pub(super) fn close_frame(&mut self, frame: u32) {
        self.stack.truncate(frame as usize);
    }

    fn push_arguments(&mut self, arguments: &'p [Argument], base: u32) {
        for argument in arguments {
            let content = self.content(argument, base);
            self.stack.push(content);
        }
    }

    fn content(&self, argument: &'p Argument, base: u32) -> SlotContent {
        match argument {
            Argument::Literal(value) => SlotContent::Value(value.clone()),
            Argument::Lazy(lazy) => SlotContent::Thunk(self.thunk(lazy, base)),
            Argument::Local(slot) => self.reference(base + slot),
            Argument::Operator(operator) => match self.program.operators[*operator as usize] {
                Operator::Local(slot) => SlotContent::Forward(base + slot),
                _ => SlotContent::Operator { operator: *operator, base },
            },
        }
    }

    /// Returns a reference to the content of another slot. A scalar is copied. The reference to any other content is not
    /// counted.
    fn reference(&self, index: u32) -> SlotContent {
        match &self.stack[index as usize] {
            SlotContent::Value(
                value @ (Value::Int(_) | Value::Bool(_) | Value::Str(_) | Value::Model(_)),
            ) => SlotContent::Value(value.clone()),
            SlotContent::Forward(target) => SlotContent::Forward(*target),
            _ => SlotContent::Forward(index),
        }
    }

    /// Makes a frame in which the body of a closure is evaluated: the names that it uses refer to those of the frame that
    /// starts at `base`, and it binds names of its own.
    pub(super) fn open_closure_frame(&mut self, closure: &ClosureNode, base: u32) -> u32 {
        let frame = self.stack.len() as u32;
        self.stack.resize_with((frame + closure.frame) as usize, Default::default);
        for slot in &closure.free {
            self.stack[(frame + slot) as usize] = self.reference(base + slot);
        }
        frame
    }

    /// Calls the operator in a slot with arguments of the frame that starts at `base`.
    pub(super) fn call_local(
        &mut self,
        index: u32,
        arguments: &'p [Argument],
        base: u32,
    ) -> Outcome<Value> {
        if let Some((definition, frame)) = self.open_operator_frame(index, arguments, base) {
            let body = self.program.definitions[definition as usize].body;
            let result = self.deeper(|it| it.eval(body, frame));
            self.close_frame(frame);
            return result;
        }
        let operator = self.operator_at(index)?;
        if let Operator::Standard(it) = operator {
            return self.standard(*it, arguments, base);
        }
        let values = self.argument_values(arguments, base)?;
        self.call_built_in(operator, &values)
    }

    /// Returns the index of the slot that has the content, behind references to other slots.
    pub(super) fn resolve_slot(&self, mut index: u32) -> u32 {
        while let SlotContent::Forward(target) = &self.stack[index as usize] {
            index = *target;
        }
        index
    }

    /// Returns the operator in a slot.
    fn operator_at(&self, index: u32) -> Outcome<&'p Operator> {
        let program = self.program;
        let operator = match &self.stack[self.resolve_slot(index) as usize] {
            SlotContent::Operator { operator, .. } => *operator,
            SlotContent::CapturedOperator(it) => it.operator,
            _ => return Err(Failure::unsupported("a call of what is no operator")),
        };
        Ok(&program.operators[operator as usize])
    }

    /// Makes the frame of a call of the operator in a slot, if the operator is a definition. Returns the definition and
    /// the start of the frame.
    pub(super) fn open_operator_frame(
        &mut self,
        index: u32,
        arguments: &'p [Argument],
        base: u32,
    ) -> Option<(u32, u32)> {
        let frame = self.stack.len() as u32;
        let definition = self.push_captured(index)?;
        self.push_arguments(arguments, base);
        self.fill_frame(frame, definition);
        Some((definition, frame))
    }

    /// Pushes the leading arguments of the operator in a slot, if it is a definition.
    fn push_captured(&mut self, index: u32) -> Option<u32> {
        let program = self.program;
        let content = self.stack[self.resolve_slot(index) as usize].clone();
        match content {
            SlotContent::Operator { operator, base } => {
                match &program.operators[operator as usize] {
                    Operator::Definition { definition, captured } => {
                        self.push_arguments(captured, base);
                        Some(*definition)
                    }
                    _ => None,
                }
            }
            SlotContent::CapturedOperator(it) => match &program.operators[it.operator as usize] {
                Operator::Definition { definition, .. } => {
                    let contents = it.arguments.iter().map(restore);
                    self.stack.extend(contents);
                    Some(*definition)
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn argument_values(
        &mut self,
        arguments: &'p [Argument],
        base: u32,
    ) -> Outcome<SmallVec<[Value; 3]>> {
        arguments.iter().map(|it| self.argument_value(it, base)).collect()
    }

    fn argument_value(&mut self, argument: &'p Argument, base: u32) -> Outcome<Value> {
        match argument {
            Argument::Literal(value) => Ok(value.clone()),
            Argument::Lazy(lazy) => self.eval(lazy.node, base),
            Argument::Local(slot) => self.local(base + slot),
            Argument::Operator(_) => Err(Failure::unsupported("an operator as a value")),
        }
    }

    /// Calls an operator of the language.
    fn call_built_in(&mut self, operator: &Operator, values: &[Value]) -> Outcome<Value> {
        match (operator, values) {
            (Operator::Unary(operator), [operand]) => self.unary(*operator, operand.clone()),
            (Operator::Binary(operator), [left, right]) => {
                self.binary(*operator, left.clone(), right.clone())
            }
            (Operator::Implies, [left, right]) => {
                Ok(Value::Bool(!boolean("=>", left)? || boolean("=>", right)?))
            }
            (Operator::And, [left, right]) => {
                Ok(Value::Bool(boolean("/\\", left)? && boolean("/\\", right)?))
            }
            (Operator::Or, [left, right]) => {
                Ok(Value::Bool(boolean("\\/", left)? || boolean("\\/", right)?))
            }
            (Operator::Product, operands) => Ok(sets::lazy(LazyValue::Product(operands.to_vec()))),
            _ => Err(Failure::unsupported("this operator as an argument")),
        }
    }

    /// Calls a standard operator.
    pub(super) fn standard(
        &mut self,
        operator: StandardOperator,
        arguments: &'p [Argument],
        base: u32,
    ) -> Outcome<Value> {
        if let Some(value) = self.standard_at_hand(operator, arguments, base) {
            return Ok(value);
        }
        if !operator.is_pure() {
            self.note_opaque();
        }
        let mut operands: SmallVec<[Option<Value>; 3]> = SmallVec::new();
        for argument in arguments {
            operands.push(match argument {
                Argument::Operator(_) => None,
                // The message is evaluated only if it is needed.
                _ if operator == StandardOperator::Assert
                    && matches!(operands[..], [Some(Value::Bool(true))]) =>
                {
                    return Ok(Value::Bool(true));
                }
                Argument::Local(slot) if self.is_operator(base + slot) => None,
                other => Some(self.argument_value(other, base)?),
            });
        }
        let mut call = StandardCall { evaluator: self, arguments, base };
        standard::call(&mut call, operator, &operands)
    }

    /// Applies a frequent operator to an operand that is at hand, without copying it.
    fn standard_at_hand(
        &self,
        operator: StandardOperator,
        arguments: &[Argument],
        base: u32,
    ) -> Option<Value> {
        let [argument] = arguments else { return None };
        let operand = match argument {
            Argument::Lazy(lazy) => self.peek(lazy.node, base)?,
            Argument::Local(slot) => self.peek_slot(base + slot)?,
            _ => return None,
        };
        match (operator, operand) {
            (StandardOperator::Len, Value::Tuple(it)) => Some(Value::Int(it.slice.len() as i32)),
            (StandardOperator::Head, Value::Tuple(it)) => it.slice.first().cloned(),
            (StandardOperator::Cardinality, Value::Set(it)) => {
                Some(Value::Int(it.slice.len() as i32))
            }
            _ => None,
        }
    }

    fn is_operator(&self, index: u32) -> bool {
        matches!(
            self.stack[self.resolve_slot(index) as usize],
            SlotContent::Operator { .. } | SlotContent::CapturedOperator(_)
        )
    }

    /// Calls an operator argument with values.
    fn call_argument(
        &mut self,
        argument: &'p Argument,
        base: u32,
        values: &[Value],
    ) -> Outcome<Value> {
        let start = self.stack.len() as u32;
        let content = self.content(argument, base);
        self.stack.push(content);
        let result = self.call_slot(start, values);
        self.close_frame(start);
        result
    }

    /// Calls the operator in a slot with values.
    fn call_slot(&mut self, index: u32, values: &[Value]) -> Outcome<Value> {
        let frame = self.stack.len() as u32;
        if let Some(definition) = self.push_captured(index) {
            self.stack.extend(values.iter().cloned().map(SlotContent::Value));
            self.fill_frame(frame, definition);
            let body = self.program.definitions[definition as usize].body;
            let result = self.deeper(|it| it.eval(body, frame));
            self.close_frame(frame);
            return result;
        }
        match self.operator_at(index)? {
            Operator::Standard(operator) => {
                if !operator.is_pure() {
                    self.note_opaque();
                }
                let operands: SmallVec<[Option<Value>; 3]> =
                    values.iter().cloned().map(Some).collect();
                let mut call = StandardCall { evaluator: self, arguments: &[], base: 0 };
                standard::call(&mut call, *operator, &operands)
            }
            operator => self.call_built_in(operator, values),
        }
    }

    /// Captures the names that a closure uses.
    pub(super) fn capture(
        &mut self,
        expression: NodeId,
        closure: &'p ClosureNode,
        base: u32,
    ) -> CapturedExpression {
        let slots = closure
            .free
            .iter()
            .map(|slot| CapturedSlot { slot: *slot, content: self.capture_slot(base + slot) });
        let slots = slots.collect();
        CapturedExpression { expression, is_primed: self.is_primed, slots }
    }

    fn capture_slot(&mut self, index: u32) -> CapturedContent {
        let index = self.resolve_slot(index);
        match &self.stack[index as usize] {
            SlotContent::Operator { operator, base } => {
                let (operator, base) = (*operator, *base);
                CapturedContent::Operator(self.capture_operator(operator, base))
            }
            SlotContent::CapturedOperator(it) => CapturedContent::Operator((**it).clone()),
            _ => match self.attempt(|it| it.local(index)) {
                Some(value) => CapturedContent::Value(value),
                None => CapturedContent::Failed,
            },
        }
    }

    fn capture_operator(&mut self, operator: u32, base: u32) -> CapturedOperator {
        let program = self.program;
        let captured = match &program.operators[operator as usize] {
            Operator::Definition { captured, .. } => captured,
            _ => return CapturedOperator { operator, arguments: Vec::new() },
        };
        let arguments = captured.iter().map(|it| self.capture_argument(it, base)).collect();
        CapturedOperator { operator, arguments }
    }

    fn capture_argument(&mut self, argument: &'p Argument, base: u32) -> CapturedContent {
        match argument {
            Argument::Local(slot) => self.capture_slot(base + slot),
            Argument::Operator(operator) => match self.program.operators[*operator as usize] {
                Operator::Local(slot) => self.capture_slot(base + slot),
                _ => CapturedContent::Operator(self.capture_operator(*operator, base)),
            },
            other => match self.attempt(|it| it.argument_value(other, base)) {
                Some(value) => CapturedContent::Value(value),
                None => CapturedContent::Failed,
            },
        }
    }

    /// Evaluates a lazy filter or function at an argument, in a frame of its own.
    pub(super) fn call_closure(
        &mut self,
        lazy: &Arc<LazyValue>,
        argument: &Value,
    ) -> Outcome<Value> {
        let ClosureFrame { body, frame, is_primed } = self.open_closure(lazy, argument)?;
        let was_primed = std::mem::replace(&mut self.is_primed, is_primed);
        let result = self.deeper(|it| it.eval(body, frame));
        self.is_primed = was_primed;
        self.close_frame(frame);
        result
    }

    /// Makes the frame of a closure at an argument.
    pub(super) fn open_closure(
        &mut self,
        lazy: &Arc<LazyValue>,
        argument: &Value,
    ) -> Outcome<ClosureFrame> {
        let program = self.program;
        let (LazyValue::Filter(_, captured) | LazyValue::Function(_, captured)) = &**lazy else {
            return Err(Failure::unsupported("a call of what is no closure"));
        };
        let mut node = program.entered(captured.expression);
        if let Node::Memo(_, inner) = node {
            node = inner;
        }
        let (bounds, closure, itself) = match node {
            Node::Filter { bound, closure } => (std::slice::from_ref(bound), closure, None),
            Node::Function { bounds, closure, itself } => (&**bounds, closure, *itself),
            _ => return Err(Failure::unsupported("a call of what is no closure")),
        };
        let frame = self.stack.len() as u32;
        self.stack.resize_with((frame + closure.frame) as usize, Default::default);
        for it in &captured.slots {
            self.stack[(frame + it.slot) as usize] = restore(&it.content);
        }
        if let Some(slot) = itself {
            self.bind(frame, slot, Value::Lazy(lazy.clone()));
        }
        if let Err(failure) = self.bind_argument(bounds, frame, argument) {
            self.close_frame(frame);
            return Err(failure);
        }
        Ok(ClosureFrame { body: closure.body, frame, is_primed: captured.is_primed })
    }
}

/// The frame of a closure at an argument.
pub(super) struct ClosureFrame {
    /// The expression.
    pub body: NodeId,
    /// The start of the frame.
    pub frame: u32,
    /// Whether unprimed variables have the values of the successor.
    pub is_primed: bool,
}

/// Returns the content of a slot from the captures of a closure.
fn restore(content: &CapturedContent) -> SlotContent {
    match content {
        CapturedContent::Value(value) => SlotContent::Value(value.clone()),
        CapturedContent::Operator(it) => SlotContent::CapturedOperator(Arc::new(it.clone())),
        CapturedContent::Failed => SlotContent::Empty,
    }
}

impl ClosureHost for Evaluator<'_> {
    fn symbols(&self) -> &SymbolTable {
        &self.program.symbols
    }

    fn apply_closure(&mut self, closure: &Arc<LazyValue>, argument: &Value) -> Outcome<Value> {
        self.call_closure(closure, argument)
    }

    fn infinite_components(&mut self) -> &mut bool {
        &mut self.infinite_components
    }
}

/// The evaluator as the host of a standard operator.
struct StandardCall<'e, 'p> {
    evaluator: &'e mut Evaluator<'p>,
    arguments: &'p [Argument],
    base: u32,
}

impl ClosureHost for StandardCall<'_, '_> {
    fn symbols(&self) -> &SymbolTable {
        &self.evaluator.program.symbols
    }

    fn apply_closure(&mut self, closure: &Arc<LazyValue>, argument: &Value) -> Outcome<Value> {
        self.evaluator.call_closure(closure, argument)
    }

    fn infinite_components(&mut self) -> &mut bool {
        &mut self.evaluator.infinite_components
    }
}

impl OperatorHost for StandardCall<'_, '_> {
    fn call(&mut self, position: usize, arguments: &[Value]) -> Outcome<Value> {
        match self.arguments.get(position) {
            Some(argument) => self.evaluator.call_argument(argument, self.base, arguments),
            None => Err(Failure::unsupported("an operator with operator arguments as an argument")),
        }
    }

    fn level(&self) -> Option<u32> {
        self.evaluator.level
    }

    fn statistics(&self) -> Option<SearchStatistics> {
        self.evaluator.statistics
    }

    fn environment(&self) -> &BTreeMap<String, String> {
        &self.evaluator.program.environment
    }

    fn print(&mut self, line: String) {
        self.evaluator.printed.push(line);
    }

    fn closures(&mut self) -> &mut dyn ClosureHost {
        self.evaluator
    }
}
