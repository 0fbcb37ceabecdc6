//! The parser of `for` and `select`, which SPIN expands to loops.

use super::{PromelaParseResult, PromelaParser};
use crate::promela::ast::{
    PromelaExpr, PromelaExprKind, PromelaName, PromelaReference, PromelaStmt, PromelaStmtKind,
    ReceiveField,
};
use crate::promela::symbols::{PromelaInitializer, PromelaSymbol, PromelaType};
use crate::promela::token::PromelaTokenKind;
use spillway_base::source::Span;
use spillway_ir::BinaryOp;
use std::rc::Rc;

/// The maximum distance between the constant bounds of a `select` that becomes a choice, as in SPIN. Any other `select`
/// becomes a loop.
const SELECT_MAX: i64 = 32;

impl PromelaParser {
    pub(super) fn for_loop(
        &mut self,
        sequence: &mut Vec<PromelaStmt>,
        start: Span,
    ) -> PromelaParseResult<PromelaStmtKind> {
        self.take();
        self.expect("(", "after `for`")?;
        let counter = self.target()?;
        if self.accept("in") {
            return self.for_each(sequence, counter, start);
        }
        self.expect(":", "or `in` after the variable")?;
        let first = self.expression()?;
        self.expect("..", "before the last value")?;
        let last = self.expression()?;
        self.expect(")", "after the last value")?;
        self.single(&counter)?;
        if let (&PromelaExprKind::Number(low), &PromelaExprKind::Number(high)) =
            (&first.kind, &last.kind)
            && low > high
        {
            return self
                .error(start, format!("this loop goes from {low} to {high}, so it never begins"));
        }
        let relation = BinaryOp::LessEqual;
        let range = CountingLoop { counter, first, relation, last, before: Vec::new() };
        self.counting_loop(sequence, range, start)
    }

    /// Parses `for (i in a)`: the indices of an array, or the messages of a channel.
    fn for_each(
        &mut self,
        sequence: &mut Vec<PromelaStmt>,
        counter: PromelaReference,
        start: Span,
    ) -> PromelaParseResult<PromelaStmtKind> {
        let over = self.any_reference()?;
        self.expect(")", "after the array or channel")?;
        let about = self.model.symbols.all[over.symbol].clone();
        let number = |value| PromelaExpr { kind: PromelaExprKind::Number(value), span: start };
        let is_struct =
            matches!(self.model.symbols.all[counter.symbol].basic, PromelaType::Struct(_));
        if let (true, PromelaInitializer::Channel { capacity, .. }) = (is_struct, &about.initial) {
            let basic = if *capacity > 255 { PromelaType::Short } else { PromelaType::Byte };
            let position = self.position(basic, over.span)?;
            let length =
                PromelaExpr { kind: PromelaExprKind::Length(over.clone()), span: over.span };
            let value = self.read(counter.clone());
            // The messages are rotated: each is received and sent again.
            let take = PromelaStmtKind::Receive {
                channel: over.clone(),
                fields: vec![ReceiveField::Into(counter)],
                anywhere: false,
                peek: false,
            };
            let put = PromelaStmtKind::Send { channel: over, values: vec![value], sorted: false };
            let before = [take, put].map(|kind| PromelaStmt::new(kind, start)).to_vec();
            let range = CountingLoop {
                counter: position,
                first: number(0),
                relation: BinaryOp::Less,
                last: length,
                before,
            };
            return self.counting_loop(sequence, range, start);
        }
        let Some(length) = about.length else {
            return self.error(
                over.span,
                format!("{} is neither an array nor a channel of structures", about.name.text),
            );
        };
        self.single(&counter)?;
        let range = CountingLoop {
            counter,
            first: number(0),
            relation: BinaryOp::LessEqual,
            last: number(i64::from(length) - 1),
            before: Vec::new(),
        };
        self.counting_loop(sequence, range, start)
    }

    /// Returns a generated variable that counts the messages of a channel.
    fn position(&mut self, basic: PromelaType, span: Span) -> PromelaParseResult<PromelaReference> {
        let name =
            PromelaName { text: format!("position_{}", self.model.symbols.all.len()).into(), span };
        let symbol = self.model.symbols.all.push(PromelaSymbol {
            name,
            basic,
            length: None,
            initial: PromelaInitializer::Zero,
            owner: self.process,
            parameter: false,
            hidden: false,
            assigned: true,
            read: true,
        });
        Ok(PromelaReference { symbol, index: None, fields: Vec::new(), span })
    }

