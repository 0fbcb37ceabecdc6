//! Sets, functions, records, tuples, EXCEPT and CHOOSE.

use super::evaluator::Evaluator;
use super::node::{BoundNode, FieldNode, Node, NodeId, StepNode, UpdateNode};
use super::program::CompiledSpecification;
use crate::standard::elements::Elements;
use crate::standard::{Failure, FailureReason, Outcome, functions, sets};
use crate::value::{LazyValue, Symbol, Value, is_ascending, shared, shared_from};
use smallvec::SmallVec;
use std::ops::ControlFlow;
use triomphe::ThinArc;

impl<'p> Evaluator<'p> {
    /// Evaluates a node that makes or uses a collection.
    pub(super) fn collection(&mut self, id: NodeId, node: &'p Node, base: u32) -> Outcome<Value> {
        match node {
            Node::Apply(function, argument) => self.apply(*function, *argument, base),
            Node::Field(record, name) => self.field(*record, *name, base),
            Node::Record { names, values } => {
                let values = self.components(values, base)?;
                Ok(Value::Record(ThinArc::from_header_and_iter(names.clone(), values.into_iter())))
            }
            Node::Tuple(values) => {
                let values = self.components(values, base)?;
                Ok(Value::Tuple(ThinArc::from_header_and_iter((), values.into_iter())))
            }
            Node::SetLiteral(elements) => {
                let elements = self.components(elements, base)?;
                if is_ascending(&elements)? {
                    return Ok(Value::Set(shared_from(elements)));
                }
                Ok(Value::set(elements.into_vec())?)
            }
            Node::Except { function, updates } => self.except(*function, updates, base),
            Node::Function { .. } => self.function(id, node, base),
            Node::Filter { bound, .. } => self.filter(id, node, bound, base),
            Node::Map { bounds, body } => self.map(bounds, *body, base),
            Node::Choose { bound, body } => self.choose(bound, *body, base),
            Node::RecordSet(fields) => self.record_set(fields, base),
            Node::Product(operands) => self.product(operands, base),
            _ => Err(Failure::unsupported("this expression")),
        }
    }

    /// Evaluates expressions whose values become components of a value.
    pub(super) fn components(&mut self, nodes: &[NodeId], base: u32) -> Outcome<ValueList> {
        let mut values = SmallVec::with_capacity(nodes.len());
        for node in nodes {
            let value = self.eval(*node, base)?;
            values.push(if value.is_canonical() { value } else { sets::component(self, value)? });
        }
        Ok(values)
    }

    fn field(&mut self, record: NodeId, name: Symbol, base: u32) -> Outcome<Value> {
        if self.is_observed() {
            if let Some(value) = self.apply_observed(record, &Value::Str(name), base) {
                return Ok(value);
            }
        } else if let Some(Value::Record(record)) = self.peek(record, base)
            && let Some(index) = record.header.header.slice.iter().position(|it| *it == name)
        {
            return Ok(record.slice[index].clone());
        }
        let record = self.eval(record, base)?;
        if let Value::Lazy(_) = &record {
            return functions::apply(self, &record, &Value::Str(name));
        }
        if functions::values(&record).is_none() {
            return Err(Failure::wrong_kind("a field selection", "a record", &record));
        }
        functions::lookup(&record, &Value::Str(name)).cloned().ok_or_else(|| {
            let field = self.program.symbols.text(name).to_owned();
            Failure::new(FailureReason::NoField { field }).with("record", &record)
        })
    }

    fn except(&mut self, function: NodeId, updates: &'p [UpdateNode], base: u32) -> Outcome<Value> {
        let mut result = self.eval(function, base)?;
        for update in updates {
            let path = self.update_path(update, base)?;
            result = self.update(result, &path, update, base)?;
        }
        Ok(result)
    }

