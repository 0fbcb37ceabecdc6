//! Names with arguments, LET, LAMBDA.

use super::expr::{Argument, ExprKind, OperatorValue};
use super::ids::ExprId;
use super::lowering::{
    DefinitionLowering, Names, Reference, SelectedPath, Step, TextContext, binary, unary,
};
use super::names::{
    Entry, EntryId, EnvironmentId, InstanceId, LocalId, NewEntry, Scope, Symbol, Text,
};
use super::tree::DefinitionOrigin;
use crate::level::Level;
use crate::syntax::ast::{Argument as ArgumentText, ExprKind as Kind, Name, Path, PathPart};
use crate::syntax::symbols::Symbol as Token;
use crate::syntax::walk;
use spillway_base::numbers::count;
use spillway_base::source::Span;
use std::collections::HashMap;

/// A path up to a name that is no instance.
struct FollowedPath<'a> {
    reference: Reference,
    last: Step<'a>,
    /// What follows the name: selectors and labels.
    rest: &'a [PathPart],
}

impl<'a> DefinitionLowering<'_, 'a> {
    /// Builds a path.
    pub(super) fn path(&mut self, path: &'a Path, span: Span, scope: &Scope) -> ExprId {
        if let [PathPart::Name { name, arguments }] = path.parts.as_slice()
            && let Some(kind) = built_in(name)
        {
            if !arguments.is_empty() {
                let message = format!("`{}` takes no arguments", name.text);
                self.error(span, message, "remove the arguments");
            }
            return self.push(kind, span);
        }
        if let [PathPart::Name { name, arguments }] = path.parts.as_slice()
            && let Some(symbol) = Token::find(&name.text)
            && built_in_operator(symbol).is_some()
        {
            if arguments.len() != symbol.arity() {
                self.wrong_count(name, symbol.arity(), arguments.len());
                return self.dummy(span);
            }
            let mut operands = Vec::new();
            for argument in arguments {
                if let Argument::Expression(operand) = self.argument(argument, 0, scope) {
                    operands.push(operand);
                }
            }
            return self.operator(symbol, operands, TextContext { at: name.span, span, scope });
        }
        let Some(FollowedPath { reference, last, rest }) = self.follow(&path.parts, scope) else {
            return self.dummy(span);
        };
        if !rest.is_empty() {
            return self.selected(SelectedPath { reference, last, rest, span }, scope);
        }
        let Some(arities) = self.resolver.arities(reference.symbol) else {
            return self.not_an_expression(reference.symbol, last.name, span);
        };
        if arities.len() != last.arguments.len() {
            self.wrong_count(last.name, arities.len(), last.arguments.len());
            return self.dummy(span);
        }
        let mut arguments = Vec::new();
        for (argument, &arity) in last.arguments.iter().zip(&arities) {
            arguments.push(self.argument(argument, arity, scope));
        }
        self.apply(reference, arguments, span)
    }

    pub(super) fn not_an_expression(&mut self, symbol: Symbol, name: &Name, span: Span) -> ExprId {
        let (what, help) = match symbol {
            Symbol::Instance(_) => ("an instance", format!("write `{}!Operator`", name.text)),
            _ => ("an ASSUME ... PROVE", "define an operator with its formula".to_owned()),
        };
        self.error(name.span, format!("`{}` is {what}, not an expression", name.text), help);
        self.dummy(span)
    }

    /// Reports that an operator has another number of parameters.
    pub(super) fn wrong_count(&mut self, name: &Name, expected: usize, found: usize) {
        let takes = match expected {
            0 => "no arguments".to_owned(),
            _ => count(expected as u64, "argument"),
        };
        let message = format!("`{}` takes {takes}, found {found}", name.text);
        let help = match (expected, found) {
            (0, _) => "use brackets to apply a function: `f[x]`",
            (_, 0) => "without arguments it can be passed only for a parameter such as `P(_)`",
            _ => "write as many arguments as its definition has parameters",
        };
        self.error(name.span, message, help);
    }

    /// Follows a path through instances to a name that is no instance.
    fn follow(&mut self, parts: &'a [PathPart], scope: &Scope) -> Option<FollowedPath<'a>> {
        let mut bindings = HashMap::new();
        let mut place: Option<EnvironmentId> = None;
        for (index, part) in parts.iter().enumerate() {
            let PathPart::Name { name, arguments } = part else {
                let message = "an instance has no subexpressions";
                self.error(self.part_span(part), message, "name an operator of the instance");
                return None;
            };
            let symbol = match place {
                None => self.resolver.lookup(scope, &name.text, name.span)?,
                Some(environment) => self.member(environment, name)?,
            };
            let symbol = self.resolver.replaced(symbol);
            let (last, rest) = (Step { name, arguments }, &parts[index + 1..]);
            match symbol {
                Symbol::Instance(instance) if !rest.is_empty() => {
                    self.bind_instance(instance, last, scope, &mut bindings)?;
                    place = Some(self.resolver.instance_environment(instance)?);
                }
                Symbol::Entry(_) | Symbol::Fact(_) | Symbol::Instance(_) => {
                    let reference = Reference { symbol, bindings };
                    return Some(FollowedPath { reference, last, rest });
                }
                _ if rest.is_empty() => {
                    let reference = Reference { symbol, bindings };
                    return Some(FollowedPath { reference, last, rest });
                }
                _ => {
                    let message = format!("`{}` is no instance", name.text);
                    let help = "`!` follows the name of an instance: `I == INSTANCE M`";
                    self.error(name.span, message, help);
                    return None;
                }
            }
        }
        None
    }

    fn part_span(&self, part: &PathPart) -> Span {
        match part {
            PathPart::Name { name, .. } => name.span,
            PathPart::Selector { span, .. } => *span,
        }
    }

    /// Returns the meaning of a name in the module of an instance.
    fn member(&mut self, environment: EnvironmentId, name: &Name) -> Option<Symbol> {
        let inside = self.resolver.environment(environment);
        let (row, module) = (inside.symbols.get(&name.text).copied(), inside.name);
        match row {
            Some(row) if !row.is_local => Some(row.symbol),
            Some(_) => {
                let message = format!("`{}` is LOCAL to the module `{module}`", name.text);
                self.error(name.span, message, "remove LOCAL from its definition");
                None
            }
            None => {
                let message = format!("the module `{module}` does not define `{}`", name.text);
                self.error(name.span, message, "only what the module defines follows `!`");
                None
            }
        }
    }

    /// Binds the parameters of an instance to arguments.
    fn bind_instance(
        &mut self,
        instance: InstanceId,
        step: Step<'a>,
        scope: &Scope,
        bindings: &mut HashMap<LocalId, Argument>,
    ) -> Option<()> {
        let parameters = self.resolver.instance(instance).parameters.clone();
        if parameters.len() != step.arguments.len() {
            self.wrong_count(step.name, parameters.len(), step.arguments.len());
            return None;
        }
        for (parameter, argument) in parameters.into_iter().zip(step.arguments) {
            let arity = self.resolver.local(parameter).arity;
            let argument = self.argument(argument, arity, scope);
            bindings.insert(parameter, argument);
        }
        Some(())
    }

    /// Builds an argument for a parameter with an arity.
    pub(super) fn argument(
        &mut self,
        text: &'a ArgumentText,
        arity: usize,
        scope: &Scope,
    ) -> Argument {
        match (text, arity) {
            (ArgumentText::Expression(expr), 0) => Argument::Expression(self.expr(expr, scope)),
            (_, 0) => {
                let help = "the parameter is declared without parameters of its own";
                self.error(text.span(), "expected an expression, found an operator", help);
                Argument::Expression(self.dummy(text.span()))
            }
            _ => match self.operator_value(text, arity, scope) {
                Some(value) => Argument::Operator(value),
                None => Argument::Operator(OperatorValue::And),
            },
        }
    }

    /// Builds an operator as an argument.
    fn operator_value(
        &mut self,
        text: &'a ArgumentText,
        arity: usize,
        scope: &Scope,
    ) -> Option<OperatorValue> {
        match text {
            ArgumentText::Lambda { parameters, span, .. } => {
                self.check_arity(*span, parameters.len(), arity)?;
                let entry = self.lambda(text, *span, scope);
                Some(self.definition_value(Reference::new(Symbol::Entry(entry)), entry))
            }
            ArgumentText::Symbol { symbol, span } => {
                self.check_arity(*span, symbol.arity(), arity)?;
                if let Some(value) = built_in_operator(*symbol) {
                    return Some(value);
                }
                let found = self.resolver.lookup(scope, symbol.name(), *span)?;
                self.symbol_value(Reference::new(found), *span, arity)
            }
            ArgumentText::Expression(expr) => {
                let Kind::Path(path) = &expr.kind else {
                    let parameters = count(arity as u64, "parameter");
                    let message = format!("expected an operator with {parameters}");
                    self.error(expr.span, message, "write a LAMBDA or the name of an operator");
                    return None;
                };
                let FollowedPath { reference, last, rest } = self.follow(&path.parts, scope)?;
                if !last.arguments.is_empty() || !rest.is_empty() {
                    let parameters = count(arity as u64, "parameter");
                    let message = format!("expected an operator with {parameters}");
                    self.error(expr.span, message, "write its name without arguments");
                    return None;
                }
                self.symbol_value(reference, expr.span, arity)
            }
        }
    }

    fn check_arity(&mut self, span: Span, found: usize, expected: usize) -> Option<()> {
        if found == expected {
            return Some(());
        }
        let expected = count(expected as u64, "parameter");
        let message = format!("expected an operator with {expected}, found one with {found}");
        self.error(span, message, "the number of parameters is that of the declaration");
        None
    }

    fn symbol_value(
        &mut self,
        reference: Reference,
        span: Span,
        arity: usize,
    ) -> Option<OperatorValue> {
        let symbol = self.resolver.replaced(reference.symbol);
        let arities = self.resolver.arities(symbol).unwrap_or_default();
        self.check_arity(span, arities.len(), arity)?;
        if arities.iter().any(|&it| it > 0) {
            let message = "an operator with parameters that are operators cannot be an argument";
            self.error(span, message, "write a LAMBDA");
            return None;
        }
        match symbol {
            Symbol::Entry(entry) => Some(self.definition_value(reference, entry)),
            Symbol::Local(local) => match reference.bindings.get(&local) {
                Some(Argument::Operator(value)) => Some(value.clone()),
                _ => match self.local_argument(local, span) {
                    Argument::Operator(value) => Some(value),
                    Argument::Expression(_) => None,
                },
            },
            Symbol::Standard(operator) => Some(OperatorValue::Standard(operator)),
            _ => None,
        }
    }

    fn definition_value(&mut self, reference: Reference, entry: EntryId) -> OperatorValue {
        let captured = self.leading_arguments(&reference, entry);
        OperatorValue::Definition { definition: self.resolver.definition_of(entry), captured }
    }

    /// Returns the arguments for the leading parameters of an entry.
    fn leading_arguments(&mut self, reference: &Reference, entry: EntryId) -> Vec<Argument> {
        let (leading, span) = {
            let entry = self.resolver.entry(entry);
            (entry.leading.clone(), entry.span)
        };
        leading
            .into_iter()
            .map(|local| match reference.bindings.get(&local) {
                Some(argument) => argument.clone(),
                None => self.local_argument(local, span),
            })
            .collect()
    }

    /// Returns a local name as an argument.
    fn local_argument(&mut self, local: LocalId, span: Span) -> Argument {
        if let Some(&entry) = self.closed.get(&local) {
            let reference = Reference::new(Symbol::Entry(entry));
            return match self.resolver.local(local).arity {
                0 => Argument::Expression(self.apply(reference, Vec::new(), span)),
                _ => Argument::Operator(self.definition_value(reference, entry)),
            };
        }
        let slot = self.slot(local);
        match self.resolver.local(local).arity {
            0 => Argument::Expression(self.push(ExprKind::Local(slot), span)),
            _ => Argument::Operator(OperatorValue::Local(slot)),
        }
    }

    /// Builds the call of a symbol. The arguments agree with its arities.
    pub(super) fn apply(
        &mut self,
        reference: Reference,
        arguments: Vec<Argument>,
        span: Span,
    ) -> ExprId {
        let symbol = self.resolver.replaced(reference.symbol);
        if let Some(constant) = self.resolver.value_of(symbol) {
            return self.push(ExprKind::Constant(constant), span);
        }
        let kind = match symbol {
            Symbol::Variable(variable) => ExprKind::Variable(variable),
            Symbol::DeclaredConstant(declared) => {
                let name = self.resolver.declared[declared.0].name.to_string();
                ExprKind::Undefined { name, level: Level::Constant, arguments }
            }
            Symbol::Entry(entry) | Symbol::Fact(Some(entry)) => {
                let leading = self.leading_arguments(&reference, entry);
                let definition = self.resolver.definition_of(entry);
                ExprKind::Apply { definition, arguments: [leading, arguments].concat() }
            }
            Symbol::Standard(operator) => ExprKind::Standard { operator, arguments },
            Symbol::Local(local) => return self.apply_local(reference, local, arguments, span),
            Symbol::Instance(_) | Symbol::Fact(None) => ExprKind::Boolean(false),
        };
        self.push(kind, span)
    }

    fn apply_local(
        &mut self,
        reference: Reference,
        local: LocalId,
        arguments: Vec<Argument>,
        span: Span,
    ) -> ExprId {
        let is_bound = reference.bindings.contains_key(&local);
        if let (Some(&entry), false) = (self.closed.get(&local), is_bound) {
            return self.apply(Reference::new(Symbol::Entry(entry)), arguments, span);
        }
        let bound = reference.bindings.get(&local).cloned();
        let operator = match bound {
            Some(Argument::Expression(expr)) => return expr,
            Some(Argument::Operator(operator)) => operator,
            None if self.resolver.local(local).arity == 0 => {
                let slot = self.slot(local);
                return self.push(ExprKind::Local(slot), span);
            }
            None => OperatorValue::Local(self.slot(local)),
        };
        let kind = apply_value(operator, arguments);
        self.push(kind, span)
    }

    /// Adds the entry of a LAMBDA.
    fn lambda(&mut self, text: &'a ArgumentText, span: Span, scope: &Scope) -> EntryId {
        let mut names = Names::default();
        walk::walk_argument(text, &mut names);
        let leading = self.resolver.captured(&names, scope);
        let ArgumentText::Lambda { parameters, .. } = text else {
            unreachable!("only a LAMBDA has parameters")
        };
        self.resolver.new_entry(Entry {
            arities: vec![0; parameters.len()],
            ..NewEntry {
                name: "LAMBDA".into(),
                span,
                text: Text::Argument(text),
                origin: DefinitionOrigin::Lambda,
                scope: scope.clone(),
                leading,
            }
            .into()
        })
    }
}

