//! The letters of a claim: the classes of states that it can distinguish.
//!
//! The guards and assertions of its moves consist of *terms*, which are compared with constants or tested for truth.
//! Only the values of a term that a comparison distinguishes matter. So there are few letters: one for all states in
//! which each guard and each assertion has the same value.

use spillway_analysis::access::AccessTable;
use spillway_base::source::Span;
use spillway_exec::interp::{ClaimConditions, EvalFailure};
use spillway_ir::text::{NameScope, ProgramPrinter};
use spillway_ir::{Arithmetic, BinaryOp, Claim, Expr, ExprKind, StmtKind, UnaryOp};
use spillway_model::{FaultKind, RuntimeFault};
use std::collections::{BTreeMap, BTreeSet};

/// The most combinations of values that are examined.
const COMBINATIONS_MAX: usize = 1 << 16;

/// A letter: the outcome of each move of a claim.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ClaimLetter {
    moves: Vec<MoveOutcome>,
}

/// The values of the guard and the assertions of a move; if the evaluation fails, the term that fails.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct MoveOutcome {
    guard: Result<bool, usize>,
    asserted: Vec<Result<bool, usize>>,
}

/// A condition over terms.
#[derive(Debug)]
enum TermFormula {
    Known(i64),
    /// The value of a term.
    Value(usize),
    Not(Box<TermFormula>),
    Binary(BinaryOp, Box<TermFormula>, Box<TermFormula>),
    Conditional(Box<[TermFormula; 3]>),
}

/// A term that reads the state.
#[derive(Debug)]
struct ClaimTerm {
    /// The least and the greatest possible value.
    bounds: (i64, i64),
    /// The constants that it is compared with.
    constants: BTreeSet<i64>,
    may_fail: bool,
}

impl ClaimLetter {
    /// Returns the letters of a claim of the table's program, or `None` if there are too many.
    pub fn all(table: &AccessTable, claim: &Claim) -> Option<BTreeSet<ClaimLetter>> {
        let mut terms = ClaimTerms::new(table);
        let moves = claim.moves.iter().map(|it| {
            let asserted = it.action.body.iter().filter_map(|stmt| match &stmt.kind {
                StmtKind::Assert { condition, .. } => Some(condition),
                _ => None,
            });
            let guard = it.action.guard.as_ref();
            (guard.map(|it| terms.formula(it)), asserted.map(|it| terms.formula(it)).collect())
        });
        let moves: Vec<(Option<TermFormula>, Vec<TermFormula>)> = moves.collect();
        let values: Vec<Vec<Option<i64>>> = terms.terms.iter().map(ClaimTerm::values).collect();
        let count = values.iter().try_fold(1_usize, |all, it| all.checked_mul(it.len()));
        let count = count.filter(|&it| it <= COMBINATIONS_MAX)?;
        let arithmetic = table.program().arithmetic;
        let letter = |mut number: usize| {
            let mut chosen = Vec::with_capacity(values.len());
            for values in &values {
                chosen.push(values[number % values.len()]);
                number /= values.len();
            }
            let holds = |it: &TermFormula| Ok(it.value(arithmetic, &chosen)? != 0);
            let judged = moves.iter().map(|(guard, asserted)| MoveOutcome {
                guard: guard.as_ref().map_or(Ok(true), holds),
                asserted: asserted.iter().map(holds).collect(),
            });
            ClaimLetter { moves: judged.collect() }
        };
        Some((0..count).map(letter).collect())
    }
}

impl ClaimConditions for ClaimLetter {
    fn can_take(&self, number: u32) -> Result<bool, EvalFailure> {
        self.moves[number as usize].guard.map_err(|term| failed(FaultKind::Error, Some(term)))
    }

    fn failures(&self, number: u32) -> Vec<EvalFailure> {
        let asserted = self.moves[number as usize].asserted.iter();
        let failure = |it: &Result<bool, usize>| match it {
            Ok(true) => None,
            Ok(false) => Some(failed(FaultKind::Assertion, None)),
            Err(term) => Some(failed(FaultKind::Error, Some(*term))),
        };
        asserted.filter_map(failure).collect()
    }
}

/// Creates a failure that is identified by its kind and the term that fails.
fn failed(kind: FaultKind, term: Option<usize>) -> EvalFailure {
    let message = term.map_or_else(String::new, |it| it.to_string());
    Box::new(RuntimeFault::new(kind, message, Span::default()))
}

/// The terms of a claim.
struct ClaimTerms<'t> {
    table: &'t AccessTable<'t>,
    printer: ProgramPrinter<'t>,
    /// The numbers of the known terms, by their source text.
    numbers: BTreeMap<String, usize>,
    terms: Vec<ClaimTerm>,
}

