//! Every integer operator at the limits of words, compared with its mathematical definition: the shared arithmetic, its
//! ranges of results, and every executor.

use crate::compare::all_agree;
use crate::definition::{
    Expected, UNARY, binary, fewer_integers, integers, is_integer, mathematical, unary,
};
use proptest::prelude::*;
use spillway::exec::Interp;
use spillway::ir::interval::{self, Interval, is_none};
use spillway::ir::layout::CellId;
use spillway::ir::{
    Action, ActionControl, Arithmetic, AssertionKind, BinaryOp, Domain, Expr, ExprKind, Owner,
    Place, PlaceRoot, Program, ScalarType, StartRule, Stmt, StmtKind, Type, TypeId, UnaryOp, VarId,
    Variable,
};
use spillway::model::{FaultKind, StateSpace, StepOutcome, SystemDescription};
use spillway::source::Span;

const ARITHMETICS: [Arithmetic; 2] = [Arithmetic::Wrapping32, Arithmetic::Checked64];

/// Returns the integers of the arithmetic, and some beyond.
fn all_integers(arithmetic: Arithmetic) -> Vec<i64> {
    [integers(arithmetic), fewer_integers(arithmetic)].concat()
}

#[test]
fn shared_arithmetic_agrees_with_the_definition() {
    for arithmetic in ARITHMETICS {
        let integers = all_integers(arithmetic);
        for &left in &integers {
            for operator in UNARY {
                let found = arithmetic.unary(operator, left).map_err(FaultKind::from);
                assert_eq!(found, unary(arithmetic, operator, left), "{operator:?} {left}");
                if arithmetic.always_succeeds_on_one(operator) {
                    assert!(found.is_ok(), "{operator:?} {left}");
                }
            }
            for (operator, &right) in
                BinaryOp::ALL.iter().flat_map(|&it| integers.iter().map(move |right| (it, right)))
            {
                let found = arithmetic.binary(operator, left, right).map_err(FaultKind::from);
                let expected = binary(arithmetic, operator, left, right);
                let operation = format!("{arithmetic:?}: {left} {operator:?} {right}");
                assert_eq!(found, expected, "{operation}");
                assert!(found.is_ok() || !arithmetic.always_succeeds(operator), "{operation}");
                if let Some(decided) = operator.short_circuit_value(left) {
                    assert_eq!(found, Ok(decided), "{operation}");
                }
            }
        }
    }
}

/// Checks that the result of an operation on two values is within the range of results of their ranges.
fn check_binary_range(
    arithmetic: Arithmetic,
    operator: BinaryOp,
    (left, right): (Interval, Interval),
    (left_value, right_value): (i64, i64),
) -> Result<(), TestCaseError> {
    let results = interval::binary(arithmetic, operator, left, right);
    let expected = binary(arithmetic, operator, left_value, right_value);
    if let Ok(value) = expected {
        let (low, high) = results.range;
        prop_assert!(low <= value && value <= high, "{} is beyond {:?}", value, results);
    }
    // Operations on bits are not converted.
    let is_converted = arithmetic == Arithmetic::Checked64
        || !matches!(
            operator,
            BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor | BinaryOp::ShiftRight
        );
    if let (Ok(number), true) =
        (mathematical(arithmetic, operator, left_value, right_value), is_converted)
    {
        let is_representable = is_integer(arithmetic, number);
        prop_assert!(
            is_representable || results.may_overflow,
            "{} is no integer, {:?}",
            number,
            results
        );
    }
    let of_constants = interval::binary(
        arithmetic,
        operator,
        (left_value, left_value),
        (right_value, right_value),
    );
    match expected {
        Ok(value) => prop_assert_eq!(of_constants.range, (value, value)),
        Err(_) => prop_assert!(is_none(of_constants.range), "{:?}", of_constants),
    }
    Ok(())
}

/// Does the same for an operator with one operand.
fn check_unary_range(
    arithmetic: Arithmetic,
    operator: UnaryOp,
    operand: Interval,
    value_in_range: i64,
) {
    let operation = format!("{arithmetic:?}: {operator:?} {value_in_range} of {operand:?}");
    let (low, high) = interval::unary(arithmetic, operator, operand);
    let of_constant = interval::unary(arithmetic, operator, (value_in_range, value_in_range));
    match unary(arithmetic, operator, value_in_range) {
        Ok(value) => {
            assert!(low <= value && value <= high, "{operation}: {value} in {low}..={high}");
            assert_eq!(of_constant, (value, value), "{operation}");
        }
        Err(_) => assert!(is_none(of_constant), "{operation}"),
    }
}

