//! Formulas of a configuration, taken apart.
//!
//! A specification `Init /\ [][Next]_vars /\ WF_vars(Next)` and a property are conjunctions, often behind names, calls,
//! LET and instances. A piece is a formula with its surroundings: when a call is opened, its arguments become operators
//! that take the place of the parameters.

use super::instances::bare_name;
use super::names::{
    ClosedParameters, Entry, EntryId, EnvironmentId, LocalId, NamePlace, NewEntry, Scope, Symbol,
    Text,
};
use super::resolver::Resolver;
use super::tree::{DefinitionId, DefinitionOrigin, Level};
use crate::syntax::ast::{
    Argument, Bound, Definition, DefinitionBody, Expr, ExprKind, LetUnit, Path, PathPart, Pattern,
};
use crate::syntax::symbols::Symbol as Token;
use std::collections::HashMap;
use std::rc::Rc;

/// `\A x \in S` around a formula.
#[derive(Clone)]
pub(super) struct Binder<'a> {
    pub(super) bounds: &'a [Bound],
    /// The bound variables, in the order of the text.
    pub(super) locals: Vec<LocalId>,
    /// What the sets see.
    pub(super) scope: Scope,
}

/// A formula with its surroundings.
#[derive(Clone)]
pub(super) struct Piece<'a> {
    pub(super) formula: &'a Expr,
    pub(super) scope: Scope,
    pub(super) closed: ClosedParameters,
    /// The universal quantifiers around it, from the outside to the inside.
    pub(super) binders: Vec<Binder<'a>>,
    /// The name of the innermost definition that was opened.
    pub(super) name: Rc<str>,
}

