//! Printing of types, values, expressions and places.

use super::NameScope;
use super::names::{PrintedNames, quoted};
use crate::{
    BinaryOp, CallArgument, ChannelId, ChannelRef, Domain, Expr, ExprKind, LocalId,
    NumberConversion, Place, PlaceRoot, PlaceSelector, ProcessId, Program, Quantifier,
    ReceivePattern, ScalarType, Type, TypeId, UnaryOp, VarId,
};
use std::collections::HashMap;
use std::fmt::Write;

/// A writer of parts of a program to a string.
pub(super) struct TextEmitter<'a> {
    pub(super) program: &'a Program,
    pub(super) names: &'a PrintedNames<'a>,
    /// The text that is written and not yet taken.
    pub(super) out: String,
    /// The number of spaces at the start of a line.
    pub(super) indent: usize,
    /// The process in whose scope the names are read.
    pub(super) process: Option<ProcessId>,
    /// The names and types of the locals in scope.
    locals: HashMap<LocalId, (String, TypeId)>,
    /// The result type of the function that is being written.
    pub(super) result: Option<TypeId>,
}

/// The operand that may be an operation of the same level without parentheses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Associativity {
    Left,
    Right,
    Neither,
}

/// The levels of operators, the weakest first.
mod level {
    pub(super) const CONDITIONAL: u8 = 0;
    pub(super) const IMPLIES: u8 = 1;
    pub(super) const OR: u8 = 2;
    pub(super) const AND: u8 = 3;
    pub(super) const BIT_OR: u8 = 4;
    pub(super) const BIT_XOR: u8 = 5;
    pub(super) const BIT_AND: u8 = 6;
    pub(super) const EQUALITY: u8 = 7;
    pub(super) const ORDER: u8 = 8;
    pub(super) const SHIFT: u8 = 9;
    pub(super) const SUM: u8 = 10;
    pub(super) const PRODUCT: u8 = 11;
    pub(super) const UNARY: u8 = 12;
}

/// Returns the symbol, the level and the associativity of an operator.
fn operator(binary: BinaryOp) -> (&'static str, u8, Associativity) {
    match binary {
        BinaryOp::Implies => ("->", level::IMPLIES, Associativity::Right),
        BinaryOp::Or => ("||", level::OR, Associativity::Left),
        BinaryOp::And => ("&&", level::AND, Associativity::Left),
        BinaryOp::BitOr => ("|", level::BIT_OR, Associativity::Left),
        BinaryOp::BitXor => ("^", level::BIT_XOR, Associativity::Left),
        BinaryOp::BitAnd => ("&", level::BIT_AND, Associativity::Left),
        BinaryOp::Equal => ("==", level::EQUALITY, Associativity::Neither),
        BinaryOp::NotEqual => ("!=", level::EQUALITY, Associativity::Neither),
        BinaryOp::Less => ("<", level::ORDER, Associativity::Neither),
        BinaryOp::LessEqual => ("<=", level::ORDER, Associativity::Neither),
        BinaryOp::Greater => (">", level::ORDER, Associativity::Neither),
        BinaryOp::GreaterEqual => (">=", level::ORDER, Associativity::Neither),
        BinaryOp::ShiftLeft => ("<<", level::SHIFT, Associativity::Left),
        BinaryOp::ShiftRight => (">>", level::SHIFT, Associativity::Left),
        BinaryOp::Add => ("+", level::SUM, Associativity::Left),
        BinaryOp::Subtract => ("-", level::SUM, Associativity::Left),
        BinaryOp::Multiply => ("*", level::PRODUCT, Associativity::Left),
        BinaryOp::Divide => ("/", level::PRODUCT, Associativity::Left),
        BinaryOp::Remainder => ("%", level::PRODUCT, Associativity::Left),
    }
}

/// The expected domain of a condition.
pub(super) const TRUTH: Option<&Domain> = Some(&Domain::Bool);

impl<'a> TextEmitter<'a> {
    pub(super) fn new(
        program: &'a Program,
        names: &'a PrintedNames<'a>,
        scope: &NameScope,
    ) -> Self {
        let mut emitter = Self {
            program,
            names,
            out: String::new(),
            indent: 0,
            process: None,
            locals: HashMap::new(),
            result: None,
        };
        emitter.enter(scope);
        emitter
    }

