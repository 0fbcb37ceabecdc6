//! Every operator on integers where words begin and end, against what it means mathematically.

#[path = "support/compare.rs"]
mod compare;

use compare::all_agree;
use spillway::exec::{Explain, FaultKind, Interp, Model, Outcome};
use spillway::ir::layout::CellId;
use spillway::ir::{
    Action, Arithmetic, Binary, Control, Domain, Expr, ExprKind, Owner, Place, Program, Root,
    Scalar, Start, Stmt, StmtKind, Type, Unary, VarId, Variable,
};
use spillway::source::Span;

/// What an operator should give.
type Expected = Result<i64, FaultKind>;

const BINARY: [Binary; 19] = [
    Binary::Add,
    Binary::Subtract,
    Binary::Multiply,
    Binary::Divide,
    Binary::Remainder,
    Binary::BitAnd,
    Binary::BitOr,
    Binary::BitXor,
    Binary::ShiftLeft,
    Binary::ShiftRight,
    Binary::Equal,
    Binary::NotEqual,
    Binary::Less,
    Binary::LessEqual,
    Binary::Greater,
    Binary::GreaterEqual,
    Binary::And,
    Binary::Or,
    Binary::Implies,
];

/// Brings a mathematical result into the integers of the arithmetic.
fn integer(arithmetic: Arithmetic, value: i128) -> Expected {
    match arithmetic {
        Arithmetic::Wrapping32 => Ok(i64::from(value as i32)),
        Arithmetic::Checked64 => i64::try_from(value).map_err(|_| FaultKind::Range),
    }
}

fn unary(arithmetic: Arithmetic, operator: Unary, operand: i64) -> Expected {
    match operator {
        Unary::Negate => integer(arithmetic, -i128::from(operand)),
        Unary::Not => Ok(i64::from(operand == 0)),
        Unary::Complement => integer(arithmetic, -i128::from(operand) - 1),
    }
}

fn binary(arithmetic: Arithmetic, operator: Binary, left: i64, right: i64) -> Expected {
    let (a, b) = (i128::from(left), i128::from(right));
    let word = if arithmetic == Arithmetic::Wrapping32 { 32 } else { 64 };
    let truth = |holds: bool| Ok(i64::from(holds));
    match operator {
        Binary::Add => integer(arithmetic, a + b),
        Binary::Subtract => integer(arithmetic, a - b),
        Binary::Multiply => integer(arithmetic, a * b),
        Binary::Divide | Binary::Remainder if b == 0 => Err(FaultKind::Division),
        Binary::Divide => integer(arithmetic, a / b),
        Binary::Remainder => integer(arithmetic, a - a / b * b),
        Binary::BitAnd => integer(arithmetic, a & b),
        Binary::BitOr => integer(arithmetic, a | b),
        Binary::BitXor => integer(arithmetic, a ^ b),
        Binary::ShiftLeft | Binary::ShiftRight if !(0..word).contains(&b) => Err(FaultKind::Shift),
        Binary::ShiftLeft => integer(arithmetic, a * (1 << b)),
        Binary::ShiftRight => integer(arithmetic, a.div_euclid(1 << b)),
        Binary::Equal => truth(a == b),
        Binary::NotEqual => truth(a != b),
        Binary::Less => truth(a < b),
        Binary::LessEqual => truth(a <= b),
        Binary::Greater => truth(a > b),
        Binary::GreaterEqual => truth(a >= b),
        Binary::And => truth(a != 0 && b != 0),
        Binary::Or => truth(a != 0 || b != 0),
        Binary::Implies => truth(a == 0 || b != 0),
    }
}

/// Integers around 0, around the sizes of words, and where either arithmetic ends.
fn integers(arithmetic: Arithmetic) -> Vec<i64> {
    let least = match arithmetic {
        Arithmetic::Wrapping32 => i64::from(i32::MIN),
        Arithmetic::Checked64 => i64::MIN,
    };
    let near = |value: i64| [value - 1, value, value + 1];
    let mut integers: Vec<i64> = (-3..=3).chain(near(31)).chain(near(63)).collect();
    integers.extend([46_340, 46_341, -46_341, 1 << 30, -1 << 30, i32::MAX.into()]);
    integers.extend([least, least + 1, -(least + 1), -(least + 2)]);
    if arithmetic == Arithmetic::Checked64 {
        integers.extend(near(1 << 31).into_iter().chain(near(-1 << 31)).chain(near(1 << 32)));
        integers.extend([3_037_000_499, 3_037_000_500, -3_037_000_500, 1 << 62, -1 << 62]);
    }
    integers
}

/// A program with an action for each operation that can be taken if the result is as expected.
struct Operations {
    program: Program,
    expected: Vec<(String, Expected)>,
}

