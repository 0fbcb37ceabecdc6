//! Expansion of quantified formulas to one formula for each value.
//!
//! `forall i: Node do [] p end` is the conjunction of `[] p` for each value of `i`. A proposition about one value is
//! the quantified condition, restricted to that value: `forall i: Node do i = k -> p end`. So values of scalarsets need
//! no names.

use super::temporal_property::{
    Proposition, TemporalProperty, TemporalSpec, UnresolvedProperty, check_proposition_count,
    too_many_propositions,
};
use crate::ltl::{LtlConnective, LtlFormula, quantified_formula};
use spillway_base::diag::Diagnostic;
use spillway_base::source::{SourceMap, Span};
use spillway_base::trees::joined;
use spillway_ir::{
    BinaryOp, Domain, Expr, ExprKind, LocalId, Program, Quantifier, ScalarType, Type, TypeId,
};
use std::collections::HashMap;

/// The maximum number of propositions about single values, before they are grouped.
const EXPANDED_MAX: usize = 1 << 12;

/// The variables that a quantified formula declares, with the least and the greatest value of each.
type QuantifiedRanges = Vec<(String, (i64, i64))>;

impl UnresolvedProperty {
    /// Expands the property's quantified formulas. `conditions` are its propositions in the program. The condition of a
    /// proposition within quantified formulas has the same quantifiers, with as many variables as `names` lists for
    /// each formula.
    pub(crate) fn expand_quantifiers(
        self,
        sources: &SourceMap,
        program: &Program,
        conditions: Vec<Expr>,
        names: &[Vec<String>],
    ) -> Result<TemporalProperty, Diagnostic> {
        if self.quantified.is_empty() {
            return Ok(self.resolve(sources, conditions));
        }
        let span = self.quantified[0].variables;
        let mut expansion = QuantifierExpansion {
            sources,
            span,
            variables: self.variables(program, &conditions, names),
            split: &self,
            conditions: &conditions,
            numbers: HashMap::new(),
            propositions: Vec::new(),
        };
        let TemporalSpec::Formula(formula) = &self.spec else {
            unreachable!("only formulas are quantified")
        };
        let mut values = vec![Vec::new(); self.quantified.len()];
        let formula = expansion.formula(formula, &mut values)?;
        check_proposition_count(formula.grouped().groups.len(), span)?;
        let tells_apart = expansion.breaks_symmetry(program);
        let propositions = expansion.propositions;
        Ok(TemporalProperty {
            name: None,
            spec: TemporalSpec::Formula(formula),
            propositions,
            breaks_symmetry: tells_apart,
        })
    }

    /// Returns the variables of each quantified formula to which a proposition refers.
    fn variables(
        &self,
        program: &Program,
        conditions: &[Expr],
        names: &[Vec<String>],
    ) -> Vec<Option<QuantifiedRanges>> {
        let mut found = vec![None; self.quantified.len()];
        for (enclosing, condition) in self.enclosing.iter().zip(conditions) {
            let mut all = bound(condition).into_iter();
            for &formula in enclosing {
                let names = &names[formula];
                let types: Vec<TypeId> = all.by_ref().take(names.len()).map(|it| it.1).collect();
                let ranges = types.iter().map(|ty| program.bounds(domain(program, *ty)));
                found[formula] = Some(names.iter().cloned().zip(ranges).collect());
            }
        }
        found
    }
}

/// Returns the variables by which a condition is quantified, the outermost first, with their types.
fn bound(condition: &Expr) -> Vec<(LocalId, TypeId)> {
    let mut found = Vec::new();
    let mut at = condition;
    while let ExprKind::Quantified { local, over, body, .. } = &at.kind {
        found.push((*local, *over));
        at = body;
    }
    found
}

fn domain(program: &Program, ty: TypeId) -> &Domain {
    match &program.types[ty] {
        Type::Scalar(ScalarType { domain, .. }) => domain,
        _ => unreachable!("a quantifier is over the values of a scalar type"),
    }
}

struct QuantifierExpansion<'a> {
    sources: &'a SourceMap,
    /// The span at which too many propositions are reported.
    span: Span,
    split: &'a UnresolvedProperty,
    conditions: &'a [Expr],
    variables: Vec<Option<QuantifiedRanges>>,
    /// The numbers of propositions by the values of the variables around them, the outermost first.
    numbers: HashMap<(usize, Vec<i64>), usize>,
    propositions: Vec<Proposition>,
}