    /// Enters a scope.
    pub(super) fn enter(&mut self, scope: &NameScope) {
        self.process = scope.process;
        self.result = scope.result;
        self.locals.clear();
        for (at, (local, name, ty)) in scope.parameters.iter().enumerate() {
            let earlier = &scope.parameters[..at];
            let clashes = name.is_empty()
                || self.names.is_taken(name, scope.process)
                || earlier.iter().any(|(_, other, _)| other == name);
            let shown = match (clashes, name.is_empty()) {
                (false, _) => quoted(name),
                (true, false) => format!("{}${}", quoted(name), local.0),
                (true, true) => format!("${}", local.0),
            };
            self.locals.insert(*local, (shown, *ty));
        }
    }

    pub(super) fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    pub(super) fn number(&mut self, number: impl std::fmt::Display) {
        write!(self.out, "{number}").expect("a string takes everything");
    }

    /// Writes every item by `each`, with commas between.
    pub(super) fn list<T>(&mut self, items: impl IntoIterator<Item = T>, each: fn(&mut Self, T)) {
        for (at, item) in items.into_iter().enumerate() {
            if at > 0 {
                self.put(", ");
            }
            each(self, item);
        }
    }

    pub(super) fn ty(&mut self, id: TypeId) {
        match self.program.types.get(id) {
            None => {
                self.put("?type");
                self.number(id.0);
            }
            Some(Type::Scalar(scalar)) => self.scalar(scalar),
            Some(Type::Record { .. }) => self.put(self.names.record(id).unwrap_or("?record")),
            Some(Type::Array { low, length, by, element }) => {
                self.put("array [");
                self.number(low);
                self.put("..");
                self.number(i128::from(*low) + i128::from(*length) - 1);
                // Other names of indices do not change the meaning of the program.
                if let Some(by) = by.as_ref().filter(|it| it.is_permuted()) {
                    self.put(" by ");
                    self.domain(by);
                }
                self.put("] of ");
                self.ty(*element);
            }
            Some(Type::Multiset { capacity, element }) => {
                self.put("multiset [");
                self.number(capacity);
                self.put("] of ");
                self.ty(*element);
            }
        }
    }

    fn scalar(&mut self, scalar: &ScalarType) {
        self.domain(&scalar.domain);
        if scalar.undefined {
            self.put(" or undefined");
        }
    }

    fn domain(&mut self, domain: &Domain) {
        match domain {
            Domain::Bool => self.put("bool"),
            Domain::Range { low, high } => {
                self.number(low);
                self.put("..");
                self.number(high);
            }
            Domain::Enum(id) => self.put(&self.names.enumeration(*id)),
            Domain::Scalarset(id) => self.put(&self.names.scalarset(*id)),
            Domain::Union(parts) => {
                self.put("union(");
                self.list(parts, Self::domain);
                self.put(")");
            }
            Domain::Channel => self.put("channel"),
            Domain::Process => self.put("process"),
        }
    }

    /// Writes a value, by its name if the expected domain has one.
    pub(super) fn value(&mut self, value: i64, expected: Option<&Domain>) {
        match expected.and_then(|domain| self.names.value(domain, value)) {
            Some(name) => self.put(name),
            None => self.number(value),
        }
    }

    pub(super) fn local(&mut self, local: LocalId) {
        match self.locals.get(&local) {
            Some((name, _)) => self.out.push_str(name),
            None => {
                self.put("$");
                self.number(local.0);
            }
        }
    }

    /// Binds a local to the values of a type.
    pub(super) fn bind(&mut self, local: LocalId, over: TypeId) {
        self.locals.entry(local).or_insert_with(|| (format!("${}", local.0), over));
    }

    /// Declares a local variable or an alias, with a name that is unique here.
    pub(super) fn declare(&mut self, local: LocalId, name: &str, ty: Option<TypeId>) {
        let plain = quoted(name);
        let clashes = self.names.is_taken(name, self.process)
            || self.locals.values().any(|(other, _)| *other == plain);
        let shown = if clashes { format!("{plain}${}", local.0) } else { plain };
        if let Some(ty) = ty {
            self.locals.insert(local, (shown, ty));
        }
    }