/// What a piece consists of.
pub(super) enum OpenedPiece<'a> {
    /// Conjuncts.
    Conjuncts(Vec<Piece<'a>>),
    /// Another formula.
    Formula(Piece<'a>),
    /// `[][A]_v`
    Steps {
        /// `[A]_v`
        whole: Piece<'a>,
        /// `A`
        action: Piece<'a>,
        /// `v`
        subscript: Piece<'a>,
    },
    /// `[]P`
    Always(Piece<'a>),
    /// Nothing that can be taken apart.
    Whole,
}

impl<'a> Piece<'a> {
    /// Creates the piece of a formula of the root module.
    pub(super) fn root(root: EnvironmentId, formula: &'a Expr, name: &str) -> Self {
        let place = NamePlace { environment: root, order: usize::MAX };
        let scope = Scope { place, locals: None };
        let (closed, binders) = (ClosedParameters::default(), Vec::new());
        Self { formula, scope, closed, binders, name: name.into() }
    }

    fn with(&self, formula: &'a Expr) -> Self {
        Self { formula, ..self.clone() }
    }

    /// Returns the variables that are bound around it.
    pub(super) fn locals(&self) -> Vec<LocalId> {
        self.binders.iter().flat_map(|it| it.locals.iter().copied()).collect()
    }
}

impl<'a> Resolver<'a> {
    /// Returns the definition of a piece. A bare name is its own definition.
    pub(super) fn piece_definition(&mut self, piece: &Piece<'a>) -> DefinitionId {
        if let ExprKind::Path(Path { parts }) = &piece.formula.kind
            && let [PathPart::Name { name, arguments }] = parts.as_slice()
            && arguments.is_empty()
            && let Some(symbol) = self.find(&piece.scope, &name.text)
        {
            match self.replaced(symbol) {
                Symbol::Entry(entry) if self.is_plain(entry) && piece.binders.is_empty() => {
                    return self.definition_of(entry);
                }
                // An argument has the definition of its formula.
                Symbol::Local(_) => {
                    if let OpenedPiece::Formula(inner) = self.open(piece) {
                        return self.piece_definition(&inner);
                    }
                }
                _ => {}
            }
        }
        let entry = self.new_entry(Entry {
            closed: piece.closed.clone(),
            ..NewEntry {
                name: (&*piece.name).into(),
                span: piece.formula.span,
                text: Text::Formula(piece.formula),
                origin: DefinitionOrigin::Part,
                scope: piece.scope.clone(),
                leading: piece.locals(),
            }
            .into()
        });
        match piece.binders.is_empty() {
            true => self.definition_of(entry),
            false => self.quantified(piece, entry),
        }
    }

    /// Returns the body of a universal quantifier, which is around all that it is taken apart to.
    pub(super) fn open_quantifier(&mut self, piece: &Piece<'a>) -> Option<Piece<'a>> {
        let ExprKind::Quantified { is_universal: true, bounds, body } = &piece.formula.kind else {
            return None;
        };
        let (mut opened, mut locals) = (piece.with(body), Vec::new());
        for name in bounds.iter().flat_map(|it| &it.patterns).flat_map(Pattern::names) {
            let local = self.new_local(&name.text, name.span, 0);
            opened.scope = opened.scope.with(&name.text, Symbol::Local(local));
            locals.push(local);
        }
        opened.binders.push(Binder { bounds, locals, scope: piece.scope.clone() });
        Some(opened)
    }

    /// Returns whether an entry has no parameters of any kind and no value of the configuration.
    fn is_plain(&self, id: EntryId) -> bool {
        let entry = self.entry(id);
        let has_value = self.value_of(Symbol::Entry(id)).is_some();
        entry.leading.is_empty() && entry.arities.is_empty() && !has_value
    }

    /// Returns the level of a piece.
    pub(super) fn piece_level(&mut self, piece: &Piece<'a>) -> Level {
        let definition = self.piece_definition(piece);
        self.build_pending();
        self.compute_levels();
        self.definitions[definition.index()].level
    }

    /// Takes a piece apart.
    pub(super) fn open(&mut self, piece: &Piece<'a>) -> OpenedPiece<'a> {
        match &piece.formula.kind {
            ExprKind::Parenthesized(inner) | ExprKind::Labelled { body: inner, .. } => {
                OpenedPiece::Formula(piece.with(inner))
            }
            ExprKind::Junction { symbol: Token::And, items, .. } => {
                OpenedPiece::Conjuncts(items.iter().map(|it| piece.with(it)).collect())
            }
            ExprKind::Prefix { symbol: Token::Always, operand, .. } => {
                let mut inner: &'a Expr = operand;
                while let ExprKind::Parenthesized(it) = &inner.kind {
                    inner = it;
                }
                match &inner.kind {
                    ExprKind::Action { is_box: true, action, subscript } => OpenedPiece::Steps {
                        whole: piece.with(inner),
                        action: piece.with(action),
                        subscript: piece.with(subscript),
                    },
                    _ => OpenedPiece::Always(piece.with(inner)),
                }
            }
            ExprKind::Let { definitions, body } => {
                OpenedPiece::Formula(self.open_let(piece, definitions, body))
            }
            ExprKind::Path(path) => match self.open_call(piece, path) {
                Some(body) => OpenedPiece::Formula(body),
                None => OpenedPiece::Whole,
            },
            _ => OpenedPiece::Whole,
        }
    }

    /// Returns the body of a LET, in which its definitions are operators.
    fn open_let(&mut self, piece: &Piece<'a>, units: &'a [LetUnit], body: &'a Expr) -> Piece<'a> {
        let mut opened = piece.with(body);
        for unit in units {
            let LetUnit::Definition(definition) = unit else { continue };
            let leading = self.leading(opened.scope.place.environment);
            let leading = [leading, piece.locals()].concat();
            let name = &definition.name;
            let symbol = match &definition.body {
                DefinitionBody::Instance(instance) => {
                    let scope = opened.scope.clone();
                    Symbol::Instance(self.named_instance(definition, instance, &scope, leading))
                }
                _ => Symbol::Entry(self.open_let_entry(&opened, definition, leading)),
            };
            opened.scope = opened.scope.with(&name.text, symbol);
        }
        opened
    }

    fn open_let_entry(
        &mut self,
        piece: &Piece<'a>,
        definition: &'a Definition,
        leading: Vec<LocalId>,
    ) -> EntryId {
        let leading = leading.into_iter().filter(|it| !piece.closed.contains_key(it)).collect();
        let entry = self.definition_entry(definition, piece.scope.clone(), leading);
        let name = &definition.name.text;
        let recursive = piece.scope.with(name, Symbol::Entry(entry));
        let opened = &mut self.entries[entry.0];
        (opened.origin, opened.closed) = (DefinitionOrigin::Let, piece.closed.clone());
        opened.scope = recursive;
        entry
    }

    /// Returns the body of the operator that a path calls, with its arguments in the place of its parameters.
    fn open_call(&mut self, piece: &Piece<'a>, path: &'a Path) -> Option<Piece<'a>> {
        let mut closed: HashMap<LocalId, EntryId> = (*piece.closed).clone();
        let mut inside: Option<EnvironmentId> = None;
        for (index, part) in path.parts.iter().enumerate() {
            let PathPart::Name { name, arguments } = part else { return None };
            let symbol = match inside {
                None => self.find(&piece.scope, &name.text)?,
                Some(it) => self.environment(it).symbols.get(&name.text)?.symbol,
            };
            let symbol = self.replaced(symbol);
            let is_last = index + 1 == path.parts.len();
            match symbol {
                Symbol::Instance(instance) if !is_last => {
                    let parameters = self.instance(instance).parameters.clone();
                    self.close(piece, &parameters, arguments, &mut closed)?;
                    inside = Some(self.instance_environment(instance)?);
                }
                Symbol::Local(local) if is_last && arguments.is_empty() => {
                    let entry = *closed.get(&local)?;
                    return self.open_entry(piece, entry, arguments, closed);
                }
                Symbol::Entry(entry) if is_last => {
                    return self.open_entry(piece, entry, arguments, closed);
                }
                _ => return None,
            }
        }
        None
    }

    /// Puts the arguments of a call in the place of parameters.
    fn close(
        &mut self,
        piece: &Piece<'a>,
        parameters: &[LocalId],
        arguments: &'a [Argument],
        closed: &mut HashMap<LocalId, EntryId>,
    ) -> Option<()> {
        if parameters.len() != arguments.len() {
            return None;
        }
        for (&parameter, argument) in parameters.iter().zip(arguments) {
            let arity = self.local(parameter).arity;
            if arity > 0 && !matches!(argument, Argument::Lambda { .. }) {
                let name = bare_name(argument)?;
                let Symbol::Entry(entry) = self.find(&piece.scope, &name.text)? else {
                    return None;
                };
                closed.insert(parameter, entry);
                continue;
            }
            let entry = self.new_entry(Entry {
                arities: vec![0; arity],
                closed: piece.closed.clone(),
                ..NewEntry {
                    name: self.local(parameter).name.clone(),
                    span: argument.span(),
                    text: Text::Argument(argument),
                    origin: DefinitionOrigin::Substitution,
                    scope: piece.scope.clone(),
                    leading: piece.locals(),
                }
                .into()
            });
            closed.insert(parameter, entry);
        }
        Some(())
    }

    fn open_entry(
        &mut self,
        piece: &Piece<'a>,
        id: EntryId,
        arguments: &'a [Argument],
        mut closed: HashMap<LocalId, EntryId>,
    ) -> Option<Piece<'a>> {
        if self.value_of(Symbol::Entry(id)).is_some() {
            return None;
        }
        let entry = self.entry(id);
        if !entry.leading.iter().all(|it| closed.contains_key(it)) {
            return None;
        }
        let (mut scope, name) = (entry.scope.clone(), entry.name.clone());
        closed.extend(entry.closed.iter().map(|(&local, &entry)| (local, entry)));
        let formula: &'a Expr = match entry.text {
            Text::Definition(definition) => {
                let DefinitionBody::Operator(body) = &definition.body else { return None };
                let mut parameters = Vec::new();
                for declaration in &definition.parameters {
                    let written = &declaration.name;
                    let local = self.new_local(&written.text, written.span, declaration.arity);
                    scope = scope.with(&written.text, Symbol::Local(local));
                    parameters.push(local);
                }
                self.close(piece, &parameters, arguments, &mut closed)?;
                body
            }
            Text::Argument(Argument::Expression(expr)) | Text::Formula(expr) => expr,
            Text::Argument(_) => return None,
        };
        let (closed, binders) = (Rc::new(closed), piece.binders.clone());
        Some(Piece { formula, scope, closed, binders, name: (*name).into() })
    }
}