impl<'t> ClaimTerms<'t> {
    fn new(table: &'t AccessTable<'t>) -> ClaimTerms<'t> {
        let printer = ProgramPrinter::new(table.program());
        ClaimTerms { table, printer, numbers: BTreeMap::new(), terms: Vec::new() }
    }

    /// Decomposes a condition into terms.
    fn formula(&mut self, expr: &Expr) -> TermFormula {
        match &expr.kind {
            ExprKind::Constant(value) => TermFormula::Known(*value),
            ExprKind::Unary(UnaryOp::Not, operand) => {
                TermFormula::Not(Box::new(self.formula(operand)))
            }
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or | BinaryOp::Implies, left, right) => {
                let both = [self.formula(left), self.formula(right)];
                binary(expr, both)
            }
            ExprKind::Binary(operator, left, right) if operator.negated().is_some() => {
                match (left.as_constant(), right.as_constant()) {
                    (Some(one), Some(other)) => {
                        binary(expr, [TermFormula::Known(one), TermFormula::Known(other)])
                    }
                    (None, Some(with)) => {
                        binary(expr, [self.term(left, with), TermFormula::Known(with)])
                    }
                    (Some(with), None) => {
                        binary(expr, [TermFormula::Known(with), self.term(right, with)])
                    }
                    (None, None) => self.term(expr, 0),
                }
            }
            ExprKind::Conditional(condition, then, otherwise) => {
                let parts = [condition, then, otherwise].map(|it| self.formula(it));
                TermFormula::Conditional(Box::new(parts))
            }
            _ => self.term(expr, 0),
        }
    }

    /// Returns the term of an expression that is compared with a constant.
    fn term(&mut self, expr: &Expr, with: i64) -> TermFormula {
        let written = self.printer.expr(expr, &NameScope::default());
        let number = *self.numbers.entry(written).or_insert(self.terms.len());
        if number == self.terms.len() {
            self.terms.push(ClaimTerm {
                bounds: self.table.values(expr),
                constants: BTreeSet::new(),
                may_fail: self.table.expression(expr).failures.any(),
            });
        }
        self.terms[number].constants.insert(with);
        TermFormula::Value(number)
    }
}

/// Applies the operator of an expression to other operands.
fn binary(expr: &Expr, [left, right]: [TermFormula; 2]) -> TermFormula {
    match expr.kind {
        ExprKind::Binary(operator, ..) => {
            TermFormula::Binary(operator, Box::new(left), Box::new(right))
        }
        _ => unreachable!("only operations on two operands are taken apart so"),
    }
}

impl ClaimTerm {
    /// Returns a representative of each class of equivalent values; `None` is a failure.
    fn values(&self) -> Vec<Option<i64>> {
        let (low, high) = self.bounds;
        let around =
            self.constants.iter().flat_map(|&it| [it.saturating_sub(1), it, it.saturating_add(1)]);
        // All values between two adjacent constants are equivalent.
        let between = |it: &i64| (self.constants.range(..it).count(), self.constants.contains(it));
        let near: BTreeMap<(usize, bool), i64> =
            around.filter(|it| (low..=high).contains(it)).map(|it| (between(&it), it)).collect();
        // If all constants are out of bounds, all values are equivalent.
        let any = near.is_empty().then_some(low);
        let fails = self.may_fail.then_some(None);
        near.into_values().chain(any).map(Some).chain(fails).collect()
    }
}

impl TermFormula {
    /// Returns the value for given values of terms, or the term that fails.
    fn value(&self, arithmetic: Arithmetic, terms: &[Option<i64>]) -> Result<i64, usize> {
        Ok(match self {
            TermFormula::Known(value) => *value,
            TermFormula::Value(term) => terms[*term].ok_or(*term)?,
            TermFormula::Not(operand) => (operand.value(arithmetic, terms)? == 0).into(),
            TermFormula::Binary(operator, left, right) => {
                let left = left.value(arithmetic, terms)?;
                match operator.short_circuit_value(left) {
                    Some(decided) => decided,
                    None => {
                        let right = right.value(arithmetic, terms)?;
                        let result = arithmetic.binary(*operator, left, right);
                        result.unwrap_or_else(|_| unreachable!("comparing never fails"))
                    }
                }
            }
            TermFormula::Conditional(parts) => {
                let [condition, then, otherwise] = &**parts;
                let chosen =
                    if condition.value(arithmetic, terms)? != 0 { then } else { otherwise };
                chosen.value(arithmetic, terms)?
            }
        })
    }
}
