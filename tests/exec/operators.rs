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

/// All integers worth a try, those of the arithmetic and others.
fn all_integers(arithmetic: Arithmetic) -> Vec<i64> {
    [integers(arithmetic), fewer_integers(arithmetic)].concat()
}

#[test]
fn the_shared_arithmetic_is_as_defined() {
    for arithmetic in ARITHMETICS {
        let integers = all_integers(arithmetic);
        for &left in &integers {
            for operator in UNARY {
                let got = arithmetic.unary(operator, left).map_err(FaultKind::from);
                assert_eq!(got, unary(arithmetic, operator, left), "{operator:?} {left}");
                if arithmetic.always_succeeds_on_one(operator) {
                    assert!(got.is_ok(), "{operator:?} {left}");
                }
            }
            for (operator, &right) in
                BinaryOp::ALL.iter().flat_map(|&it| integers.iter().map(move |right| (it, right)))
            {
                let got = arithmetic.binary(operator, left, right).map_err(FaultKind::from);
                let expected = binary(arithmetic, operator, left, right);
                let operation = format!("{arithmetic:?}: {left} {operator:?} {right}");
                assert_eq!(got, expected, "{operation}");
                assert!(got.is_ok() || !arithmetic.always_succeeds(operator), "{operation}");
                if let Some(decided) = operator.short_circuit_value(left) {
                    assert_eq!(got, Ok(decided), "{operation}");
                }
            }
        }
    }
}

/// That the results of an operation on two values in two ranges are where they are said to be.
fn ranges_hold(
    arithmetic: Arithmetic,
    operator: BinaryOp,
    (left, right): (Interval, Interval),
    (one, other): (i64, i64),
) -> Result<(), TestCaseError> {
    let results = interval::binary(arithmetic, operator, left, right);
    let expected = binary(arithmetic, operator, one, other);
    if let Ok(value) = expected {
        let (low, high) = results.range;
        prop_assert!(low <= value && value <= high, "{} is beyond {:?}", value, results);
    }
    // Bits of integers are not brought anywhere.
    let is_brought = arithmetic == Arithmetic::Checked64
        || !matches!(
            operator,
            BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor | BinaryOp::ShiftRight
        );
    if let (Ok(number), true) = (mathematical(arithmetic, operator, one, other), is_brought) {
        let stays = is_integer(arithmetic, number);
        prop_assert!(stays || results.may_overflow, "{} is no integer, {:?}", number, results);
    }
    let of_known = interval::binary(arithmetic, operator, (one, one), (other, other));
    match expected {
        Ok(value) => prop_assert_eq!(of_known.range, (value, value)),
        Err(_) => prop_assert!(is_none(of_known.range), "{:?}", of_known),
    }
    Ok(())
}

/// The same for an operator of one operand.
fn range_holds(arithmetic: Arithmetic, operator: UnaryOp, operand: Interval, one: i64) {
    let operation = format!("{arithmetic:?}: {operator:?} {one} of {operand:?}");
    let (low, high) = interval::unary(arithmetic, operator, operand);
    let of_known = interval::unary(arithmetic, operator, (one, one));
    match unary(arithmetic, operator, one) {
        Ok(value) => {
            assert!(low <= value && value <= high, "{operation}: {value} in {low}..={high}");
            assert_eq!(of_known, (value, value), "{operation}");
        }
        Err(_) => assert!(is_none(of_known), "{operation}"),
    }
}

#[test]
fn ranges_of_small_integers_hold_all_results() {
    let pairs = |ends: std::ops::RangeInclusive<i64>| {
        ends.clone().flat_map(move |low| (low..=*ends.end()).map(move |high| (low, high)))
    };
    for (arithmetic, left) in
        ARITHMETICS.into_iter().flat_map(|it| pairs(-3..=3).map(move |to| (it, to)))
    {
        for (right, operator) in pairs(-2..=4).flat_map(|it| BinaryOp::ALL.map(|to| (it, to))) {
            for one in left.0..=left.1 {
                for other in right.0..=right.1 {
                    ranges_hold(arithmetic, operator, (left, right), (one, other)).unwrap_or_else(
                        |error| {
                            panic!("{one} of {left:?} {operator:?} {other} of {right:?}: {error}")
                        },
                    );
                }
            }
        }
        for one in left.0..=left.1 {
            UNARY.into_iter().for_each(|it| range_holds(arithmetic, it, left, one));
        }
    }
}

