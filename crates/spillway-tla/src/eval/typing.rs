//! Units of memberships: `x \in [S -> T]` and the like, for a variable and constant sets.
//!
//! Such a condition is the conjunction of a condition on the domain and of one on each value, which read less.

use super::evaluator::Evaluator;
use super::node::{Node, NodeId, UnaryNode};
use super::observation::{ReadAspect, ValuePath, ValuePlace};
use crate::level::Level;
use crate::resolve::ids::ExprId;
use crate::resolve::tree::BinaryOperator;
use crate::standard::elements::list;
use crate::standard::{Outcome, functions, sets};
use crate::value::Value;

/// A membership test of a part of a variable.
pub(super) struct MembershipTest {
    variable: u32,
    path: ValuePath,
    set: NodeId,
}

impl<'p> Evaluator<'p> {
    /// Returns the membership that a condition is, if the set is constant.
    pub(super) fn typing(&self, node: NodeId) -> Option<MembershipTest> {
        let Node::Binary(BinaryOperator::In, left, set) = self.program.entered(node) else {
            return None;
        };
        let Node::Variable(variable) = self.program.entered(*left) else { return None };
        let is_constant = self.program.specification[ExprId(*set)].level == Level::Constant;
        let is_state = (*variable as usize) < self.program.variable_count();
        let typing = MembershipTest { variable: *variable, path: ValuePath::new(), set: *set };
        (is_constant && is_state).then_some(typing)
    }

    /// Returns a constant set as it is written.
    fn written_set(&self, set: NodeId) -> &'p Node {
        match self.program.entered(set) {
            Node::Memo(_, inner) => inner,
            node => node,
        }
    }

    /// Evaluates the units of a membership that are wanted.
    pub(super) fn judge_typing(&mut self, typing: MembershipTest, base: u32) -> Outcome<bool> {
        let written = self.written_set(typing.set);
        if !matches!(written, Node::FunctionSet(..) | Node::RecordSet(_)) {
            return self.judge_unit(|it| it.is_member(&typing, base));
        }
        let Some(part) = self.enter_part() else { return Ok(true) };
        let ranges = match written {
            Node::FunctionSet(domain, range) => {
                let domain = self.eval(*domain, base)?;
                list(self, &domain)?.into_iter().map(|it| (it, *range)).collect()
            }
            Node::RecordSet(fields) => {
                fields.iter().map(|it| (Value::Str(it.name), it.set)).collect()
            }
            _ => Vec::new(),
        };
        let holds = self.judge_values(typing, ranges, base)?;
        self.leave_part(part);
        Ok(holds)
    }

    /// Evaluates the units of a membership in a set of functions, given by its arguments, each with the set of
    /// its values.
    fn judge_values(
        &mut self,
        typing: MembershipTest,
        ranges: Vec<(Value, NodeId)>,
        base: u32,
    ) -> Outcome<bool> {
        let domain = Value::sorted_set(ranges.iter().map(|it| it.0.clone()).collect());
        if !self.judge_unit(|it| Ok(it.has_domain(&typing, &domain)))? {
            return Ok(false);
        }
        for (argument, set) in ranges {
            let mut path = typing.path.clone();
            path.push(argument);
            if !self.judge_typing(MembershipTest { path, set, ..typing }, base)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn note_typed(&self, typing: &MembershipTest, aspect: ReadAspect) {
        if self.is_observed() {
            let MembershipTest { variable, path, .. } = typing;
            let place = ValuePlace { variable: *variable, is_next: false, path: path.clone() };
            self.note_read(place, aspect);
        }
    }

    /// Returns the part of the variable, if there is one.
    fn typed(&self, typing: &MembershipTest) -> Option<&Value> {
        let value = self.current[typing.variable as usize].as_ref()?;
        typing.path.iter().try_fold(value, functions::lookup)
    }

    fn has_domain(&self, typing: &MembershipTest, domain: &Value) -> bool {
        self.note_typed(typing, ReadAspect::Domain);
        self.typed(typing).is_some_and(|it| functions::has_domain(it, domain))
    }

    /// Returns whether the part of the variable is in the set. The caller evaluates the whole condition if it is not.
    fn is_member(&mut self, typing: &MembershipTest, base: u32) -> Outcome<bool> {
        if let Node::Unary(UnaryNode::Powerset, whole) = self.written_set(typing.set)
            && let Some(Value::Set(_)) = self.typed(typing)
        {
            let whole = self.eval(*whole, base)?;
            let Some(part) = self.typed(typing).cloned() else { return Ok(false) };
            let place =
                ValuePlace { variable: typing.variable, is_next: false, path: typing.path.clone() };
            self.note_subset(place, &whole);
            return sets::is_subset(self, &part, &whole);
        }
        self.note_typed(typing, ReadAspect::Value);
        let set = self.eval(typing.set, base)?;
        let Some(value) = self.typed(typing).cloned() else { return Ok(false) };
        sets::contains(self, &set, &value)
    }
}
