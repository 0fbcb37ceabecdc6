//! Dead-variable elimination: variables that are not read again are reset to their first values.
//!
//! [`DeadScalars`] says which scalars are dead at which locations. The program is rewritten: every action resets the
//! variables that are dead after it (Bozga, Fernandez and Ghirvu 1999; Pelánek 2005). Interpreter, compiler and the
//! other reductions run the rewritten program. It never reaches two states that differ only in dead variables.
//!
//! *Correctness.* Two states are equivalent if all processes are at the same locations in both and they differ only
//! in dead variables. Equivalent states enable the same actions, which fail in the same way and lead to equivalent
//! states. For each variable that is read has the same value in both, and each variable that is live after an action
//! is written by it or was live before. Properties read only live variables. So equivalence is a bisimulation. A
//! transition of the rewritten program ends in a state that is equivalent to the end of the same transition of the
//! program as written. So each program can simulate the other. Actions keep their numbers, and a counterexample is
//! concretised by executing its actions in the program as written.
//!
//! ```text
//! a -> b { x := f(y); }        y is read here for the last time, z is set before it is read
//! b -> c { guard x > 0; }      becomes     a -> b { x := f(y); y := 0; }
//! c -> a { z := 1; y := z; }               b -> c { guard x > 0; x := 0; }
//! ```

mod dead_cells;
mod resets;

pub(super) use resets::statements;

use super::entry::{
    AutomaticUse, DetectionContext, PreservedRuns, ReductionEntry, ReductionMethod,
    ReductionSubject, RewriteContext, SavingMeasure,
};
use super::parameters::{ParameterControl, ParameterKind, ParameterSpec};
use super::rewrite_pass::{MergedSteps, RewritePass};
use super::{PreservedProperties, ReductionKind};
use dead_cells::DeadCells;
use spillway_analysis::live_variables::DeadScalars;
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_base::numbers::count;
use spillway_ir::layout::CellId;
use spillway_ir::{Action, ActionId, Layout, LocationId, ProcessId, Program, VarId};
use std::collections::{BTreeMap, BTreeSet};

/// The title of the reduction.
pub const NAME: &str = "dead variables";

/// The entry of the table.
pub static ENTRY: ReductionEntry = ReductionEntry {
    name: "dead",
    title: NAME,
    summary: "Dead-variable elimination: variables that are not read again are reset",
    paper: "Bozga, Fernandez and Ghirvu 1999; Pelánek 2005, section 4.1",
    page: "dead",
    kind: ReductionKind::Rewriting,
    parameters: &[ParameterSpec {
        name: JOINT,
        summary: "whether variables are also reset that are dead only at locations of several processes; by default if no other reduction depends on reads",
        kind: ParameterKind::Switch,
        // The default is the only value that suits every selection.
        control: ParameterControl::Configuration,
        excludes: None,
    }],
    automatic: AutomaticUse::Always { switches: &[] },
    preserves: PreservedProperties::ALL,
    preserved_runs: PreservedRuns::Fair,
    allows_joint_resets: true,
    allows_constraint: true,
    incompatible_with: &[],
    nothing_found: "no variable is dead at any location",
    saving: SavingMeasure::States,
    detect,
    method: ReductionMethod::Rewrite { rewrite, refuse: |_, _, _| None },
};

/// Rewrites a program.
fn rewrite(
    program: &mut Program,
    context: &RewriteContext,
) -> Result<Option<Box<dyn RewritePass>>, BudgetExceeded> {
    let found = DeadVariableElimination::rewrite(
        program,
        context.written.layout(),
        context.parameters.switch(JOINT).unwrap_or_default(),
        context.budget,
    )?;
    Ok(found.map(|it| Box::new(it) as Box<dyn RewritePass>))
}

/// The parameter for resets of variables that are dead only if several processes are at certain locations.
const JOINT: &str = "joint";

/// Lists the variables that are dead at some location.
fn detect(context: &DetectionContext) -> Vec<ReductionSubject> {
    let program = context.program();
    let found = context.pass::<DeadVariableElimination>().map(|it| it.variables(program));
    let subjects = found.unwrap_or_default().into_iter().map(|it| {
        let about = match it.at.is_empty() {
            true => "never read".into(),
            false => format!("dead at {}", locations_by_process(context, &it.at)),
        };
        context.variable(&program.variables[it.variable], about)
    });
    subjects.collect()
}

