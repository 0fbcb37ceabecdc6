//! Parameters of processes and arguments of `run`.
//!
//! SPIN passes a structure value by value: the parameter `Lock l` is one parameter for each leaf of `Lock`, and an
//! argument that is a structure is expanded to its leaves. Here, such a parameter becomes a variable for each leaf,
//! named `l.take`, `l.give`, and so on. A channel inside is a number, so both sides share the channel. The variable of
//! a reference is known statically, because SPIN rejects a parameter that is or contains an array.

use super::actions::SentValue;
use super::{LoweringResult, PromelaLowering, SymbolMeaning};
use crate::promela::ast::{PromelaExpr, PromelaExprKind, PromelaReference};
use crate::promela::symbols::{PromelaSymbol, PromelaType, SymbolId};
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;
use spillway_ir::{self as ir, Entity, OverflowRule, Owner, Place, VarId};

/// The help text for an array that is passed to a process.
const GIVE_NO_ARRAY: &str = "keep the array outside the process, or give its elements one by one";

/// A leaf of a structure: its name after that of the structure, and its type.
struct StructureLeaf {
    path: String,
    basic: PromelaType,
}

impl<'m> PromelaLowering<'m, '_> {
    /// Declares the variables of a parameter that is a structure.
    pub(super) fn structure_parameter(
        &mut self,
        id: SymbolId,
        symbol: &'m PromelaSymbol,
        owner: Owner,
    ) -> LoweringResult<()> {
        self.refuse_array_parameter(symbol)?;
        let mut parts = Vec::new();
        self.parts_of_structure(symbol, symbol.basic, "", &mut parts)?;
        let first = VarId::from_index(self.program.variables.len());
        for StructureLeaf { path, basic } in parts {
            let ty = self.basic(basic)?;
            self.program.variables.push(ir::Variable {
                name: format!("{}{path}", symbol.name.text),
                ty,
                owner,
                initial: vec![Some(0)],
                span: symbol.name.span,
            });
        }
        self.meanings.insert(id, SymbolMeaning::Parts(first));
        Ok(())
    }

    fn refuse_array_parameter(&self, symbol: &PromelaSymbol) -> LoweringResult<()> {
        if symbol.length.is_none() {
            return Ok(());
        }
        let error = format!("the parameter {} is an array", symbol.name.text);
        Err(Diagnostic::error(symbol.name.span, error).help(GIVE_NO_ARRAY))
    }

    /// Appends the leaves of a structure in order, each with its name after `path`.
    fn parts_of_structure(
        &self,
        parameter: &PromelaSymbol,
        basic: PromelaType,
        path: &str,
        parts: &mut Vec<StructureLeaf>,
    ) -> LoweringResult<()> {
        let PromelaType::Struct(number) = basic else {
            parts.push(StructureLeaf { path: path.to_owned(), basic });
            return Ok(());
        };
        for field in &self.model.symbols.structs[number].fields {
            let path = format!("{path}.{}", field.name.text);
            if field.length.is_some() {
                let name = &parameter.name.text;
                let error = format!("the parameter {name} has an array inside: {name}{path}");
                return Err(Diagnostic::error(parameter.name.span, error).help(GIVE_NO_ARRAY));
            }
            self.parts_of_structure(parameter, field.basic, &path, parts)?;
        }
        Ok(())
    }

    /// Returns the variables of a process's parameters, in order.
    pub(super) fn parameter_variables(
        &self,
        parameters: &[SymbolId],
    ) -> LoweringResult<Vec<VarId>> {
        let mut variables = Vec::new();
        for id in parameters {
            let symbol = &self.model.symbols.all[*id];
            self.refuse_array_parameter(symbol)?;
            match self.meanings.get(id) {
                Some(&SymbolMeaning::Variable(variable)) => variables.push(variable),
                Some(&SymbolMeaning::Parts(first)) => {
                    let count = self.model.symbols.leaves(symbol.basic).len();
                    variables.extend((0..count).map(|at| VarId::from_index(first.index() + at)));
                }
                _ => {
                    let error = format!("the parameter {} is no single value", symbol.name.text);
                    return Err(Diagnostic::error(symbol.name.span, error));
                }
            }
        }
        Ok(variables)
    }

    /// Returns the first leaf's variable of a reference to a parameter that is a structure, and the type of the
    /// reference.
    pub(super) fn part_of_parameter(
        &self,
        first: VarId,
        reference: &PromelaReference,
    ) -> LoweringResult<(VarId, PromelaType)> {
        let symbol = &self.model.symbols.all[reference.symbol];
        refuse_index(&symbol.name.text, reference.index.as_deref())?;
        let mut basic = symbol.basic;
        let mut at = first.index();
        for (name, index) in &reference.fields {
            let (number, field) = self.field(basic, &name.text, name.span)?;
            refuse_index(&name.text, index.as_ref())?;
            if let PromelaType::Struct(structure) = basic {
                let before = &self.model.symbols.structs[structure].fields[..number as usize];
                let sizes = before.iter().map(|it| self.model.symbols.leaves(it.basic).len());
                at += sizes.sum::<usize>();
            }
            basic = field.basic;
        }
        Ok((VarId::from_index(at), basic))
    }

    /// Returns the places of the leaves of a reference, with their types.
    pub(super) fn single_values(
        &mut self,
        reference: &PromelaReference,
        inside: Option<usize>,
    ) -> LoweringResult<Vec<(Place, PromelaType)>> {
        let (basic, _) = self.part(reference)?;
        let leaves = self.model.symbols.leaves(basic);
        let mut places = Vec::new();
        match self.meanings.get(&reference.symbol) {
            Some(&SymbolMeaning::Parts(first)) => {
                let (first, _) = self.part_of_parameter(first, reference)?;
                let variables = (0..leaves.len()).map(|at| VarId::from_index(first.index() + at));
                places.extend(variables.map(|it| Place::variable(it, reference.span)));
            }
            _ => {
                let place = self.place(reference, inside)?;
                self.leaves_of(basic, place, &mut places);
            }
        }
        Ok(places.into_iter().zip(leaves).collect())
    }

    /// Appends the leaf values of an expression that is sent or passed.
    pub(super) fn argument_values<'a>(
        &mut self,
        value: &'a PromelaExpr,
        inside: Option<usize>,
        given: &mut Vec<(ir::Expr, SentValue<'a>)>,
    ) -> LoweringResult<()> {
        let span = value.span;
        if let PromelaExprKind::Variable(reference) = &value.kind
            && let (PromelaType::Struct(_), _) = self.part(reference)?
        {
            let values = self.single_values(reference, inside)?;
            let read = |place| ir::Expr::new(ir::ExprKind::Read(place), span);
            given.extend(
                values.into_iter().map(|(place, basic)| (read(place), SentValue::Leaf(basic))),
            );
        } else {
            given.push((self.expr(value, inside)?, SentValue::Value(value)));
        }
        Ok(())
    }

    /// Records a transfer of `source` to a variable of an `mtype` set.
    pub(super) fn note_transfer(&mut self, to: PromelaType, source: &SentValue<'_>) {
        match source {
            SentValue::Value(value) => self.note_store(to, value),
            SentValue::Leaf(basic) => self.note_copy(to, Some(*basic)),
        }
    }

    /// Returns the arguments of a `run` of the process with the number `started`, one for each leaf.
    pub(super) fn run_arguments(
        &mut self,
        started: usize,
        arguments: &[PromelaExpr],
        span: Span,
        number: usize,
    ) -> LoweringResult<Vec<ir::Expr>> {
        let symbols = &self.model.symbols;
        let parameters = self.bodies[started].0.parameters.iter();
        let expected: Vec<PromelaType> =
            parameters.flat_map(|&it| symbols.leaves(symbols.all[it].basic)).collect();
        let mut given = Vec::new();
        for argument in arguments {
            self.argument_values(argument, Some(number), &mut given)?;
        }
        if expected.len() != given.len() {
            let (expected, given) = (expected.len(), given.len());
            let process = &self.bodies[started].0.name.text;
            let error = format!("{process} takes {expected} arguments, but {given} are given");
            let diagnostic = Diagnostic::error(span, error);
            return Err(match self.has_structure(started, arguments) {
                true => diagnostic.help("each single value of a structure is an argument"),
                false => diagnostic,
            });
        }
        let mut values = Vec::new();
        for (&to, (value, source)) in expected.iter().zip(given) {
            self.note_transfer(to, &source);
            values.push(value);
        }
        Ok(values)
    }

    /// Returns whether a parameter of a process or an argument is a structure.
    fn has_structure(&self, started: usize, arguments: &[PromelaExpr]) -> bool {
        let is_structure = |basic| matches!(basic, PromelaType::Struct(_));
        let parameters = &self.bodies[started].0.parameters;
        parameters.iter().any(|&it| is_structure(self.model.symbols.all[it].basic))
            || arguments.iter().any(|it| match &it.kind {
                PromelaExprKind::Variable(reference) => {
                    self.part(reference).is_ok_and(|(basic, _)| is_structure(basic))
                }
                _ => false,
            })
    }

    /// Copies a structure, leaf by leaf if one side is a parameter.
    pub(super) fn copy_structure(
        &mut self,
        target: &PromelaReference,
        source: &PromelaReference,
        number: usize,
    ) -> LoweringResult<Vec<ir::Stmt>> {
        let (inside, span) = (Some(number), target.span);
        let is_parameter = |it: &PromelaReference| {
            matches!(self.meanings.get(&it.symbol), Some(SymbolMeaning::Parts(_)))
        };
        if !is_parameter(target) && !is_parameter(source) {
            let target = self.place(target, inside)?;
            let source = self.place(source, inside)?;
            return Ok(vec![ir::Stmt { kind: ir::StmtKind::Copy { target, source }, span }]);
        }
        if self.part(target)?.0 != self.part(source)?.0 {
            let error = "a structure is stored to one of another type";
            return Err(Diagnostic::error(source.span, error));
        }
        let targets = self.single_values(target, inside)?;
        let sources = self.single_values(source, inside)?;
        let stores = targets.into_iter().zip(sources).map(|((target, _), (source, _))| {
            let value = ir::Expr::new(ir::ExprKind::Read(source), span);
            let kind = ir::StmtKind::Assign { target, value, overflow: OverflowRule::Wraps };
            ir::Stmt { kind, span }
        });
        Ok(stores.collect())
    }
}

/// Rejects an index within a parameter, which contains no array. An index of 0 is allowed, as elsewhere.
pub(super) fn refuse_index(name: &str, index: Option<&PromelaExpr>) -> LoweringResult<()> {
    match index {
        None | Some(PromelaExpr { kind: PromelaExprKind::Number(0), .. }) => Ok(()),
        Some(index) => Err(Diagnostic::error(index.span, format!("{name} is no array"))),
    }
}
