//! What must hold for a step, in parts that are judged one after another.

use super::access_set::{AccessSet, ChannelSlot};
use super::collector::AccessCollector;
use super::failure_analysis::FailureAnalysis;
use super::failure_kinds::FailureKinds;
use crate::analysis::instances::InstanceSide;
use crate::ir::layout::CellId;
use crate::ir::{
    Arithmetic, BinaryOp, ChannelRef, Communication, Expr, ExprKind, LocationId, ReceivePattern,
    UnaryOp,
};

/// One of the conditions under which there is a step. It holds also where judging it fails: that is a
/// step, too, and an error.
#[derive(Clone, Debug)]
pub struct GuardConjunct<'p> {
    /// What it says, as far as that is understood.
    pub condition: ConjunctCondition,
    /// What else it reads: without the cell, or the channels, of the condition. And how judging it may
    /// fail, where all conjuncts before it hold.
    pub access: AccessSet,
    /// Where it stands in the program, if it does.
    pub expr: Option<&'p Expr>,
    /// What would have to be computed to know whether it holds, if that can be.
    pub judged: Option<GuardTest<'p>>,
}

/// An expression as one side of an instance judges it.
#[derive(Clone, Debug)]
pub struct GuardTest<'p> {
    /// What is judged.
    pub expr: &'p Expr,
    /// By whom.
    pub side: InstanceSide,
    /// Whether it has to hold, or must not.
    pub holds: bool,
    /// Cells whose values are known where it is judged, so that nobody has to read them.
    pub given: Vec<(CellId, i64)>,
}

/// What a conjunct says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConjunctCondition {
    /// The process whose place this cell tells is there.
    At(CellId, LocationId),
    /// The value in a cell compares so with a constant.
    Compares(CellId, BinaryOp, i64),
    /// The channel, which is one of these, has an answer.
    Asks(Vec<ChannelSlot>, ChannelPredicate),
    /// Something else.
    Holds,
}

/// A question about a buffered channel, answered with yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChannelPredicate {
    /// Is there room for a message?
    HasRoom,
    /// Is there a message?
    HasMessage,
    /// Does the first message match? Asked only where there is one.
    FirstMatches,
    /// Does any message match?
    SomeMatches,
    /// Is there no message?
    IsEmpty,
    /// Is there no room?
    IsFull,
}

impl<'p> GuardConjunct<'p> {
    /// A condition on what is read so.
    pub(super) fn holds(access: AccessSet) -> Self {
        GuardConjunct { condition: ConjunctCondition::Holds, access, expr: None, judged: None }
    }

    /// Whether judging it may fail, where all conjuncts before it hold.
    pub fn may_fail(&self) -> bool {
        self.access.failures.any()
    }

    /// That a process is somewhere.
    pub(super) fn at_location(cell: CellId, location: LocationId) -> Self {
        let condition = ConjunctCondition::At(cell, location);
        GuardConjunct { condition, ..GuardConjunct::holds(AccessSet::default()) }
    }

    /// Everything that it reads, whatever it says.
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
    /// Splits a guard into its conjuncts, in the order in which they are judged.
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

    /// Notes what is known behind conjuncts: the last one may ask for one value of a cell.
    fn learn_from(&mut self, guard: &[GuardConjunct<'_>]) {
        if let Some(GuardConjunct { condition, .. }) = guard.last()
            && let ConjunctCondition::Compares(cell, BinaryOp::Equal, value) = condition
            && !guard.iter().any(GuardConjunct::may_fail)
        {
            self.given.insert(*cell, *value);
        }
    }

    /// How an expression is judged, if one side in one slot does.
    fn guard_test(&self, expr: &'p Expr) -> Option<GuardTest<'p>> {
        let given = self.given.iter().map(|(cell, value)| (*cell, *value)).collect();
        self.side.map(|side| GuardTest { expr, side, holds: true, given })
    }

    /// Adds a conjunct about a channel, if about any, with how judging it may fail. Before whether the first
    /// message matches comes whether there is one: different steps help where it is one or the other.
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

    /// What an operation on a buffered channel waits for, and how asking may fail.
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
            // One of several slots, or a place that was also read on the way.
            _ => Some((ConjunctCondition::Holds, access)),
        }
    }

    /// What a comparison with a constant asks: of a cell, or how full a channel is.
    fn comparison_condition(&mut self, expr: &Expr) -> Option<(ConjunctCondition, AccessSet)> {
        let (held, operator, value) = self.comparison(expr)?;
        match &held.kind {
            ExprKind::Length(channel) => {
                let question = self.question_of_length(channel, operator, value)?;
                Some(self.channel_condition(channel, question, &[]))
            }
            ExprKind::Read(place) => {
                // The way to the cell was found from constants alone.
                let cell = self.only_cell(place)?;
                Some((ConjunctCondition::Compares(cell, operator, value), AccessSet::default()))
            }
            _ => None,
        }
    }

    /// What is compared with a constant, and how.
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
        // Any other operator gives a number that is not 0 for values that are not next to each other.
        let opposite = operator.negated()?;
        Some((held, if is_negated { opposite } else { operator }, value))
    }

    /// What a comparison of the number of messages asks: whether there are none, or as many as there is room
    /// for.
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
        // What it says of every number that there can be.
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
    /// The question that has the other answer, if there is one.
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
    /// What holds where this does not, if that can be said so.
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

    /// Whether the condition is that a value compares so, and this one does.
    pub fn holds_of(&self, arithmetic: Arithmetic, held: i64) -> bool {
        match self {
            ConjunctCondition::Compares(_, operator, value) => {
                !matches!(arithmetic.binary(*operator, held, *value), Ok(0))
            }
            _ => false,
        }
    }
}
