//! Constant folding in front ends has the results that the operators define. An operation without a result is not
//! folded, so the step that executes it faults.

use crate::definition::{Expected, UNARY, binary, integers, unary};
use spillway::front::{Language, Options, dve, murphi, promela};
use spillway::ir::{Arithmetic, BinaryOp, Expr, ExprKind, Stmt, StmtKind, UnaryOp};
use spillway::source::SourceMap;

/// An operation: its text, what it should give, and whether the front end computes it.
struct Operation {
    text: String,
    expected: Expected,
    is_folded: bool,
}

/// What is particular about a language.
struct Dialect {
    language: &'static Language,
    arithmetic: Arithmetic,
    /// How operators are written, where there are such.
    unary: fn(UnaryOp) -> Option<&'static str>,
    binary: fn(BinaryOp) -> Option<&'static str>,
    /// Whether it has truth values, which are no numbers.
    has_truth: bool,
    /// How it compares, if its variables do not hold all integers.
    equal: Option<&'static str>,
    /// What a shift gives, if it is not what the program form says.
    shift: Option<fn(bool, i64, i64) -> Expected>,
    /// The operators that are computed where their operands are known.
    folds: fn(BinaryOp) -> bool,
    /// A model whose statements assign these to variables, one after another.
    model: fn(&[String]) -> String,
}

impl Dialect {
    /// An integer; the least is beyond what its own digits alone could say.
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

    /// The operation, or whether it gives what it should.
    fn compared(&self, operation: String, expected: Expected, gives_truth: bool) -> String {
        let Some(equal) = self.equal else { return operation };
        let value = expected.unwrap_or_default();
        let value = match gives_truth && self.has_truth {
            true => (value != 0).to_string(),
            false => self.number(value),
        };
        format!("({operation}) {equal} {value}")
    }

    /// What that should give.
    fn after_comparing(&self, expected: Expected) -> Expected {
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
        let text = self.compared(text, expected, is_logical);
        Some(Operation { text, expected: self.after_comparing(expected), is_folded: true })
    }

    fn binary(&self, operator: BinaryOp, left: i64, right: i64) -> Option<Operation> {
        let sign = (self.binary)(operator)?;
        let is_logical = matches!(operator, BinaryOp::And | BinaryOp::Or | BinaryOp::Implies);
        let [one, other] = [left, right].map(|it| self.operand(is_logical, it));
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
        let text = self.compared(format!("{one} {sign} {other}"), expected, is_logical || compares);
        let expected = self.after_comparing(expected);
        Some(Operation { text, expected, is_folded: (self.folds)(operator) })
    }

    /// Reads a model with these operations and says what they became.
    fn lowered(&self, operations: &[Operation]) -> Vec<Expr> {
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

    fn folds_as_defined(&self) {
        let integers = integers(self.arithmetic);
        let on_one = integers
            .iter()
            .flat_map(|&it| UNARY.into_iter().filter_map(move |to| self.unary(to, it)));
        self.check(on_one.collect());
        for operator in BinaryOp::ALL {
            let on_two = integers.iter().flat_map(|&left| {
                integers.iter().filter_map(move |&right| self.binary(operator, left, right))
            });
            self.check(on_two.collect());
        }
    }

    fn check(&self, operations: Vec<Operation>) {
        if operations.is_empty() {
            return;
        }
        let lowered = self.lowered(&operations);
        assert_eq!(lowered.len(), operations.len(), "{}", self.language.name);
        for (expr, operation) in lowered.iter().zip(operations) {
            let Operation { text, expected, is_folded } = operation;
            let name = format!("{}: {text} is {expr:?}", self.language.name);
            assert_eq!(evaluated(self.arithmetic, expr), expected, "{name}");
            let is_known = matches!(expr.kind, ExprKind::Constant(_));
            assert_eq!(is_known, is_folded && expected.is_ok(), "{name}");
        }
    }
}

/// What the rest of an operation will give.
fn evaluated(arithmetic: Arithmetic, expr: &Expr) -> Expected {
    match &expr.kind {
        ExprKind::Constant(value) => Ok(*value),
        ExprKind::Unary(operator, operand) => {
            unary(arithmetic, *operator, evaluated(arithmetic, operand)?)
        }
        ExprKind::Binary(operator, left, right) => {
            let left = evaluated(arithmetic, left)?;
            binary(arithmetic, *operator, left, evaluated(arithmetic, right)?)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn dve_folds_as_its_operators_are_defined() {
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
                _ => of_c(operator)?,
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
    dialect.folds_as_defined();
}

#[test]
fn murphi_folds_as_its_operators_are_defined() {
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
                _ => of_c(operator)?,
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
    dialect.folds_as_defined();
}

#[test]
fn promela_folds_as_its_operators_are_defined() {
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
            _ => of_c(operator),
        },
        has_truth: false,
        equal: None,
        // What sizes of arrays are made of.
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
    dialect.folds_as_defined();
}

/// A shift as Rumur defines it: a negative count shifts the other way, and a count of 64 and more gives 0.
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

/// Operators as C has them, where languages agree.
fn of_c(operator: BinaryOp) -> Option<&'static str> {
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