/// Where there is no operand there is no result, unless it is not asked for.
#[test]
fn nothing_comes_of_nothing() {
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

/// A range between two edges, or near one, and a value in it: an end, an edge, or any.
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
    fn ranges_hold_all_results(
        ((left, one), (right, other)) in prop::sample::select(&ARITHMETICS[..]).prop_flat_map(
            |it| (range_and_value(it), range_and_value(it)),
        ),
    ) {
        for arithmetic in ARITHMETICS {
            for operator in BinaryOp::ALL {
                ranges_hold(arithmetic, operator, (left, right), (one, other))
                    .map_err(|it| TestCaseError::fail(format!("{arithmetic:?} {operator:?}: {it}")))?;
            }
            UNARY.into_iter().for_each(|it| range_holds(arithmetic, it, left, one));
        }
    }

    #[test]
    fn what_is_stored_modulo_a_domain_is_in_it(
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

/// How much the compiler can know of an operand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sight {
    /// All.
    Known,
    /// That it is one of two neighbours.
    Near,
    /// That it is on one side of something.
    Far,
}

/// A program with an action for each operation that can be taken if the result is as expected.
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

    /// Every operation on these integers, of which the compiler knows so much.
    fn on(mut self, integers: &[i64], left_as: Sight, right_as: Sight) -> Self {
        let arithmetic = self.program.arithmetic;
        for (&left, operator) in integers.iter().flat_map(|it| UNARY.map(|to| (it, to))) {
            let operation = ExprKind::Unary(operator, Box::new(self.operand(left, left_as)));
            let expected = unary(arithmetic, operator, left);
            self.add(format!("{operator:?} {left}"), operation, expected);
        }
        for (operator, left, right) in BinaryOp::ALL.iter().flat_map(|&operator| {
            let pairs =
                integers.iter().flat_map(|&one| integers.iter().map(move |&two| (one, two)));
            pairs.map(move |(left, right)| (operator, left, right))
        }) {
            let (one, two) = (self.operand(left, left_as), self.operand(right, right_as));
            let operation = ExprKind::Binary(operator, Box::new(one), Box::new(two));
            let expected = binary(arithmetic, operator, left, right);
            self.add(format!("{left} {operator:?} {right}"), operation, expected);
        }
        self
    }

    fn operand(&mut self, value: i64, sight: Sight) -> Expr {
        let neighbour = if value == i64::MAX { value - 1 } else { value + 1 };
        match sight {
            Sight::Known => self.constant(value),
            Sight::Near => self.variable(value, neighbour),
            Sight::Far => {
                let farthest = if value < 0 { i64::MAX } else { i64::MIN };
                let parts = [self.variable(1, 0), self.constant(value), self.constant(farthest)];
                let [condition, value, farthest] = parts.map(Box::new);
                self.expr(ExprKind::Conditional(condition, value, farthest))
            }
        }
    }

    /// A variable that holds a value and could hold its neighbour.
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

    /// An action that asserts the expected result; where a fault is expected, any result is wrong.
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

fn hold(operations: Operations) {
    let model = Interp::as_declared(operations.program).unwrap();
    let StepOutcome::Successor(state) = model.starts().remove(0).outcome else {
        panic!("no start")
    };
    let steps = model.steps(&state);
    assert_eq!(steps.len(), operations.expected.len());
    for (step, (name, expected)) in steps.iter().zip(&operations.expected) {
        let got = match &step.outcome {
            StepOutcome::Successor(_) => Ok(()),
            StepOutcome::Fault(fault) => Err(fault.kind),
        };
        assert_eq!(got, expected.map(drop), "{name} should give {expected:?}: {step:?}");
    }
    all_agree(&model, &state).unwrap();
}

fn hold_for(arithmetic: Arithmetic) {
    hold(Operations::new(arithmetic).on(&integers(arithmetic), Sight::Known, Sight::Known));
    let fewer = fewer_integers(arithmetic);
    for (left, right) in
        [(Sight::Near, Sight::Near), (Sight::Far, Sight::Far), (Sight::Near, Sight::Far)]
    {
        hold(Operations::new(arithmetic).on(&fewer, left, right));
    }
}

#[test]
fn operators_of_32_bits_wrap() {
    hold_for(Arithmetic::Wrapping32);
}

#[test]
fn operators_of_64_bits_are_exact_or_fail() {
    hold_for(Arithmetic::Checked64);
}

/// Conditions on a variable that may be undefined and whose least value is that of 64 bits: no
/// integer is left that could stand for no value.
#[test]
fn no_value_is_not_the_least_integer() {
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
