//! Guards as lists of conjuncts, which are evaluated in order.

use super::access_set::{AccessSet, ChannelSlot};
use super::collector::AccessCollector;
use super::failure_analysis::FailureAnalysis;
use super::failure_kinds::FailureKinds;
use crate::instances::InstanceSide;
use spillway_ir::layout::CellId;
use spillway_ir::{
    Arithmetic, BinaryOp, ChannelRef, Communication, Expr, ExprKind, LocationId, ReceivePattern,
    UnaryOp,
};

/// A conjunct of a guard. A conjunct whose evaluation fails counts as true: the step is enabled and is an error.
#[derive(Clone, Debug)]
pub struct GuardConjunct<'p> {
    /// The condition of the conjunct, as far as it is understood.
    pub condition: ConjunctCondition,
    /// The other reads of the conjunct, without the cell or the channels of the condition, and its failures in states
    /// where all earlier conjuncts hold.
    pub access: AccessSet,
    /// The expression in the program, if there is one.
    pub expr: Option<&'p Expr>,
    /// The evaluation that decides the conjunct, if it can be computed.
    pub judged: Option<GuardTest<'p>>,
}

/// An expression that one side of an instance evaluates.
#[derive(Clone, Debug)]
pub struct GuardTest<'p> {
    /// The expression.
    pub expr: &'p Expr,
    /// The side that evaluates it.
    pub side: InstanceSide,
    /// Whether the expression must be true or must be false.
    pub holds: bool,
    /// The cells whose values are known at this point, so that they need not be read.
    pub given: Vec<(CellId, i64)>,
}

/// The condition of a conjunct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConjunctCondition {
    /// The process whose location is in this cell is at the location.
    At(CellId, LocationId),
    /// The comparison of a cell with a constant is true.
    Compares(CellId, BinaryOp, i64),
    /// The predicate holds for the channel, which is one of these.
    Asks(Vec<ChannelSlot>, ChannelPredicate),
    /// A condition of another kind.
    Holds,
}

/// A predicate on a buffered channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChannelPredicate {
    /// The channel has room for a message.
    HasRoom,
    /// The channel has a message.
    HasMessage,
    /// The first message matches. Evaluated only if the channel has a message.
    FirstMatches,
    /// Some message matches.
    SomeMatches,
    /// The channel has no message.
    IsEmpty,
    /// The channel has no room.
    IsFull,
}

impl<'p> GuardConjunct<'p> {
    /// Creates a conjunct of another kind with these reads.
    pub(super) fn holds(access: AccessSet) -> Self {
        GuardConjunct { condition: ConjunctCondition::Holds, access, expr: None, judged: None }
    }

    /// Returns whether the evaluation may fail in states where all earlier conjuncts hold.
    pub fn may_fail(&self) -> bool {
        self.access.failures.any()
    }

    /// Creates a conjunct for the location of a process.
    pub(super) fn at_location(cell: CellId, location: LocationId) -> Self {
        let condition = ConjunctCondition::At(cell, location);
        GuardConjunct { condition, ..GuardConjunct::holds(AccessSet::default()) }
    }

    /// Returns all reads of the conjunct, including those of its condition.
    pub fn reads(&self) -> AccessSet {
        let mut access = self.access.as_reads();
        match &self.condition {
            ConjunctCondition::At(cell, location) => access.asks.push((*cell, *location)),
            ConjunctCondition::Compares(cell, ..) => access.reads.insert(cell.0..cell.0 + 1),
            ConjunctCondition::Asks(channels, _) => access.ask(channels),
            ConjunctCondition::Holds => {}
        }
        access
    }
}

impl<'p> AccessCollector<'p> {
    /// Splits a guard into its conjuncts, in the order of evaluation.
    pub fn conjuncts(
        &mut self,
        guard: &'p Expr,
        judge: &mut FailureAnalysis<'_>,
        into: &mut Vec<GuardConjunct<'p>>,
    ) {
        match &guard.kind {
            ExprKind::Binary(BinaryOp::And, left, right) => {
                self.conjuncts(left, judge, into);
                self.conjuncts(right, judge, into);
            }
            _ => {
                let conjunct = self.conjunct(guard);
                judge.condition(guard);
                let channel = match &guard.kind {
                    ExprKind::CanReceive(channel, ..) => Some(channel),
                    _ => None,
                };
                self.push_conjunct(conjunct, channel, judge.take(), into);
                self.learn_from(into);
            }
        }
    }