    /// Builds a loop over a range, and parses its body.
    fn counting_loop(
        &mut self,
        sequence: &mut Vec<PromelaStmt>,
        range: CountingLoop,
        span: Span,
    ) -> PromelaParseResult<PromelaStmtKind> {
        let CountingLoop { counter, first, relation, last, before } = range;
        sequence.push(PromelaStmt::new(PromelaStmtKind::Assign(counter.clone(), first), span));
        let left = self.read(counter.clone());
        let test = PromelaExprKind::Binary(relation, Box::new(left), Box::new(last));
        let test = PromelaStmtKind::Condition(PromelaExpr { kind: test, span });
        let mut round = vec![PromelaStmt::new(test, span)];
        round.extend(before);
        self.accept(";");
        // The condition precedes the body, so the body may begin with a label.
        round.extend(self.braced(false)?);
        let next = self.changed(&counter, BinaryOp::Add, span);
        round.push(PromelaStmt::new(PromelaStmtKind::Assign(counter, next), span));
        let leave = [PromelaStmtKind::Else, PromelaStmtKind::Break]
            .map(|kind| PromelaStmt::new(kind, span))
            .to_vec();
        Ok(PromelaStmtKind::Do(vec![round, leave]))
    }

    /// Returns whether a `select` here is one that SPIN's lexer replaces by other text: outside inlines, on one line,
    /// of a plain name and digits. The default of the first value is 0.
    pub(super) fn at_plain_select(&self) -> bool {
        let is_number = |at: usize| {
            let token = self.peek_at(at);
            let digits = || token.text().bytes().all(|it| it.is_ascii_digit());
            matches!(token.kind, PromelaTokenKind::Number(_)) && digits()
        };
        let is_letters = |it: &Rc<str>| it.bytes().all(|it| it.is_ascii_alphanumeric());
        let first = usize::from(!self.peek_at(4).is(".."));
        let signs = [(0, "select"), (1, "("), (3, ":"), (4 + first, ".."), (6 + first, ")")];
        self.expansion == 0
            && signs.iter().all(|&(at, sign)| self.peek_at(at).is(sign))
            && self.peek_at(2).name().is_some_and(is_letters)
            && (first == 0 || is_number(4))
            && is_number(5 + first)
            && (2..7 + first).all(|at| !self.peek_at(at).after_line_end)
    }

    pub(super) fn select(
        &mut self,
        sequence: &mut Vec<PromelaStmt>,
        start: Span,
    ) -> PromelaParseResult<PromelaStmtKind> {
        let is_plain = self.at_plain_select();
        self.take();
        self.expect("(", "after `select`")?;
        let target = self.target()?;
        self.single(&target)?;
        self.expect(":", "after the variable")?;
        // The default of the first value is 0.
        let first = match self.at("..") {
            true => PromelaExpr { kind: PromelaExprKind::Number(0), span: start },
            false => self.expression()?,
        };
        self.expect("..", "before the last value")?;
        let last = self.expression()?;
        self.expect(")", "after the last value")?;
        if let (&PromelaExprKind::Number(low), &PromelaExprKind::Number(high)) =
            (&first.kind, &last.kind)
        {
            if low > high {
                return self
                    .error(start, format!("there is nothing to select from {low} to {high}"));
            }
            if is_plain && high - low <= SELECT_MAX {
                let options = (low..=high).map(|value| {
                    let value = PromelaExpr { kind: PromelaExprKind::Number(value), span: start };
                    vec![PromelaStmt::new(PromelaStmtKind::Assign(target.clone(), value), start)]
                });
                return Ok(PromelaStmtKind::If(options.collect()));
            }
        }
        sequence.push(PromelaStmt::new(PromelaStmtKind::Assign(target.clone(), first), start));
        let left = self.read(target.clone());
        let test = PromelaExprKind::Binary(BinaryOp::Less, Box::new(left), Box::new(last));
        let next = self.changed(&target, BinaryOp::Add, start);
        let round = [
            PromelaStmtKind::Condition(PromelaExpr { kind: test, span: start }),
            PromelaStmtKind::Assign(target, next),
        ];
        let round = round.map(|kind| PromelaStmt::new(kind, start)).to_vec();
        let leave = vec![PromelaStmt::new(PromelaStmtKind::Break, start)];
        Ok(PromelaStmtKind::Do(vec![round, leave]))
    }

    /// Rejects a counter that is not a scalar.
    fn single(&self, reference: &PromelaReference) -> PromelaParseResult<()> {
        let symbol = &self.model.symbols.all[reference.symbol];
        let is_number = !matches!(symbol.basic, PromelaType::Channel | PromelaType::Struct(_));
        match is_number || !reference.fields.is_empty() {
            true => Ok(()),
            false => self.error(reference.span, format!("{} cannot count", symbol.name.text)),
        }
    }
}

/// A loop over a range.
struct CountingLoop {
    counter: PromelaReference,
    first: PromelaExpr,
    /// The relation between the counter and the last value in each round.
    relation: BinaryOp,
    last: PromelaExpr,
    /// The first statements of each round.
    before: Vec<PromelaStmt>,
}
