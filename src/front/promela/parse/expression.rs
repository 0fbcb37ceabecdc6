//! Expressions and references.

use super::{Parsed, Parser};
use crate::front::promela::ast::{Expr, ExprKind, Field, Name, Probe, Reference};
use crate::front::promela::symbols::{Basic, Initial, Symbol};
use crate::front::promela::token::Kind;
use crate::ir::{Binary, Unary};
use crate::source::Span;
use std::rc::Rc;

/// The operators of two operands, weakest first.
const LEVELS: [&[(&str, Binary)]; 10] = [
    &[("||", Binary::Or)],
    &[("&&", Binary::And)],
    &[("|", Binary::BitOr)],
    &[("^", Binary::BitXor)],
    &[("&", Binary::BitAnd)],
    &[("==", Binary::Equal), ("!=", Binary::NotEqual)],
    &[
        ("<", Binary::Less),
        (">", Binary::Greater),
        ("<=", Binary::LessEqual),
        (">=", Binary::GreaterEqual),
    ],
    &[("<<", Binary::ShiftLeft), (">>", Binary::ShiftRight)],
    &[("+", Binary::Add), ("-", Binary::Subtract)],
    &[("*", Binary::Multiply), ("/", Binary::Divide), ("%", Binary::Remainder)],
];

/// The last of the levels whose operands may be questions about how full a channel is.
const LOGIC: usize = 1;

/// The first of the levels whose operands are numbers.
const ARITHMETIC: usize = 7;

/// The deepest nest of expressions.
const DEPTH_MAX: u32 = 200;
/// The most operators of one level in a row.
const OPERATORS_MAX: u32 = 1000;