    /// Records the value of a cell that the last conjunct requires, if no conjunct may fail.
    fn learn_from(&mut self, guard: &[GuardConjunct<'_>]) {
        if let Some(GuardConjunct { condition, .. }) = guard.last()
            && let ConjunctCondition::Compares(cell, BinaryOp::Equal, value) = condition
            && !guard.iter().any(GuardConjunct::may_fail)
        {
            self.given.insert(*cell, *value);
        }
    }

    /// Returns the test of an expression, if the code is that of one side in one slot.
    fn guard_test(&self, expr: &'p Expr) -> Option<GuardTest<'p>> {
        let given = self.given.iter().map(|(cell, value)| (*cell, *value)).collect();
        self.side.map(|side| GuardTest { expr, side, holds: true, given })
    }

    /// Adds a conjunct with its failures. Before a conjunct for the first message, adds one for the existence of a
    /// message: different steps can make the two true.
    fn push_conjunct(
        &mut self,
        mut conjunct: GuardConjunct<'p>,
        channel: Option<&ChannelRef>,
        failures: FailureKinds,
        into: &mut Vec<GuardConjunct<'p>>,
    ) {
        if let (ConjunctCondition::Asks(_, ChannelPredicate::FirstMatches), Some(channel)) =
            (&conjunct.condition, channel)
        {
            let (condition, mut access) =
                self.channel_condition(channel, ChannelPredicate::HasMessage, &[]);
            if failures.any() {
                access.extend(conjunct.access.as_reads());
            }
            access.failures = failures;
            into.push(GuardConjunct { condition, access, expr: conjunct.expr, judged: None });
        } else {
            conjunct.access.failures = failures;
        }
        into.push(conjunct);
    }

    fn conjunct(&mut self, expr: &'p Expr) -> GuardConjunct<'p> {
        let (is_negated, asked) = match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, operand) => (true, &**operand),
            _ => (false, expr),
        };
        let understood = match &asked.kind {
            ExprKind::At { .. } if !is_negated => self.location_condition(expr),
            ExprKind::IsFull(channel) => {
                let question =
                    if is_negated { ChannelPredicate::HasRoom } else { ChannelPredicate::IsFull };
                Some(self.channel_condition(channel, question, &[]))
            }
            ExprKind::IsEmpty(channel) => {
                let question = if is_negated {
                    ChannelPredicate::HasMessage
                } else {
                    ChannelPredicate::IsEmpty
                };
                Some(self.channel_condition(channel, question, &[]))
            }
            ExprKind::CanReceive(channel, patterns, anywhere) if !is_negated => {
                Some(self.channel_condition(channel, question_of(patterns, *anywhere), patterns))
            }
            _ => self.comparison_condition(expr),
        };
        let (condition, access) = understood.unwrap_or_else(|| {
            self.walk().expr(self, expr);
            (ConjunctCondition::Holds, self.take())
        });
        GuardConjunct { condition, access, expr: Some(expr), judged: self.guard_test(expr) }
    }

    /// Returns the conjuncts of an operation on a buffered channel.
    pub fn readiness(
        &mut self,
        communication: &'p Communication,
        failures: FailureKinds,
    ) -> Vec<GuardConjunct<'p>> {
        let channel = communication.channel();
        let (question, patterns) = match communication {
            Communication::Send { .. } => (ChannelPredicate::HasRoom, [].as_slice()),
            Communication::Receive { patterns, anywhere, .. } => {
                (question_of(patterns, *anywhere), patterns.as_slice())
            }
        };
        let (condition, access) = self.channel_condition(channel, question, patterns);
        let mut found = Vec::new();
        let conjunct = GuardConjunct { condition, ..GuardConjunct::holds(access) };
        self.push_conjunct(conjunct, Some(channel), failures, &mut found);
        found
    }

    fn channel_condition(
        &mut self,
        channel: &ChannelRef,
        question: ChannelPredicate,
        patterns: &[ReceivePattern],
    ) -> (ConjunctCondition, AccessSet) {
        match channel {
            ChannelRef::Named(_) => {}
            ChannelRef::Element { index, .. } => self.walk().expr(self, index),
            ChannelRef::Computed(number) => self.walk().expr(self, number),
        }
        for pattern in patterns {
            if let ReceivePattern::Match(value) = pattern {
                self.walk().expr(self, value);
            }
        }
        let mut channels = self.channels(channel);
        channels.retain(|it| self.program().channels[it.id].capacity > 0);
        (ConjunctCondition::Asks(channels, question), self.take())
    }

    fn location_condition(&mut self, expr: &Expr) -> Option<(ConjunctCondition, AccessSet)> {
        self.walk().expr(self, expr);
        let mut access = self.take();
        match access.asks.as_slice() {
            [(cell, location)] => {
                let condition = ConjunctCondition::At(*cell, *location);
                access.asks.clear();
                Some((condition, access))
            }
            // The process may be in one of several slots, or its location was also read for the slot.
            _ => Some((ConjunctCondition::Holds, access)),
        }
    }

