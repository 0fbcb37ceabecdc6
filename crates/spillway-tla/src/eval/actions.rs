//! Initial states and successors, generated as TLC does.
//!
//! A formula is read from left to right. The first `x' = e` assigns, a later one compares; `x' \in S` tries each element.
//! What still has to hold is a *continuation*: a list of formulas on the machine's stack. Once all variables have values,
//! the rest is evaluated as a predicate, so a disjunction there does not multiply successors. `\A` is the conjunction of
//! its instances. What a formula binds is restored when the enumeration backtracks.

use super::evaluator::{Evaluator, SlotContent};
use super::generation::{
    ActionParameter, Continuation, ContinuationKind, EnteredAction, Flow, GenerationPhase,
    INITIAL_PIECE, InitialStateSink, ParameterSlot,
};
use super::node::{Argument, BindingNode, BoundNode, Node, NodeId, SlotId};
use super::program::CompiledSpecification;
use crate::resolve::tree::BinaryOperator;
use crate::standard::{Failure, FailureReason, Outcome};
use crate::value::Value;
use smallvec::SmallVec;
use std::ops::ControlFlow;

impl<'p> Evaluator<'p> {
    /// Generates the states that satisfy a formula.
    pub(super) fn generate(
        &mut self,
        phase: GenerationPhase,
        body: NodeId,
        definition: u32,
    ) -> Outcome<()> {
        self.generation.phase = phase;
        self.generation.unassigned = self.program.variable_count();
        self.generation.action = definition;
        self.generation.parameters.clear();
        self.generation.own_parameters = 0;
        let assigned = match phase {
            GenerationPhase::Initial => &mut self.current,
            _ => &mut self.next,
        };
        assigned.fill(None);
        self.is_complete = phase != GenerationPhase::Initial;
        let frame = self.open_frame(definition, &[], 0);
        let result = match phase {
            GenerationPhase::Next => self.enumerate_named(body, frame),
            _ => self.enumerate(body, frame, None),
        };
        self.close_frame(frame);
        self.generation.phase = GenerationPhase::Evaluation;
        self.is_complete = true;
        result.map(|_| ())
    }

    /// Generates the initial states, which satisfy all formulas, each the body of a definition without parameters. They go
    /// to the sink in pieces.
    pub(super) fn generate_initial(
        &mut self,
        bodies: &[NodeId],
        sink: InitialStateSink<'_>,
    ) -> Outcome<()> {
        self.generation.phase = GenerationPhase::Initial;
        self.generation.unassigned = self.program.variable_count();
        self.current.fill(None);
        self.is_complete = false;
        let end = Continuation { kind: ContinuationKind::Passed(sink), base: 0, next: None };
        let result = self.conjuncts(bodies, 0, Some(&end));
        self.generation.phase = GenerationPhase::Evaluation;
        self.is_complete = true;
        // Those before a failure are initial states, too.
        let flow = match &result {
            Ok(flow) => *flow,
            Err(_) => Flow::Continue(()),
        };
        if flow.is_continue() {
            let _ = self.pass_states(sink);
        }
        result.map(|_| ())
    }

    /// Passes on the states that were generated.
    fn pass_states(&mut self, sink: InitialStateSink<'_>) -> Flow {
        let mut states = std::mem::take(&mut self.generation.states);
        let flow = sink(&states);
        states.clear();
        self.generation.states = states;
        flow
    }

    /// Takes the initial state that is assigned.
    fn complete_initial(&mut self, sink: InitialStateSink<'_>) -> Outcome<Flow> {
        let flow = self.complete()?;
        let piece = INITIAL_PIECE * self.program.variable_count().max(1);
        if self.generation.states.len() < piece {
            return Ok(flow);
        }
        Ok(self.pass_states(sink))
    }

    /// Enumerates the disjuncts of the next-state action, and sets the action of each.
    fn enumerate_named(&mut self, node: NodeId, base: u32) -> Outcome<Flow> {
        match self.splits_action(node, base) {
            None => self.enumerate_named_parts(node, base),
            Some(true) => self.step_split(node, base),
            Some(false) => self.step_unit(node, base),
        }
    }

