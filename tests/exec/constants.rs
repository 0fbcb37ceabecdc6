//! Constant folding in front ends has the results that the operators define. An operation without a result is not
//! folded, so the step that executes it faults.

use crate::definition::{Expected, UNARY, binary, integers, unary};
use spillway::front::{Language, Options, dve, murphi, promela};
use spillway::ir::{Arithmetic, BinaryOp, Expr, ExprKind, Stmt, StmtKind, UnaryOp};
use spillway::source::SourceMap;

/// An operation: its text, its expected value, and whether the front end folds it.
struct Operation {
    text: String,
    expected: Expected,
    is_folded: bool,
}

/// The properties of a language.
struct Dialect {
    language: &'static Language,
    arithmetic: Arithmetic,
    /// The spelling of operators, if they exist.
    unary: fn(UnaryOp) -> Option<&'static str>,
    binary: fn(BinaryOp) -> Option<&'static str>,
    /// Whether it has truth values other than numbers.
    has_truth: bool,
    /// The comparison operator, if variables do not hold all integers.
    equal: Option<&'static str>,
    /// The result of a shift, if it differs from that of the intermediate form.
    shift: Option<fn(bool, i64, i64) -> Expected>,
    /// The operators that are folded if their operands are known.
    folds: fn(BinaryOp) -> bool,
    /// A model that assigns these expressions to variables, one after another.
    model: fn(&[String]) -> String,
}

impl Dialect {
    /// Returns the text of an integer. The least integer has no literal.
    fn number(&self, value: i64) -> String {
        match value {
            0.. => value.to_string(),
            _ => format!("(-{} - 1)", -(value + 1)),
        }
    }

    fn operand(&self, operator_is_logical: bool, value: i64) -> String {
        match operator_is_logical && self.has_truth {
            true => format!("({} != 0)", self.number(value)),
            false => self.number(value),
        }
    }

    /// Returns the operation, or its comparison with the expected value.
    fn compare_if_needed(
        &self,
        operation: String,
        expected: Expected,
        is_truth_value: bool,
    ) -> String {
        let Some(equal) = self.equal else { return operation };
        let value = expected.unwrap_or_default();
        let value = match is_truth_value && self.has_truth {
            true => (value != 0).to_string(),
            false => self.number(value),
        };
        format!("({operation}) {equal} {value}")
    }

    /// Returns the expected value after the comparison.
    fn expected_after_comparison(&self, expected: Expected) -> Expected {
        match self.equal {
            None => expected,
            Some(_) => expected.map(|_| 1),
        }
    }

    fn unary(&self, operator: UnaryOp, operand: i64) -> Option<Operation> {
        let sign = (self.unary)(operator)?;
        let is_logical = operator == UnaryOp::Not;
        let text = format!("{sign} {}", self.operand(is_logical, operand));
        let expected = unary(self.arithmetic, operator, operand);
        let text = self.compare_if_needed(text, expected, is_logical);
        Some(Operation {
            text,
            expected: self.expected_after_comparison(expected),
            is_folded: true,
        })
    }

    fn binary(&self, operator: BinaryOp, left: i64, right: i64) -> Option<Operation> {
        let sign = (self.binary)(operator)?;
        let is_logical = matches!(operator, BinaryOp::And | BinaryOp::Or | BinaryOp::Implies);
        let [left_text, right_text] = [left, right].map(|it| self.operand(is_logical, it));
        let expected = match (self.shift, operator) {
            (Some(shift), BinaryOp::ShiftLeft | BinaryOp::ShiftRight) => {
                shift(operator == BinaryOp::ShiftLeft, left, right)
            }
            _ => binary(self.arithmetic, operator, left, right),
        };
        let compares = matches!(
            operator,
            BinaryOp::Equal
                | BinaryOp::NotEqual
                | BinaryOp::Less
                | BinaryOp::LessEqual
                | BinaryOp::Greater
                | BinaryOp::GreaterEqual
        );
        let text = self.compare_if_needed(
            format!("{left_text} {sign} {right_text}"),
            expected,
            is_logical || compares,
        );
        let expected = self.expected_after_comparison(expected);
        Some(Operation { text, expected, is_folded: (self.folds)(operator) })
    }

    /// Loads a model with these operations, and returns the lowered expressions.
    fn lower(&self, operations: &[Operation]) -> Vec<Expr> {
        let texts: Vec<String> = operations.iter().map(|it| it.text.clone()).collect();
        let mut sources = SourceMap::default();
        sources.add("model", (self.model)(&texts));
        let loaded = self.language.load(&mut sources, &Options::default());
        let program = loaded
            .unwrap_or_else(|errors| {
                let shown: Vec<_> =
                    errors.iter().map(|it| it.render(&sources).to_string()).collect();
                panic!("{}", shown.join("\n"))
            })
            .program;
        let bodies = program.actions.values().map(|it| &it.body);
        let assigned = bodies.flatten().filter_map(|stmt: &Stmt| match &stmt.kind {
            StmtKind::Assign { value, .. } => Some(value.clone()),
            _ => None,
        });
        assigned.collect()
    }

    fn check_all_operators(&self) {
        let integers = integers(self.arithmetic);
        let unary_operations = integers
            .iter()
            .flat_map(|&it| UNARY.into_iter().filter_map(move |operator| self.unary(operator, it)));
        self.check_folding(unary_operations.collect());
        for operator in BinaryOp::ALL {
            let binary_operations = integers.iter().flat_map(|&left| {
                integers.iter().filter_map(move |&right| self.binary(operator, left, right))
            });
            self.check_folding(binary_operations.collect());
        }
    }

