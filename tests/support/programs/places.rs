//! The generation of places: variables and their parts.

use super::Builder;
use spillway::ir::{
    BinaryOp, Expr, ExprKind, LocalId, MultisetContains, Place, PlaceRoot, PlaceSelector,
    ScalarType, Type, TypeId, UnaryOp,
};

/// A variable or a part of one, without indices.
#[derive(Clone)]
pub(super) struct Part {
    pub(super) root: PlaceRoot,
    steps: Vec<Step>,
    pub(super) ty: TypeId,
}

#[derive(Clone, Copy)]
enum Step {
    /// Selects an element of an array.
    Element { low: i64, length: u32 },
    /// Selects an element of a multiset.
    Position { capacity: u32 },
    /// Selects a field.
    Field(u32),
}

impl Part {
    /// Returns whether it is a whole variable.
    pub(super) fn is_whole(&self) -> bool {
        self.steps.is_empty()
    }

    /// Returns whether the part is in a multiset, so that it exists only in some states.
    pub(super) fn is_in_multiset(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Position { .. }))
    }
}

/// A place with constant or local indices. It can be built repeatedly, with new spans each time.
pub(super) struct FixedPlace {
    root: PlaceRoot,
    selectors: Vec<FixedSelector>,
    ty: TypeId,
}

#[derive(Clone, Copy)]
enum FixedSelector {
    Index(i64),
    Position(i64),
    Name(LocalId),
    Field(u32),
}