    /// As [`enumerate_named`](Self::enumerate_named), whether or not the disjunct is passed over.
    pub(super) fn enumerate_named_parts(&mut self, node: NodeId, base: u32) -> Outcome<Flow> {
        let program = self.program;
        match program.entered(node) {
            Node::Or(operands) => {
                for operand in operands {
                    if self.enumerate_named(*operand, base)?.is_break() {
                        return Ok(Flow::Break(()));
                    }
                }
                Ok(Flow::Continue(()))
            }
            Node::Quantified { is_exists: true, bounds, body } => {
                let count = self.generation.parameters.len();
                let definition = self.generation.action;
                let slots = bounds.iter().flat_map(|it| it.slots.iter());
                self.generation.parameters.extend(slots.map(|slot| ParameterSlot {
                    definition,
                    slot: *slot,
                    index: base + slot,
                }));
                let saved = self.save(bounds, base);
                let flow = self.each(bounds, base, &mut |it| it.enumerate_named(*body, base))?;
                self.restore_saved(saved);
                self.generation.parameters.truncate(count);
                Ok(flow)
            }
            Node::Let { bindings, body } => {
                let saved = self.save_bindings(bindings, base);
                self.bind_lazily(bindings, base, true);
                let flow = self.enumerate_named(*body, base)?;
                self.restore_saved(saved);
                Ok(flow)
            }
            Node::Call { definition, arguments } => {
                let flow = self.enumerate_named_call(*definition, arguments, base);
                flow.map_err(|it| it.called_from(CompiledSpecification::expression(node)))
            }
            _ => self.enumerate(node, base, None),
        }
    }

    fn enumerate_named_call(
        &mut self,
        definition: u32,
        arguments: &'p [Argument],
        base: u32,
    ) -> Outcome<Flow> {
        let compiled = self.program.definitions[definition as usize];
        let frame = self.open_frame(definition, arguments, base);
        if !compiled.is_named {
            let flow = self.deeper(|it| it.enumerate_named(compiled.body, frame))?;
            self.close_frame(frame);
            return Ok(flow);
        }
        let generation = &mut self.generation;
        let count = generation.parameters.len();
        let own_parameters = std::mem::replace(&mut generation.own_parameters, count);
        let action = std::mem::replace(&mut generation.action, definition);
        let slots = compiled.captured..arguments.len() as u32;
        let own = slots.map(|slot| ParameterSlot { definition, slot, index: frame + slot });
        generation.parameters.extend(own);
        let flow = self.deeper(|it| it.enumerate_named(compiled.body, frame))?;
        self.generation.parameters.truncate(count);
        self.generation.own_parameters = own_parameters;
        self.generation.action = action;
        self.close_frame(frame);
        Ok(flow)
    }

    /// Enumerates the ways to satisfy a formula and then the rest.
    pub(super) fn enumerate(
        &mut self,
        node: NodeId,
        base: u32,
        rest: Option<&Continuation<'_>>,
    ) -> Outcome<Flow> {
        let program = self.program;
        let result = self.enumerate_node(node, program.entered(node), base, rest);
        result.map_err(|it| it.at(CompiledSpecification::expression(node)))
    }

    fn enumerate_node(
        &mut self,
        id: NodeId,
        node: &'p Node,
        base: u32,
        rest: Option<&Continuation<'_>>,
    ) -> Outcome<Flow> {
        match node {
            Node::And(operands) => self.conjuncts(operands, base, rest),
            Node::Or(operands) => {
                for operand in operands {
                    if self.enumerate(*operand, base, rest)?.is_break() {
                        return Ok(Flow::Break(()));
                    }
                }
                Ok(Flow::Continue(()))
            }
            Node::Quantified { is_exists: true, bounds, body } => {
                let saved = self.save(bounds, base);
                let flow = self.each(bounds, base, &mut |it| it.enumerate(*body, base, rest))?;
                self.restore_saved(saved);
                Ok(flow)
            }
            Node::Quantified { bounds, body, .. } => self.forall(bounds, *body, base, rest),
            Node::If { .. } | Node::Case { .. } | Node::Let { .. } | Node::Implies(..) => {
                self.enumerate_branch(node, base, rest)
            }
            Node::Binary(BinaryOperator::Equal, left, right) => {
                self.equality(*left, *right, base, rest)
            }
            Node::Binary(
                operator @ (BinaryOperator::In | BinaryOperator::SubsetOrEqual),
                left,
                right,
            ) => self.membership(*operator, [*left, *right], base, rest),
            Node::Unchanged(operand) => self.unchanged(*operand, base, rest),
            Node::BoxAction { action, subscript } => {
                if self.enumerate(*action, base, rest)?.is_break() {
                    return Ok(Flow::Break(()));
                }
                self.unchanged(*subscript, base, rest)
            }
            Node::AngleAction { action, subscript } => {
                let rest =
                    Continuation { kind: ContinuationKind::Changed(*subscript), base, next: rest };
                self.enumerate(*action, base, Some(&rest))
            }
            // TLC evaluates constant definitions once, and enters any other constant formula.
            Node::Memo(_, inner) if !is_definition(inner) => {
                self.enumerate_node(id, inner, base, rest)
            }
            _ => self.enumerate_call(id, node, base, rest),
        }
    }