/// Returns the constant of the language with a name.
fn built_in(name: &Name) -> Option<ExprKind> {
    Some(match &*name.text {
        "TRUE" => ExprKind::Boolean(true),
        "FALSE" => ExprKind::Boolean(false),
        "BOOLEAN" => ExprKind::BooleanSet,
        "STRING" => ExprKind::StringSet,
        _ => return None,
    })
}

/// Returns an operator of the language as an argument.
fn built_in_operator(symbol: Token) -> Option<OperatorValue> {
    Some(match symbol {
        Token::And => OperatorValue::And,
        Token::Or => OperatorValue::Or,
        Token::Times => OperatorValue::Product,
        _ => match (unary(symbol), binary(symbol)) {
            (Some(operator), _) => OperatorValue::Unary(operator),
            (_, Some(operator)) => OperatorValue::Binary(operator),
            _ => return None,
        },
    })
}

/// Returns the call of an operator that an instance's argument is.
fn apply_value(operator: OperatorValue, arguments: Vec<Argument>) -> ExprKind {
    let operands = |arguments: Vec<Argument>| -> Vec<ExprId> {
        let exprs = arguments.into_iter().filter_map(|it| match it {
            Argument::Expression(expr) => Some(expr),
            Argument::Operator(_) => None,
        });
        exprs.collect()
    };
    match operator {
        OperatorValue::Definition { definition, captured } => {
            ExprKind::Apply { definition, arguments: [captured, arguments].concat() }
        }
        OperatorValue::Local(operator) => ExprKind::ApplyLocal { operator, arguments },
        OperatorValue::Standard(operator) => ExprKind::Standard { operator, arguments },
        OperatorValue::Unary(operator) => match operands(arguments).first() {
            Some(&operand) => ExprKind::Unary { operator, operand },
            None => ExprKind::Boolean(false),
        },
        OperatorValue::Binary(operator) => match operands(arguments).as_slice() {
            &[left, right] => ExprKind::Binary { operator, left, right },
            _ => ExprKind::Boolean(false),
        },
        OperatorValue::And => ExprKind::And(operands(arguments)),
        OperatorValue::Or => ExprKind::Or(operands(arguments)),
        OperatorValue::Product => ExprKind::Product(operands(arguments)),
    }
}
