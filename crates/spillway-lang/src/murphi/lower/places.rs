//! Lowering of places: variables and their parts.

use super::super::ast::{MurphiExpr as Tree, MurphiExprKind as TreeKind, SourceName};
use super::constant_folding::is_stable;
use super::sorts::ScalarSort;
use super::{HoistPolicy, MurphiLowering, MurphiMeaning};
use crate::quote::quote;
use spillway_base::diag::Diagnostic;
use spillway_ir::{Expr, ExprKind, Place, PlaceRoot, PlaceSelector, Type, TypeId};

/// A variable or a part of one, with its type.
pub(super) struct TypedPlace {
    /// The place.
    pub(super) place: Place,
    /// The type.
    pub(super) ty: TypeId,
    /// Whether it may be assigned.
    pub(super) writable: bool,
}

impl TypedPlace {
    /// Returns a part of it, of this type.
    pub(super) fn part(&self, selector: PlaceSelector, ty: TypeId) -> TypedPlace {
        let mut place = self.place.clone();
        place.path.push(selector);
        TypedPlace { place, ty, writable: self.writable }
    }
}

/// A place that holds a multiset.
pub(super) struct MultisetPlace {
    /// The place.
    pub(super) place: Place,
    /// The type of its elements.
    pub(super) element: TypeId,
    /// The maximum number of elements.
    pub(super) capacity: u32,
}

/// The result of lowering an expression.
pub(super) enum PlaceOrValue {
    /// A place, of a scalar or an aggregate.
    TypedPlace(TypedPlace),
    /// A value.
    Value(Expr, ScalarSort),
}

