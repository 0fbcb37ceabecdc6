//! Lowering of types of variables and fields.

use super::{LoweringResult, PromelaLowering};
use crate::promela::ast::{PromelaExpr, PromelaExprKind, PromelaReference};
use crate::promela::symbols::{PromelaSymbol, PromelaType};
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;
use spillway_ir::{self as ir, Domain, EnumType, ScalarType, Type, TypeId, interval};

impl<'m> PromelaLowering<'m, '_> {
    /// Returns the type, shared by all its uses.
    fn intern(&mut self, ty: Type) -> TypeId {
        match self.types.get(&ty) {
            Some(&known) => known,
            None => {
                let id = self.program.types.push(ty.clone());
                self.types.insert(ty, id);
                id
            }
        }
    }

    fn scalar(&mut self, domain: Domain) -> TypeId {
        self.intern(Type::Scalar(ScalarType::defined(domain)))
    }

    pub(super) fn range(&mut self, low: i64, high: i64) -> TypeId {
        self.scalar(Domain::Range { low, high })
    }

    pub(super) fn basic(&mut self, basic: PromelaType) -> LoweringResult<TypeId> {
        Ok(match basic {
            PromelaType::Bit => self.range(0, 1),
            PromelaType::Bool => self.scalar(Domain::Bool),
            PromelaType::Byte => self.range(0, 255),
            PromelaType::Short => self.range(-32768, 32767),
            PromelaType::Int => self.range(i32::MIN.into(), i32::MAX.into()),
            PromelaType::Unsigned(bits) => self.range(0, (1i64 << bits) - 1),
            PromelaType::Channel => self.scalar(Domain::Channel),
            PromelaType::Mtype(set) if self.bytes.contains(&set) => self.range(0, 255),
            PromelaType::Mtype(set) => {
                let id = self.names_of(set);
                self.scalar(Domain::Enum(id))
            }
            PromelaType::Struct(number) => return self.structure(number),
        })
    }

    fn names_of(&mut self, set: usize) -> ir::EnumId {
        if let Some(&known) = self.enums.get(&set) {
            return known;
        }
        let about = &self.model.symbols.sets[set];
        // Value 0 is the initial value and has no name.
        let values = std::iter::once("0".to_owned())
            .chain(about.names.iter().map(|name| name.to_string()))
            .collect();
        let id = self.program.enums.push(EnumType { name: about.name.to_string(), values });
        self.enums.insert(set, id);
        id
    }

    fn structure(&mut self, number: usize) -> LoweringResult<TypeId> {
        if let Some(&known) = self.structs.get(&number) {
            return Ok(known);
        }
        let model = self.model;
        let about = &model.symbols.structs[number];
        let mut fields = Vec::new();
        for field in &about.fields {
            fields.push((field.name.text.to_string(), self.type_of(field)?));
        }
        let id = self.program.types.push(Type::Record { name: about.name.to_string(), fields });
        self.structs.insert(number, id);
        Ok(id)
    }

    pub(super) fn type_of(&mut self, symbol: &PromelaSymbol) -> LoweringResult<TypeId> {
        let Some(length) = symbol.length else { return self.basic(symbol.basic) };
        // Only a bit outside an array is a single bit: SPIN stores the elements of an array in bytes.
        let element = self.basic(match symbol.basic {
            PromelaType::Bit | PromelaType::Bool => PromelaType::Byte,
            other => other,
        })?;
        Ok(self.intern(Type::Array { low: 0, length, by: None, element }))
    }

    /// Wraps a value into this scalar type, or into the element type of this array type.
    pub(super) fn wrap_value(&self, ty: TypeId, value: i64) -> i64 {
        match &self.program.types[ty] {
            Type::Scalar(ScalarType { domain, .. }) => {
                interval::wrap_into(value, self.program.bounds(domain))
            }
            Type::Array { element, .. } => self.wrap_value(*element, value),
            _ => value,
        }
    }

    /// Returns the type of the part that a reference names, and whether it is a whole array.
    pub(super) fn part(
        &self,
        reference: &PromelaReference,
    ) -> LoweringResult<(PromelaType, Option<u32>)> {
        let symbol = &self.model.symbols.all[reference.symbol];
        let mut part = (symbol.basic, symbol.length.filter(|_| reference.index.is_none()));
        for (name, index) in &reference.fields {
            let field = self.field(part.0, &name.text, name.span)?.1;
            part = (field.basic, field.length.filter(|_| index.is_none()));
        }
        Ok(part)
    }

    /// Returns a field of a structure, with its number.
    pub(super) fn field(
        &self,
        of: PromelaType,
        name: &str,
        span: Span,
    ) -> LoweringResult<(u32, &'m PromelaSymbol)> {
        let PromelaType::Struct(number) = of else {
            return Err(Diagnostic::error(
                span,
                format!("there is no field {name}: this is no structure"),
            ));
        };
        let model = self.model;
        let about = &model.symbols.structs[number];
        let found = about.fields.iter().enumerate().find(|(_, field)| &*field.name.text == name);
        match found {
            Some((at, field)) => Ok((at as u32, field)),
            None => Err(Diagnostic::error(span, format!("{} has no field {name}", about.name))),
        }
    }

    /// Records that `value` is stored to a variable of an `mtype` set.
    pub(super) fn note_store(&mut self, to: PromelaType, value: &PromelaExpr) {
        let PromelaType::Mtype(set) = to else { return };
        if !self.is_of_set(set, value) {
            self.bytes.insert(set);
        }
    }

    /// Records that a part of another type, or an unknown value, is stored to a variable of an `mtype` set.
    pub(super) fn note_copy(&mut self, to: PromelaType, from: Option<PromelaType>) {
        if let PromelaType::Mtype(set) = to
            && from != Some(to)
        {
            self.bytes.insert(set);
        }
    }

    fn is_of_set(&self, set: usize, value: &PromelaExpr) -> bool {
        match &value.kind {
            PromelaExprKind::Symbol(name) => {
                name.set == set || name.value <= self.model.symbols.sets[set].names.len() as i64
            }
            PromelaExprKind::Number(0) => true,
            PromelaExprKind::Variable(reference) => {
                self.part(reference).is_ok_and(|(basic, _)| basic == PromelaType::Mtype(set))
            }
            PromelaExprKind::Conditional(_, then, otherwise) => {
                self.is_of_set(set, then) && self.is_of_set(set, otherwise)
            }
            _ => false,
        }
    }
}