impl Operations {
    fn new(arithmetic: Arithmetic) -> Self {
        let start =
            Start { name: "start".into(), parameters: vec![], body: vec![], span: Span::default() };
        let program = Program { arithmetic, starts: vec![start], ..Program::default() };
        let mut operations = Operations { program, expected: vec![] };
        let integers = integers(arithmetic);
        for &operand in &integers {
            for operator in [Unary::Negate, Unary::Not, Unary::Complement] {
                let operation = ExprKind::Unary(operator, Box::new(operations.constant(operand)));
                let expected = unary(arithmetic, operator, operand);
                operations.add(format!("{operator:?} {operand}"), operation, expected);
            }
        }
        for (operator, left, right) in BINARY.iter().flat_map(|&operator| {
            let pairs =
                integers.iter().flat_map(|&one| integers.iter().map(move |&two| (one, two)));
            pairs.map(move |(left, right)| (operator, left, right))
        }) {
            let (one, two) = (operations.constant(left), operations.constant(right));
            let operation = ExprKind::Binary(operator, Box::new(one), Box::new(two));
            let expected = binary(arithmetic, operator, left, right);
            operations.add(format!("{left} {operator:?} {right}"), operation, expected);
        }
        operations
    }

    fn expr(&self, kind: ExprKind) -> Expr {
        Expr { kind, span: Span::new(0, self.expected.len()..self.expected.len() + 1) }
    }

    fn constant(&self, value: i64) -> Expr {
        self.expr(ExprKind::Constant(value))
    }

    /// An action that asserts the expected result; where a fault is expected, any result is wrong.
    fn add(&mut self, name: String, operation: ExprKind, expected: Expected) {
        let (result, value) = (self.expr(operation), self.constant(expected.unwrap_or_default()));
        let condition =
            self.expr(ExprKind::Binary(Binary::Equal, Box::new(result), Box::new(value)));
        let span = condition.span;
        let message = "another result".to_string();
        let assertion = Stmt { kind: StmtKind::Assert { condition, message }, span };
        self.program.actions.push(Action {
            name: name.clone(),
            edge: None,
            parameters: vec![],
            guard: None,
            communication: None,
            body: vec![assertion],
            priority: 0,
            control: Control::default(),
            span,
        });
        self.expected.push((name, expected));
    }
}

fn holds_for(arithmetic: Arithmetic) {
    let operations = Operations::new(arithmetic);
    let model = Interp::new(operations.program).unwrap();
    let state = vec![0; model.width()];
    let steps = model.steps(&state);
    assert_eq!(steps.len(), operations.expected.len());
    for (step, (name, expected)) in steps.iter().zip(&operations.expected) {
        let got = match &step.outcome {
            Outcome::Successor(_) => Ok(()),
            Outcome::Fault(fault) => Err(fault.kind),
        };
        assert_eq!(got, expected.map(drop), "{name} should give {expected:?}: {step:?}");
    }
    all_agree(&model, &state).unwrap();
}

#[test]
fn operators_of_32_bits_wrap() {
    holds_for(Arithmetic::Wrapping32);
}

#[test]
fn operators_of_64_bits_are_exact_or_fail() {
    holds_for(Arithmetic::Checked64);
}

/// Conditions on a variable that may be undefined and whose least value is that of 64 bits: no
/// integer is left that could stand for no value.
#[test]
fn no_value_is_not_the_least_integer() {
    let span = Span::default();
    let start = Start { name: "start".into(), parameters: vec![], body: vec![], span };
    let mut program = Program { starts: vec![start], ..Program::default() };
    let least = Domain::Range { low: i64::MIN, high: i64::MIN + 1 };
    let ty = program.types.push(Type::Scalar(Scalar { domain: least, undefined: true }));
    let values = [i64::MIN, i64::MIN + 1];
    let variables = values.map(|value| {
        let (name, initial) = (format!("v{value}"), vec![Some(value)]);
        program.variables.push(Variable { name, ty, owner: Owner::Program, initial, span })
    });
    let read = |variable: VarId| {
        let place = Place { root: Root::Variable(variable), slot: None, path: vec![], span };
        Expr { kind: ExprKind::Read(place), span }
    };
    let operands = [
        read(variables[0]),
        read(variables[1]),
        Expr { kind: ExprKind::Undefined, span },
        Expr { kind: ExprKind::Constant(i64::MIN), span },
        Expr { kind: ExprKind::Constant(i64::MIN + 1), span },
    ];
    for (left, right) in operands.iter().flat_map(|it| operands.iter().map(move |to| (it, to))) {
        let same = ExprKind::Same(Box::new(left.clone()), Box::new(right.clone()));
        program.actions.push(Action {
            name: "same".into(),
            edge: None,
            parameters: vec![],
            guard: Some(Expr { kind: same, span }),
            communication: None,
            body: vec![],
            priority: 0,
            control: Control::default(),
            span,
        });
    }
    let model = Interp::new(program).unwrap();
    let cells = [0, 1].map(CellId);
    for defined in 0..4 {
        let held = [0, 1].map(|at| (defined >> at & 1 == 1).then_some(values[at]));
        let mut state = vec![0; model.width()];
        for (cell, value) in cells.into_iter().zip(held) {
            model.layout().set(&mut state, cell, value);
        }
        let operands = [held[0], held[1], None, Some(i64::MIN), Some(i64::MIN + 1)];
        let same = operands.iter().flat_map(|it| operands.iter().map(move |to| it == to));
        let expected: Vec<usize> =
            same.enumerate().filter(|(_, same)| *same).map(|it| it.0).collect();
        let enabled: Vec<usize> = model.steps(&state).iter().map(|it| it.action as usize).collect();
        assert_eq!(enabled, expected, "{held:?}");
        all_agree(&model, &state).unwrap();
    }
}