    /// A formula that selects another one, or binds names around it.
    fn enumerate_branch(
        &mut self,
        node: &'p Node,
        base: u32,
        rest: Option<&Continuation<'_>>,
    ) -> Outcome<Flow> {
        match node {
            Node::If { condition, yes, no } => {
                let branch = if self.holds_node("IF", *condition, base)? { yes } else { no };
                self.enumerate(*branch, base, rest)
            }
            Node::Case { arms, other } => match self.arm(arms, *other, base)? {
                Some(value) => self.enumerate(value, base, rest),
                None => Err(Failure::new(FailureReason::NoCaseArm)),
            },
            Node::Let { bindings, body } => {
                let saved = self.save_bindings(bindings, base);
                self.bind_lazily(bindings, base, true);
                let flow = self.enumerate(*body, base, rest)?;
                self.restore_saved(saved);
                Ok(flow)
            }
            Node::Implies(left, right) => {
                if self.holds_node("=>", *left, base)? {
                    self.enumerate(*right, base, rest)
                } else {
                    self.proceed(rest)
                }
            }
            _ => Err(Failure::unsupported("a formula")),
        }
    }

    fn enumerate_call(
        &mut self,
        id: NodeId,
        node: &'p Node,
        base: u32,
        rest: Option<&Continuation<'_>>,
    ) -> Outcome<Flow> {
        match node {
            Node::Call { definition, arguments } => {
                let frame = self.open_frame(*definition, arguments, base);
                let body = self.program.definitions[*definition as usize].body;
                let flow = self.deeper(|it| it.enumerate(body, frame, rest));
                self.close_frame(frame);
                flow.map_err(|it| it.called_from(CompiledSpecification::expression(id)))
            }
            Node::CallLocal { slot, arguments } => {
                match self.open_operator_frame(base + slot, arguments, base) {
                    Some((definition, frame)) => {
                        let body = self.program.definitions[definition as usize].body;
                        let flow = self.deeper(|it| it.enumerate(body, frame, rest))?;
                        self.close_frame(frame);
                        Ok(flow)
                    }
                    None => self.test(id, base, rest),
                }
            }
            Node::Local(slot) => {
                let index = self.resolve_slot(base + slot);
                match &self.stack[index as usize] {
                    SlotContent::Thunk(it) => self.enumerate_lazy(it.node, it.base, rest),
                    SlotContent::Forced(_, it) if it.is_definition => {
                        self.enumerate_lazy(it.node, it.base, rest)
                    }
                    _ => self.test(id, base, rest),
                }
            }
            Node::Apply(function, argument) => {
                self.enumerate_application(id, [*function, *argument], base, rest)
            }
            _ => self.test(id, base, rest),
        }
    }

    /// Enters the expression of a name. Its bound names have a frame of their own, because the remaining conjuncts may
    /// evaluate the same expression.
    fn enumerate_lazy(
        &mut self,
        node: NodeId,
        base: u32,
        rest: Option<&Continuation<'_>>,
    ) -> Outcome<Flow> {
        let program = self.program;
        let Some(closure) = program.lazy_closures.get(&node) else {
            return self.deeper(|it| it.enumerate(node, base, rest));
        };
        let frame = self.open_closure_frame(closure, base);
        let flow = self.deeper(|it| it.enumerate(node, frame, rest))?;
        self.close_frame(frame);
        Ok(flow)
    }

    /// Continues if a predicate holds.
    pub(super) fn test(
        &mut self,
        node: NodeId,
        base: u32,
        rest: Option<&Continuation<'_>>,
    ) -> Outcome<Flow> {
        if self.holds_node("an action", node, base)? {
            self.proceed(rest)
        } else {
            Ok(Flow::Continue(()))
        }
    }

