//! The parser of expressions and references.

use super::{PromelaParseResult, PromelaParser};
use crate::promela::ast::{
    ChannelProbe, PromelaExpr, PromelaExprKind, PromelaName, PromelaReference, ReceiveField,
};
use crate::promela::symbols::{PromelaInitializer, PromelaSymbol, PromelaType};
use crate::promela::token::PromelaTokenKind;
use spillway_base::source::Span;
use spillway_ir::{BinaryOp, UnaryOp};
use std::rc::Rc;

/// The binary operators, weakest first.
const LEVELS: [&[(&str, BinaryOp)]; 10] = [
    &[("||", BinaryOp::Or)],
    &[("&&", BinaryOp::And)],
    &[("|", BinaryOp::BitOr)],
    &[("^", BinaryOp::BitXor)],
    &[("&", BinaryOp::BitAnd)],
    &[("==", BinaryOp::Equal), ("!=", BinaryOp::NotEqual)],
    &[
        ("<", BinaryOp::Less),
        (">", BinaryOp::Greater),
        ("<=", BinaryOp::LessEqual),
        (">=", BinaryOp::GreaterEqual),
    ],
    &[("<<", BinaryOp::ShiftLeft), (">>", BinaryOp::ShiftRight)],
    &[("+", BinaryOp::Add), ("-", BinaryOp::Subtract)],
    &[("*", BinaryOp::Multiply), ("/", BinaryOp::Divide), ("%", BinaryOp::Remainder)],
];

/// The last level whose operands may be predicates on the fill of a channel.
const LOGIC: usize = 1;

/// The first level whose operands are numbers.
const ARITHMETIC: usize = 7;

/// The maximum nesting of expressions.
const DEPTH_MAX: u32 = 200;
/// The maximum number of consecutive operators of one level.
const OPERATORS_MAX: u32 = 1000;

impl PromelaParser {
    pub(super) fn expression(&mut self) -> PromelaParseResult<PromelaExpr> {
        self.binary(0, None)
    }

    /// Parses the rest of an expression that begins with a reference.
    pub(super) fn expression_from(
        &mut self,
        first: PromelaExpr,
    ) -> PromelaParseResult<PromelaExpr> {
        self.binary(0, Some(first))
    }

    /// Parses an expression of operators of at least this level.
    fn binary(
        &mut self,
        least: usize,
        first: Option<PromelaExpr>,
    ) -> PromelaParseResult<PromelaExpr> {
        let mut left = match first {
            Some(first) => first,
            None => self.unary()?,
        };
        let mut operators = 0;
        while let Some((level, operator)) = self.operator().filter(|(level, _)| *level >= least) {
            operators += 1;
            if operators > OPERATORS_MAX {
                return self.error(
                    self.span(),
                    format!("an expression has more than {OPERATORS_MAX} operators in a row"),
                );
            }
            self.take();
            let right = self.binary(level + 1, None)?;
            if level > LOGIC {
                self.expect_value(&left)?;
                self.expect_value(&right)?;
            }
            if level >= ARITHMETIC {
                self.expect_number(&left)?;
                self.expect_number(&right)?;
            }
            let span = match left.span.file == right.span.file {
                true => left.span.to(right.span),
                false => left.span,
            };
            left = PromelaExpr {
                kind: PromelaExprKind::Binary(operator, Box::new(left), Box::new(right)),
                span,
            };
        }
        Ok(left)
    }

    /// Returns the operator at this position, and its level.
    fn operator(&self) -> Option<(usize, BinaryOp)> {
        let PromelaTokenKind::Sign(here) = self.peek().kind else { return None };
        LEVELS.iter().enumerate().find_map(|(level, operators)| {
            let found = operators.iter().find(|(sign, _)| *sign == here);
            found.map(|&(_, operator)| (level, operator))
        })
    }

    fn expect_number(&self, operand: &PromelaExpr) -> PromelaParseResult<()> {
        match &operand.kind {
            PromelaExprKind::Variable(reference)
                if self.part_of(reference).0 == Some(PromelaType::Channel) =>
            {
                self.error(operand.span, "a channel is no number to compute with")
            }
            _ => Ok(()),
        }
    }