    /// Evaluates the path of an update.
    pub(super) fn update_path(
        &mut self,
        update: &UpdateNode,
        base: u32,
    ) -> Outcome<SmallVec<[Value; 3]>> {
        let mut path = SmallVec::new();
        for step in &update.path {
            path.push(match step {
                StepNode::Field(name) => Value::Str(*name),
                StepNode::Index(index) => {
                    let index = self.eval(*index, base)?;
                    sets::component(self, index)?
                }
            });
        }
        Ok(path)
    }

    /// Replaces the value at a path. A path that does not exist changes nothing, as in TLC.
    pub(super) fn update(
        &mut self,
        function: Value,
        path: &[Value],
        update: &'p UpdateNode,
        base: u32,
    ) -> Outcome<Value> {
        let Some((step, path)) = path.split_first() else {
            if let Some(slot) = update.old {
                self.bind(base, slot, function);
            }
            let value = self.eval(update.value, base)?;
            return sets::component(self, value);
        };
        let function = sets::normalise(self, function)?;
        let Some(values) = functions::values(&function) else {
            return Err(Failure::wrong_kind("EXCEPT", "a function", &function));
        };
        let Some(index) = functions::index_of(&function, step) else { return Ok(function) };
        // The old value is needed for `@` only.
        let value = if path.is_empty() && update.old.is_none() {
            let value = self.eval(update.value, base)?;
            sets::component(self, value)?
        } else {
            let old = values[index].clone();
            self.update(old, path, update, base)?
        };
        Ok(functions::replace(function, index, value))
    }

    fn function(&mut self, id: NodeId, node: &'p Node, base: u32) -> Outcome<Value> {
        let Node::Function { bounds, closure, itself } = node else {
            return Err(Failure::unsupported("this function"));
        };
        let FunctionDomain { domain, is_table } = self.function_domain(bounds, base)?;
        if !is_table || itself.is_some() {
            let captured = self.capture(id, closure, base);
            return Ok(sets::lazy(LazyValue::Function(domain, captured)));
        }
        let domain = match sets::normalise(self, domain)? {
            Value::Set(domain) => domain,
            other => return Err(Failure::wrong_kind("a function", "a set as its domain", &other)),
        };
        let mut values: ValueList = SmallVec::with_capacity(domain.slice.len());
        for argument in &domain.slice {
            self.bind_argument(bounds, base, argument)?;
            let value = self.eval(closure.body, base)?;
            values.push(sets::component(self, value)?);
        }
        Ok(Value::function_from(domain, values))
    }

    /// Evaluates the domain of a function: a product if there are several bounds.
    pub(super) fn function_domain(
        &mut self,
        bounds: &[BoundNode],
        base: u32,
    ) -> Outcome<FunctionDomain> {
        let mut sets: SmallVec<[Value; 2]> = SmallVec::new();
        for bound in bounds {
            sets.push(self.set_operand(bound.set, base, "a function")?);
        }
        let is_table = sets.iter().all(|it| matches!(it, Value::Set(_) | Value::Interval(..)));
        let domain = match (sets.pop(), sets.is_empty()) {
            (Some(domain), true) => domain,
            (last, _) => {
                sets.extend(last);
                sets::lazy(LazyValue::Product(sets.into_vec()))
            }
        };
        Ok(FunctionDomain { domain, is_table })
    }

    /// Binds the variables of a function to its argument: a tuple if there are several bounds.
    pub(super) fn bind_argument(
        &mut self,
        bounds: &[BoundNode],
        base: u32,
        argument: &Value,
    ) -> Outcome<()> {
        if let [bound] = bounds {
            return self.bind_element(bound, base, argument.clone());
        }
        match argument {
            Value::Tuple(values) if values.slice.len() == bounds.len() => {
                for (bound, value) in bounds.iter().zip(&values.slice) {
                    self.bind_element(bound, base, value.clone())?;
                }
                Ok(())
            }
            other => Err(Failure::wrong_kind("a function of several arguments", "a tuple", other)),
        }
    }