#[test]
fn ranges_of_small_integers_contain_all_results() {
    let pairs = |ends: std::ops::RangeInclusive<i64>| {
        ends.clone().flat_map(move |low| (low..=*ends.end()).map(move |high| (low, high)))
    };
    for (arithmetic, left) in
        ARITHMETICS.into_iter().flat_map(|it| pairs(-3..=3).map(move |to| (it, to)))
    {
        for (right, operator) in pairs(-2..=4).flat_map(|it| BinaryOp::ALL.map(|to| (it, to))) {
            for one in left.0..=left.1 {
                for other in right.0..=right.1 {
                    check_binary_range(arithmetic, operator, (left, right), (one, other))
                        .unwrap_or_else(|error| {
                            panic!("{one} of {left:?} {operator:?} {other} of {right:?}: {error}")
                        });
                }
            }
        }
        for one in left.0..=left.1 {
            UNARY.into_iter().for_each(|it| check_unary_range(arithmetic, it, left, one));
        }
    }
}

/// An empty range of an operand yields an empty range of results, unless the operand is not evaluated.
#[test]
fn empty_operands_have_empty_results() {
    for (arithmetic, operator) in
        ARITHMETICS.into_iter().flat_map(|it| BinaryOp::ALL.map(|to| (it, to)))
    {
        let range = |left, right| interval::binary(arithmetic, operator, left, right).range;
        assert!(is_none(range(interval::NONE, (0, 1))), "{operator:?}");
        for left in [0, 1] {
            let expected = operator.short_circuit_value(left).map_or(interval::NONE, |it| (it, it));
            assert_eq!(range((left, left), interval::NONE), expected, "{left} {operator:?}");
        }
    }
    for operator in UNARY {
        assert!(is_none(interval::unary(Arithmetic::Checked64, operator, interval::NONE)));
    }
}