    /// Rejects predicates on the fill of a channel as operands of operators other than `&&` and `||`: SPIN's partial
    /// order reduction depends on it.
    fn expect_value(&self, operand: &PromelaExpr) -> PromelaParseResult<()> {
        match asks_how_full(operand) {
            false => Ok(()),
            true => self
                .error(operand.span, "what asks how full a channel is can be no operand here")
                .map_err(|it| {
                    it.help("write nempty for !empty, nfull for !full, and the other way round")
                }),
        }
    }

    fn unary(&mut self) -> PromelaParseResult<PromelaExpr> {
        self.nested_expressions += 1;
        if self.nested_expressions > DEPTH_MAX {
            return self.error(self.span(), "this expression is nested too deeply");
        }
        let operand = self.unary_within();
        self.nested_expressions -= 1;
        operand
    }

    fn unary_within(&mut self) -> PromelaParseResult<PromelaExpr> {
        let start = self.span();
        let operators: &[UnaryOp] = match &self.peek().kind {
            PromelaTokenKind::Sign("-") => &[UnaryOp::Negate],
            PromelaTokenKind::Sign("!") => &[UnaryOp::Not],
            PromelaTokenKind::Sign("!!") => &[UnaryOp::Not, UnaryOp::Not],
            PromelaTokenKind::Sign("~") => &[UnaryOp::Complement],
            PromelaTokenKind::Sign("(") => return self.bracketed(),
            _ => return self.primary(),
        };
        self.take();
        let mut operand = self.unary()?;
        self.expect_value(&operand)?;
        for &operator in operators {
            let span = self.since(start);
            operand =
                PromelaExpr { kind: PromelaExprKind::Unary(operator, Box::new(operand)), span };
        }
        Ok(operand)
    }

    fn bracketed(&mut self) -> PromelaParseResult<PromelaExpr> {
        let start = self.take().span;
        let inner = self.expression()?;
        let kind = match self.accept("->") {
            false => inner.kind,
            true => {
                let then = self.expression()?;
                self.expect(":", "before the other value")?;
                let otherwise = self.expression()?;
                [&inner, &then, &otherwise].into_iter().try_for_each(|it| self.expect_value(it))?;
                PromelaExprKind::Conditional(Box::new(inner), Box::new(then), Box::new(otherwise))
            }
        };
        self.expect(")", "to close the bracket")?;
        Ok(PromelaExpr { kind, span: self.since(start) })
    }

    fn primary(&mut self) -> PromelaParseResult<PromelaExpr> {
        let start = self.span();
        let kind = match self.peek().kind.clone() {
            PromelaTokenKind::Number(value) => {
                self.take();
                PromelaExprKind::Number(value)
            }
            PromelaTokenKind::Name(word) => match self.special(&word)? {
                Some(kind) => kind,
                None => return self.variable_or_remote(),
            },
            _ => return self.unexpected("an expression"),
        };
        Ok(PromelaExpr { kind, span: self.since(start) })
    }

    /// Parses an expression that begins with a keyword or a predefined name.
    fn special(&mut self, word: &str) -> PromelaParseResult<Option<PromelaExprKind>> {
        if let Some(&value) = self.model.symbols.constants.get(word) {
            self.take();
            return Ok(Some(PromelaExprKind::Symbol(value)));
        }
        let plain = match word {
            "true" | "skip" => PromelaExprKind::Number(1),
            "false" => PromelaExprKind::Number(0),
            "timeout" => PromelaExprKind::Timeout,
            "np_" => PromelaExprKind::NonProgress,
            "_pid" => PromelaExprKind::Pid,
            "_nr_pr" => PromelaExprKind::Processes,
            "_last" => {
                self.model.uses_last = true;
                PromelaExprKind::Last
            }
            "_" => PromelaExprKind::Scratch,
            "_priority" => {
                let span = self.span();
                PromelaExprKind::Priority(Box::new(PromelaExpr {
                    kind: PromelaExprKind::Pid,
                    span,
                }))
            }
            "run" => return self.run().map(Some),
            "len" | "empty" | "nempty" | "full" | "nfull" => return self.probe(word).map(Some),
            "enabled" | "pc_value" | "get_priority" => return self.question(word).map(Some),
            "c_expr" => return super::super::refuse_c(self.span(), word),
            _ => return Ok(None),
        };
        self.take();
        Ok(Some(plain))
    }