/// Describes some locations of each process.
fn locations_by_process(context: &DetectionContext, at: &[(ProcessId, LocationId)]) -> String {
    let each = at.chunk_by(|one, other| one.0 == other.0).map(|at| {
        let process = &context.program().processes[at[0].0];
        let (few, all) = (at.len(), process.locations.len());
        let at: Vec<_> = at.iter().map(|(_, it)| context.location(*it, process)).collect();
        format!("{few} of the {all} locations of {}: {}", process.name, at.join(", "))
    });
    each.collect::<Vec<_>>().join("; while at ")
}

/// The resets in a program.
#[derive(Debug)]
pub struct DeadVariableElimination {
    dead: DeadScalars,
    alike: DeadCells,
    resets: usize,
}

impl DeadVariableElimination {
    /// Adds resets of dead variables to a program. Returns `None` if nothing is dead. With `jointly`, variables that
    /// are dead only if several processes are at certain locations are reset too, by actions that read these
    /// locations.
    pub(super) fn rewrite(
        program: &mut Program,
        layout: &Layout,
        jointly: bool,
        budget: &AnalysisBudget,
    ) -> Result<Option<DeadVariableElimination>, BudgetExceeded> {
        let Some(dead) = DeadScalars::of(program, jointly, budget)? else { return Ok(None) };
        let resets = resets::add_resets(program, &dead);
        let alike = DeadCells::new(program, layout, &dead);
        Ok((resets > 0).then_some(DeadVariableElimination { dead, alike, resets }))
    }

    /// Returns the variables of the program that are reset, and where each is dead.
    pub fn variables(&self, program: &Program) -> Vec<DeadVariable> {
        let mut found: BTreeMap<VarId, DeadVariable> = BTreeMap::new();
        let mut add = |scalar: usize, at: Option<(ProcessId, LocationId)>| {
            let (variable, _) = self.dead.scalars().variable(scalar);
            let new = || DeadVariable { variable, at: Vec::new() };
            let of = &mut found.entry(variable).or_insert_with(new).at;
            of.extend(at.filter(|it| !of.contains(it)));
        };
        self.dead.always_dead().for_each(|scalar| add(scalar, None));
        for (id, process) in program.processes.iter() {
            for location in process.locations.keys() {
                self.dead.dead_at(id, location).for_each(|it| add(it, Some((id, location))));
            }
        }
        for scalar in self.dead.joint_scalars() {
            for (id, live) in self.dead.readers(program, scalar) {
                let others = program.processes[id].locations.keys().filter(|it| !live.contains(it));
                others.for_each(|it| add(scalar, Some((id, it))));
            }
        }
        found.into_values().collect()
    }

    /// Whether a reset depends on the locations of several processes.
    pub fn is_joint(&self) -> bool {
        self.dead.joint_scalars().next().is_some()
    }
}

/// A variable that is dead somewhere, at least in part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadVariable {
    /// The variable.
    pub variable: VarId,
    /// The locations at which it is dead, if that depends on processes. It is dead if each process with locations
    /// here is at one of them. If there are none, it is always dead.
    pub at: Vec<(ProcessId, LocationId)>,
}

impl RewritePass for DeadVariableElimination {
    fn describe_effect(&self, program: &Program) -> String {
        let variables = count(self.variables(program).len() as u64, "variable");
        let places = count(self.resets as u64, "place");
        match self.is_joint() {
            true => {
                format!("{variables} reset in {places}, some by the locations of several processes")
            }
            false => format!("{variables} reset in {places}"),
        }
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

    fn changed_cells(&self, program: &Program, layout: &Layout) -> BTreeSet<CellId> {
        super::variable_names::all_cells_of(
            layout,
            self.variables(program).iter().map(|it| it.variable),
        )
    }

    fn merged_steps(&self) -> Option<&dyn MergedSteps> {
        None
    }

    fn represent(&self, layout: &Layout, state: &mut [u8]) {
        self.alike.reset(layout, state);
    }
}
