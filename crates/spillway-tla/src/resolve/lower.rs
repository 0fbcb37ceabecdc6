//! Expressions: syntax tree to resolved tree.

use super::expr::{
    Argument, Bound, CaseArm, ExceptStep, ExceptUpdate, ExprKind, Pattern, QuantifierKind,
    RecordField,
};
use super::ids::{ExprId, Slot, VariableId};
use super::lowering::{
    BOUND_VARIABLES, BoundName, DefinitionLowering, FunctionText, Reference, TextContext, binary,
    unary,
};
use super::names::{EntryId, LocalId, Scope, Symbol, Text};
use super::resolver::Resolver;
use super::tree::{Level, Parameter, Variable};
use crate::syntax::ast::{
    self, Argument as ArgumentText, Declaration, DefinitionBody, Expr as Text_, ExprKind as Kind,
    Name,
};
use crate::syntax::symbols::Symbol as Token;
use spillway_base::numbers::count;
use spillway_base::source::Span;

impl<'a> Resolver<'a> {
    /// Builds the bodies of all entries that are used.
    pub(super) fn build_pending(&mut self) {
        while let Some(entry) = self.pending.pop_front() {
            self.build_entry(entry);
        }
    }

    fn build_entry(&mut self, id: EntryId) {
        let entry = self.entry(id);
        let (text, scope, leading) = (entry.text, entry.scope.clone(), entry.leading.clone());
        let closed = entry.closed.clone();
        let definition = self.definition_of(id);
        let mut lowering = DefinitionLowering::new(self, closed);
        let mut parameters: Vec<LocalId> = leading;
        parameters.iter().for_each(|&it| {
            lowering.frame.bind(it);
        });
        let (scope, own) = lowering.bind_parameters(text, scope);
        parameters.extend(own);
        let body = lowering.body(text, &scope, id);
        let names = lowering.frame.locals().to_vec();
        let names: Vec<String> = names.iter().map(|&it| self.local(it).name.to_string()).collect();
        let parameters = parameters.iter().map(|&it| self.parameter(it)).collect();
        let built = &mut self.definitions[definition.index()];
        (built.parameters, built.slots, built.body) = (parameters, names.len() as u32, body);
        built.slot_names = names;
    }

    fn parameter(&self, id: LocalId) -> Parameter {
        let local = self.local(id);
        let (name, span, arity) = (local.name.to_string(), local.span, local.arity);
        Parameter { name, span, arity, level_max: Level::Temporal, is_level_counted: false }
    }
}

