//! What must hold for a step, in parts that are judged one after another.

use super::collect::Collector;
use super::failing::Judge;
use super::failures::Failures;
use super::object::{Access, ChannelSlot};
use crate::analysis::instances::Side;
use crate::ir::layout::CellId;
use crate::ir::{
    Arithmetic, Binary, ChannelRef, Communication, Expr, ExprKind, LocationId, Pattern, Unary,
};

/// One of the conditions under which there is a step. It holds also where judging it fails: that is a
/// step, too, and an error.
#[derive(Clone, Debug)]
pub struct Conjunct<'p> {
    /// What it says, as far as that is understood.
    pub condition: Condition,
    /// What else it reads: without the cell, or the channels, of the condition. And how judging it may
    /// fail, where all conjuncts before it hold.
    pub access: Access,
    /// Where it stands in the program, if it does.
    pub expr: Option<&'p Expr>,
    /// What would have to be computed to know whether it holds, if that can be.
    pub judged: Option<Judged<'p>>,
}

/// An expression as one side of an instance judges it.
#[derive(Clone, Debug)]
pub struct Judged<'p> {
    /// What is judged.
    pub expr: &'p Expr,
    /// By whom.
    pub side: Side,
    /// Whether it has to hold, or must not.
    pub holds: bool,
    /// Cells whose values are known where it is judged, so that nobody has to read them.
    pub given: Vec<(CellId, i64)>,
}

/// What a conjunct says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The process whose place this cell tells is there.
    At(CellId, LocationId),
    /// The value in a cell compares so with a constant.
    Compares(CellId, Binary, i64),
    /// The channel, which is one of these, has an answer.
    Asks(Vec<ChannelSlot>, Question),
    /// Something else.
    Holds,
}

/// A question about a buffered channel, answered with yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Question {
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

impl<'p> Conjunct<'p> {
    /// A condition on what is read so.
    pub(super) fn holds(access: Access) -> Self {
        Conjunct { condition: Condition::Holds, access, expr: None, judged: None }
    }

    /// Whether judging it may fail, where all conjuncts before it hold.
    pub fn may_fail(&self) -> bool {
        self.access.failures.any()
    }

    /// That a process is somewhere.
    pub(super) fn at(cell: CellId, location: LocationId) -> Self {
        let condition = Condition::At(cell, location);
        Conjunct { condition, ..Conjunct::holds(Access::default()) }
    }

    /// Everything that it reads, whatever it says.
    pub fn reads(&self) -> Access {
        let mut access = self.access.reading();
        match &self.condition {
            Condition::At(cell, location) => access.asks.push((*cell, *location)),
            Condition::Compares(cell, ..) => access.reads.insert(cell.0..cell.0 + 1),
            Condition::Asks(channels, _) => access.ask(channels),
            Condition::Holds => {}
        }
        access
    }
}

impl<'p> Collector<'p> {
    /// Splits a guard into its conjuncts, in the order in which they are judged.
    pub fn conjuncts(
        &mut self,
        guard: &'p Expr,
        judge: &mut Judge<'_>,
        into: &mut Vec<Conjunct<'p>>,
    ) {
        match &guard.kind {
            ExprKind::Binary(Binary::And, left, right) => {
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
                self.give(into);
            }
        }
    }