impl<'a> MurphiLowering<'a, '_> {
    /// Lowers an expression that may be a place or a value.
    pub(super) fn lower_place_or_value(&mut self, tree: &Tree<'a>) -> Option<PlaceOrValue> {
        match &tree.kind {
            TreeKind::Name(text) => self.named(SourceName { text, span: tree.span }),
            TreeKind::Field(of, field) => {
                let of = self.require_place(of)?;
                self.field(of, *field, tree).map(PlaceOrValue::TypedPlace)
            }
            TreeKind::Index(of, index) => {
                let of = self.require_place(of)?;
                self.element(of, index, tree).map(PlaceOrValue::TypedPlace)
            }
            TreeKind::Call(name, arguments) => self.call_for_value(*name, arguments, tree.span),
            _ => self.operation(tree).map(|(value, sort)| PlaceOrValue::Value(value, sort)),
        }
    }

    fn named(&mut self, name: SourceName<'a>) -> Option<PlaceOrValue> {
        match self.meaning(name)? {
            MurphiMeaning::Place(mut place, ty, writable) => {
                place.span = name.span;
                Some(PlaceOrValue::TypedPlace(TypedPlace { place, ty, writable }))
            }
            MurphiMeaning::Value(value, sort) => {
                Some(PlaceOrValue::Value(Expr { span: name.span, ..value }, sort))
            }
            MurphiMeaning::Constant(value, sort) => {
                Some(PlaceOrValue::Value(Expr::constant(value, name.span), sort))
            }
            other => {
                self.report_wrong_meaning(name, &other, "something with a value");
                None
            }
        }
    }

    /// Lowers an expression to a place; reports an error if it is only a value.
    pub(super) fn require_place(&mut self, tree: &Tree<'a>) -> Option<TypedPlace> {
        match self.lower_place_or_value(tree)? {
            PlaceOrValue::TypedPlace(part) => Some(part),
            PlaceOrValue::Value(..) => {
                let help = "store it in a variable first";
                let message = "this is only a value, not a variable or a part of one";
                self.error_with(tree.span, message, help);
                None
            }
        }
    }

    /// Lowers an expression to a place that may be assigned.
    pub(super) fn target(&mut self, tree: &Tree<'a>) -> Option<TypedPlace> {
        let PlaceOrValue::TypedPlace(part) = self.lower_place_or_value(tree)? else {
            let help = "only variables and their parts can be, not constants or the parameters of \
                        rulesets and loops";
            self.error_with(tree.span, "this cannot be changed", help);
            return None;
        };
        if !part.writable {
            let help = "parameters can be changed if they are declared with `var`";
            self.error_with(tree.span, "this cannot be changed here", help);
            return None;
        }
        if self.body.hoists != HoistPolicy::All {
            self.error(tree.span, "nothing can be changed here");
            return None;
        }
        self.body.changes |= self.is_external_place(&part.place);
        Some(part)
    }

    /// Returns whether a place belongs to the state or to the caller.
    pub(super) fn is_external_place(&self, place: &Place) -> bool {
        match place.root {
            PlaceRoot::Variable(_) => true,
            PlaceRoot::Local(local) => self.body.outside.contains(&local),
        }
    }

    fn field(
        &mut self,
        of: TypedPlace,
        field: SourceName<'a>,
        tree: &Tree<'a>,
    ) -> Option<TypedPlace> {
        let Type::Record { fields, .. } = &self.program.types[of.ty] else {
            let message = format!("this is no record, and has no field {}", quote(field.text));
            self.error_with(field.span, message, "only records have fields");
            return None;
        };
        let Some(number) = fields.iter().position(|(name, _)| name == field.text) else {
            let names: Vec<String> = fields.iter().map(|(name, _)| quote(name)).collect();
            let help = format!("its fields are {}", names.join(", "));
            let message = format!("there is no field {} in this record", quote(field.text));
            self.error_with(field.span, message, help);
            return None;
        };
        let ty = fields[number].1;
        let mut place = of.place;
        place.path.push(PlaceSelector::Field(number as u32));
        place.span = tree.span;
        Some(TypedPlace { place, ty, writable: of.writable })
    }

    fn element(&mut self, of: TypedPlace, index: &Tree<'a>, tree: &Tree<'a>) -> Option<TypedPlace> {
        let (value, from) = self.value(index)?;
        let (element, by) = match &self.program.types[of.ty] {
            Type::Array { element, .. } => (*element, ScalarSort::of(&self.indices[&of.ty])),
            Type::Multiset { element, .. } => (*element, ScalarSort::Number),
            _ => {
                let help = "only elements of these have an index in brackets";
                self.error_with(tree.span, "this is neither an array nor a multiset", help);
                return None;
            }
        };
        let value = self.convert_sort(value, &from, &by, index.span)?;
        self.check_index(of.ty, &value);
        let mut place = of.place;
        place.path.push(PlaceSelector::Index(value));
        place.span = tree.span;
        Some(TypedPlace { place, ty: element, writable: of.writable })
    }

    /// Warns of a known index outside the array; its execution is a run-time error.
    fn check_index(&self, array: TypeId, index: &Expr) {
        if let (Type::Array { low, length, .. }, Some(value)) =
            (&self.program.types[array], index.as_constant())
        {
            let high = low + i64::from(*length) - 1;
            if !(*low..=high).contains(&value) {
                let message = format!("the index is {value}, but the array has {low} to {high}");
                let warning = Diagnostic::warning(index.span, message);
                self.report.add(warning.help("where this is executed, it is a run-time error"));
            }
        }
    }

    /// Returns the value of a scalar place.
    pub(super) fn read(&self, part: TypedPlace) -> Option<(Expr, ScalarSort)> {
        let Some(sort) = self.sort_of(part.ty) else {
            self.error(part.place.span, "this is an aggregate, where one value is needed");
            return None;
        };
        let span = part.place.span;
        Some((Expr::new(ExprKind::Read(part.place), span), sort))
    }

    /// Lowers an expression to a place that is a multiset.
    pub(super) fn multiset(&mut self, tree: &Tree<'a>) -> Option<MultisetPlace> {
        let part = self.require_place(tree)?;
        match self.program.types[part.ty] {
            Type::Multiset { element, capacity } => {
                Some(MultisetPlace { place: part.place, element, capacity })
            }
            _ => {
                let help = "a multiset is declared as `multiset [n] of T`; in `multisetadd(element, set)` it comes last";
                self.error_with(tree.span, "this is no multiset", help);
                None
            }
        }
    }
}

/// Returns whether a place depends only on its locals.
pub(super) fn is_fixed(place: &Place) -> bool {
    place.path.iter().all(|selector| match selector {
        PlaceSelector::Field(_) => true,
        PlaceSelector::Index(index) => is_stable(index),
    })
}