    fn conjuncts(
        &mut self,
        mut operands: &[NodeId],
        base: u32,
        rest: Option<&Continuation<'_>>,
    ) -> Outcome<Flow> {
        while let [first, others @ ..] = operands
            && self.program.tests[*first as usize]
        {
            if !self.holds_node("an action", *first, base)? {
                return Ok(Flow::Continue(()));
            }
            operands = others;
        }
        match operands {
            [] => self.proceed(rest),
            [last] => self.enumerate(*last, base, rest),
            [first, others @ ..] => {
                let rest =
                    Continuation { kind: ContinuationKind::Conjuncts(others), base, next: rest };
                self.enumerate(*first, base, Some(&rest))
            }
        }
    }

    /// Continues with the formulas that still have to hold.
    pub(super) fn proceed(&mut self, rest: Option<&Continuation<'_>>) -> Outcome<Flow> {
        let Some(rest) = rest else { return self.complete() };
        let phase = self.generation.phase;
        if self.generation.unassigned == 0 && phase != GenerationPhase::Enabled {
            return self.proceed_as_predicates(rest);
        }
        match rest.kind {
            ContinuationKind::Conjuncts(nodes) => self.conjuncts(nodes, rest.base, rest.next),
            ContinuationKind::Unchanged(nodes) => self.all_unchanged(nodes, rest.base, rest.next),
            ContinuationKind::Changed(node) => {
                if self.is_unchanged(node, rest.base)? {
                    Ok(Flow::Continue(()))
                } else {
                    self.proceed(rest.next)
                }
            }
            ContinuationKind::Instances { body, slots, values } => {
                self.instances(body, slots, values, rest)
            }
            ContinuationKind::Passed(sink) => self.complete_initial(sink),
        }
    }

    fn instances(
        &mut self,
        body: NodeId,
        slots: &[SlotId],
        values: &[Value],
        rest: &Continuation<'_>,
    ) -> Outcome<Flow> {
        let (others, last) = values.split_at(values.len() - slots.len());
        let next = Continuation {
            kind: ContinuationKind::Instances { body, slots, values: others },
            ..*rest
        };
        let next = if others.is_empty() { rest.next } else { Some(&next) };
        let saved = self.rebind(slots, last, rest.base);
        let flow = self.enumerate(body, rest.base, next)?;
        self.restore_saved(saved);
        Ok(flow)
    }

    /// Evaluates what still has to hold, once all variables have values.
    fn proceed_as_predicates(&mut self, rest: &Continuation<'_>) -> Outcome<Flow> {
        let mut open = Some(rest);
        while let Some(rest) = open {
            if let ContinuationKind::Passed(sink) = rest.kind {
                return self.complete_initial(sink);
            }
            if !self.holds_rest(rest)? {
                return Ok(Flow::Continue(()));
            }
            open = rest.next;
        }
        self.complete()
    }