impl QuantifierExpansion<'_> {
    /// Returns a formula in which the variables of each open quantified formula have these values.
    fn formula(
        &mut self,
        formula: &LtlFormula,
        values: &mut [Vec<i64>],
    ) -> Result<LtlFormula, Diagnostic> {
        Ok(match formula {
            LtlFormula::Constant(_) => formula.clone(),
            LtlFormula::Proposition(number) => match quantified_formula(*number) {
                Some(quantified) => self.quantified(quantified, values)?,
                None => LtlFormula::Proposition(self.proposition(*number, values)?),
            },
            LtlFormula::Not(it) => LtlFormula::Not(Box::new(self.formula(it, values)?)),
            LtlFormula::Next(it) => LtlFormula::Next(Box::new(self.formula(it, values)?)),
            LtlFormula::Eventually(it) => {
                LtlFormula::Eventually(Box::new(self.formula(it, values)?))
            }
            LtlFormula::Always(it) => LtlFormula::Always(Box::new(self.formula(it, values)?)),
            LtlFormula::Binary(operator, left, right) => {
                let left = self.formula(left, values)?;
                LtlFormula::binary(*operator, left, self.formula(right, values)?)
            }
        })
    }

    fn quantified(
        &mut self,
        number: usize,
        values: &mut [Vec<i64>],
    ) -> Result<LtlFormula, Diagnostic> {
        let split = self.split;
        let part = &split.quantified[number];
        // If no proposition refers to the variables, one value is enough.
        let ranges: Vec<(i64, i64)> = match &self.variables[number] {
            Some(variables) => variables.iter().map(|it| it.1).collect(),
            None => Vec::new(),
        };
        let mut operands = Vec::new();
        let mut next = Some(ranges.iter().map(|it| it.0).collect::<Vec<i64>>());
        while let Some(here) = next {
            next = next_values(&here, &ranges);
            values[number] = here;
            operands.push(self.formula(&part.formula, values)?);
        }
        let operator = if part.is_universal { LtlConnective::And } else { LtlConnective::Or };
        let all = joined(operands, |left, right| LtlFormula::binary(operator, left, right));
        Ok(all.unwrap_or_else(|| unreachable!("a type has a value")))
    }

    /// Returns the number of a proposition for these values of the variables around it.
    fn proposition(&mut self, number: usize, values: &[Vec<i64>]) -> Result<usize, Diagnostic> {
        let enclosing = &self.split.enclosing[number];
        let here: Vec<i64> = enclosing.iter().flat_map(|&it| values[it].clone()).collect();
        let next = self.propositions.len();
        let found = *self.numbers.entry((number, here.clone())).or_insert(next);
        if found == next {
            if next == EXPANDED_MAX {
                return Err(too_many_propositions(next + 1, self.span));
            }
            let text = self.sources.text(self.split.propositions[number]).trim();
            let names = enclosing.iter().filter_map(|&it| self.variables[it].as_ref()).flatten();
            let told: Vec<String> =
                names.zip(&here).map(|((name, _), value)| format!("{name} = {value}")).collect();
            let text = match told.is_empty() {
                true => text.to_owned(),
                false => format!("({text} for {})", told.join(", ")),
            };
            let condition = restrict_condition(&self.conditions[number], &here);
            self.propositions.push(Proposition { text, condition });
        }
        Ok(found)
    }

    /// Returns whether some proposition refers to one value of a scalarset.
    fn breaks_symmetry(&self, program: &Program) -> bool {
        let quantified = self.numbers.keys().map(|it| it.0);
        let mut all = quantified.flat_map(|it| {
            let count = self.split.enclosing[it].iter();
            let count = count.filter_map(|&it| self.variables[it].as_ref()).map(Vec::len).sum();
            bound(&self.conditions[it]).into_iter().take(count)
        });
        all.any(|(_, over)| {
            !matches!(domain(program, over), Domain::Bool | Domain::Range { .. } | Domain::Enum(_))
        })
    }
}

/// Returns the successor of some values in ascending order, the last variable's first, if there is one.
fn next_values(values: &[i64], ranges: &[(i64, i64)]) -> Option<Vec<i64>> {
    let mut next = values.to_vec();
    for (value, (low, high)) in next.iter_mut().zip(ranges).rev() {
        if *value < *high {
            *value += 1;
            return Some(next);
        }
        *value = *low;
    }
    None
}

/// Restricts a quantified condition to these values of its outermost variables.
fn restrict_condition(condition: &Expr, values: &[i64]) -> Expr {
    restricted_behind(condition, values, Vec::new())
}

fn restricted_behind(condition: &Expr, values: &[i64], mut tests: Vec<Expr>) -> Expr {
    let span: Span = condition.span;
    let expr = |kind| Expr::new(kind, span);
    let binary = |operator, left: Expr, right: Expr| {
        expr(ExprKind::Binary(operator, Box::new(left), Box::new(right)))
    };
    match (&condition.kind, values) {
        (ExprKind::Quantified { local, over, body, .. }, [value, rest @ ..]) => {
            tests.push(binary(
                BinaryOp::Equal,
                expr(ExprKind::Local(*local)),
                Expr::constant(*value, span),
            ));
            let body = Box::new(restricted_behind(body, rest, tests));
            let quantifier = Quantifier::All;
            expr(ExprKind::Quantified { quantifier, local: *local, over: *over, body })
        }
        _ => match joined(tests, |left, right| binary(BinaryOp::And, left, right)) {
            Some(test) => binary(BinaryOp::Implies, test, condition.clone()),
            None => condition.clone(),
        },
    }
}