/// Generates a range between two edges or near one, and a value in it: an end, an edge, or any.
fn range_and_value(arithmetic: Arithmetic) -> impl Strategy<Value = (Interval, i64)> {
    let edges = all_integers(arithmetic);
    let end = prop_oneof![prop::sample::select(edges.clone()), -20i64..20, any::<i64>()];
    let other = prop_oneof![prop::sample::select(edges.clone()), -20i64..20, any::<i64>()];
    let high = prop_oneof![other.prop_map(Ok), (0i64..9).prop_map(Err)];
    let at = prop_oneof![
        Just((true, None)),
        Just((false, None)),
        (any::<bool>(), prop::sample::select(edges).prop_map(Some)),
        (any::<bool>(), any::<i64>().prop_map(Some)),
    ];
    (end, high, at).prop_map(|(end, high, (first, inside))| {
        let other = high.unwrap_or_else(|more| end.saturating_add(more));
        let (low, high) = (end.min(other), end.max(other));
        let inside = inside.filter(|it| (low..=high).contains(it));
        ((low, high), inside.unwrap_or(if first { low } else { high }))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn ranges_contain_all_results(
        ((left, one), (right, other)) in prop::sample::select(&ARITHMETICS[..]).prop_flat_map(
            |it| (range_and_value(it), range_and_value(it)),
        ),
    ) {
        for arithmetic in ARITHMETICS {
            for operator in BinaryOp::ALL {
                check_binary_range(arithmetic, operator, (left, right), (one, other))
                    .map_err(|it| TestCaseError::fail(format!("{arithmetic:?} {operator:?}: {it}")))?;
            }
            UNARY.into_iter().for_each(|it| check_unary_range(arithmetic, it, left, one));
        }
    }

    #[test]
    fn wrapped_values_are_in_their_domain(
        ((domain, _), (_, value)) in (
            range_and_value(Arithmetic::Checked64),
            range_and_value(Arithmetic::Checked64),
        ),
    ) {
        let stored = interval::wrap_into(value, domain);
        prop_assert!(domain.0 <= stored && stored <= domain.1);
        let size = i128::from(domain.1) - i128::from(domain.0) + 1;
        prop_assert_eq!((i128::from(value) - i128::from(stored)) % size, 0);
    }
}

/// The compiler's knowledge of an operand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OperandKnowledge {
    /// The exact value.
    Known,
    /// One of two neighbouring values.
    Neighbours,
    /// A half-bounded range.
    HalfRange,
}

/// A program with one action per operation. The action asserts the expected result.
struct Operations {
    program: Program,
    expected: Vec<(String, Expected)>,
}

impl Operations {
    fn new(arithmetic: Arithmetic) -> Self {
        let start = StartRule {
            name: "start".into(),
            parameters: vec![],
            body: vec![],
            span: Span::default(),
        };
        let program = Program { arithmetic, starts: vec![start], ..Program::default() };
        Operations { program, expected: vec![] }
    }

    /// Adds every operation on these integers, with this knowledge of the operands.
    fn with_operations_on(
        mut self,
        integers: &[i64],
        left_knowledge: OperandKnowledge,
        right_knowledge: OperandKnowledge,
    ) -> Self {
        let arithmetic = self.program.arithmetic;
        for (&left, operator) in integers.iter().flat_map(|it| UNARY.map(|to| (it, to))) {
            let operation = ExprKind::Unary(operator, Box::new(self.operand(left, left_knowledge)));
            let expected = unary(arithmetic, operator, left);
            self.add(format!("{operator:?} {left}"), operation, expected);
        }
        for (operator, left, right) in BinaryOp::ALL.iter().flat_map(|&operator| {
            let pairs = integers.iter().flat_map(|&left_operand| {
                integers.iter().map(move |&right_operand| (left_operand, right_operand))
            });
            pairs.map(move |(left, right)| (operator, left, right))
        }) {
            let (left_operand, right_operand) =
                (self.operand(left, left_knowledge), self.operand(right, right_knowledge));
            let operation =
                ExprKind::Binary(operator, Box::new(left_operand), Box::new(right_operand));
            let expected = binary(arithmetic, operator, left, right);
            self.add(format!("{left} {operator:?} {right}"), operation, expected);
        }
        self
    }

    fn operand(&mut self, value: i64, knowledge: OperandKnowledge) -> Expr {
        let neighbour = if value == i64::MAX { value - 1 } else { value + 1 };
        match knowledge {
            OperandKnowledge::Known => self.constant(value),
            OperandKnowledge::Neighbours => self.variable(value, neighbour),
            OperandKnowledge::HalfRange => {
                let farthest = if value < 0 { i64::MAX } else { i64::MIN };
                let parts = [self.variable(1, 0), self.constant(value), self.constant(farthest)];
                let [condition, value, farthest] = parts.map(Box::new);
                self.expr(ExprKind::Conditional(condition, value, farthest))
            }
        }
    }

    /// Returns a variable that holds a value and may hold its neighbour.
    fn variable(&mut self, value: i64, neighbour: i64) -> Expr {
        let name = format!("v{value}_{neighbour}");
        let known = self.program.variables.iter().find(|it| it.1.name == name).map(|it| it.0);
        let variable = known.unwrap_or_else(|| {
            let (low, high) = (value.min(neighbour), value.max(neighbour));
            let domain = Domain::Range { low, high };
            let ty: TypeId =
                self.program.types.push(Type::Scalar(ScalarType { domain, undefined: false }));
            let (initial, span) = (vec![Some(value)], Span::default());
            let owner = Owner::Program;
            self.program.variables.push(Variable { name, ty, owner, initial, span })
        });
        self.expr(ExprKind::Read(Place::variable(variable, Span::default())))
    }

    fn expr(&self, kind: ExprKind) -> Expr {
        Expr::new(kind, Span::new(0, self.expected.len()..self.expected.len() + 1))
    }

    fn constant(&self, value: i64) -> Expr {
        self.expr(ExprKind::Constant(value))
    }

    /// Adds an action that asserts the expected result. If a fault is expected, every result is wrong.
    fn add(&mut self, name: String, operation: ExprKind, expected: Expected) {
        let (result, value) = (self.expr(operation), self.constant(expected.unwrap_or_default()));
        let condition =
            self.expr(ExprKind::Binary(BinaryOp::Equal, Box::new(result), Box::new(value)));
        let span = condition.span;
        let message = "another result".to_string();
        let assertion = Stmt {
            kind: StmtKind::Assert { condition, message, asserted: AssertionKind::Condition },
            span,
        };
        self.program.actions.push(Action {
            name: name.clone(),
            edge: None,
            parameters: vec![],
            guard: None,
            communication: None,
            body: vec![assertion],
            priority: 0,
            control: ActionControl::default(),
            span,
        });
        self.expected.push((name, expected));
    }
}

fn check_operations(operations: Operations) {
    let model = Interp::as_declared(operations.program).unwrap();
    let StepOutcome::Successor(state) = model.starts().remove(0).outcome else {
        panic!("no start")
    };
    let steps = model.steps(&state);
    assert_eq!(steps.len(), operations.expected.len());
    for (step, (name, expected)) in steps.iter().zip(&operations.expected) {
        let found = match &step.outcome {
            StepOutcome::Successor(_) => Ok(()),
            StepOutcome::Fault(fault) => Err(fault.kind),
        };
        assert_eq!(found, expected.map(drop), "{name} should give {expected:?}: {step:?}");
    }
    all_agree(&model, &state).unwrap();
}

fn check_arithmetic(arithmetic: Arithmetic) {
    check_operations(Operations::new(arithmetic).with_operations_on(
        &integers(arithmetic),
        OperandKnowledge::Known,
        OperandKnowledge::Known,
    ));
    let fewer = fewer_integers(arithmetic);
    for (left, right) in [
        (OperandKnowledge::Neighbours, OperandKnowledge::Neighbours),
        (OperandKnowledge::HalfRange, OperandKnowledge::HalfRange),
        (OperandKnowledge::Neighbours, OperandKnowledge::HalfRange),
    ] {
        check_operations(Operations::new(arithmetic).with_operations_on(&fewer, left, right));
    }
}

#[test]
fn operators_of_32_bits_wrap() {
    check_arithmetic(Arithmetic::Wrapping32);
}

#[test]
fn operators_of_64_bits_are_exact_or_fail() {
    check_arithmetic(Arithmetic::Checked64);
}

/// Conditions on a variable that may be undefined, and whose least value is that of 64 bits. No integer can encode the
/// undefined value.
#[test]
fn undefined_differs_from_the_least_integer() {
    let span = Span::default();
    let start = StartRule { name: "start".into(), parameters: vec![], body: vec![], span };
    let mut program = Program { starts: vec![start], ..Program::default() };
    let least = Domain::Range { low: i64::MIN, high: i64::MIN + 1 };
    let ty = program.types.push(Type::Scalar(ScalarType { domain: least, undefined: true }));
    let values = [i64::MIN, i64::MIN + 1];
    let variables = values.map(|value| {
        let (name, initial) = (format!("v{value}"), vec![Some(value)]);
        program.variables.push(Variable { name, ty, owner: Owner::Program, initial, span })
    });
    let read = |variable: VarId| {
        let place = Place { root: PlaceRoot::Variable(variable), slot: None, path: vec![], span };
        Expr::new(ExprKind::Read(place), span)
    };
    let operands = [
        read(variables[0]),
        read(variables[1]),
        Expr::new(ExprKind::Undefined, span),
        Expr::new(ExprKind::Constant(i64::MIN), span),
        Expr::new(ExprKind::Constant(i64::MIN + 1), span),
    ];
    for (left, right) in operands.iter().flat_map(|it| operands.iter().map(move |to| (it, to))) {
        let same = ExprKind::Same(Box::new(left.clone()), Box::new(right.clone()));
        program.actions.push(Action {
            name: "same".into(),
            edge: None,
            parameters: vec![],
            guard: Some(Expr::new(same, span)),
            communication: None,
            body: vec![],
            priority: 0,
            control: ActionControl::default(),
            span,
        });
    }
    let model = Interp::new(program).unwrap();
    let cells = [0, 1].map(CellId);
    for defined in 0..4 {
        let values_in_state = [0, 1].map(|at| (defined >> at & 1 == 1).then_some(values[at]));
        let mut state = vec![0; model.width()];
        for (cell, value) in cells.into_iter().zip(values_in_state) {
            model.layout().set(&mut state, cell, value);
        }
        let operands =
            [values_in_state[0], values_in_state[1], None, Some(i64::MIN), Some(i64::MIN + 1)];
        let same = operands.iter().flat_map(|it| operands.iter().map(move |to| it == to));
        let expected: Vec<usize> =
            same.enumerate().filter(|(_, same)| *same).map(|it| it.0).collect();
        let enabled: Vec<usize> = model.steps(&state).iter().map(|it| it.action as usize).collect();
        assert_eq!(enabled, expected, "{values_in_state:?}");
        all_agree(&model, &state).unwrap();
    }
}
