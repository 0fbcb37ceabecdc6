//! Data abstraction: values of a variable that no expression distinguishes are merged, and the least of them is
//! stored.
//!
//! [`ValueAbstraction`] computes these values. The program is rewritten where values are stored in variables and
//! messages. Constants are replaced. A computed value that may need replacement is looked up after the assignment. A
//! copied value already is a representative.
//!
//! *Correctness.* Two states are equivalent if they differ only in values that are not distinguished. All conditions
//! have the same value in both, so the same actions are enabled and fail in the same way, and the stored values are
//! again equivalent. So equivalence is a bisimulation, and properties cannot distinguish equivalent states. A
//! transition of the rewritten program ends in a state that is equivalent to the end of the same transition of the
//! program as written. Actions keep their numbers.
//!
//! ```text
//! a -> b { x := 3; }                       a -> b { x := 1; }       only `x = 0` is ever tested
//! a -> b { x := 1; }          becomes      a -> b { x := 1; }
//! b -> c { guard x > 0; }                  b -> c { guard x > 0; }
//! c -> a { x := y + z; }                   c -> a { x := y + z; x := x <= 1 ? x : 1; }
//! ```

use super::entry::{
    AutomaticUse, DetectionContext, PreservedRuns, ReductionEntry, ReductionMethod,
    ReductionSubject, RewriteContext, SavingMeasure,
};
use super::rewrite_pass::{MergedSteps, RewritePass};
use super::{PreservedProperties, ReductionKind};
use spillway_analysis::value_abstraction::{StoredForm, ValueAbstraction};
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_base::numbers::count;
use spillway_ir::layout::CellId;
use spillway_ir::{
    Action, ActionId, BinaryOp, Communication, Expr, ExprKind, Layout, OverflowRule, Place,
    Program, Stmt, StmtKind, VarId,
};
use std::collections::BTreeSet;

/// The title of the reduction.
pub const NAME: &str = "equivalent values";

/// The entry of the table.
pub static ENTRY: ReductionEntry = ReductionEntry {
    name: "values",
    title: NAME,
    summary: "Data abstraction: values that no expression distinguishes are merged",
    paper: "Pelánek 2005, section 3.1.2",
    page: "values",
    kind: ReductionKind::Rewriting,
    parameters: &[],
    automatic: AutomaticUse::Always { switches: &[] },
    preserves: PreservedProperties::ALL,
    preserved_runs: PreservedRuns::Fair,
    allows_joint_resets: true,
    allows_constraint: true,
    incompatible_with: &[],
    nothing_found: "no variable has equivalent values",
    saving: SavingMeasure::States,
    detect,
    method: ReductionMethod::Rewrite { rewrite, refuse: |_, _, _| None },
};

/// Rewrites a program.
fn rewrite(
    program: &mut Program,
    context: &RewriteContext,
) -> Result<Option<Box<dyn RewritePass>>, BudgetExceeded> {
    let found = ValueMerging::rewrite(program, context.written.layout(), context.budget)?;
    Ok(found.map(|it| Box::new(it) as Box<dyn RewritePass>))
}

/// Lists the variables with merged values.
fn detect(context: &DetectionContext) -> Vec<ReductionSubject> {
    let found = context.pass::<ValueMerging>().map(ValueMerging::variables).unwrap_or_default();
    let subjects = found.into_iter().map(|it| {
        let about = format!("{} values, {} after merging", it.values, it.apart);
        context.variable(&context.program().variables[it.variable], about)
    });
    subjects.collect()
}

/// The merged values of a program.
#[derive(Debug)]
pub struct ValueMerging {
    apart: ValueAbstraction,
    cells: Vec<(CellId, usize)>,
}

/// A variable with merged values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EquivalentValues {
    /// The variable.
    pub variable: VarId,
    /// The number of values.
    pub values: usize,
    /// The number of classes of values.
    pub apart: usize,
}

impl ValueMerging {
    /// Rewrites a program so that it stores representatives only. Returns `None` if nothing changes.
    pub(super) fn rewrite(
        program: &mut Program,
        layout: &Layout,
        budget: &AnalysisBudget,
    ) -> Result<Option<ValueMerging>, BudgetExceeded> {
        let Some(apart) = ValueAbstraction::of(program, layout, budget)? else { return Ok(None) };
        let written = program.clone();
        let mut pass = ValueRewriter { written: &written, apart: &apart, changes: 0 };
        pass.program(program);
        let cells = apart.cells(&written, layout);
        Ok((pass.changes > 0).then_some(ValueMerging { apart, cells }))
    }

    /// Returns the cells whose values are merged.
    pub fn cells(&self) -> impl Iterator<Item = CellId> {
        self.cells.iter().map(|it| it.0)
    }

    /// Returns the variables with merged values.
    pub fn variables(&self) -> Vec<EquivalentValues> {
        let all = self.apart.variables();
        let all = all.map(|(variable, values, apart)| EquivalentValues { variable, values, apart });
        all.collect()
    }
}

impl RewritePass for ValueMerging {
    fn describe_effect(&self, _: &Program) -> String {
        let found = count(self.variables().len() as u64, "variable");
        format!("{found} with equivalent values")
    }

