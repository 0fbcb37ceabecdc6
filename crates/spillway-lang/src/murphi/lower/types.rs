//! Lowering of types, constants and variables.

use super::super::ast::{MAX_DEPTH, MurphiExpr as Tree, SourceName, TypeExpr, TypeExprKind};
use super::sorts::ScalarSort;
use super::{MurphiLowering, MurphiMeaning};
use crate::quote::quote;
use spillway_base::source::Span;
use spillway_ir::layout::MAX_CELL_BITS;
use spillway_ir::validate::SCALARS_MAX;
use spillway_ir::{
    Domain, EnumType, Expr, ExprKind, Owner, Place, ScalarType, Scalarset, Type, TypeId, Variable,
};

/// The maximum number of values of a range, so that these and undefined fit a cell.
pub(super) const VALUES_MAX: i128 = (1 << MAX_CELL_BITS) - 1;
/// The maximum number of values of an enumeration or a scalarset.
const NAMED_MAX: i64 = 1 << 16;

impl<'a> MurphiLowering<'a, '_> {
    /// Declares the predefined names.
    pub(super) fn declare_predefined(&mut self) {
        let truth = self.scalar_type(Domain::Bool);
        self.scopes.declare("boolean", MurphiMeaning::Type(truth));
        self.scopes.declare("false", MurphiMeaning::Constant(0, ScalarSort::Bool));
        self.scopes.declare("true", MurphiMeaning::Constant(1, ScalarSort::Bool));
        // A model may redeclare these names.
        self.scopes.push();
    }

    /// Returns the type of scalars of a domain.
    pub(super) fn scalar_type(&mut self, domain: Domain) -> TypeId {
        self.intern(Type::Scalar(ScalarType { domain, undefined: true }), None)
    }

    /// Returns the type of numbers from `low` to `high`.
    pub(super) fn range_type(&mut self, low: i64, high: i64) -> TypeId {
        self.scalar_type(Domain::Range { low, high })
    }

    fn intern(&mut self, ty: Type, index: Option<Domain>) -> TypeId {
        let key = (ty, index);
        if let Some(&id) = self.interned.get(&key) {
            return id;
        }
        let size = |ty: &TypeId| self.sizes[ty.0 as usize];
        let scalars = match &key.0 {
            Type::Scalar(_) => 1,
            Type::Array { length, element, .. } => size(element).saturating_mul((*length).into()),
            Type::Record { fields, .. } => {
                fields.iter().fold(0, |sum: u64, (_, ty)| sum.saturating_add(size(ty)))
            }
            Type::Multiset { capacity, element } => {
                (size(element) + 1).saturating_mul((*capacity).into())
            }
        };
        let depth = |ty: &TypeId| self.depths[ty.0 as usize];
        let depth = match &key.0 {
            Type::Scalar(_) => 0,
            Type::Array { element, .. } | Type::Multiset { element, .. } => 1 + depth(element),
            Type::Record { fields, .. } => {
                1 + fields.iter().map(|(_, ty)| depth(ty)).max().unwrap_or_default()
            }
        };
        let id = self.program.types.push(key.0.clone());
        self.sizes.push(scalars);
        self.depths.push(depth);
        if let Some(index) = &key.1 {
            self.indices.insert(id, index.clone());
        }
        self.interned.insert(key, id);
        id
    }

    /// Lowers a type; a new type gets this name.
    pub(super) fn named_type(&mut self, ty: &TypeExpr<'a>, name: &str) -> Option<TypeId> {
        let id = match &ty.kind {
            TypeExprKind::Named(name) => match self.meaning(*name)? {
                MurphiMeaning::Type(id) => id,
                other => {
                    self.report_wrong_meaning(*name, &other, "a type");
                    return None;
                }
            },
            TypeExprKind::Enum(values) => self.enumeration(values, name, ty.span)?,
            TypeExprKind::Range(low, high) => self.range(low, high, ty.span)?,
            TypeExprKind::Record(fields) => self.record(fields, name)?,
            TypeExprKind::Array(index, element) => self.array(index, element)?,
            TypeExprKind::Multiset(capacity, element) => {
                let capacity = self.size(capacity, "the capacity of a multiset")?;
                let element = self.ty(element)?;
                self.intern(Type::Multiset { capacity, element }, None)
            }
            TypeExprKind::Scalarset(size) => {
                let size = self.size(size, "the size of a scalarset")?;
                if i64::from(size) > NAMED_MAX {
                    self.error(ty.span, format!("a scalarset has at most {NAMED_MAX} values"));
                    return None;
                }
                let name = if name.is_empty() { "scalarset" } else { name };
                let set = Scalarset { name: name.to_owned(), size };
                let set = self.program.scalarsets.push(set);
                self.scalar_type(Domain::Scalarset(set))
            }
            TypeExprKind::Union(members) => self.union(members, ty.span)?,
        };
        if self.depths[id.0 as usize] > MAX_DEPTH {
            let message = format!("types are nested more than {MAX_DEPTH} deep here");
            self.error_with(ty.span, message, "use an index instead of a further array or record");
            return None;
        }
        if self.sizes[id.0 as usize] > SCALARS_MAX {
            let message = format!("a value of this type has more than {SCALARS_MAX} scalars");
            self.error_with(ty.span, message, "make its constants smaller");
            return None;
        }
        Some(id)
    }

    /// Lowers an anonymous type.
    pub(super) fn ty(&mut self, ty: &TypeExpr<'a>) -> Option<TypeId> {
        self.named_type(ty, "")
    }

    /// Lowers a scalar type; `what` describes it in messages.
    pub(super) fn simple_type(&mut self, ty: &TypeExpr<'a>, what: &str) -> Option<TypeId> {
        let id = self.ty(ty)?;
        if self.domain(id).is_none() {
            self.error(ty.span, format!("{what} ranges over single values, not over aggregates"));
            return None;
        }
        Some(id)
    }

    fn enumeration(&mut self, values: &[SourceName<'a>], name: &str, span: Span) -> Option<TypeId> {
        if values.is_empty() || values.len() as i64 > NAMED_MAX {
            self.error(span, format!("an enumeration has 1 to {NAMED_MAX} values"));
            return None;
        }
        let names = values.iter().map(|value| value.text.to_owned()).collect();
        let id = self.program.enums.push(EnumType { name: name.to_owned(), values: names });
        for (number, &value) in values.iter().enumerate() {
            self.declare(value, MurphiMeaning::Constant(number as i64, ScalarSort::Enum(id)));
        }
        Some(self.scalar_type(Domain::Enum(id)))
    }

    fn range(&mut self, low: &Tree<'a>, high: &Tree<'a>, span: Span) -> Option<TypeId> {
        let (low, from) = self.constant_value(low)?;
        let (high, to) = self.constant_value(high)?;
        if from != ScalarSort::Number || to != ScalarSort::Number {
            self.error_with(span, "a range is of numbers", "to choose among names, use an enum");
            return None;
        }
        if low > high {
            let message = format!("the range is empty: {low} is greater than {high}");
            self.error(span, message);
            return None;
        }
        if i128::from(high) - i128::from(low) + 1 > VALUES_MAX {
            self.error(span, "the range has more than 2^48 - 1 values");
            return None;
        }
        Some(self.range_type(low, high))
    }

    fn record(
        &mut self,
        fields: &[(Vec<SourceName<'a>>, TypeExpr<'a>)],
        name: &str,
    ) -> Option<TypeId> {
        let mut all: Vec<(String, TypeId)> = Vec::new();
        for (names, ty) in fields {
            let ty = self.ty(ty)?;
            for field in names {
                if all.iter().any(|(other, _)| other == field.text) {
                    let message = format!("field {} is declared a second time", quote(field.text));
                    self.error(field.span, message);
                }
                all.push((field.text.to_owned(), ty));
            }
        }
        Some(self.intern(Type::Record { name: name.to_owned(), fields: all }, None))
    }

    fn array(&mut self, index: &TypeExpr<'a>, element: &TypeExpr<'a>) -> Option<TypeId> {
        let by = self.simple_type(index, "an index")?;
        let element = self.ty(element)?;
        let domain = self.domain(by)?.clone();
        let (low, high) = self.program.bounds(&domain);
        let Ok(length) = u32::try_from(high - low + 1) else {
            self.error(index.span, "the array has more than 2^32 - 1 elements");
            return None;
        };
        if low.checked_add(length.into()).is_none() {
            self.error(index.span, "an array's last index is at most 2^63 - 2");
            return None;
        }
        let by = (!matches!(domain, Domain::Range { .. })).then(|| domain.clone());
        Some(self.intern(Type::Array { low, length, by, element }, Some(domain)))
    }

    fn union(&mut self, members: &[TypeExpr<'a>], span: Span) -> Option<TypeId> {
        let mut parts: Vec<Domain> = Vec::new();
        for member in members {
            let ty = self.simple_type(member, "a union")?;
            let added = match self.domain(ty)? {
                Domain::Union(parts) => parts.clone(),
                part @ (Domain::Enum(_) | Domain::Scalarset(_)) => vec![part.clone()],
                _ => {
                    let message = "the members of a union are enumerations and scalarsets";
                    self.error(member.span, message);
                    return None;
                }
            };
            for part in added {
                if parts.contains(&part) {
                    self.error(member.span, "this is in the union twice");
                } else {
                    parts.push(part);
                }
            }
        }
        if parts.is_empty() {
            self.error(span, "this union has no members");
            return None;
        }
        let domain = Domain::Union(parts);
        if i128::from(self.program.bounds(&domain).1) + 1 > VALUES_MAX {
            self.error(span, "the union has more than 2^48 - 1 values");
            return None;
        }
        Some(self.scalar_type(domain))
    }

    /// Returns a constant size of at least one.
    fn size(&mut self, expr: &Tree<'a>, what: &str) -> Option<u32> {
        let (value, sort) = self.constant_value(expr)?;
        match u32::try_from(value) {
            Ok(size) if size > 0 && sort == ScalarSort::Number => Some(size),
            _ => {
                self.error(expr.span, format!("{what} is a number from 1 on"));
                None
            }
        }
    }

    /// Returns the value of a constant expression.
    pub(super) fn constant_value(&mut self, expr: &Tree<'a>) -> Option<(i64, ScalarSort)> {
        let (value, sort) = self.value(expr)?;
        if value.as_constant().is_none() && is_without_result(&value) {
            let help = "the operands are known, but a zero divisor or a number beyond 64 bits has \
                        no result";
            self.error_with(expr.span, "this cannot be computed", help);
        } else if value.as_constant().is_none() {
            let help = "only numbers, constants and operations on them are known";
            self.error_with(expr.span, "this must be known before the model runs", help);
        }
        Some((value.as_constant()?, sort))
    }

    pub(super) fn constants(&mut self, names: &[SourceName<'a>], value: &Tree<'a>) {
        let Some((known, sort)) = self.constant_value(value) else { return };
        for &name in names {
            let mut value = known;
            let define = self.defines.iter().find(|(it, _)| it == name.text);
            if let Some((define, replacement)) = define {
                value = *replacement;
                self.defined.insert(define);
                if sort == ScalarSort::Bool && !(0..=1).contains(&value) {
                    self.error(name.span, format!("`{define}` is a truth value: define it 0 or 1"));
                }
            }
            self.declare(name, MurphiMeaning::Constant(value, sort.clone()));
        }
    }

    /// Declares variables of the state.
    pub(super) fn variables(&mut self, names: &[SourceName<'a>], ty: &TypeExpr<'a>) {
        let Some(id) = self.named_type(ty, "") else { return };
        for &name in names {
            let total: u64 =
                self.program.variables.values().map(|it| it.initial.len() as u64).sum();
            if total + self.sizes[id.0 as usize] > SCALARS_MAX {
                let message = format!("with this, a state has more than {SCALARS_MAX} scalars");
                return self.error_with(name.span, message, "make the model's constants smaller");
            }
            let mut initial = Vec::new();
            self.blank(id, &mut initial);
            let variable = self.program.variables.push(Variable {
                name: name.text.to_owned(),
                ty: id,
                owner: Owner::Program,
                initial,
                span: name.span,
            });
            let place = Place::variable(variable, name.span);
            self.declare(name, MurphiMeaning::Place(place, id, true));
        }
    }

    /// Appends the initial value of a type: undefined scalars and empty multisets.
    fn blank(&self, ty: TypeId, values: &mut Vec<Option<i64>>) {
        match &self.program.types[ty] {
            Type::Scalar(_) => values.push(None),
            Type::Array { length, element, .. } => {
                (0..*length).for_each(|_| self.blank(*element, values));
            }
            Type::Record { fields, .. } => {
                fields.iter().for_each(|(_, ty)| self.blank(*ty, values));
            }
            Type::Multiset { capacity, element } => {
                for _ in 0..*capacity {
                    values.push(Some(0));
                    self.blank(*element, values);
                }
            }
        }
    }
}

/// Returns whether an operation was not folded although all operands are known.
fn is_without_result(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Binary(_, left, right) => {
            let known = |it: &Expr| it.as_constant().is_some();
            known(left) && known(right) || is_without_result(left) || is_without_result(right)
        }
        ExprKind::Unary(_, operand) => is_without_result(operand),
        _ => false,
    }
}