    fn filter(
        &mut self,
        id: NodeId,
        node: &'p Node,
        bound: &'p BoundNode,
        base: u32,
    ) -> Outcome<Value> {
        let Node::Filter { closure, .. } = node else {
            return Err(Failure::unsupported("this set"));
        };
        let set = self.eval_screened(bound, base)?;
        match &set {
            Value::Set(elements) => {
                let mut kept = ValueList::new();
                for element in &elements.slice {
                    self.bind_element(bound, base, element.clone())?;
                    if self.holds_node("a set filter", closure.body, base)? {
                        kept.push(element.clone());
                    }
                }
                if kept.len() == elements.slice.len() {
                    return Ok(set);
                }
                Ok(Value::Set(shared_from(kept)))
            }
            Value::Interval(..) => {
                let mut kept = ValueList::new();
                let mut elements = Elements::of(self, &set)?;
                while let Some(element) = elements.next(self)? {
                    self.bind_element(bound, base, element.clone())?;
                    if self.holds_node("a set filter", closure.body, base)? {
                        kept.push(element);
                    }
                }
                Ok(Value::Set(shared_from(kept)))
            }
            other if sets::is_set(other) => {
                let captured = self.capture(id, closure, base);
                Ok(sets::lazy(LazyValue::Filter(set, captured)))
            }
            other => Err(Failure::wrong_kind("a set filter", "a set", other)),
        }
    }

    fn map(&mut self, bounds: &'p [BoundNode], body: NodeId, base: u32) -> Outcome<Value> {
        let mut elements = Vec::new();
        let _ = self.each(bounds, base, &mut |it| {
            let element = it.eval(body, base)?;
            elements.push(sets::component(it, element)?);
            Ok(ControlFlow::Continue(()))
        })?;
        crate::value::sort_set(&mut elements)?;
        Ok(Value::Set(shared(elements)))
    }

    fn choose(&mut self, bound: &'p BoundNode, body: NodeId, base: u32) -> Outcome<Value> {
        let set = self.eval_screened(bound, base)?;
        let mut elements = Elements::of(self, &set)?;
        while let Some(element) = elements.next(self)? {
            self.bind_element(bound, base, element.clone())?;
            if self.holds_node("CHOOSE", body, base)? {
                return Ok(element);
            }
        }
        Err(Failure::new(FailureReason::NothingToChoose).with("set", &set))
    }

    fn set_operand(&mut self, node: NodeId, base: u32, operator: &'static str) -> Outcome<Value> {
        let set = self.eval(node, base)?;
        if !sets::is_set(&set) {
            let failure = Failure::wrong_kind(operator, "a set", &set);
            return Err(failure.at(CompiledSpecification::expression(node)));
        }
        Ok(set)
    }

    fn record_set(&mut self, fields: &[FieldNode], base: u32) -> Outcome<Value> {
        let mut sets = Vec::with_capacity(fields.len());
        for field in fields {
            sets.push((field.name, self.set_operand(field.set, base, "a set of records")?));
        }
        Ok(sets::lazy(LazyValue::Records(sets)))
    }

    fn product(&mut self, operands: &[NodeId], base: u32) -> Outcome<Value> {
        let mut sets = Vec::with_capacity(operands.len());
        for operand in operands {
            sets.push(self.set_operand(*operand, base, "\\X")?);
        }
        Ok(sets::lazy(LazyValue::Product(sets)))
    }

    /// Returns `[domain -> range]`.
    pub(super) fn function_set(&mut self, domain: Value, range: Value) -> Outcome<Value> {
        for it in [&domain, &range] {
            if !sets::is_set(it) {
                return Err(Failure::wrong_kind("[S -> T]", "sets", it));
            }
        }
        let domain = match domain {
            Value::Interval(..) => domain,
            other => sets::component(self, other)?,
        };
        Ok(sets::lazy(LazyValue::Functions(domain, range)))
    }
}

/// Values that become parts of a value. Few of them need no allocation of their own.
pub(super) type ValueList = SmallVec<[Value; 6]>;

/// The domain of a function.
pub(super) struct FunctionDomain {
    /// The set: a product if there are several bounds.
    pub domain: Value,
    /// Whether all of it is at hand, so that TLC makes a table of the function.
    is_table: bool,
}