    /// Returns the domain of a scalar type.
    pub(super) fn domain_of_type(&self, ty: TypeId) -> Option<&'a Domain> {
        match self.program.types.get(ty)? {
            Type::Scalar(scalar) => Some(&scalar.domain),
            _ => None,
        }
    }

    /// Returns the domain of the scalar at a place.
    pub(super) fn domain_of_place(&self, place: &Place) -> Option<&'a Domain> {
        self.domain_of_type(self.type_of_place(place)?)
    }

    /// Returns the domain of the elements of the multiset at a place.
    pub(super) fn domain_of_element(&self, place: &Place) -> Option<&'a Domain> {
        match self.program.types.get(self.type_of_place(place)?)? {
            Type::Multiset { element, .. } => self.domain_of_type(*element),
            _ => None,
        }
    }

    fn type_of_root(&self, root: PlaceRoot) -> Option<TypeId> {
        match root {
            PlaceRoot::Variable(variable) => Some(self.program.variables.get(variable)?.ty),
            PlaceRoot::Local(local) => Some(self.locals.get(&local)?.1),
        }
    }

    pub(super) fn type_of_place(&self, place: &Place) -> Option<TypeId> {
        let mut ty = self.type_of_root(place.root)?;
        for selector in &place.path {
            ty = match (self.program.types.get(ty)?, selector) {
                (Type::Record { fields, .. }, PlaceSelector::Field(field)) => {
                    fields.get(*field as usize)?.1
                }
                (Type::Array { element, .. } | Type::Multiset { element, .. }, _) => *element,
                _ => return None,
            };
        }
        Some(ty)
    }

    /// Returns the domain of an expression's value, if its form shows it.
    pub(super) fn domain_of(&self, expr: &Expr) -> Option<&'a Domain> {
        match &expr.kind {
            ExprKind::Read(place) => self.domain_of_place(place),
            ExprKind::Local(local) => self.domain_of_type(self.locals.get(local)?.1),
            ExprKind::Call(function, _) => {
                self.domain_of_type(self.program.functions.get(*function)?.result?)
            }
            _ => None,
        }
    }

    pub(super) fn condition(&mut self, expr: &Expr) {
        self.expr(expr, level::CONDITIONAL, TRUTH);
    }

    pub(super) fn plain(&mut self, expr: &Expr) {
        self.expr(expr, level::CONDITIONAL, None);
    }

    pub(super) fn expected(&mut self, expr: &Expr, expected: Option<&Domain>) {
        self.expr(expr, level::CONDITIONAL, expected);
    }

    /// Writes `expr` where only operations of level `least` and above need no parentheses.
    fn expr(&mut self, expr: &Expr, least: u8, expected: Option<&Domain>) {
        match &expr.kind {
            ExprKind::Constant(value) => self.value(*value, expected),
            ExprKind::Unary(unary, operand) => self.unary(*unary, operand),
            ExprKind::Binary(binary, ..) => {
                let level = operator(*binary).1;
                self.enclosed(level < least, |this| this.binary(expr, level));
            }
            ExprKind::Conditional(condition, then, otherwise) => {
                self.enclosed(least > level::CONDITIONAL, |this| {
                    this.expr(condition, level::CONDITIONAL + 1, TRUTH);
                    this.put(" ? ");
                    this.expected(then, expected);
                    this.put(" : ");
                    this.expected(otherwise, expected);
                });
            }
            _ => self.atom(&expr.kind),
        }
    }

    fn enclosed(&mut self, needed: bool, inside: impl FnOnce(&mut Self)) {
        if needed {
            self.put("(");
        }
        inside(self);
        if needed {
            self.put(")");
        }
    }

    /// Writes a unary operation. A minus before a number or another minus gets parentheses, so that `-1` is a
    /// constant.
    fn unary(&mut self, unary: UnaryOp, operand: &Expr) {
        let (symbol, expected) = match unary {
            UnaryOp::Negate => ("-", None),
            UnaryOp::Not => ("!", TRUTH),
            UnaryOp::Complement => ("~", None),
        };
        let ambiguous =
            matches!(operand.kind, ExprKind::Constant(_) | ExprKind::Unary(UnaryOp::Negate, _))
                && unary == UnaryOp::Negate;
        self.put(symbol);
        self.enclosed(ambiguous, |this| this.expr(operand, level::UNARY, expected));
    }

    /// Writes binary operations. Left-associative operations of one level are written from a list, without recursion.
    /// So a conjunction of thousands takes no more stack than one of two.
    fn binary(&mut self, expr: &Expr, level: u8) {
        let mut chain = Vec::new();
        let mut first = expr;
        while let ExprKind::Binary(binary, left, right) = &first.kind {
            let (symbol, its_level, side) = operator(*binary);
            if its_level != level || side != Associativity::Left && !chain.is_empty() {
                break;
            }
            chain.push((symbol, side, right, self.operand_domain(*binary, left, right)));
            first = left;
        }
        for (at, (symbol, side, right, domain)) in chain.into_iter().rev().enumerate() {
            if at == 0 {
                self.expr(first, level + u8::from(side != Associativity::Left), domain);
            }
            self.put(" ");
            self.put(symbol);
            self.put(" ");
            self.expr(right, level + u8::from(side != Associativity::Right), domain);
        }
    }

    /// Returns the expected domain of the operands.
    fn operand_domain(&self, binary: BinaryOp, left: &Expr, right: &Expr) -> Option<&'a Domain> {
        match binary {
            BinaryOp::And | BinaryOp::Or | BinaryOp::Implies => TRUTH,
            BinaryOp::Equal
            | BinaryOp::NotEqual
            | BinaryOp::Less
            | BinaryOp::LessEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterEqual => self.domain_of(left).or_else(|| self.domain_of(right)),
            _ => None,
        }
    }

    fn atom(&mut self, kind: &ExprKind) {
        match kind {
            ExprKind::Undefined => self.put("undefined"),
            ExprKind::Read(place) => self.place(place),
            ExprKind::Local(local) => self.local(*local),
            ExprKind::At { process, slot, location } => {
                self.put(&self.names.process(*process));
                self.slot(slot.as_deref());
                self.put("@");
                self.put(&self.names.location(*process, *location));
            }
            ExprKind::Length(channel) => self.about_channel("length", channel),
            ExprKind::IsEmpty(channel) => self.about_channel("empty", channel),
            ExprKind::IsFull(channel) => self.about_channel("full", channel),
            ExprKind::CanReceive(channel, patterns, anywhere) => {
                self.put(if *anywhere { "canreceive any " } else { "canreceive " });
                self.channel(channel);
                self.patterns(channel, patterns);
            }
            ExprKind::IsUndefined(place) => {
                self.put("isundefined(");
                self.place(place);
                self.put(")");
            }
            ExprKind::Quantified { quantifier, local, over, body } => {
                self.quantified(*quantifier, *local, *over, body);
            }
            ExprKind::Count { multiset, local, body } => {
                self.put("count ");
                self.local(*local);
                self.put(" in ");
                self.place(multiset);
                self.put(" (");
                self.condition(body);
                self.put(")");
            }
            ExprKind::Same(left, right) => {
                let domain = self.domain_of(left).or_else(|| self.domain_of(right));
                self.put("same(");
                self.expected(left, domain);
                self.put(", ");
                self.expected(right, domain);
                self.put(")");
            }
            ExprKind::Contains(contains) => {
                self.put("contains(");
                self.place(&contains.multiset);
                self.put(", ");
                self.plain(&contains.position);
                self.put(")");
            }
            ExprKind::Convert(convert) => self.convert(convert),
            ExprKind::Call(function, arguments) => self.call(*function, arguments),
            ExprKind::ChannelNumber(channel) => self.about_channel("number", channel),
            ExprKind::SlotOf(process, pid) => {
                self.put("slot(");
                self.put(&self.names.process(*process));
                self.put(", ");
                self.plain(pid);
                self.put(")");
            }
            ExprKind::Enabled(pid) => self.about_process("enabled", pid),
            ExprKind::PriorityOf(pid) => self.about_process("priority", pid),
            ExprKind::Self_ => self.put("self"),
            ExprKind::Processes => self.put("processes"),
            ExprKind::Timeout => self.put("timeout"),
            ExprKind::Constant(_)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Conditional(..) => unreachable!("operations are written by their levels"),
        }
    }

    fn quantified(&mut self, quantifier: Quantifier, local: LocalId, over: TypeId, body: &Expr) {
        self.put(match quantifier {
            Quantifier::All => "forall ",
            Quantifier::Some => "exists ",
        });
        self.bind(local, over);
        self.local(local);
        self.put(": ");
        self.ty(over);
        self.put(" (");
        self.condition(body);
        self.put(")");
    }

    /// Writes `convert(x, 0..2 + 1, 3..3 - 3)`: each piece with its offset.
    fn convert(&mut self, convert: &NumberConversion) {
        self.put("convert(");
        self.plain(&convert.operand);
        for piece in &convert.pieces {
            self.put(&format!(", {}..{}", piece.low, piece.high));
            match piece.by {
                0 => {}
                by if by > 0 => self.put(&format!(" + {by}")),
                by => self.put(&format!(" - {}", by.unsigned_abs())),
            }
        }
        self.put(")");
    }

    fn about_process(&mut self, word: &str, pid: &Expr) {
        self.put(word);
        self.put("(");
        self.plain(pid);
        self.put(")");
    }

    fn about_channel(&mut self, word: &str, channel: &ChannelRef) {
        self.put(word);
        self.put("(");
        self.channel(channel);
        self.put(")");
    }

    pub(super) fn call(&mut self, function: crate::FunctionId, arguments: &[CallArgument]) {
        self.put(&self.names.function(function));
        self.put("(");
        let parameters = self.program.functions.get(function).map_or(&[][..], |f| &f.parameters);
        for (at, argument) in arguments.iter().enumerate() {
            if at > 0 {
                self.put(", ");
            }
            let ty = parameters.get(at).map(|parameter| parameter.ty);
            self.argument(argument, ty.and_then(|ty| self.domain_of_type(ty)));
        }
        self.put(")");
    }

    pub(super) fn argument(&mut self, argument: &CallArgument, expected: Option<&Domain>) {
        match argument {
            CallArgument::Value(value) => self.expected(value, expected),
            CallArgument::Copy(place) => {
                self.put("copy ");
                self.place(place);
            }
            CallArgument::Reference(place) => {
                self.put("ref ");
                self.place(place);
            }
        }
    }

    fn slot(&mut self, slot: Option<&Expr>) {
        if let Some(slot) = slot {
            self.put("[");
            self.plain(slot);
            self.put("]");
        }
    }

    pub(super) fn place(&mut self, place: &Place) {
        match place.root {
            PlaceRoot::Variable(variable) => self.root(variable, place.slot.as_deref()),
            PlaceRoot::Local(local) => self.local(local),
        }
        let mut ty = self.type_of_root(place.root);
        for selector in &place.path {
            let aggregate = ty.and_then(|ty| self.program.types.get(ty));
            match selector {
                PlaceSelector::Index(index) => {
                    self.slot(Some(index));
                    ty = match aggregate {
                        Some(Type::Array { element, .. } | Type::Multiset { element, .. }) => {
                            Some(*element)
                        }
                        _ => None,
                    };
                }
                PlaceSelector::Field(field) => {
                    self.put(".");
                    self.put(
                        &ty.map_or_else(|| field.to_string(), |t| self.names.field(t, *field)),
                    );
                    ty = match aggregate {
                        Some(Type::Record { fields, .. }) => {
                            fields.get(*field as usize).map(|(_, ty)| *ty)
                        }
                        _ => None,
                    };
                }
            }
        }
    }

    /// Writes the variable of a place, with its owner if necessary.
    fn root(&mut self, variable: VarId, slot: Option<&Expr>) {
        let process = if slot.is_some() { None } else { self.process };
        if let Some(owner) = self.names.variable_owner(variable, process) {
            self.put(&self.names.process(owner));
            self.slot(slot);
            self.put(".");
        }
        self.put(&self.names.bare_variable(variable));
    }

    fn named_channel(&mut self, id: ChannelId) {
        if let Some(owner) = self.names.channel_owner(id, self.process) {
            self.put(&self.names.process(owner));
            self.put(".");
        }
        self.put(&self.names.bare_channel(id));
    }

    pub(super) fn channel(&mut self, channel: &ChannelRef) {
        match channel {
            ChannelRef::Named(id) => self.named_channel(*id),
            ChannelRef::Element { first, count, index } => {
                self.named_channel(*first);
                self.put(" of ");
                self.number(*count);
                self.put(" [");
                self.plain(index);
                self.put("]");
            }
            ChannelRef::Computed(number) => {
                self.put("channel[");
                self.plain(number);
                self.put("]");
            }
        }
    }

    /// Returns the domain of a field, if the channel is known.
    fn field_domain(&self, channel: &ChannelRef, field: usize) -> Option<&'a Domain> {
        match channel {
            ChannelRef::Named(id) | ChannelRef::Element { first: id, .. } => {
                self.named_field_domain(*id, field)
            }
            ChannelRef::Computed(_) => None,
        }
    }

    fn named_field_domain(&self, channel: ChannelId, field: usize) -> Option<&'a Domain> {
        self.domain_of_type(*self.program.channels.get(channel)?.fields.get(field)?)
    }

    pub(super) fn message(&mut self, channel: &ChannelRef, values: &[Expr]) {
        self.put("(");
        for (at, value) in values.iter().enumerate() {
            if at > 0 {
                self.put(", ");
            }
            self.expected(value, self.field_domain(channel, at));
        }
        self.put(")");
    }

    pub(super) fn patterns(&mut self, channel: &ChannelRef, patterns: &[ReceivePattern]) {
        self.put("(");
        for (at, pattern) in patterns.iter().enumerate() {
            if at > 0 {
                self.put(", ");
            }
            match pattern {
                ReceivePattern::Into(place) => self.place(place),
                ReceivePattern::Match(value) => {
                    self.put("== ");
                    self.expected(value, self.field_domain(channel, at));
                }
                ReceivePattern::Any => self.put("_"),
            }
        }
        self.put(")");
    }
}