    fn preserves(&self) -> PreservedProperties {
        PreservedProperties::ALL
    }

    fn keeps_all_actions(&self) -> bool {
        false
    }

    fn loses_action_count(&self, _: ActionId, _: &Action) -> bool {
        false
    }

    fn changed_cells(&self, _: &Program, _: &Layout) -> BTreeSet<CellId> {
        self.cells().collect()
    }

    fn merged_steps(&self) -> Option<&dyn MergedSteps> {
        None
    }

    fn represent(&self, layout: &Layout, state: &mut [u8]) {
        for &(cell, class) in &self.cells {
            if let Some(value) = layout.get(state, cell) {
                let value = self.apart.representative(class, value);
                layout.set(state, cell, Some(value));
            }
        }
    }
}

/// Replaces values where they are stored.
struct ValueRewriter<'r> {
    written: &'r Program,
    apart: &'r ValueAbstraction,
    changes: usize,
}

impl ValueRewriter<'_> {
    fn program(&mut self, program: &mut Program) {
        for (id, variable) in self.written.variables.iter() {
            for (first, to) in variable.initial.iter().zip(&mut program.variables[id].initial) {
                *to = first.map(|it| self.apart.of_variable(id, it));
                self.changes += usize::from(to != first);
            }
        }
        for (id, action) in self.written.actions.iter() {
            let to = &mut program.actions[id];
            to.communication.iter_mut().for_each(|it| self.communication(it));
            to.body = self.body(&action.body);
        }
        for (number, start) in self.written.starts.iter().enumerate() {
            program.starts[number].body = self.body(&start.body);
        }
        for (id, process) in self.written.processes.iter() {
            program.processes[id].life.prologue = self.body(&process.life.prologue);
        }
    }

    fn body(&mut self, body: &[Stmt]) -> Vec<Stmt> {
        body.iter().flat_map(|it| self.stmt(it)).collect()
    }

    /// Rewrites a statement. Returns it with the statements that follow it.
    fn stmt(&mut self, stmt: &Stmt) -> Vec<Stmt> {
        let mut stmt = stmt.clone();
        match &mut stmt.kind {
            StmtKind::Assign { target, value, overflow } => {
                match self.apart.assigned_form(self.written, target, value, *overflow) {
                    StoredForm::Itself => {}
                    StoredForm::Constant(it) => self.replace(value, it),
                    StoredForm::LookedUp(runs) => {
                        self.changes += 1;
                        let looked_up = looked_up(target, &runs);
                        return vec![stmt, looked_up];
                    }
                }
            }
            StmtKind::Communicate(communication) => self.communication(communication),
            StmtKind::Run { process, arguments, .. } => {
                let parameters = &self.written.processes[*process].parameters;
                for (&parameter, value) in parameters.iter().zip(arguments) {
                    if let StoredForm::Constant(it) =
                        self.apart.argument_form(self.written, parameter, value)
                    {
                        self.replace(value, it);
                    }
                }
            }
            StmtKind::If(branches) => {
                branches.iter_mut().for_each(|(_, body)| *body = self.body(body));
            }
            StmtKind::Switch(_, branches) => {
                branches.iter_mut().for_each(|(_, body)| *body = self.body(body));
            }
            StmtKind::For { body, .. }
            | StmtKind::ForEach { body, .. }
            | StmtKind::While { body, .. } => *body = self.body(body),
            _ => {}
        }
        vec![stmt]
    }

    fn communication(&mut self, communication: &mut Communication) {
        let Communication::Send { channel, values, .. } = communication else { return };
        let Some(id) = channel.possible_channels(self.written).next() else { return };
        for (number, value) in values.iter_mut().enumerate() {
            if let StoredForm::Constant(it) = self.apart.sent_form(self.written, id, number, value)
            {
                self.replace(value, it);
            }
        }
    }

    fn replace(&mut self, value: &mut Expr, by: i64) {
        value.kind = ExprKind::Constant(by);
        self.changes += 1;
    }
}

/// Returns a statement that replaces the value of a place by its representative: `runs` gives, up to each value, a
/// constant or the value itself.
fn looked_up(place: &Place, runs: &[(i64, Option<i64>)]) -> Stmt {
    let span = place.span;
    let expr = |kind| Expr::new(kind, span);
    let held = || expr(ExprKind::Read(place.clone()));
    let of = |to: Option<i64>| to.map_or_else(held, |it| Expr::constant(it, span));
    let (last, before) = runs.split_last().unwrap_or_else(|| unreachable!("there are values"));
    let value = before.iter().rev().fold(of(last.1), |behind, &(up_to, to)| {
        let up_to = Box::new(Expr::constant(up_to, span));
        let is_up_to = expr(ExprKind::Binary(BinaryOp::LessEqual, Box::new(held()), up_to));
        expr(ExprKind::Conditional(Box::new(is_up_to), Box::new(of(to)), Box::new(behind)))
    });
    let kind = StmtKind::Assign { target: place.clone(), value, overflow: OverflowRule::Fails };
    Stmt { kind, span }
}
