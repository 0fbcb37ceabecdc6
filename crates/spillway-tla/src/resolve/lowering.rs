//! The state of building one definition's body, and what its parts pass to each other.

use super::arena::Frame;
use super::expr::{Argument, BinaryOperator, ExprKind, UnaryOperator};
use super::ids::{ExprId, Slot};
use super::names::{ClosedParameters, Local, LocalId, Scope, Symbol};
use super::resolver::Resolver;
use crate::syntax::ast::{self, Argument as ArgumentText, Expr, ExprKind as Kind, Name, PathPart};
use crate::syntax::symbols::Symbol as Token;
use crate::syntax::walk;
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;
use std::collections::{HashMap, HashSet};

/// The first index of the variables of temporal quantifiers, until the number of variables is known.
pub(super) const BOUND_VARIABLES: u32 = 1 << 24;

/// Builds the body of one definition.
pub(super) struct DefinitionLowering<'r, 'a> {
    pub(super) resolver: &'r mut Resolver<'a>,
    pub(super) frame: Frame,
    /// The parameters that have an operator in their place.
    pub(super) closed: ClosedParameters,
    /// The local names that were used.
    pub(super) used: HashSet<LocalId>,
}

impl<'r, 'a> DefinitionLowering<'r, 'a> {
    pub(super) fn new(resolver: &'r mut Resolver<'a>, closed: ClosedParameters) -> Self {
        Self { resolver, frame: Frame::default(), closed, used: HashSet::new() }
    }

    pub(super) fn push(&mut self, kind: ExprKind, span: Span) -> ExprId {
        let pushed = self.resolver.arena.push(kind, span);
        if pushed.is_too_high {
            let message = format!("more than {} nested expressions", super::arena::HEIGHT_MAX);
            self.resolver.report(
                Diagnostic::error(span, message)
                    .help("define a part of the expression by an operator of its own"),
            );
        }
        pushed.id
    }

    /// Returns an expression in the place of a wrong one.
    pub(super) fn dummy(&mut self, span: Span) -> ExprId {
        self.push(ExprKind::Boolean(false), span)
    }

    pub(super) fn error(
        &mut self,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.resolver.report(Diagnostic::error(span, message).help(help));
    }

    /// Returns the slot of a local name.
    pub(super) fn slot(&mut self, local: LocalId) -> Slot {
        self.used.insert(local);
        match self.frame.slot(local) {
            Some(slot) => slot,
            None => {
                let Local { name, span, .. } = self.resolver.local(local).clone();
                let message = format!("`{name}` is used where it has no value");
                self.error(span, message, "pass it as an argument");
                Slot(0)
            }
        }
    }
}

/// A symbol with the arguments of the instances that lead to it.
pub(super) struct Reference {
    pub(super) symbol: Symbol,
    /// The arguments for the parameters of instances.
    pub(super) bindings: HashMap<LocalId, Argument>,
}

impl Reference {
    /// Creates the reference to a symbol that no instance leads to.
    pub(super) fn new(symbol: Symbol) -> Self {
        Self { symbol, bindings: HashMap::new() }
    }
}

/// A name of a path.
#[derive(Clone, Copy)]
pub(super) struct Step<'a> {
    pub(super) name: &'a Name,
    pub(super) arguments: &'a [ArgumentText],
}

/// A path with selectors.
pub(super) struct SelectedPath<'a> {
    pub(super) reference: Reference,
    /// The operator.
    pub(super) last: Step<'a>,
    /// What selects.
    pub(super) rest: &'a [PathPart],
    pub(super) span: Span,
}

/// A text in its surroundings.
#[derive(Clone, Copy)]
pub(super) struct TextContext<'s> {
    /// The position of the operator.
    pub(super) at: Span,
    /// The whole expression.
    pub(super) span: Span,
    pub(super) scope: &'s Scope,
}

/// The text of `f[x \in S] == e`.
pub(super) struct FunctionText<'a> {
    pub(super) name: &'a Name,
    pub(super) bounds: &'a [ast::Bound],
    pub(super) body: &'a Expr,
}

/// A name that was bound.
pub(super) struct BoundName {
    pub(super) slot: Slot,
    pub(super) scope: Scope,
}

/// Returns the operator of the language that a symbol is.
pub(super) fn unary(symbol: Token) -> Option<UnaryOperator> {
    Some(match symbol {
        Token::Not => UnaryOperator::Not,
        Token::Powerset => UnaryOperator::Powerset,
        Token::BigUnion => UnaryOperator::BigUnion,
        Token::Domain => UnaryOperator::Domain,
        Token::Prime => UnaryOperator::Prime,
        Token::Unchanged => UnaryOperator::Unchanged,
        Token::Enabled => UnaryOperator::Enabled,
        Token::Always => UnaryOperator::Always,
        Token::Eventually => UnaryOperator::Eventually,
        _ => return None,
    })
}

/// Returns the operator of the language that a symbol is.
pub(super) fn binary(symbol: Token) -> Option<BinaryOperator> {
    Some(match symbol {
        Token::Implies => BinaryOperator::Implies,
        Token::Equivalent => BinaryOperator::Equivalent,
        Token::Equals => BinaryOperator::Equal,
        Token::NotEquals => BinaryOperator::NotEqual,
        Token::In => BinaryOperator::In,
        Token::NotIn => BinaryOperator::NotIn,
        Token::Subseteq => BinaryOperator::SubsetOrEqual,
        Token::Union => BinaryOperator::Union,
        Token::Intersect => BinaryOperator::Intersection,
        Token::SetMinus => BinaryOperator::Difference,
        Token::Cdot => BinaryOperator::Compose,
        Token::LeadsTo => BinaryOperator::LeadsTo,
        Token::Guarantees => BinaryOperator::Guarantees,
        _ => return None,
    })
}

/// The names and operator symbols that a text uses.
#[derive(Default)]
pub(super) struct Names(pub(super) HashSet<String>);

impl walk::Visitor for Names {
    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            Kind::Path(path) => {
                for part in &path.parts {
                    if let PathPart::Name { name, .. } = part {
                        self.0.insert(name.text.to_string());
                    }
                }
            }
            Kind::At => {
                self.0.insert("@".to_owned());
            }
            Kind::Prefix { symbol, .. }
            | Kind::Infix { symbol, .. }
            | Kind::Postfix { symbol, .. } => {
                self.0.insert(symbol.name().to_owned());
            }
            _ => {}
        }
    }
}
