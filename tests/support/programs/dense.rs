//! Programs of expressions only, each used as a guard and as a stored value.

use super::{Builder, Generated, Numbers, Recipe, exprs, numbers};
use proptest::collection::vec;
use proptest::prelude::*;
use spillway::ir::{
    Action, ActionControl, Arithmetic, BinaryOp, Domain, Expr, OverflowRule, Owner, Place,
    ScalarType, Schedule, StartRule, Stmt, StmtKind, Type, VarId, Variable,
};

/// Returns programs of many expressions over variables, channels and processes of all kinds. They have no runs of
/// interest: they are evaluated in random states.
pub fn dense_programs() -> impl Strategy<Value = Generated> {
    let process = numbers(16).prop_map(|numbers| (numbers, vec![]));
    (
        numbers(16),
        vec(numbers(40), 1..8),
        vec(numbers(16), 0..3),
        vec(process, 0..3),
        vec(numbers(60), 1..60),
    )
        .prop_map(|(whole, variables, channels, processes, expressions)| {
            let (functions, free, starts, properties) = Default::default();
            let recipe = Recipe {
                whole,
                variables,
                channels,
                processes,
                functions,
                free,
                starts,
                properties,
            };
            build(&recipe, &expressions)
        })
}

fn build<'a>(recipe: &'a Recipe, expressions: &'a [Numbers]) -> Generated {
    let mut builder = Builder::new(recipe);
    builder.program.schedule = Schedule::Interleaved;
    builder.recklessness = 40;
    let word = Domain::Range { low: i32::MIN.into(), high: i32::MAX.into() };
    let word = builder.program.types.push(Type::Scalar(ScalarType::defined(word)));
    let halves: [VarId; 2] = ["low", "high"].map(|name| {
        let (name, span) = (name.into(), builder.span());
        let variable =
            Variable { name, ty: word, owner: Owner::Program, initial: vec![Some(0)], span };
        builder.program.variables.push(variable)
    });
    for numbers in expressions {
        builder.judge(numbers);
        builder.store(numbers, halves);
    }
    let span = builder.span();
    let start = StartRule { name: "start".into(), parameters: vec![], body: vec![], span };
    builder.program.starts.push(start);
    builder.program.number_exprs();
    Generated(builder.program)
}

impl<'a> Builder<'a> {
    /// Builds the expression of these numbers. It is the same each time except for its spans and the names it binds,
    /// which are numbered from `names` on.
    fn again(&mut self, numbers: &'a [u16], names: u32) -> Expr {
        self.begin_part(numbers);
        self.next_local = names;
        self.rooted(|it| it.any_expr(exprs::DEPTH + 1))
    }

    fn judge(&mut self, numbers: &'a [u16]) {
        let guard = self.again(numbers, 0);
        self.free_action(Some(guard), vec![]);
    }

    /// Adds an action that stores all bits of a value, 32 in each half.
    fn store(&mut self, numbers: &'a [u16], halves: [VarId; 2]) {
        let value = self.again(numbers, 0);
        let mut body = vec![self.keep(halves[0], value)];
        if self.program.arithmetic == Arithmetic::Checked64 {
            let value = self.again(numbers, self.next_local);
            let by = self.constant(32);
            let value = self.binary(BinaryOp::ShiftRight, value, by);
            body.push(self.keep(halves[1], value));
        }
        self.free_action(None, body);
    }

    fn keep(&mut self, half: VarId, value: Expr) -> Stmt {
        let target = Place::variable(half, self.span());
        self.stmt(StmtKind::Assign { target, value, overflow: OverflowRule::Wraps })
    }

    fn free_action(&mut self, guard: Option<Expr>, body: Vec<Stmt>) {
        let (name, span) = (format!("a{}", self.program.actions.len()), self.span());
        let (edge, parameters, communication, priority) = (None, vec![], None, 0);
        let control = ActionControl::default();
        let action =
            Action { name, edge, parameters, guard, communication, body, priority, control, span };
        self.program.actions.push(action);
    }
}