    /// Returns the condition of a comparison of a cell or of a channel's length with a constant.
    fn comparison_condition(&mut self, expr: &Expr) -> Option<(ConjunctCondition, AccessSet)> {
        let (held, operator, value) = self.comparison(expr)?;
        match &held.kind {
            ExprKind::Length(channel) => {
                let question = self.question_of_length(channel, operator, value)?;
                Some(self.channel_condition(channel, question, &[]))
            }
            ExprKind::Read(place) => {
                // The cell of the place depends on constants only.
                let cell = self.only_cell(place)?;
                Some((ConjunctCondition::Compares(cell, operator, value), AccessSet::default()))
            }
            _ => None,
        }
    }

    /// Returns the operand, the operator and the constant of a comparison with a constant.
    fn comparison<'e>(&self, expr: &'e Expr) -> Option<(&'e Expr, BinaryOp, i64)> {
        let (is_negated, asked) = match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, operand) => (true, &**operand),
            _ => (false, expr),
        };
        let (held, operator, value) = match &asked.kind {
            ExprKind::Binary(operator, left, right) => {
                match (self.known_value(left), self.known_value(right)) {
                    (None, Some(value)) => (&**left, *operator, value),
                    (Some(value), None) => (&**right, operator.mirrored()?, value),
                    _ => return None,
                }
            }
            _ => (asked, BinaryOp::NotEqual, 0),
        };
        // Other operators are no comparisons: their results are numbers, which count as true unless they are 0.
        let opposite = operator.negated()?;
        Some((held, if is_negated { opposite } else { operator }, value))
    }

    /// Returns the predicate that a comparison of a channel's length expresses: whether the channel is empty or full,
    /// or the negation.
    fn question_of_length(
        &self,
        channel: &ChannelRef,
        operator: BinaryOp,
        value: i64,
    ) -> Option<ChannelPredicate> {
        let program = self.program();
        let mut capacities =
            channel.possible_channels(program).map(|it| program.channels[it].capacity);
        let most = i64::from(
            capacities
                .next()
                .filter(|&first| first > 0 && capacities.all(|other| other == first))?,
        );
        // Evaluates the comparison for each possible length.
        let holds = |length| !matches!(program.arithmetic.binary(operator, length, value), Ok(0));
        let all: Vec<bool> = (0..=most).map(holds).collect();
        let only = |at: i64| all.iter().zip(0..).all(|(&holds, length)| holds == (length == at));
        let but = |at: i64| all.iter().zip(0..).all(|(&holds, length)| holds != (length == at));
        Some(match () {
            () if but(0) => ChannelPredicate::HasMessage,
            () if only(0) => ChannelPredicate::IsEmpty,
            () if but(most) => ChannelPredicate::HasRoom,
            () if only(most) => ChannelPredicate::IsFull,
            () => return None,
        })
    }
}

fn question_of(patterns: &[ReceivePattern], anywhere: bool) -> ChannelPredicate {
    let matches = patterns.iter().any(|it| matches!(it, ReceivePattern::Match(_)));
    match (matches, anywhere) {
        (false, _) => ChannelPredicate::HasMessage,
        (true, false) => ChannelPredicate::FirstMatches,
        (true, true) => ChannelPredicate::SomeMatches,
    }
}

impl ChannelPredicate {
    /// Returns the negation of the predicate, if it is a predicate.
    fn opposite(self) -> Option<ChannelPredicate> {
        Some(match self {
            ChannelPredicate::HasRoom => ChannelPredicate::IsFull,
            ChannelPredicate::IsFull => ChannelPredicate::HasRoom,
            ChannelPredicate::HasMessage => ChannelPredicate::IsEmpty,
            ChannelPredicate::IsEmpty => ChannelPredicate::HasMessage,
            ChannelPredicate::FirstMatches | ChannelPredicate::SomeMatches => return None,
        })
    }
}

impl ConjunctCondition {
    /// Returns the negation of the condition, if it is a condition.
    pub(super) fn opposite(&self) -> Option<ConjunctCondition> {
        let opposite = match self {
            ConjunctCondition::Compares(cell, operator, value) => {
                ConjunctCondition::Compares(*cell, operator.negated()?, *value)
            }
            ConjunctCondition::Asks(channels, question) => {
                ConjunctCondition::Asks(channels.clone(), question.opposite()?)
            }
            ConjunctCondition::At(..) | ConjunctCondition::Holds => return None,
        };
        Some(opposite)
    }

    /// Returns whether the condition is a comparison that holds for this value.
    pub fn holds_of(&self, arithmetic: Arithmetic, held: i64) -> bool {
        match self {
            ConjunctCondition::Compares(_, operator, value) => {
                !matches!(arithmetic.binary(*operator, held, *value), Ok(0))
            }
            _ => false,
        }
    }
}
