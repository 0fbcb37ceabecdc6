//! Monotone variables: variables whose smaller values, or whose larger values, dominate the others (Pelánek 2005,
//! section 3.3.3; variables need not only increase, as they do there).
//!
//! The analysis compares two states that differ only in some variables. One of them, the better state, has in each of
//! these variables a value that is at least as good. Whatever the other state can do, the better state can do, and it
//! reaches a state that is again at least as good. Whatever is violated in the other state is violated in the better
//! one. A smaller value is better if the program only tests whether it is small: a clock that is compared with
//! deadlines, or a counter of losses with a limit. A larger value is better if it enables more, such as the knowledge
//! of an intruder.
//!
//! A *demand* on an expression is an order between its values in the two states. In the better state the value is the
//! same, at most as large, or at least as large. A guard may become true there, so it must be at least as large. An
//! invariant may become false, so it must be at most as large. A value that is stored in a monotone variable must be
//! as good as the variable requires. All other values must be the same. Demands propagate through monotone operators
//! to variables. A variable with two different demands must be the same, and so must the values stored in it. All
//! demands together have a least solution, which the analysis finds by iteration.
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

use expr_ranges::ExprRanges;
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_ir::text::{NameScope, ProgramPrinter};
use spillway_ir::{
    Arena, Domain, EndRule, Expr, PidRule, Program, ScalarType, Schedule, Type, TypeId, VarId,
};
use std::collections::BTreeMap;
use std::fmt;
use strict_guards::StrictGuards;

/// The work units of one walk through an action, a function or a property.
const EACH_BODY: usize = 32;

/// The better values of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DominanceSense {
    /// Smaller values.
    Down,
    /// Larger values.
    Up,
}

/// The checked kinds of violations that affect the analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckedViolations {
    /// Whether deadlocks are checked.
    pub deadlocks: bool,
    /// Whether failed assertions are checked.
    pub assertions: bool,
    /// Whether violated invariants are checked.
    pub invariants: bool,
}

/// The reason why the values of a variable must be the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NonMonotoneReason {
    /// This expression of that action, function or property.
    Expr(String, String),
    /// Another reason.
    Other(&'static str),
}

impl fmt::Display for NonMonotoneReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NonMonotoneReason::Expr(expr, of) => {
                write!(f, "`{expr}` of {of} depends on more than the order")
            }
            NonMonotoneReason::Other(reason) => f.write_str(reason),
        }
    }
}

/// The monotone variables of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonotoneVariables {
    /// The variables with better values.
    pub variables: BTreeMap<VarId, DominanceSense>,
    /// The reasons why the others are not monotone.
    pub others: BTreeMap<VarId, NonMonotoneReason>,
}

/// Computes the monotone variables of a valid program: all, or the ones in `named` that are monotone as named.
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

/// Returns the reason why dominance cannot be used, if there is one.
fn impossible(program: &Program, looked_for: CheckedViolations) -> Option<&'static str> {
    match program.end {
        _ if program.schedule == Schedule::Lockstep => {
            Some("all processes move in each transition")
        }
        EndRule::NeverStuttering if looked_for.deadlocks => {
            Some("self-loops count when deadlocks are checked")
        }
        _ => None,
    }
}

/// Returns the initial demand on a variable.
fn first(
    program: &Program,
    named: Option<&BTreeMap<VarId, DominanceSense>>,
    id: VarId,
) -> VariableDemand {
    let same = |reason| VariableDemand::Same(NonMonotoneReason::Other(reason));
    let is_pid =
        |it: &spillway_ir::Process| it.life.pid == PidRule::In(id) || it.life.priority == Some(id);
    match named.map(|named| named.get(&id)) {
        _ if !is_ordered(program, program.variables[id].ty) => same("its values have no order"),
        _ if program.last == Some(id) || program.processes.values().any(is_pid) => {
            same("it selects a process, or is a priority")
        }
        Some(None) => same("it is not named"),
        Some(Some(sense)) => VariableDemand::Better(*sense),
        None => VariableDemand::Free,
    }
}

/// Returns whether a type has numbers, or is an array of such a type.
fn is_ordered(program: &Program, ty: TypeId) -> bool {
    match &program.types[ty] {
        Type::Scalar(ScalarType { domain, .. }) => {
            matches!(domain, Domain::Bool | Domain::Range { .. } | Domain::Enum(_))
        }
        Type::Array { element, .. } => is_ordered(program, *element),
        Type::Record { .. } | Type::Multiset { .. } => false,
    }
}

/// The demand on a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
enum VariableDemand {
    /// No demand.
    Free,
    /// Some values are better.
    Better(DominanceSense),
    /// The values must be the same.
    Same(NonMonotoneReason),
}

/// The order between the value in the better state and the value in the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueOrder {
    Same,
    AtMost,
    AtLeast,
}

impl ValueOrder {
    /// Returns the order for a subtrahend.
    fn reversed(self) -> ValueOrder {
        match self {
            ValueOrder::Same => ValueOrder::Same,
            ValueOrder::AtMost => ValueOrder::AtLeast,
            ValueOrder::AtLeast => ValueOrder::AtMost,
        }
    }
}

impl DominanceSense {
    /// Returns the name as in options: `down`.
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

/// The origin of demands, for messages.
#[derive(Default)]
struct DemandContext {
    name: String,
    scope: NameScope,
}

/// A solver for all demands of a program.
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
    /// Repeats until there are no new demands.
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

    /// Chooses smaller or larger values as the better ones for each variable without a demand, if no further variable
    /// must then be the same.
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
                    "the variable that it is stored in has the opposite direction",
                ));
                self.solve()?;
            }
        }
        Ok(())
    }

    /// Returns the number of variables that must be the same.
    fn sames(&self) -> usize {
        self.of.values().filter(|it| matches!(it, VariableDemand::Same(_))).count()
    }

    /// Adds a demand on a variable, caused by an expression.
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

    /// Demands that a variable is always the same.
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