    fn run(&mut self) -> PromelaParseResult<PromelaExprKind> {
        let span = self.take().span;
        if self.process.is_none() {
            return self.error(span, "a run stands outside processes");
        }
        if self.in_d_step {
            return self
                .error(span, "a run stands in a d_step")
                .map_err(|it| it.help("use `atomic` instead"));
        }
        let process = self.name("the name of a process")?;
        self.expect("(", "before the arguments")?;
        let mut arguments = Vec::new();
        while !self.accept(")") {
            arguments.push(self.expression()?);
            if !self.at(")") {
                self.expect(",", "between the arguments")?;
            }
        }
        let priority = self.priority()?;
        Ok(PromelaExprKind::Run { process, arguments, priority })
    }

    fn probe(&mut self, word: &str) -> PromelaParseResult<PromelaExprKind> {
        self.take();
        self.expect("(", "before the channel")?;
        let channel = self.reference()?;
        self.expect(")", "after the channel")?;
        let probe = match word {
            "len" => return Ok(PromelaExprKind::Length(channel)),
            "empty" => ChannelProbe::Empty,
            "nempty" => ChannelProbe::NotEmpty,
            "full" => ChannelProbe::Full,
            _ => ChannelProbe::NotFull,
        };
        Ok(PromelaExprKind::Probe(probe, channel))
    }

    fn question(&mut self, word: &str) -> PromelaParseResult<PromelaExprKind> {
        self.take();
        self.expect("(", "before the number of a process")?;
        let pid = Box::new(self.expression()?);
        self.expect(")", "after the number of a process")?;
        Ok(match word {
            "enabled" => PromelaExprKind::Enabled(pid),
            "pc_value" => PromelaExprKind::PcValue(pid),
            _ => PromelaExprKind::Priority(pid),
        })
    }

    fn variable_or_remote(&mut self) -> PromelaParseResult<PromelaExpr> {
        let start = self.span();
        let known = self.peek().name().is_some_and(|name| self.look_up(name).is_some());
        if !known && self.at_remote() {
            return self.remote();
        }
        let reference = self.reference()?;
        let poll = self.at_any(&["?", "??"]) && self.peek_at(1).is("[");
        if !poll {
            self.model.symbols.all[reference.symbol].read = true;
            return Ok(PromelaExpr {
                span: reference.span,
                kind: PromelaExprKind::Variable(reference),
            });
        }
        self.expect_channel(&reference)?;
        let anywhere = self.take().is("??");
        self.take();
        let fields = self.receive_fields(&["]"])?;
        self.expect("]", "after the fields")?;
        let kind = PromelaExprKind::Poll { channel: reference, fields, anywhere };
        Ok(PromelaExpr { kind, span: self.since(start) })
    }

    fn at_remote(&self) -> bool {
        let Some(name) = self.peek().name() else { return false };
        let process = self.model.processes.iter().any(|process| process.name.text == *name);
        self.next_is("@") || process && (self.next_is("[") || self.next_is(":"))
    }

    fn remote(&mut self) -> PromelaParseResult<PromelaExpr> {
        let start = self.span();
        let process = self.name("the name of a process")?;
        let mut pid = None;
        if self.accept("[") {
            pid = Some(Box::new(self.expression()?));
            self.expect("]", "after the number of the process")?;
        }
        let kind = if self.accept("@") {
            let label = self.name("a label")?;
            self.model.remote_labels.push(label.text.clone());
            PromelaExprKind::At { process, pid, label }
        } else {
            self.expect(":", "or `@` after the process")?;
            let mut path = Vec::new();
            loop {
                path.push(self.part()?);
                if !self.accept(".") {
                    break;
                }
            }
            PromelaExprKind::Remote { process, pid, path }
        };
        Ok(PromelaExpr { kind, span: self.since(start) })
    }

