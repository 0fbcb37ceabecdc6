//! Variables and parts of them.

use super::super::ast::{Expr as Tree, ExprKind as TreeKind, Name};
use super::fold::is_stable;
use super::sorts::Sort;
use super::{Hoists, Lowerer, Meaning};
use crate::diag::Diagnostic;
use crate::front::quote::quote;
use crate::ir::{Expr, ExprKind, Place, Root, Selector, Type, TypeId};

/// A variable or a part of one.
pub(super) struct TypedPlace {
    /// Where it is.
    pub(super) place: Place,
    /// What it holds.
    pub(super) ty: TypeId,
    /// Whether it may be assigned.
    pub(super) writable: bool,
}

/// What an expression stands for.
pub(super) enum Lowered {
    /// A place, of a scalar or an aggregate.
    TypedPlace(TypedPlace),
    /// A value.
    Value(Expr, Sort),
}

impl<'a> Lowerer<'a, '_> {
    /// Lowers what may be a place or a value.
    pub(super) fn lowered(&mut self, tree: &Tree<'a>) -> Option<Lowered> {
        match &tree.kind {
            TreeKind::Name(text) => self.named(Name { text, span: tree.span }),
            TreeKind::Field(of, field) => {
                let of = self.part(of)?;
                self.field(of, *field, tree).map(Lowered::TypedPlace)
            }
            TreeKind::Index(of, index) => {
                let of = self.part(of)?;
                self.element(of, index, tree).map(Lowered::TypedPlace)
            }
            TreeKind::Call(name, arguments) => self.call_for_value(*name, arguments, tree.span),
            _ => self.operation(tree).map(|(value, sort)| Lowered::Value(value, sort)),
        }
    }

    fn named(&mut self, name: Name<'a>) -> Option<Lowered> {
        match self.meaning(name)? {
            Meaning::Place(mut place, ty, writable) => {
                place.span = name.span;
                Some(Lowered::TypedPlace(TypedPlace { place, ty, writable }))
            }
            Meaning::Value(value, sort) => {
                Some(Lowered::Value(Expr { span: name.span, ..value }, sort))
            }
            Meaning::Constant(value, sort) => {
                Some(Lowered::Value(Expr::constant(value, name.span), sort))
            }
            other => {
                self.not_a(name, &other, "something with a value");
                None
            }
        }
    }

    /// A place; an error if the expression is only a value.
    pub(super) fn part(&mut self, tree: &Tree<'a>) -> Option<TypedPlace> {
        match self.lowered(tree)? {
            Lowered::TypedPlace(part) => Some(part),
            Lowered::Value(..) => {
                let help = "store it in a variable first";
                let message = "this is only a value, not a variable or a part of one";
                self.error_with(tree.span, message, help);
                None
            }
        }
    }

    /// A place that may be assigned.
    pub(super) fn target(&mut self, tree: &Tree<'a>) -> Option<TypedPlace> {
        let Lowered::TypedPlace(part) = self.lowered(tree)? else {
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
        if self.body.hoists != Hoists::All {
            self.error(tree.span, "nothing can be changed here");
            return None;
        }
        self.body.changes |= self.is_outside(&part.place);
        Some(part)
    }

    /// Whether a place is the state's or the caller's.
    pub(super) fn is_outside(&self, place: &Place) -> bool {
        match place.root {
            Root::Variable(_) => true,
            Root::Local(local) => self.body.outside.contains(&local),
        }
    }

    fn field(&mut self, of: TypedPlace, field: Name<'a>, tree: &Tree<'a>) -> Option<TypedPlace> {
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
        place.path.push(Selector::Field(number as u32));
        place.span = tree.span;
        Some(TypedPlace { place, ty, writable: of.writable })
    }

    fn element(&mut self, of: TypedPlace, index: &Tree<'a>, tree: &Tree<'a>) -> Option<TypedPlace> {
        let (value, from) = self.value(index)?;
        let (element, by) = match &self.program.types[of.ty] {
            Type::Array { element, .. } => (*element, Sort::of(&self.indices[&of.ty])),
            Type::Multiset { element, .. } => (*element, Sort::Number),
            _ => {
                let help = "only elements of these have an index in brackets";
                self.error_with(tree.span, "this is neither an array nor a multiset", help);
                return None;
            }
        };
        let value = self.converted(value, &from, &by, index.span)?;
        self.check_index(of.ty, &value);
        let mut place = of.place;
        place.path.push(Selector::Index(value));
        place.span = tree.span;
        Some(TypedPlace { place, ty: element, writable: of.writable })
    }

    /// Warns of a known index that is none of the array's: where it is executed, that is a run-time error.
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

    /// What a scalar place holds.
    pub(super) fn read(&self, part: TypedPlace) -> Option<(Expr, Sort)> {
        let Some(sort) = self.sort_of(part.ty) else {
            self.error(part.place.span, "this is an aggregate, where one value is needed");
            return None;
        };
        let span = part.place.span;
        Some((Expr { kind: ExprKind::Read(part.place), span }, sort))
    }

    /// A place that is a multiset; its type and its capacity.
    pub(super) fn multiset(&mut self, tree: &Tree<'a>) -> Option<(TypedPlace, TypeId, u32)> {
        let part = self.part(tree)?;
        match self.program.types[part.ty] {
            Type::Multiset { element, capacity } => Some((part, element, capacity)),
            _ => {
                let help = "a multiset is declared as `multiset [n] of T`; in `multisetadd(element, set)` it comes last";
                self.error_with(tree.span, "this is no multiset", help);
                None
            }
        }
    }
}

/// Whether a place is the same wherever its locals are known.
pub(super) fn is_fixed(place: &Place) -> bool {
    place.path.iter().all(|selector| match selector {
        Selector::Field(_) => true,
        Selector::Index(index) => is_stable(index),
    })
}