    fn holds_rest(&mut self, rest: &Continuation<'_>) -> Outcome<bool> {
        let base = rest.base;
        match rest.kind {
            ContinuationKind::Conjuncts(nodes) => {
                for node in nodes {
                    if !self.holds_node("an action", *node, base)? {
                        return Ok(false);
                    }
                }
            }
            ContinuationKind::Unchanged(nodes) => {
                for node in nodes {
                    if !self.is_unchanged(*node, base)? {
                        return Ok(false);
                    }
                }
            }
            ContinuationKind::Changed(node) => return Ok(!self.is_unchanged(node, base)?),
            ContinuationKind::Passed(_) => {}
            ContinuationKind::Instances { body, slots, values } => {
                for values in values.rchunks(slots.len()) {
                    let saved = self.rebind(slots, values, base);
                    let holds = self.holds_node("an action", body, base)?;
                    self.restore_saved(saved);
                    if !holds {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }

    /// Takes the state that is assigned.
    fn complete(&mut self) -> Outcome<Flow> {
        let variables = self.program.variable_count();
        let assigned = match self.generation.phase {
            GenerationPhase::Enabled => return Ok(Flow::Break(())),
            GenerationPhase::Initial => &self.current,
            _ => &self.next,
        };
        let assigned = &assigned[..variables];
        let is_next = self.generation.phase == GenerationPhase::Next;
        let missing = assigned.iter().position(Option::is_none);
        if missing.is_none() {
            self.generation.states.extend(assigned.iter().flatten().cloned());
        }
        // TLC counts an incomplete successor as generated.
        if is_next {
            let action = self.taken_action();
            self.generation.actions.push(action);
            if self.is_observed() {
                self.note_successor();
            }
        }
        match missing {
            None => Ok(Flow::Continue(())),
            Some(variable) => {
                let prime = if is_next { "'" } else { "" };
                let name = format!("{}{prime}", self.program.variable_name(variable));
                Err(Failure::new(FailureReason::Unassigned { name }))
            }
        }
    }

    fn taken_action(&mut self) -> EnteredAction {
        let mut parameters = Vec::new();
        if self.generation.keeps_parameters {
            for at in self.generation.own_parameters..self.generation.parameters.len() {
                let ParameterSlot { definition, slot, index } = self.generation.parameters[at];
                if let Ok(value) = self.local(index) {
                    parameters.push(ActionParameter { definition, slot, value });
                }
            }
        }
        EnteredAction { definition: self.generation.action, parameters }
    }

    /// `\A`: the conjunction of its instances. TLC takes the first one first and then the others from the last.
    fn forall(
        &mut self,
        bounds: &'p [BoundNode],
        body: NodeId,
        base: u32,
        rest: Option<&Continuation<'_>>,
    ) -> Outcome<Flow> {
        let slots = bounds.iter().flat_map(|it| it.slots.iter().copied());
        let slots: SmallVec<[SlotId; 4]> = slots.collect();
        let saved = self.save(bounds, base);
        let mut instances: SmallVec<[Value; 8]> = SmallVec::new();
        let _ = self.each(bounds, base, &mut |it| {
            for slot in &slots {
                instances.push(it.local(base + slot)?);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        if instances.is_empty() {
            self.restore_saved(saved);
            return self.proceed(rest);
        }
        let (first, others) = instances.split_at(slots.len());
        let kind = ContinuationKind::Instances { body, slots: &slots, values: others };
        let next = Continuation { kind, base, next: rest };
        let next = if others.is_empty() { rest } else { Some(&next) };
        for (slot, value) in slots.iter().zip(first) {
            self.bind(base, *slot, value.clone());
        }
        let flow = self.enumerate(body, base, next)?;
        self.restore_saved(saved);
        Ok(flow)
    }

    /// Returns whether an action is enabled.
    pub(super) fn is_enabled(&mut self, action: NodeId, base: u32) -> Outcome<bool> {
        if self.is_primed || !self.is_complete {
            return Err(Failure::unsupported("ENABLED in a successor or an initial predicate"));
        }
        self.note_opaque();
        let next = vec![None; self.next.len()];
        let next = std::mem::replace(&mut self.next, next);
        let phase = std::mem::replace(&mut self.generation.phase, GenerationPhase::Enabled);
        let variables = self.program.variable_count();
        let unassigned = std::mem::replace(&mut self.generation.unassigned, variables);
        let result = self.enumerate(action, base, None);
        self.next = next;
        self.generation.phase = phase;
        self.generation.unassigned = unassigned;
        Ok(result?.is_break())
    }

    fn save(&mut self, bounds: &[BoundNode], base: u32) -> SavedSlots {
        let slots = bounds.iter().flat_map(|it| it.slots.iter());
        slots.map(|it| self.take_slot(base + it)).collect()
    }

    fn save_bindings(&mut self, bindings: &[BindingNode], base: u32) -> SavedSlots {
        bindings.iter().map(|it| self.take_slot(base + it.slot)).collect()
    }

    fn take_slot(&mut self, index: u32) -> SavedSlot {
        SavedSlot { index, content: std::mem::take(&mut self.stack[index as usize]) }
    }

    fn rebind(&mut self, slots: &[SlotId], values: &[Value], base: u32) -> SavedSlots {
        let mut saved = SavedSlots::new();
        for (slot, value) in slots.iter().zip(values) {
            saved.push(self.take_slot(base + slot));
            self.bind(base, *slot, value.clone());
        }
        saved
    }

    fn restore_saved(&mut self, saved: SavedSlots) {
        for it in saved {
            self.stack[it.index as usize] = it.content;
        }
    }
}

/// The contents of slots before they were bound again.
type SavedSlots = SmallVec<[SavedSlot; 2]>;

/// The content of a slot before it was bound again.
struct SavedSlot {
    index: u32,
    content: SlotContent,
}

/// Returns whether a node calls a definition without parameters.
pub(super) fn is_definition(node: &Node) -> bool {
    matches!(node, Node::Call { arguments, .. } if arguments.is_empty())
}