    /// Parses a name, and its index if it has one.
    fn part(&mut self) -> PromelaParseResult<(PromelaName, Option<PromelaExpr>)> {
        let name = self.name("the name of a variable")?;
        let mut index = None;
        if self.accept("[") {
            index = Some(self.expression()?);
            self.expect("]", "after the index")?;
        }
        Ok((name, index))
    }

    /// Parses a variable or a part of one, but not a whole array.
    pub(super) fn reference(&mut self) -> PromelaParseResult<PromelaReference> {
        let reference = self.any_reference()?;
        match self.part_of(&reference).1 {
            None => Ok(reference),
            Some(array) => {
                let error = format!("{array} is an array: an index is missing");
                self.error(reference.span, error)
            }
        }
    }

    /// Returns the type of a reference, if it is known, and the first array in it without an index.
    pub(super) fn part_of(
        &self,
        reference: &PromelaReference,
    ) -> (Option<PromelaType>, Option<Rc<str>>) {
        let symbols = &self.model.symbols;
        let symbol = &symbols.all[reference.symbol];
        let (mut basic, mut whole) = (symbol.basic, None);
        if symbol.length.is_some() && reference.index.is_none() {
            whole = Some(symbol.name.text.clone());
        }
        for (name, index) in &reference.fields {
            let PromelaType::Struct(number) = basic else { return (None, whole) };
            let mut fields = symbols.structs[number].fields.iter();
            let Some(field) = fields.find(|field| field.name.text == name.text) else {
                return (None, whole);
            };
            if field.length.is_some() && index.is_none() {
                whole = whole.or(Some(name.text.clone()));
            }
            basic = field.basic;
        }
        (Some(basic), whole)
    }

    /// Rejects a reference that is not a channel.
    pub(super) fn expect_channel(&self, reference: &PromelaReference) -> PromelaParseResult<()> {
        match self.part_of(reference).0 {
            None | Some(PromelaType::Channel) => Ok(()),
            Some(_) => {
                let name = &self.model.symbols.all[reference.symbol].name.text;
                let error = format!("{name} is no channel: its type is not chan");
                self.error(reference.span, error)
            }
        }
    }

    /// Parses a variable or a part of one.
    pub(super) fn any_reference(&mut self) -> PromelaParseResult<PromelaReference> {
        let start = self.span();
        let (name, index) = self.part()?;
        let Some(symbol) = self.look_up(&name.text) else {
            return self.no_variable(name.span, &name.text);
        };
        let mut fields = Vec::new();
        while self.accept(".") {
            fields.push(self.part()?);
        }
        let span = self.since(start);
        Ok(PromelaReference { symbol, index: index.map(Box::new), fields, span })
    }

    /// Parses a reference that is assigned.
    pub(super) fn target(&mut self) -> PromelaParseResult<PromelaReference> {
        let reference = self.reference()?;
        self.model.symbols.all[reference.symbol].assigned = true;
        Ok(reference)
    }

    /// Parses the fields of a receive; `c?a(b, c)` is another spelling of `c?a, b, c`.
    pub(super) fn receive_fields(
        &mut self,
        until: &[&str],
    ) -> PromelaParseResult<Vec<ReceiveField>> {
        let mut fields = Vec::new();
        if self.at("(") {
            return self.in_brackets(|this| this.receive_fields(&[")"]));
        }
        loop {
            fields.push(self.field()?);
            if self.at("(") {
                fields.extend(self.in_brackets(|this| this.receive_fields(&[")"]))?);
                return Ok(fields);
            }
            if self.at_any(until) || !self.accept(",") {
                return Ok(fields);
            }
        }
    }