impl Builder<'_> {
    pub(super) fn find_parts(&mut self) {
        for (variable, about) in self.program.variables.clone().iter() {
            self.find_parts_of(PlaceRoot::Variable(variable), about.ty);
        }
    }

    /// Adds a variable, or the place that a name denotes, and all its parts.
    pub(super) fn find_parts_of(&mut self, root: PlaceRoot, ty: TypeId) {
        self.find_inner_parts(Part { root, steps: vec![], ty });
    }

    fn find_inner_parts(&mut self, part: Part) {
        let steps: Vec<(Step, TypeId)> = match &self.program.types[part.ty] {
            Type::Scalar(_) => vec![],
            Type::Array { low, length, element, .. } => {
                vec![(Step::Element { low: *low, length: *length }, *element)]
            }
            Type::Multiset { capacity, element } => {
                vec![(Step::Position { capacity: *capacity }, *element)]
            }
            Type::Record { fields, .. } => {
                (0..).zip(fields).map(|(number, (_, ty))| (Step::Field(number), *ty)).collect()
            }
        };
        for (step, ty) in steps {
            let steps = part.steps.iter().copied().chain([step]).collect();
            self.find_inner_parts(Part { steps, ty, ..part });
        }
        self.parts.push(part);
    }

    /// Returns a part that satisfies a condition.
    pub(super) fn part(&mut self, wanted: impl Fn(&Self, &Part) -> bool) -> Option<Part> {
        let found: Vec<usize> =
            (0..self.parts.len()).filter(|&at| wanted(self, &self.parts[at])).collect();
        (!found.is_empty()).then(|| self.parts[self.choices.pick(&found)].clone())
    }

    /// Returns the type of a scalar part.
    pub(super) fn scalar(&self, ty: TypeId) -> Option<&ScalarType> {
        match &self.program.types[ty] {
            Type::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// Returns the least and the greatest value of a scalar type.
    pub(super) fn bounds(&self, ty: TypeId) -> (i64, i64) {
        self.program.bounds(&self.scalar(ty).expect("only scalars have bounds").domain)
    }

    pub(super) fn may_be_undefined(&self, ty: TypeId) -> bool {
        self.scalar(ty).is_some_and(|scalar| scalar.undefined)
    }

    /// Returns a place in this part. It exists unless it is in a multiset or the program is reckless.
    pub(super) fn place(&mut self, part: &Part, depth: u32) -> Place {
        let path = part.steps.iter().map(|&step| self.selector(step, part, depth)).collect();
        let (root, span) = (part.root, self.span());
        Place { root, slot: None, path, span }
    }

    fn selector(&mut self, step: Step, part: &Part, depth: u32) -> PlaceSelector {
        let (low, high) = match step {
            Step::Field(number) => return PlaceSelector::Field(number),
            Step::Element { low, length } => (low, low + i64::from(length) - 1),
            Step::Position { capacity } => (0, i64::from(capacity) - 1),
        };
        if self.risks() {
            return PlaceSelector::Index(match self.choices.below(3) {
                0 => self.any_expr(depth.saturating_sub(1)),
                1 => self.any_within(low - 1, high + 1, depth.saturating_sub(1)),
                _ => self.constant_near(low, high),
            });
        }
        match (step, self.position_in(part.root)) {
            (Step::Position { .. }, Some(local)) => {
                PlaceSelector::Index(self.expr(ExprKind::Local(local)))
            }
            _ => PlaceSelector::Index(self.any_within(low, high, depth.saturating_sub(1))),
        }
    }

    /// Returns a name for positions in this multiset, which is a whole variable, if there is one.
    fn position_in(&self, root: PlaceRoot) -> Option<LocalId> {
        let bound = self.locals.iter().find(|bound| bound.position_in == Some(root))?;
        Some(bound.local)
    }

    /// Returns a place in this part that can be built repeatedly.
    pub(super) fn fixed_place(&mut self, part: &Part) -> FixedPlace {
        let selectors = part.steps.iter().map(|&step| match step {
            Step::Field(number) => FixedSelector::Field(number),
            Step::Element { low, length } => self.index(low, low + i64::from(length) - 1),
            Step::Position { capacity } => match self.position_in(part.root) {
                Some(local) if part.steps.len() == 1 => FixedSelector::Name(local),
                _ => FixedSelector::Position(self.choices.between(0, i64::from(capacity) - 1)),
            },
        });
        FixedPlace { root: part.root, selectors: selectors.collect(), ty: part.ty }
    }

    fn index(&mut self, low: i64, high: i64) -> FixedSelector {
        let fits: Vec<LocalId> = (self.locals.iter())
            .filter(|bound| low <= bound.low && bound.high <= high)
            .map(|bound| bound.local)
            .collect();
        match fits.is_empty() || self.choices.chance(30) {
            true => FixedSelector::Index(self.choices.between(low, high)),
            false => FixedSelector::Name(self.choices.pick(&fits)),
        }
    }

    pub(super) fn place_at(&mut self, fixed_place: &FixedPlace) -> Place {
        self.place_along(fixed_place.root, &fixed_place.selectors)
    }

    fn place_along(&mut self, root: PlaceRoot, selectors: &[FixedSelector]) -> Place {
        let path = selectors.iter().map(|&selector| match selector {
            FixedSelector::Field(number) => PlaceSelector::Field(number),
            FixedSelector::Index(index) | FixedSelector::Position(index) => {
                PlaceSelector::Index(self.expr(ExprKind::Constant(index)))
            }
            FixedSelector::Name(local) => PlaceSelector::Index(self.expr(ExprKind::Local(local))),
        });
        let (path, span) = (path.collect(), self.span());
        Place { root, slot: None, path, span }
    }

    /// Returns the condition that the multisets on the path have an element at their positions, or `None` if there are
    /// none.
    pub(super) fn presence(&mut self, fixed_place: &FixedPlace) -> Option<Expr> {
        let mut presence = None;
        for (at, &selector) in fixed_place.selectors.iter().enumerate() {
            if let FixedSelector::Position(position) = selector {
                let multiset = self.place_along(fixed_place.root, &fixed_place.selectors[..at]);
                let there = self.has_element(multiset, position);
                presence = self.conjunction(presence, Some(there));
            }
        }
        presence
    }

    /// Returns whether a multiset has an element at a position, as an expression.
    pub(super) fn has_element(&mut self, multiset: Place, position: i64) -> Expr {
        let position = self.expr(ExprKind::Constant(position));
        self.expr(ExprKind::Contains(Box::new(MultisetContains { multiset, position })))
    }

    /// Returns whether a multiset has more than `count` elements, as an expression.
    pub(super) fn has_more_than(&mut self, multiset: Place, count: i64) -> Expr {
        let body = Box::new(self.expr(ExprKind::Constant(1)));
        let local = self.local();
        let size = self.expr(ExprKind::Count { multiset, local, body });
        let count = self.expr(ExprKind::Constant(count));
        self.binary(BinaryOp::Greater, size, count)
    }

    /// Returns the condition that a place exists and holds a value, or `None` if it always does.
    pub(super) fn readable(&mut self, fixed_place: &FixedPlace) -> Option<Expr> {
        let presence = self.presence(fixed_place);
        let defined = self.may_be_undefined(fixed_place.ty).then(|| {
            let place = self.place_at(fixed_place);
            let undefined = self.expr(ExprKind::IsUndefined(place));
            self.expr(ExprKind::Unary(UnaryOp::Not, Box::new(undefined)))
        });
        self.conjunction(presence, defined)
    }

    pub(super) fn conjunction(&mut self, one: Option<Expr>, other: Option<Expr>) -> Option<Expr> {
        match (one, other) {
            (Some(one), Some(other)) => Some(self.binary(BinaryOp::And, one, other)),
            (one, other) => one.or(other),
        }
    }
}