impl Parser {
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        self.binary(0, None)
    }

    /// The rest of an expression that begins with a reference.
    pub(super) fn expression_from(&mut self, first: Expr) -> Parsed<Expr> {
        self.binary(0, Some(first))
    }

    /// An expression of operators of at least this level.
    fn binary(&mut self, least: usize, first: Option<Expr>) -> Parsed<Expr> {
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
                self.is_value(&left)?;
                self.is_value(&right)?;
            }
            if level >= ARITHMETIC {
                self.is_number(&left)?;
                self.is_number(&right)?;
            }
            let span = match left.span.file == right.span.file {
                true => left.span.to(right.span),
                false => left.span,
            };
            left = Expr { kind: ExprKind::Binary(operator, Box::new(left), Box::new(right)), span };
        }
        Ok(left)
    }

    /// The operator that stands here, and its level.
    fn operator(&self) -> Option<(usize, Binary)> {
        let Kind::Sign(here) = self.peek().kind else { return None };
        LEVELS.iter().enumerate().find_map(|(level, operators)| {
            let found = operators.iter().find(|(sign, _)| *sign == here);
            found.map(|&(_, operator)| (level, operator))
        })
    }

    fn is_number(&self, operand: &Expr) -> Parsed<()> {
        match &operand.kind {
            ExprKind::Variable(reference) if self.part_of(reference).0 == Some(Basic::Channel) => {
                self.error(operand.span, "a channel is no number to compute with")
            }
            _ => Ok(()),
        }
    }

    /// Questions about how full a channel is are joined by `&&` and `||` alone: SPIN's partial order
    /// reduction counts on it.
    fn is_value(&self, operand: &Expr) -> Parsed<()> {
        match asks_how_full(operand) {
            false => Ok(()),
            true => self
                .error(operand.span, "what asks how full a channel is can be no operand here")
                .map_err(|it| {
                    it.help("write nempty for !empty, nfull for !full, and the other way round")
                }),
        }
    }

    fn unary(&mut self) -> Parsed<Expr> {
        self.nested_expressions += 1;
        if self.nested_expressions > DEPTH_MAX {
            return self.error(self.span(), "this expression is nested too deeply");
        }
        let operand = self.unary_within();
        self.nested_expressions -= 1;
        operand
    }

    fn unary_within(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let operators: &[Unary] = match &self.peek().kind {
            Kind::Sign("-") => &[Unary::Negate],
            Kind::Sign("!") => &[Unary::Not],
            Kind::Sign("!!") => &[Unary::Not, Unary::Not],
            Kind::Sign("~") => &[Unary::Complement],
            Kind::Sign("(") => return self.bracketed(),
            _ => return self.primary(),
        };
        self.take();
        let mut operand = self.unary()?;
        self.is_value(&operand)?;
        for &operator in operators {
            let span = self.since(start);
            operand = Expr { kind: ExprKind::Unary(operator, Box::new(operand)), span };
        }
        Ok(operand)
    }

    fn bracketed(&mut self) -> Parsed<Expr> {
        let start = self.take().span;
        let inner = self.expression()?;
        let kind = match self.accept("->") {
            false => inner.kind,
            true => {
                let then = self.expression()?;
                self.expect(":", "before the other value")?;
                let otherwise = self.expression()?;
                [&inner, &then, &otherwise].into_iter().try_for_each(|it| self.is_value(it))?;
                ExprKind::Conditional(Box::new(inner), Box::new(then), Box::new(otherwise))
            }
        };
        self.expect(")", "to close the bracket")?;
        Ok(Expr { kind, span: self.since(start) })
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let kind = match self.peek().kind.clone() {
            Kind::Number(value) => {
                self.take();
                ExprKind::Number(value)
            }
            Kind::Name(word) => match self.special(&word)? {
                Some(kind) => kind,
                None => return self.variable_or_remote(),
            },
            _ => return self.unexpected("an expression"),
        };
        Ok(Expr { kind, span: self.since(start) })
    }

    /// What begins with a keyword or a predefined name.
    fn special(&mut self, word: &str) -> Parsed<Option<ExprKind>> {
        if let Some(&value) = self.model.symbols.constants.get(word) {
            self.take();
            return Ok(Some(ExprKind::Symbol(value)));
        }
        let plain = match word {
            "true" | "skip" => ExprKind::Number(1),
            "false" => ExprKind::Number(0),
            "timeout" => ExprKind::Timeout,
            "np_" => ExprKind::NonProgress,
            "_pid" => ExprKind::Pid,
            "_nr_pr" => ExprKind::Processes,
            "_last" => {
                self.model.uses_last = true;
                ExprKind::Last
            }
            "_" => ExprKind::Scratch,
            "_priority" => {
                let span = self.span();
                ExprKind::Priority(Box::new(Expr { kind: ExprKind::Pid, span }))
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

    fn run(&mut self) -> Parsed<ExprKind> {
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
        Ok(ExprKind::Run { process, arguments, priority })
    }

    fn probe(&mut self, word: &str) -> Parsed<ExprKind> {
        self.take();
        self.expect("(", "before the channel")?;
        let channel = self.reference()?;
        self.expect(")", "after the channel")?;
        let probe = match word {
            "len" => return Ok(ExprKind::Length(channel)),
            "empty" => Probe::Empty,
            "nempty" => Probe::NotEmpty,
            "full" => Probe::Full,
            _ => Probe::NotFull,
        };
        Ok(ExprKind::Probe(probe, channel))
    }

    fn question(&mut self, word: &str) -> Parsed<ExprKind> {
        self.take();
        self.expect("(", "before the number of a process")?;
        let pid = Box::new(self.expression()?);
        self.expect(")", "after the number of a process")?;
        Ok(match word {
            "enabled" => ExprKind::Enabled(pid),
            "pc_value" => ExprKind::PcValue(pid),
            _ => ExprKind::Priority(pid),
        })
    }

    fn variable_or_remote(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let known = self.peek().name().is_some_and(|name| self.look_up(name).is_some());
        if !known && self.at_remote() {
            return self.remote();
        }
        let reference = self.reference()?;
        let poll = self.at_any(&["?", "??"]) && self.peek_at(1).is("[");
        if !poll {
            self.model.symbols.all[reference.symbol].read = true;
            return Ok(Expr { span: reference.span, kind: ExprKind::Variable(reference) });
        }
        self.is_channel(&reference)?;
        let anywhere = self.take().is("??");
        self.take();
        let fields = self.receive_fields(&["]"])?;
        self.expect("]", "after the fields")?;
        let kind = ExprKind::Poll { channel: reference, fields, anywhere };
        Ok(Expr { kind, span: self.since(start) })
    }

    fn at_remote(&self) -> bool {
        let Some(name) = self.peek().name() else { return false };
        let process = self.model.processes.iter().any(|process| process.name.text == *name);
        self.next_is("@") || process && (self.next_is("[") || self.next_is(":"))
    }

    fn remote(&mut self) -> Parsed<Expr> {
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
            ExprKind::At { process, pid, label }
        } else {
            self.expect(":", "or `@` after the process")?;
            let mut path = Vec::new();
            loop {
                path.push(self.part()?);
                if !self.accept(".") {
                    break;
                }
            }
            ExprKind::Remote { process, pid, path }
        };
        Ok(Expr { kind, span: self.since(start) })
    }

    /// A name, and its index if it has one.
    fn part(&mut self) -> Parsed<(Name, Option<Expr>)> {
        let name = self.name("the name of a variable")?;
        let mut index = None;
        if self.accept("[") {
            index = Some(self.expression()?);
            self.expect("]", "after the index")?;
        }
        Ok((name, index))
    }

    /// A variable or a part of one, but no whole array.
    pub(super) fn reference(&mut self) -> Parsed<Reference> {
        let reference = self.any_reference()?;
        match self.part_of(&reference).1 {
            None => Ok(reference),
            Some(array) => {
                let error = format!("{array} is an array: an index is missing");
                self.error(reference.span, error)
            }
        }
    }

    /// What a reference names, if it can be known, and the first array on the way without an index.
    pub(super) fn part_of(&self, reference: &Reference) -> (Option<Basic>, Option<Rc<str>>) {
        let symbols = &self.model.symbols;
        let symbol = &symbols.all[reference.symbol];
        let (mut basic, mut whole) = (symbol.basic, None);
        if symbol.length.is_some() && reference.index.is_none() {
            whole = Some(symbol.name.text.clone());
        }
        for (name, index) in &reference.fields {
            let Basic::Struct(number) = basic else { return (None, whole) };
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

    /// Only channels take part in communication.
    pub(super) fn is_channel(&self, reference: &Reference) -> Parsed<()> {
        match self.part_of(reference).0 {
            None | Some(Basic::Channel) => Ok(()),
            Some(_) => {
                let name = &self.model.symbols.all[reference.symbol].name.text;
                let error = format!("{name} is no channel: its type is not chan");
                self.error(reference.span, error)
            }
        }
    }

    /// A variable or a part of one.
    pub(super) fn any_reference(&mut self) -> Parsed<Reference> {
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
        Ok(Reference { symbol, index: index.map(Box::new), fields, span })
    }

    /// A reference that is stored to.
    pub(super) fn target(&mut self) -> Parsed<Reference> {
        let reference = self.reference()?;
        self.model.symbols.all[reference.symbol].assigned = true;
        Ok(reference)
    }

    /// What a receive does with each field; `c?a(b, c)` is another way to write `c?a, b, c`.
    pub(super) fn receive_fields(&mut self, until: &[&str]) -> Parsed<Vec<Field>> {
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

    /// The fields of a message in brackets, which nest no deeper than expressions.
    fn in_brackets<T>(&mut self, fields: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
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

    fn field(&mut self) -> Parsed<Field> {
        let start = self.span();
        if self.accept("eval") {
            self.expect("(", "after `eval`")?;
            let value = self.expression()?;
            self.expect(")", "after the value")?;
            return Ok(Field::Match(value));
        }
        if self.accept("_") {
            return Ok(Field::Any(start));
        }
        if self.at("_pid")
            && let Some(process) = self.process
        {
            self.take();
            return Ok(Field::Into(self.own_pid(process, start)));
        }
        if self.at_any(&["_nr_pr", "_last", "_priority"]) {
            let error = format!("nothing can be received into {}", self.peek().kind);
            return self
                .error(start, error)
                .map_err(|it| it.help("receive into a variable, then use that"));
        }
        if self.accept("-") {
            let Kind::Number(value) = self.take().kind else {
                return self
                    .error(start, "a field of a receive is a variable, a constant or eval(...)");
            };
            let span = self.since(start);
            let number = Expr { kind: ExprKind::Number(value), span };
            let kind = ExprKind::Unary(Unary::Negate, Box::new(number));
            return Ok(Field::Match(Expr { kind, span }));
        }
        let is_constant = match &self.peek().kind {
            Kind::Number(_) => true,
            Kind::Name(word) => {
                ["true", "false", "skip"].contains(&&**word)
                    || self.model.symbols.constants.contains_key(word)
            }
            _ => false,
        };
        match is_constant {
            true => Ok(Field::Match(self.primary()?)),
            false => self.target().map(Field::Into),
        }
    }

    /// The variable that a process has in the place of `_pid`, as something is stored to that.
    fn own_pid(&mut self, process: usize, span: Span) -> Reference {
        let symbols = &mut self.model.symbols.all;
        let symbol = *self.model.own_pids.entry(process).or_insert_with(|| {
            symbols.push(Symbol {
                name: Name { text: "_pid_received".into(), span },
                basic: Basic::Byte,
                length: None,
                initial: Initial::Zero,
                owner: Some(process),
                parameter: false,
                hidden: false,
                assigned: true,
                read: true,
            })
        });
        Reference { symbol, index: None, fields: Vec::new(), span }
    }

    /// What is sent: `c!a(b, c)` is another way to write `c!a, b, c`.
    pub(super) fn send_values(&mut self) -> Parsed<Vec<Expr>> {
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

    /// A reference as an expression.
    pub(super) fn read(&mut self, reference: Reference) -> Expr {
        self.model.symbols.all[reference.symbol].read = true;
        let span: Span = reference.span;
        Expr { kind: ExprKind::Variable(reference), span }
    }
}

/// Whether an expression is `empty`, `nempty`, `full` or `nfull`, or joins such by `&&` and `||`.
fn asks_how_full(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Probe(..) => true,
        ExprKind::Binary(Binary::And | Binary::Or, left, right) => {
            asks_how_full(left) || asks_how_full(right)
        }
        _ => false,
    }
}