    /// Parses the fields of a message in brackets, which nest no deeper than expressions.
    fn in_brackets<T>(
        &mut self,
        fields: impl FnOnce(&mut Self) -> PromelaParseResult<T>,
    ) -> PromelaParseResult<T> {
        self.nested_expressions += 1;
        if self.nested_expressions > DEPTH_MAX {
            return self.error(self.span(), "this message is nested too deeply");
        }
        self.expect("(", "before the fields")?;
        let inner = fields(self)?;
        self.expect(")", "after the fields")?;
        self.nested_expressions -= 1;
        Ok(inner)
    }

    fn field(&mut self) -> PromelaParseResult<ReceiveField> {
        let start = self.span();
        if self.accept("eval") {
            self.expect("(", "after `eval`")?;
            let value = self.expression()?;
            self.expect(")", "after the value")?;
            return Ok(ReceiveField::Match(value));
        }
        if self.accept("_") {
            return Ok(ReceiveField::Any(start));
        }
        if self.at("_pid")
            && let Some(process) = self.process
        {
            self.take();
            return Ok(ReceiveField::Into(self.own_pid(process, start)));
        }
        if self.at_any(&["_nr_pr", "_last", "_priority"]) {
            let error = format!("nothing can be received into {}", self.peek().kind);
            return self
                .error(start, error)
                .map_err(|it| it.help("receive into a variable, then use that"));
        }
        if self.accept("-") {
            let PromelaTokenKind::Number(value) = self.take().kind else {
                return self
                    .error(start, "a field of a receive is a variable, a constant or eval(...)");
            };
            let span = self.since(start);
            let number = PromelaExpr { kind: PromelaExprKind::Number(value), span };
            let kind = PromelaExprKind::Unary(UnaryOp::Negate, Box::new(number));
            return Ok(ReceiveField::Match(PromelaExpr { kind, span }));
        }
        let is_constant = match &self.peek().kind {
            PromelaTokenKind::Number(_) => true,
            PromelaTokenKind::Name(word) => {
                ["true", "false", "skip"].contains(&&**word)
                    || self.model.symbols.constants.contains_key(word)
            }
            _ => false,
        };
        match is_constant {
            true => Ok(ReceiveField::Match(self.primary()?)),
            false => self.target().map(ReceiveField::Into),
        }
    }

    /// Returns the variable that replaces `_pid` in a process that stores to `_pid`.
    fn own_pid(&mut self, process: usize, span: Span) -> PromelaReference {
        let symbols = &mut self.model.symbols.all;
        let symbol = *self.model.own_pids.entry(process).or_insert_with(|| {
            symbols.push(PromelaSymbol {
                name: PromelaName { text: "_pid_received".into(), span },
                basic: PromelaType::Byte,
                length: None,
                initial: PromelaInitializer::Zero,
                owner: Some(process),
                parameter: false,
                hidden: false,
                assigned: true,
                read: true,
            })
        });
        PromelaReference { symbol, index: None, fields: Vec::new(), span }
    }

    /// Parses the values of a send; `c!a(b, c)` is another spelling of `c!a, b, c`.
    pub(super) fn send_values(&mut self) -> PromelaParseResult<Vec<PromelaExpr>> {
        let mut values = vec![self.expression()?];
        loop {
            if self.at("(") {
                values.extend(self.in_brackets(Self::send_values)?);
                return Ok(values);
            }
            if !self.accept(",") {
                return Ok(values);
            }
            values.push(self.expression()?);
        }
    }

    /// Returns a reference as an expression.
    pub(super) fn read(&mut self, reference: PromelaReference) -> PromelaExpr {
        self.model.symbols.all[reference.symbol].read = true;
        let span: Span = reference.span;
        PromelaExpr { kind: PromelaExprKind::Variable(reference), span }
    }
}

/// Returns whether an expression is `empty`, `nempty`, `full` or `nfull`, or joins such predicates by `&&` and `||`.
fn asks_how_full(expr: &PromelaExpr) -> bool {
    match &expr.kind {
        PromelaExprKind::Probe(..) => true,
        PromelaExprKind::Binary(BinaryOp::And | BinaryOp::Or, left, right) => {
            asks_how_full(left) || asks_how_full(right)
        }
        _ => false,
    }
}
