//! Parts of a property below universal quantifiers.

use super::expr::{Argument, Bound, ExprKind, Pattern, QuantifierKind};
use super::ids::{DefinitionId, ExprId, VariableId};
use super::lowering::{DefinitionLowering, Reference};
use super::names::{EntryId, LocalId, Symbol};
use super::pieces::{Binder, Piece};
use super::resolver::Resolver;
use super::tree::{Definition, DefinitionOrigin};
use crate::level::Level;
use crate::syntax::ast::Pattern as PatternText;

impl<'a> Resolver<'a> {
    /// Returns the definition of a part with the quantifiers around it. The part is an operator of the bound variables.
    pub(super) fn quantified(&mut self, piece: &Piece<'a>, part: EntryId) -> DefinitionId {
        let span = piece.formula.span;
        let mut lowering = DefinitionLowering::new(self, piece.closed.clone());
        let bounds: Vec<Vec<Bound>> =
            piece.binders.iter().map(|it| lowering.known_bounds(it)).collect();
        let reference = Reference::new(Symbol::Entry(part));
        let mut body = lowering.apply(reference, Vec::<Argument>::new(), span);
        for bounds in bounds.into_iter().rev() {
            let quantifier = QuantifierKind::Forall;
            body = lowering.push(ExprKind::Quantified { quantifier, bounds, body }, span);
        }
        let names: Vec<LocalId> = lowering.frame.locals().to_vec();
        let names = names.iter().map(|&it| self.local(it).name.to_string()).collect();
        self.add_part(piece, body, names)
    }

    /// Returns the definition of the tuple of all variables.
    pub(super) fn all_variables(&mut self, piece: &Piece<'a>) -> DefinitionId {
        let span = piece.formula.span;
        let mut lowering = DefinitionLowering::new(self, piece.closed.clone());
        let count = lowering.resolver.variables.len() as u32;
        let items =
            (0..count).map(|it| lowering.push(ExprKind::Variable(VariableId(it)), span)).collect();
        let body = lowering.push(ExprKind::Tuple(items), span);
        self.add_part(piece, body, Vec::new())
    }

    /// Adds a definition whose body is built.
    fn add_part(
        &mut self,
        piece: &Piece<'a>,
        body: ExprId,
        slot_names: Vec<String>,
    ) -> DefinitionId {
        let module = self.environment(piece.scope.place.environment).name.to_owned();
        self.definitions.push(Definition {
            name: piece.name.to_string(),
            module,
            span: piece.formula.span,
            origin: DefinitionOrigin::Part,
            parameters: Vec::new(),
            captured: 0,
            slots: slot_names.len() as u32,
            slot_names,
            body,
            level: Level::Constant,
            is_recursive: false,
        });
        DefinitionId((self.definitions.len() - 1) as u32)
    }
}

impl<'a> DefinitionLowering<'_, 'a> {
    /// Builds the bounds of a quantifier whose variables are known already.
    fn known_bounds(&mut self, binder: &Binder<'a>) -> Vec<Bound> {
        let sets: Vec<ExprId> =
            binder.bounds.iter().map(|it| self.expr(&it.set, &binder.scope)).collect();
        let (mut bounds, mut locals) = (Vec::new(), binder.locals.iter());
        for (bound, set) in binder.bounds.iter().zip(sets) {
            for pattern in &bound.patterns {
                let names = locals.by_ref().take(pattern.names().len());
                let mut slots: Vec<_> = names.map(|&it| self.frame.bind(it)).collect();
                let pattern = match pattern {
                    PatternText::Single(_) => Pattern::Single(slots.remove(0)),
                    PatternText::Tuple(_) => Pattern::Tuple(slots),
                };
                bounds.push(Bound { pattern, set });
            }
        }
        bounds
    }
}
