//! Variables of which smaller values, or larger ones, can do whatever others can.
//!
//! Two states that are alike but for some variables, each of which has in one of them a value that is at least as good, are
//! compared: whatever the other can do, that one can, and comes to a state that is again at least as good; and whatever is
//! violated there is violated here. A value that is smaller is good where all that is asked is whether it is small: a clock that is
//! compared with deadlines, a counter of losses with how many there may be. A larger one is good where it lets more happen: what an
//! intruder knows. (Pelánek 2005, section 3.3.3, where such variables only rise. That is not needed.)
//!
//! What is *demanded* of an expression is how its values in the two states stand to each other: the same, at most or at
//! least as large in the better one. A guard may become true there, so it is demanded to be at least as large; an
//! invariant may become false; what is stored in such a variable must be as good as the variable is to be; everything else must
//! be the same. Demands go down through operators that are monotone, and end at variables: each is to be the same, or better if
//! it is smaller, or if it is larger; and if it is to be two of these, it is the same. What is the same is in turn stored the same.
//! All demands together have a least solution, which is found by going round.
//!
//! ```text
//! guard now + length <= deadline, now := now + 1      smaller is better (if now + 1 is stored as it is)
//! guard knows_key, knows_key := true                  larger is better
//! guard turn == 1 (turn is 0, 1 or 2)                 the same
//! ```

mod bodies;
mod demands;
mod expr_ranges;
mod place_monotonicity;
mod strict_guards;

use crate::budget::{AnalysisBudget, BudgetExceeded};
use crate::ir::text::{NameScope, ProgramPrinter};
use crate::ir::{
    Arena, Domain, EndRule, Expr, PidRule, Program, ScalarType, Schedule, Type, TypeId, VarId,
};
use expr_ranges::ExprRanges;
use std::collections::BTreeMap;
use std::fmt;
use strict_guards::StrictGuards;

/// Units of work to walk through an action, a function or a property.
const EACH_BODY: usize = 32;

/// Which values of a variable are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DominanceSense {
    /// Smaller ones.
    Down,
    /// Larger ones.
    Up,
}

/// What is looked for, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckedViolations {
    /// Whether deadlocks are.
    pub deadlocks: bool,
    /// Whether failed assertions are.
    pub assertions: bool,
    /// Whether violated invariants are.
    pub invariants: bool,
}

/// Why values of a variable have to be the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NonMonotoneReason {
    /// This expression of that action, function or property.
    Expr(String, String),
    /// Something else.
    Other(&'static str),
}

impl fmt::Display for NonMonotoneReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NonMonotoneReason::Expr(expr, of) => {
                write!(f, "`{expr}` of {of} asks for more than that")
            }
            NonMonotoneReason::Other(reason) => f.write_str(reason),
        }
    }
}

/// Which variables of a program are monotone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonotoneVariables {
    /// Those of which some values are better.
    pub variables: BTreeMap<VarId, DominanceSense>,
    /// Why others are not.
    pub others: BTreeMap<VarId, NonMonotoneReason>,
}

/// The monotone variables of a valid program: all, or of those `named` as many as are so as it is said.
pub fn monotone(
    program: &Program,
    named: Option<&BTreeMap<VarId, DominanceSense>>,
    looked_for: CheckedViolations,
    budget: &AnalysisBudget,
) -> Result<MonotoneVariables, BudgetExceeded> {
    let values = ExprRanges::of(program);
    let mut demands = DemandSolver {
        program,
        looked_for,
        values: &values,
        strict: StrictGuards::of(program, looked_for.deadlocks),
        of: program.variables.keys().map(|id| first(program, named, id)).collect(),
        changed: false,
        context: DemandContext::default(),
        budget,
    };
    if let Some(reason) = impossible(program, looked_for) {
        program
            .variables
            .keys()
            .for_each(|id| demands.of[id] = VariableDemand::Same(NonMonotoneReason::Other(reason)));
    }
    demands.solve()?;
    demands.settle_free()?;
    let (mut variables, mut others) = (BTreeMap::new(), BTreeMap::new());
    for (id, of) in demands.of.iter() {
        match of {
            VariableDemand::Better(sense) => drop(variables.insert(id, *sense)),
            VariableDemand::Same(reason) => drop(others.insert(id, reason.clone())),
            VariableDemand::Free => unreachable!("each of these has become something"),
        }
    }
    Ok(MonotoneVariables { variables, others })
}

/// Why nothing is compared.
fn impossible(program: &Program, looked_for: CheckedViolations) -> Option<&'static str> {
    match program.end {
        _ if program.schedule == Schedule::Lockstep => Some("all processes move at a time"),
        EndRule::NeverStuttering if looked_for.deadlocks => {
            Some("where deadlocks are looked for a step counts that leads back")
        }
        _ => None,
    }
}

/// What is known of a variable at first.
fn first(
    program: &Program,
    named: Option<&BTreeMap<VarId, DominanceSense>>,
    id: VarId,
) -> VariableDemand {
    let same = |reason| VariableDemand::Same(NonMonotoneReason::Other(reason));
    let is_pid =
        |it: &crate::ir::Process| it.life.pid == PidRule::In(id) || it.life.priority == Some(id);
    match named.map(|named| named.get(&id)) {
        _ if !is_ordered(program, program.variables[id].ty) => same("its values have no order"),
        _ if program.last == Some(id) || program.processes.values().any(is_pid) => {
            same("it says which process is meant, or how urgent one is")
        }
        Some(None) => same("it is not named"),
        Some(Some(sense)) => VariableDemand::Better(*sense),
        None => VariableDemand::Free,
    }
}