impl<'a> DefinitionLowering<'_, 'a> {
    /// Binds the parameters of an entry.
    fn bind_parameters(&mut self, text: Text<'a>, mut scope: Scope) -> (Scope, Vec<LocalId>) {
        let mut own = Vec::new();
        match text {
            Text::Definition(definition) => {
                for Declaration { name, arity } in &definition.parameters {
                    scope = self.declare(&scope, name, *arity, &mut own);
                }
            }
            Text::Argument(ArgumentText::Lambda { parameters, .. }) => {
                for name in parameters {
                    scope = self.declare(&scope, name, 0, &mut own);
                }
            }
            Text::Argument(ArgumentText::Symbol { symbol, span }) => {
                for index in 0..symbol.arity() {
                    let local = self.resolver.new_local(&format!("x{index}"), *span, 0);
                    own.push(local);
                }
            }
            Text::Argument(ArgumentText::Expression(_)) | Text::Formula(_) => {}
        }
        for &local in &own {
            self.frame.bind(local);
        }
        (scope, own)
    }

    fn declare(
        &mut self,
        scope: &Scope,
        name: &Name,
        arity: usize,
        own: &mut Vec<LocalId>,
    ) -> Scope {
        self.resolver.check_new_name(scope, name);
        let local = self.resolver.new_local(&name.text, name.span, arity);
        own.push(local);
        scope.with(&name.text, Symbol::Local(local))
    }

    fn body(&mut self, text: Text<'a>, scope: &Scope, id: EntryId) -> ExprId {
        match text {
            Text::Definition(definition) => match &definition.body {
                DefinitionBody::Operator(body) => self.expr(body, scope),
                DefinitionBody::Function { bounds, body } => {
                    let function = FunctionText { name: &definition.name, bounds, body };
                    self.function_definition(function, scope)
                }
                DefinitionBody::Instance(instance) => self.dummy(instance.span),
            },
            Text::Argument(ArgumentText::Expression(body)) | Text::Formula(body) => {
                self.expr(body, scope)
            }
            Text::Argument(ArgumentText::Lambda { body, .. }) => self.expr(body, scope),
            Text::Argument(ArgumentText::Symbol { symbol, span }) => {
                let operands = (0..symbol.arity())
                    .map(|it| self.push(ExprKind::Local(Slot(it as u32 + self.leading(id))), *span))
                    .collect();
                self.operator(*symbol, operands, TextContext { at: *span, span: *span, scope })
            }
        }
    }

    fn leading(&self, id: EntryId) -> u32 {
        self.resolver.entry(id).leading.len() as u32
    }

    pub(super) fn exprs(&mut self, items: &'a [Text_], scope: &Scope) -> Vec<ExprId> {
        items.iter().map(|it| self.expr(it, scope)).collect()
    }

    /// Builds an expression.
    pub(super) fn expr(&mut self, text: &'a Text_, scope: &Scope) -> ExprId {
        let span = text.span;
        let kind = match &text.kind {
            Kind::Number(number) => self.number(number, span),
            Kind::String(string) => ExprKind::String(self.resolver.intern(string)),
            Kind::At => match scope.local("@") {
                Some(Symbol::Local(local)) => ExprKind::Local(self.slot(local)),
                _ => {
                    self.error(span, "`@` is used outside EXCEPT", "it is the old value in EXCEPT");
                    ExprKind::Boolean(false)
                }
            },
            Kind::Path(path) => return self.path(path, span, scope),
            Kind::Parenthesized(inner) | Kind::Labelled { body: inner, .. } => {
                return self.expr(inner, scope);
            }
            Kind::Prefix { symbol: Token::Enabled, .. } if self.substitutes_expressions(scope) => {
                // The primed variables of the action are not those of the substituted expressions.
                let name = "ENABLED in an instance that substitutes expressions for variables";
                let (name, arguments) = (name.to_owned(), Vec::new());
                ExprKind::Undefined { name, level: Level::State, arguments }
            }
            Kind::Prefix { symbol, at, operand } | Kind::Postfix { symbol, at, operand } => {
                let operands = vec![self.expr(operand, scope)];
                return self.operator(*symbol, operands, TextContext { at: *at, span, scope });
            }
            Kind::Infix { symbol, at, left, right } => {
                let operands = vec![self.expr(left, scope), self.expr(right, scope)];
                return self.operator(*symbol, operands, TextContext { at: *at, span, scope });
            }
            Kind::Junction { symbol: Token::And, items, .. } => {
                ExprKind::And(self.exprs(items, scope))
            }
            Kind::Junction { items, .. } => ExprKind::Or(self.exprs(items, scope)),
            Kind::Product(items) => ExprKind::Product(self.exprs(items, scope)),
            Kind::Let { definitions, body } => return self.let_in(definitions, body, scope),
            Kind::Step => {
                self.error(span, "a step of a proof is no expression", "use a formula");
                ExprKind::Boolean(false)
            }
            Kind::Quantified { .. }
            | Kind::Unbounded { .. }
            | Kind::Choose { .. }
            | Kind::SetFilter { .. }
            | Kind::SetMap { .. }
            | Kind::Function { .. } => self.binder(text, scope),
            _ => self.construct(text, scope),
        };
        self.push(kind, span)
    }

    fn substitutes_expressions(&self, scope: &Scope) -> bool {
        self.resolver.environment(scope.place.environment).substitutes_expressions
    }

    /// Builds an expression that binds no names.
    fn construct(&mut self, text: &'a Text_, scope: &Scope) -> ExprKind {
        match &text.kind {
            Kind::SetLiteral(items) => ExprKind::SetLiteral(self.exprs(items, scope)),
            Kind::Tuple(items) => ExprKind::Tuple(self.exprs(items, scope)),
            Kind::ApplyFunction { function, arguments } => {
                self.check_function(function, arguments.len(), scope);
                let function = self.expr(function, scope);
                let argument = self.index(arguments, scope);
                ExprKind::ApplyFunction { function, argument }
            }
            Kind::Field { record, field } => {
                let record = self.expr(record, scope);
                ExprKind::Field { record, field: self.resolver.intern(&field.text) }
            }
            Kind::FunctionSet { domain, range } => ExprKind::FunctionSet {
                domain: self.expr(domain, scope),
                range: self.expr(range, scope),
            },
            Kind::Record(fields) => ExprKind::Record(self.fields(fields, scope)),
            Kind::RecordSet(fields) => ExprKind::RecordSet(self.fields(fields, scope)),
            Kind::Except { function, updates } => {
                let function = self.expr(function, scope);
                let updates = updates.iter().map(|it| self.update(it, scope)).collect();
                ExprKind::Except { function, updates }
            }
            Kind::Action { is_box, action, subscript } => {
                let action = self.expr(action, scope);
                let subscript = self.expr(subscript, scope);
                match is_box {
                    true => ExprKind::BoxAction { action, subscript },
                    false => ExprKind::AngleAction { action, subscript },
                }
            }
            Kind::Fairness { is_strong, subscript, action } => {
                let subscript = self.expr(subscript, scope);
                let action = self.expr(action, scope);
                match is_strong {
                    true => ExprKind::StrongFairness { subscript, action },
                    false => ExprKind::WeakFairness { subscript, action },
                }
            }
            Kind::If { condition, yes, no } => ExprKind::If {
                condition: self.expr(condition, scope),
                yes: self.expr(yes, scope),
                no: self.expr(no, scope),
            },
            Kind::Case { arms, other } => {
                let arms = arms
                    .iter()
                    .map(|it| CaseArm {
                        guard: self.expr(&it.guard, scope),
                        value: self.expr(&it.value, scope),
                    })
                    .collect();
                let other = other.as_ref().map(|it| self.expr(it, scope));
                ExprKind::Case { arms, other }
            }
            _ => ExprKind::Boolean(false),
        }
    }

    fn number(&mut self, text: &str, span: Span) -> ExprKind {
        let lower = text.to_ascii_lowercase();
        let digits = |radix| i64::from_str_radix(&lower[2..], radix).ok();
        let value = match lower.get(..2) {
            Some("\\b") => digits(2),
            Some("\\o") => digits(8),
            Some("\\h") => digits(16),
            _ => lower.parse().ok(),
        };
        match value {
            Some(value) => ExprKind::Integer(value),
            None if lower.contains('.') => ExprKind::Decimal(text.to_owned()),
            None => {
                self.error(span, "the number is too large", "numbers have at most 63 bits");
                ExprKind::Integer(0)
            }
        }
    }

    /// Checks the number of arguments of a function that is defined by `f[x \in S, y \in T] == e`.
    fn check_function(&mut self, function: &Text_, found: usize, scope: &Scope) {
        if found > 1
            && let Kind::Path(path) = &function.kind
            && let [ast::PathPart::Name { name, .. }] = path.parts.as_slice()
            && let Some(Symbol::Entry(entry)) = self.resolver.find(scope, &name.text)
            && let Text::Definition(definition) = self.resolver.entry(entry).text
            && let DefinitionBody::Function { bounds, .. } = &definition.body
        {
            let expected: usize = bounds.iter().map(|it| it.patterns.len()).sum();
            if expected != found {
                let message = {
                    let takes = count(expected as u64, "argument");
                    format!("the function `{}` takes {takes}, found {found}", name.text)
                };
                self.error(function.span, message, "write one argument for each bound variable");
            }
        }
    }

    /// Builds the argument of `f[a, b]`.
    fn index(&mut self, arguments: &'a [Text_], scope: &Scope) -> ExprId {
        let arguments_span = match (arguments.first(), arguments.last()) {
            (Some(first), Some(last)) => first.span.to(last.span),
            _ => Span::default(),
        };
        let items = self.exprs(arguments, scope);
        match items.as_slice() {
            [single] => *single,
            _ => self.push(ExprKind::Tuple(items), arguments_span),
        }
    }

    fn fields(&mut self, fields: &'a [ast::Field], scope: &Scope) -> Vec<RecordField> {
        let mut built: Vec<RecordField> = Vec::new();
        for field in fields {
            let name = self.resolver.intern(&field.name.text);
            if built.iter().any(|it| it.name == name) {
                let message = format!("the field `{}` appears twice", field.name.text);
                self.error(field.name.span, message, "remove one of them");
            }
            built.push(RecordField { name, value: self.expr(&field.value, scope) });
        }
        built
    }

    fn update(&mut self, update: &'a ast::Update, scope: &Scope) -> ExceptUpdate {
        let mut path = Vec::new();
        for step in &update.path {
            path.push(match step {
                ast::UpdateStep::Index(arguments) => {
                    ExceptStep::Index(self.index(arguments, scope))
                }
                ast::UpdateStep::Field(name) => ExceptStep::Field(self.resolver.intern(&name.text)),
            });
        }
        let local = self.resolver.new_local("@", update.span, 0);
        let slot = self.frame.bind(local);
        let value = self.expr(&update.value, &scope.with("@", Symbol::Local(local)));
        let old = self.used.contains(&local).then_some(slot);
        ExceptUpdate { path, old, value }
    }

    /// Builds an expression that binds names.
    fn binder(&mut self, text: &'a Text_, scope: &Scope) -> ExprKind {
        match &text.kind {
            Kind::Quantified { is_universal, bounds, body } => {
                let (bounds, scope) = self.bounds(bounds, scope);
                let body = self.expr(body, &scope);
                ExprKind::Quantified { quantifier: quantifier(*is_universal), bounds, body }
            }
            Kind::Unbounded { is_universal, is_temporal: true, names, body } => {
                let mut scope = scope.clone();
                for name in names {
                    self.resolver.check_new_name(&scope, name);
                    let variables = &mut self.resolver.bound_variables;
                    variables.push(Variable { name: name.text.to_string(), span: name.span });
                    let id = BOUND_VARIABLES + variables.len() as u32 - 1;
                    scope = scope.with(&name.text, Symbol::Variable(VariableId(id)));
                }
                let body = self.expr(body, &scope);
                ExprKind::TemporalQuantified { quantifier: quantifier(*is_universal), body }
            }
            Kind::Unbounded { is_universal, names, body, .. } => {
                let (mut scope, mut slots) = (scope.clone(), Vec::new());
                for name in names {
                    let bound = self.bind(&scope, name);
                    slots.push(bound.slot);
                    scope = bound.scope;
                }
                let body = self.expr(body, &scope);
                ExprKind::Unbounded { quantifier: quantifier(*is_universal), slots, body }
            }
            Kind::Choose { pattern, set, body } => {
                let set = set.as_ref().map(|it| self.expr(it, scope));
                let (pattern, scope) = self.pattern(pattern, scope);
                ExprKind::Choose { pattern, set, body: self.expr(body, &scope) }
            }
            Kind::SetFilter { pattern, set, body } => {
                let set = self.expr(set, scope);
                let (pattern, scope) = self.pattern(pattern, scope);
                let bound = Bound { pattern, set };
                ExprKind::SetFilter { bound, body: self.expr(body, &scope) }
            }
            Kind::SetMap { body, bounds } => {
                let (bounds, scope) = self.bounds(bounds, scope);
                ExprKind::SetMap { bounds, body: self.expr(body, &scope) }
            }
            Kind::Function { bounds, body } => {
                let (bounds, scope) = self.bounds(bounds, scope);
                ExprKind::Function { bounds, body: self.expr(body, &scope), itself: None }
            }
            _ => ExprKind::Boolean(false),
        }
    }

    /// Builds `f[x \in S] == e`.
    pub(super) fn function_definition(&mut self, text: FunctionText<'a>, scope: &Scope) -> ExprId {
        let FunctionText { name, bounds, body } = text;
        let itself = self.resolver.new_local(&name.text, name.span, 0);
        let slot = self.frame.bind(itself);
        let (bounds, inner) = self.bounds(bounds, scope);
        let value = self.expr(body, &inner.with(&name.text, Symbol::Local(itself)));
        let itself = self.used.contains(&itself).then_some(slot);
        self.push(ExprKind::Function { bounds, body: value, itself }, name.span.to(body.span))
    }

    /// Builds bounds. The sets do not see the variables.
    fn bounds(&mut self, bounds: &'a [ast::Bound], scope: &Scope) -> (Vec<Bound>, Scope) {
        let sets: Vec<ExprId> = bounds.iter().map(|it| self.expr(&it.set, scope)).collect();
        let (mut built, mut scope) = (Vec::new(), scope.clone());
        for (bound, set) in bounds.iter().zip(sets) {
            for pattern in &bound.patterns {
                let (pattern, inner) = self.pattern(pattern, &scope);
                built.push(Bound { pattern, set });
                scope = inner;
            }
        }
        (built, scope)
    }

    fn pattern(&mut self, pattern: &ast::Pattern, scope: &Scope) -> (Pattern, Scope) {
        match pattern {
            ast::Pattern::Single(name) => {
                let bound = self.bind(scope, name);
                (Pattern::Single(bound.slot), bound.scope)
            }
            ast::Pattern::Tuple(names) => {
                let (mut slots, mut scope) = (Vec::new(), scope.clone());
                for name in names {
                    let bound = self.bind(&scope, name);
                    slots.push(bound.slot);
                    scope = bound.scope;
                }
                (Pattern::Tuple(slots), scope)
            }
        }
    }

    /// Binds a name to a slot of its own.
    pub(super) fn bind(&mut self, scope: &Scope, name: &Name) -> BoundName {
        self.resolver.check_new_name(scope, name);
        let local = self.resolver.new_local(&name.text, name.span, 0);
        let slot = self.frame.bind(local);
        BoundName { slot, scope: scope.with(&name.text, Symbol::Local(local)) }
    }

    /// Builds an operator symbol with its operands.
    pub(super) fn operator(
        &mut self,
        symbol: Token,
        operands: Vec<ExprId>,
        here: TextContext<'_>,
    ) -> ExprId {
        if let (Some(operator), [operand]) = (unary(symbol), operands.as_slice()) {
            return self.push(ExprKind::Unary { operator, operand: *operand }, here.span);
        }
        if let (Some(operator), [left, right]) = (binary(symbol), operands.as_slice()) {
            let (left, right) = (*left, *right);
            return self.push(ExprKind::Binary { operator, left, right }, here.span);
        }
        let kind = match symbol {
            Token::And => ExprKind::And(operands),
            Token::Or => ExprKind::Or(operands),
            Token::Times => ExprKind::Product(operands),
            _ => return self.defined_operator(symbol, operands, here),
        };
        self.push(kind, here.span)
    }

    /// Builds an operator symbol that a module defines.
    fn defined_operator(
        &mut self,
        symbol: Token,
        operands: Vec<ExprId>,
        here: TextContext<'_>,
    ) -> ExprId {
        let Some(found) = self.resolver.lookup(here.scope, symbol.name(), here.at) else {
            return self.dummy(here.span);
        };
        let arguments = operands.into_iter().map(Argument::Expression).collect();
        let reference = Reference::new(found);
        self.apply(reference, arguments, here.span)
    }
}

fn quantifier(is_universal: bool) -> QuantifierKind {
    if is_universal { QuantifierKind::Forall } else { QuantifierKind::Exists }
}