    fn check_folding(&self, operations: Vec<Operation>) {
        if operations.is_empty() {
            return;
        }
        let exprs = self.lower(&operations);
        assert_eq!(exprs.len(), operations.len(), "{}", self.language.name);
        for (expr, operation) in exprs.iter().zip(operations) {
            let Operation { text, expected, is_folded } = operation;
            let name = format!("{}: {text} is {expr:?}", self.language.name);
            assert_eq!(evaluate(self.arithmetic, expr), expected, "{name}");
            let is_known = matches!(expr.kind, ExprKind::Constant(_));
            assert_eq!(is_known, is_folded && expected.is_ok(), "{name}");
        }
    }
}

/// Returns the value of the remaining expression.
fn evaluate(arithmetic: Arithmetic, expr: &Expr) -> Expected {
    match &expr.kind {
        ExprKind::Constant(value) => Ok(*value),
        ExprKind::Unary(operator, operand) => {
            unary(arithmetic, *operator, evaluate(arithmetic, operand)?)
        }
        ExprKind::Binary(operator, left, right) => {
            let left = evaluate(arithmetic, left)?;
            binary(arithmetic, *operator, left, evaluate(arithmetic, right)?)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn dve_folds_constants_by_the_definition() {
    let dialect = Dialect {
        language: &dve::LANGUAGE,
        arithmetic: Arithmetic::Wrapping32,
        unary: |operator| {
            Some(match operator {
                UnaryOp::Negate => "-",
                UnaryOp::Not => "not",
                UnaryOp::Complement => "~",
            })
        },
        binary: |operator| {
            Some(match operator {
                BinaryOp::And => "and",
                BinaryOp::Or => "or",
                BinaryOp::Implies => "imply",
                _ => c_operator(operator)?,
            })
        },
        has_truth: false,
        equal: Some("=="),
        shift: None,
        folds: |_| true,
        model: |texts| {
            let effects: Vec<String> = texts.iter().map(|it| format!("x = {it}")).collect();
            let effects = effects.join(", ");
            format!(
                "byte x; process P {{ state s; init s; trans s -> s {{ effect {effects}; }}; }}
                 system async;"
            )
        },
    };
    dialect.check_all_operators();
}

#[test]
fn murphi_folds_constants_by_the_definition() {
    let dialect = Dialect {
        language: &murphi::LANGUAGE,
        arithmetic: Arithmetic::Checked64,
        unary: |operator| {
            Some(match operator {
                UnaryOp::Negate => "-",
                UnaryOp::Not => "!",
                UnaryOp::Complement => "~",
            })
        },
        binary: |operator| {
            Some(match operator {
                BinaryOp::And => "&",
                BinaryOp::Or => "|",
                BinaryOp::Implies => "->",
                BinaryOp::Equal => "=",
                _ => c_operator(operator)?,
            })
        },
        has_truth: true,
        equal: Some("="),
        shift: Some(rumur_shift),
        folds: |_| true,
        model: |texts| {
            let body: Vec<String> = texts.iter().map(|it| format!("x := {it};")).collect();
            let body = body.join("\n");
            format!("var x: boolean; rule \"r\" true ==> {body} end; startstate x := false; end;")
        },
    };
    dialect.check_all_operators();
}

#[test]
fn promela_folds_constants_by_the_definition() {
    let dialect = Dialect {
        language: &promela::LANGUAGE,
        arithmetic: Arithmetic::Wrapping32,
        unary: |operator| {
            Some(match operator {
                UnaryOp::Negate => "-",
                UnaryOp::Not => "!",
                UnaryOp::Complement => "~",
            })
        },
        binary: |operator| match operator {
            BinaryOp::And => Some("&&"),
            BinaryOp::Or => Some("||"),
            BinaryOp::Implies => None,
            _ => c_operator(operator),
        },
        has_truth: false,
        equal: None,
        // Operators in sizes of arrays are folded.
        shift: None,
        folds: |operator| {
            matches!(
                operator,
                BinaryOp::Add
                    | BinaryOp::Subtract
                    | BinaryOp::Multiply
                    | BinaryOp::Divide
                    | BinaryOp::Remainder
                    | BinaryOp::ShiftLeft
            )
        },
        model: |texts| {
            let body: Vec<String> = texts.iter().map(|it| format!("x = {it};")).collect();
            format!("int x; active proctype P() {{ {} }}", body.join("\n"))
        },
    };
    dialect.check_all_operators();
}

/// A shift as Rumur defines it: a negative count shifts in the opposite direction, and the result for a count of 64 or
/// more is 0.
fn rumur_shift(goes_left: bool, value: i64, count: i64) -> Expected {
    match count.unsigned_abs() {
        64.. => Ok(0),
        places => {
            let operator = match goes_left == (count >= 0) {
                true => BinaryOp::ShiftLeft,
                false => BinaryOp::ShiftRight,
            };
            binary(Arithmetic::Checked64, operator, value, places as i64)
        }
    }
}

/// Returns the spelling of C, on which languages agree.
fn c_operator(operator: BinaryOp) -> Option<&'static str> {
    Some(match operator {
        BinaryOp::Add => "+",
        BinaryOp::Subtract => "-",
        BinaryOp::Multiply => "*",
        BinaryOp::Divide => "/",
        BinaryOp::Remainder => "%",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitOr => "|",
        BinaryOp::BitXor => "^",
        BinaryOp::ShiftLeft => "<<",
        BinaryOp::ShiftRight => ">>",
        BinaryOp::Equal => "==",
        BinaryOp::NotEqual => "!=",
        BinaryOp::Less => "<",
        BinaryOp::LessEqual => "<=",
        BinaryOp::Greater => ">",
        BinaryOp::GreaterEqual => ">=",
        BinaryOp::And | BinaryOp::Or | BinaryOp::Implies => return None,
    })
}