/// Whether a type is of numbers, or arrays of such.
fn is_ordered(program: &Program, ty: TypeId) -> bool {
    match &program.types[ty] {
        Type::Scalar(ScalarType { domain, .. }) => {
            matches!(domain, Domain::Bool | Domain::Range { .. } | Domain::Enum(_))
        }
        Type::Array { element, .. } => is_ordered(program, *element),
        Type::Record { .. } | Type::Multiset { .. } => false,
    }
}

/// What is known of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
enum VariableDemand {
    /// Nothing is demanded of it.
    Free,
    /// Some values are better.
    Better(DominanceSense),
    /// It has to be the same.
    Same(NonMonotoneReason),
}

/// How a value in the better state is to stand to that in the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueOrder {
    Same,
    AtMost,
    AtLeast,
}

impl ValueOrder {
    /// Of what is taken away.
    fn reversed(self) -> ValueOrder {
        match self {
            ValueOrder::Same => ValueOrder::Same,
            ValueOrder::AtMost => ValueOrder::AtLeast,
            ValueOrder::AtLeast => ValueOrder::AtMost,
        }
    }
}

impl DominanceSense {
    /// As it is given: `down`.
    pub fn name(self) -> &'static str {
        match self {
            DominanceSense::Down => "down",
            DominanceSense::Up => "up",
        }
    }

    fn order(self) -> ValueOrder {
        match self {
            DominanceSense::Down => ValueOrder::AtMost,
            DominanceSense::Up => ValueOrder::AtLeast,
        }
    }
}

/// Where demands come from.
#[derive(Default)]
struct DemandContext {
    name: String,
    scope: NameScope,
}

/// All demands of a program.
struct DemandSolver<'p> {
    program: &'p Program,
    looked_for: CheckedViolations,
    values: &'p ExprRanges<'p>,
    strict: StrictGuards,
    of: Arena<VarId, VariableDemand>,
    changed: bool,
    context: DemandContext,
    budget: &'p AnalysisBudget<'p>,
}

impl DemandSolver<'_> {
    /// Goes round until nothing is demanded that was not.
    fn solve(&mut self) -> Result<(), BudgetExceeded> {
        let Program { actions, functions, properties, variables, .. } = self.program;
        let bodies = actions.len() + functions.len() + properties.len();
        loop {
            self.budget.work((EACH_BODY * bodies + variables.len()) as u64)?;
            self.changed = false;
            self.program();
            if !self.changed {
                return Ok(());
            }
        }
    }

    /// Finds something for variables of which nothing is demanded: smaller values, or larger ones, as far as that demands
    /// nothing of others that they are not.
    fn settle_free(&mut self) -> Result<(), BudgetExceeded> {
        let free = |of: &Arena<VarId, VariableDemand>| {
            of.iter().find(|it| *it.1 == VariableDemand::Free).map(|it| it.0)
        };
        while let Some(id) = free(&self.of) {
            let (before, sames) = (self.of.clone(), self.sames());
            for sense in [DominanceSense::Down, DominanceSense::Up] {
                self.of[id] = VariableDemand::Better(sense);
                self.solve()?;
                if self.sames() == sames {
                    break;
                }
                self.of = before.clone();
            }
            if self.of[id] == VariableDemand::Free {
                self.of[id] = VariableDemand::Same(NonMonotoneReason::Other(
                    "what it is stored in is better otherwise",
                ));
                self.solve()?;
            }
        }
        Ok(())
    }

    /// How many variables have to be the same.
    fn sames(&self) -> usize {
        self.of.values().filter(|it| matches!(it, VariableDemand::Same(_))).count()
    }

    /// Demands something of a variable, for the sake of an expression.
    fn demand(&mut self, id: VarId, order: ValueOrder, cause: &Expr) {
        let sense = match order {
            ValueOrder::Same => None,
            ValueOrder::AtMost => Some(DominanceSense::Down),
            ValueOrder::AtLeast => Some(DominanceSense::Up),
        };
        let becomes = match (&self.of[id], sense) {
            (VariableDemand::Same(_), _) => return,
            (VariableDemand::Better(is), Some(wanted)) if *is == wanted => return,
            (VariableDemand::Free, Some(wanted)) => VariableDemand::Better(wanted),
            (VariableDemand::Free, None) | (VariableDemand::Better(_), _) => {
                VariableDemand::Same(self.because(cause))
            }
        };
        self.of[id] = becomes;
        self.changed = true;
    }

    /// That a variable has to be the same, whatever is asked.
    fn rule_out(&mut self, id: VarId, reason: &'static str) {
        if !matches!(self.of[id], VariableDemand::Same(_)) {
            self.of[id] = VariableDemand::Same(NonMonotoneReason::Other(reason));
            self.changed = true;
        }
    }

    fn because(&self, cause: &Expr) -> NonMonotoneReason {
        let DemandContext { name, scope } = &self.context;
        NonMonotoneReason::Expr(ProgramPrinter::new(self.program).expr(cause, scope), name.clone())
    }
}