    /// Notes what is known behind conjuncts: the last one may ask for one value of a cell.
    fn give(&mut self, guard: &[Conjunct<'_>]) {
        if let Some(Conjunct { condition, .. }) = guard.last()
            && let Condition::Compares(cell, Binary::Equal, value) = condition
            && !guard.iter().any(Conjunct::may_fail)
        {
            self.given.insert(*cell, *value);
        }
    }

    /// How an expression is judged, if one side in one slot does.
    fn judged(&self, expr: &'p Expr) -> Option<Judged<'p>> {
        let given = self.given.iter().map(|(cell, value)| (*cell, *value)).collect();
        self.side.map(|side| Judged { expr, side, holds: true, given })
    }

    /// Adds a conjunct about a channel, if about any, with how judging it may fail. Before whether the first
    /// message matches comes whether there is one: different steps help where it is one or the other.
    fn push_conjunct(
        &mut self,
        mut conjunct: Conjunct<'p>,
        channel: Option<&ChannelRef>,
        failures: Failures,
        into: &mut Vec<Conjunct<'p>>,
    ) {
        if let (Condition::Asks(_, Question::FirstMatches), Some(channel)) =
            (&conjunct.condition, channel)
        {
            let (condition, mut access) = self.asked(channel, Question::HasMessage, &[]);
            if failures.any() {
                access.extend(conjunct.access.reading());
            }
            access.failures = failures;
            into.push(Conjunct { condition, access, expr: conjunct.expr, judged: None });
        } else {
            conjunct.access.failures = failures;
        }
        into.push(conjunct);
    }

    fn conjunct(&mut self, expr: &'p Expr) -> Conjunct<'p> {
        let (is_negated, asked) = match &expr.kind {
            ExprKind::Unary(Unary::Not, operand) => (true, &**operand),
            _ => (false, expr),
        };
        let understood = match &asked.kind {
            ExprKind::At { .. } if !is_negated => self.asked_location(expr),
            ExprKind::IsFull(channel) => {
                let question = if is_negated { Question::HasRoom } else { Question::IsFull };
                Some(self.asked(channel, question, &[]))
            }
            ExprKind::IsEmpty(channel) => {
                let question = if is_negated { Question::HasMessage } else { Question::IsEmpty };
                Some(self.asked(channel, question, &[]))
            }
            ExprKind::CanReceive(channel, patterns, anywhere) if !is_negated => {
                Some(self.asked(channel, question_of(patterns, *anywhere), patterns))
            }
            _ => self.compared(expr),
        };
        let (condition, access) = understood.unwrap_or_else(|| {
            self.walk().expr(self, expr);
            (Condition::Holds, self.take())
        });
        Conjunct { condition, access, expr: Some(expr), judged: self.judged(expr) }
    }

    /// What an operation on a buffered channel waits for, and how asking may fail.
    pub fn readiness(
        &mut self,
        communication: &'p Communication,
        failures: Failures,
    ) -> Vec<Conjunct<'p>> {
        let channel = communication.channel();
        let (question, patterns) = match communication {
            Communication::Send { .. } => (Question::HasRoom, [].as_slice()),
            Communication::Receive { patterns, anywhere, .. } => {
                (question_of(patterns, *anywhere), patterns.as_slice())
            }
        };
        let (condition, access) = self.asked(channel, question, patterns);
        let mut found = Vec::new();
        let conjunct = Conjunct { condition, ..Conjunct::holds(access) };
        self.push_conjunct(conjunct, Some(channel), failures, &mut found);
        found
    }

    fn asked(
        &mut self,
        channel: &ChannelRef,
        question: Question,
        patterns: &[Pattern],
    ) -> (Condition, Access) {
        match channel {
            ChannelRef::Named(_) => {}
            ChannelRef::Element { index, .. } => self.walk().expr(self, index),
            ChannelRef::Computed(number) => self.walk().expr(self, number),
        }
        for pattern in patterns {
            if let Pattern::Match(value) = pattern {
                self.walk().expr(self, value);
            }
        }
        let mut channels = self.channels(channel);
        channels.retain(|it| self.program().channels[it.id].capacity > 0);
        (Condition::Asks(channels, question), self.take())
    }

    fn asked_location(&mut self, expr: &Expr) -> Option<(Condition, Access)> {
        self.walk().expr(self, expr);
        let mut access = self.take();
        match access.asks.as_slice() {
            [(cell, location)] => {
                let condition = Condition::At(*cell, *location);
                access.asks.clear();
                Some((condition, access))
            }
            // One of several slots, or a place that was also read on the way.
            _ => Some((Condition::Holds, access)),
        }
    }

    /// What a comparison with a constant asks: of a cell, or how full a channel is.
    fn compared(&mut self, expr: &Expr) -> Option<(Condition, Access)> {
        let (held, operator, value) = self.comparison(expr)?;
        match &held.kind {
            ExprKind::Length(channel) => {
                let question = self.question_of_length(channel, operator, value)?;
                Some(self.asked(channel, question, &[]))
            }
            ExprKind::Read(place) => {
                // The way to the cell was found from constants alone.
                let cell = self.only_cell(place)?;
                Some((Condition::Compares(cell, operator, value), Access::default()))
            }
            _ => None,
        }
    }

    /// What is compared with a constant, and how.
    fn comparison<'e>(&self, expr: &'e Expr) -> Option<(&'e Expr, Binary, i64)> {
        let (is_negated, asked) = match &expr.kind {
            ExprKind::Unary(Unary::Not, operand) => (true, &**operand),
            _ => (false, expr),
        };
        let (held, operator, value) = match &asked.kind {
            ExprKind::Binary(operator, left, right) => {
                match (self.known_value(left), self.known_value(right)) {
                    (None, Some(value)) => (&**left, *operator, value),
                    (Some(value), None) => (&**right, operator.turned()?, value),
                    _ => return None,
                }
            }
            _ => (asked, Binary::NotEqual, 0),
        };
        // Any other operator gives a number that is not 0 for values that are not next to each other.
        let opposite = operator.opposite()?;
        Some((held, if is_negated { opposite } else { operator }, value))
    }

    /// What a comparison of the number of messages asks: whether there are none, or as many as there is room
    /// for.
    fn question_of_length(
        &self,
        channel: &ChannelRef,
        operator: Binary,
        value: i64,
    ) -> Option<Question> {
        let program = self.program();
        let mut capacities = channel.meant(program).map(|it| program.channels[it].capacity);
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
            () if but(0) => Question::HasMessage,
            () if only(0) => Question::IsEmpty,
            () if but(most) => Question::HasRoom,
            () if only(most) => Question::IsFull,
            () => return None,
        })
    }
}

fn question_of(patterns: &[Pattern], anywhere: bool) -> Question {
    let matches = patterns.iter().any(|it| matches!(it, Pattern::Match(_)));
    match (matches, anywhere) {
        (false, _) => Question::HasMessage,
        (true, false) => Question::FirstMatches,
        (true, true) => Question::SomeMatches,
    }
}

impl Question {
    /// The question that has the other answer, if there is one.
    fn opposite(self) -> Option<Question> {
        Some(match self {
            Question::HasRoom => Question::IsFull,
            Question::IsFull => Question::HasRoom,
            Question::HasMessage => Question::IsEmpty,
            Question::IsEmpty => Question::HasMessage,
            Question::FirstMatches | Question::SomeMatches => return None,
        })
    }
}

impl Condition {
    /// What holds where this does not, if that can be said so.
    pub(super) fn opposite(&self) -> Option<Condition> {
        let opposite = match self {
            Condition::Compares(cell, operator, value) => {
                Condition::Compares(*cell, operator.opposite()?, *value)
            }
            Condition::Asks(channels, question) => {
                Condition::Asks(channels.clone(), question.opposite()?)
            }
            Condition::At(..) | Condition::Holds => return None,
        };
        Some(opposite)
    }

    /// Whether the condition is that a value compares so, and this one does.
    pub fn holds_of(&self, arithmetic: Arithmetic, held: i64) -> bool {
        match self {
            Condition::Compares(_, operator, value) => {
                !matches!(arithmetic.binary(*operator, held, *value), Ok(0))
            }
            _ => false,
        }
    }
}
