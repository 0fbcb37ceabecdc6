//! Programs that are rewritten before they are run, so that states that nothing can tell apart are one state.
//!
//! Each pass changes the program and says which state of its own stands for a state of the program
//! before ([`RewritePass`]). Passes follow one another, each on what the one before has left: first [`slice`](super::slice), which leaves less to all
//! others, then [`structural`](super::structural), then [`equivalent_values`](super::equivalent_values), after which more
//! actions are equal, then [`equivalent_locations`](super::equivalent_locations), then [`dead`](super::dead), which resets to what the first have left of first values, last [`merge`](super::merge).
//! Interpreter, compiler and the other
//! reductions run what is left in the end; actions of the program as written, locations and cells keep their numbers, so that a
//! counterexample is told in steps of the program as written, over all passes at once.

mod model;

use super::claim::{FiniteRunPolicy, NeverClaim};
use super::dead::DeadVariableElimination;
use super::equivalent_locations::LocationMerging;
use super::equivalent_values::ValueMerging;
use super::merge::{self, TransitionMerging};
use super::rewrite_pass::RewritePass;
use super::slice::{self, ProgramSlice};
use super::structural::{self, StructuralReduction};
use super::{
    PreservedProperties, Reduction, ReductionKind, ReductionRefusal, ReductionStack, dead,
    equivalent_locations, equivalent_values, unrewritable_reason,
};
use crate::budget::{AnalysisBudget, BudgetExceeded};
use crate::exec::{CheckSelection, Counters, Interp, StateSpace};
use crate::ir::Program;
use model::RewrittenModel;

/// Which passes there are to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RewriteSelection {
    /// What can influence nothing that is looked for is removed, in a search for some checks.
    pub slice: Option<CheckSelection>,
    /// Places and transitions of nets are made fewer, in a search for some checks.
    pub structural: Option<CheckSelection>,
    /// Values that nothing tells apart are one.
    pub values: bool,
    /// States of processes that nothing tells apart are one.
    pub states: bool,
    /// What is dead is reset.
    pub dead: bool,
    /// What is dead where several processes are, too, by actions that look where others are.
    pub joint_dead: bool,
    /// Processes do not stop where nobody could tell.
    pub merge: bool,
}

impl RewriteSelection {
    /// None: the program runs as it is written.
    pub const NONE: RewriteSelection = RewriteSelection {
        slice: None,
        structural: None,
        values: false,
        states: false,
        dead: false,
        joint_dead: false,
        merge: false,
    };

    /// Those by which states stay alike, and each step one.
    pub const BISIMILAR: RewriteSelection =
        RewriteSelection { values: true, states: true, dead: true, ..RewriteSelection::NONE };

    /// Every one that does not depend on what is looked for.
    pub const ALL: RewriteSelection =
        RewriteSelection { merge: true, ..RewriteSelection::BISIMILAR };

    /// What is dead is reset, and that is all.
    pub const DEAD: RewriteSelection =
        RewriteSelection { dead: true, joint_dead: true, ..RewriteSelection::NONE };

    /// Values that nothing tells apart are one, and that is all.
    pub const VALUES: RewriteSelection =
        RewriteSelection { values: true, ..RewriteSelection::NONE };

    /// States of processes that nothing tells apart are one, and that is all.
    pub const STATES: RewriteSelection =
        RewriteSelection { states: true, ..RewriteSelection::NONE };

    /// Processes do not stop where nobody could tell, and that is all.
    pub const MERGE: RewriteSelection = RewriteSelection { merge: true, ..RewriteSelection::NONE };

    /// What can influence nothing that is looked for is removed, and that is all.
    pub const fn slicing(checks: CheckSelection) -> RewriteSelection {
        RewriteSelection { slice: Some(checks), ..RewriteSelection::NONE }
    }

    /// Places and transitions of nets are made fewer, and that is all.
    pub const fn structural(checks: CheckSelection) -> RewriteSelection {
        RewriteSelection { structural: Some(checks), ..RewriteSelection::NONE }
    }

    /// The same in a search for these checks.
    pub fn for_checks(self, checks: CheckSelection) -> RewriteSelection {
        let [slice, structural] = [self.slice, self.structural].map(|it| it.map(|_| checks));
        RewriteSelection { slice, structural, ..self }
    }

    /// How many different ones there are: their numbers are less.
    pub const COUNT: usize = 1 << 11;

    /// A number for what comes of them: that of the passes, and what is looked for where that matters.
    pub fn number(self) -> usize {
        let looked = self.slice.or(self.structural).map_or(0, |it| {
            let checks = [it.deadlock, it.assertions, it.invariants, it.faults];
            checks.iter().fold(0, |code, &it| code << 1 | usize::from(it))
        });
        looked << 7 | usize::from(self.code())
    }

    /// As a number: a bit for each pass.
    pub fn code(self) -> u8 {
        let RewriteSelection {
            slice,
            structural,
            values,
            states,
            dead,
            joint_dead: jointly,
            merge,
        } = self;
        let passes = [dead, values, states, merge, slice.is_some(), structural.is_some(), jointly];
        passes.iter().rev().fold(0, |code, &it| code << 1 | u8::from(it))
    }

    /// Those of a number, in a search for some checks.
    pub fn of_code(code: u8, checks: CheckSelection) -> RewriteSelection {
        let [dead, values, states, merge, slice, structural, joint_dead] =
            [1, 2, 4, 8, 16, 32, 64].map(|it| code & it != 0);
        let [slice, structural] = [slice, structural].map(|it| it.then_some(checks));
        RewriteSelection { slice, structural, values, states, dead, joint_dead, merge }
    }
}

/// What came of passes over a program.
#[derive(Debug, Default)]
pub struct RewriteResult {
    rewritten: Option<Box<RewrittenProgram>>,
    /// The passes whose analyses exceeded their budget, by name.
    exceeded: Vec<(&'static str, BudgetExceeded)>,
}

impl RewriteResult {
    /// What these passes make of a program. Each pass gets a `budget` of its own.
    pub fn of(
        written: &Interp,
        wanted: RewriteSelection,
        budget: &AnalysisBudget,
    ) -> RewriteResult {
        let (rewritten, exceeded) = RewrittenProgram::within(written, wanted, budget);
        RewriteResult { rewritten: rewritten.map(Box::new), exceeded }
    }

    /// What they made of it, if they found anything to do.
    pub fn rewritten(&self) -> Option<&RewrittenProgram> {
        self.rewritten.as_deref()
    }

    /// Whether some pass ended as the whole check is to stop.
    pub fn is_stopped(&self) -> bool {
        self.exceeded.iter().any(|it| it.1 == BudgetExceeded::Stopped)
    }
}

/// A program that passes have rewritten.
#[derive(Debug)]
pub struct RewrittenProgram {
    interp: Interp,
    slice: Option<ProgramSlice>,
    structural: Option<StructuralReduction>,
    values: Option<ValueMerging>,
    states: Option<LocationMerging>,
    dead: Option<DeadVariableElimination>,
    fused: Option<TransitionMerging>,
}

impl RewrittenProgram {
    /// What these passes make of a program, each with the largest budget; nothing if they find nothing to do.
    pub fn of(written: &Interp, wanted: RewriteSelection) -> Option<RewrittenProgram> {
        RewrittenProgram::within(written, wanted, &AnalysisBudget::largest()).0
    }

    /// The same, each pass with such a budget; with those that exceeded it.
    fn within(
        written: &Interp,
        wanted: RewriteSelection,
        budget: &AnalysisBudget,
    ) -> (Option<RewrittenProgram>, Vec<(&'static str, BudgetExceeded)>) {
        if unrewritable_reason(written.program(), written.layout()).is_some() {
            return (None, Vec::new());
        }
        let (mut program, layout) = (written.program().clone(), written.layout());
        let mut passes = PassRunner { budget, exceeded: Vec::new() };
        let slice = passes.run(slice::NAME, wanted.slice, |checks, budget| {
            ProgramSlice::rewrite(&mut program, written, checks, budget)
        });
        let structural = passes.run(structural::NAME, wanted.structural, |checks, budget| {
            StructuralReduction::rewrite(&mut program, written, checks, budget)
        });
        let values =
            passes.run(equivalent_values::NAME, wanted.values.then_some(()), |(), budget| {
                ValueMerging::rewrite(&mut program, layout, budget)
            });
        let states =
            passes.run(equivalent_locations::NAME, wanted.states.then_some(()), |(), budget| {
                LocationMerging::rewrite(&mut program, layout, budget)
            });
        let jointly = wanted.dead.then_some(wanted.joint_dead);
        let dead = passes.run(dead::NAME, jointly, |jointly, budget| {
            DeadVariableElimination::rewrite(&mut program, layout, jointly, budget)
        });
        let fused = passes.run(merge::NAME, wanted.merge.then_some(()), |(), budget| {
            TransitionMerging::rewrite(&mut program, written, budget)
        });
        let exceeded = passes.exceeded;
        let is_alike = values.is_none() && states.is_none() && dead.is_none();
        if is_alike && slice.is_none() && structural.is_none() && fused.is_none() {
            return (None, exceeded);
        }
        let rewritten = written.rewritten(program).map(|interp| RewrittenProgram {
            interp,
            slice,
            structural,
            values,
            states,
            dead,
            fused,
        });
        (rewritten, exceeded)
    }

    /// Runs it.
    pub fn interp(&self) -> &Interp {
        &self.interp
    }

    /// What is removed, if anything is.
    pub fn slice(&self) -> Option<&ProgramSlice> {
        self.slice.as_ref()
    }

    /// What was reduced of its net, if anything was.
    pub fn structural(&self) -> Option<&StructuralReduction> {
        self.structural.as_ref()
    }

    /// What became of its values, if anything did.
    pub fn values(&self) -> Option<&ValueMerging> {
        self.values.as_ref()
    }

    /// What became of its locations, if anything did.
    pub fn states(&self) -> Option<&LocationMerging> {
        self.states.as_ref()
    }

    /// What is reset, if anything is.
    pub fn dead(&self) -> Option<&DeadVariableElimination> {
        self.dead.as_ref()
    }

    /// Where processes do not stop, if they do so anywhere.
    pub fn fused(&self) -> Option<&TransitionMerging> {
        self.fused.as_ref()
    }

    /// The passes that did something, in their order.
    fn passes(&self) -> impl Iterator<Item = &dyn RewritePass> {
        let slice = self.slice.as_ref().map(|it| it as &dyn RewritePass);
        let structural = self.structural.as_ref().map(|it| it as &dyn RewritePass);
        let values = self.values.as_ref().map(|it| it as &dyn RewritePass);
        let states = self.states.as_ref().map(|it| it as &dyn RewritePass);
        let dead = self.dead.as_ref().map(|it| it as &dyn RewritePass);
        let fused = self.fused.as_ref().map(|it| it as &dyn RewritePass);
        [slice, structural, values, states, dead, fused].into_iter().flatten()
    }
}

/// Runs passes, each with a budget of its own. A pass changes the program only after its analysis.
struct PassRunner<'b> {
    budget: &'b AnalysisBudget<'b>,
    exceeded: Vec<(&'static str, BudgetExceeded)>,
}

impl PassRunner<'_> {
    /// Runs a pass, if it is wanted.
    fn run<W, P>(
        &mut self,
        name: &'static str,
        wanted: Option<W>,
        run: impl FnOnce(W, &AnalysisBudget) -> Result<Option<P>, BudgetExceeded>,
    ) -> Option<P> {
        let found = run(wanted?, &self.budget.for_analysis(name));
        found.unwrap_or_else(|exceeded| {
            self.exceeded.push((name, exceeded));
            None
        })
    }
}

/// A program in the form in which it is run: as it is written, or rewritten.
#[derive(Clone, Copy)]
pub struct ProgramForm<'m> {
    written: &'m Interp,
    rewritten: Option<&'m RewrittenProgram>,
    exceeded: &'m [(&'static str, BudgetExceeded)],
}

impl<'m> ProgramForm<'m> {
    /// As it is written.
    pub fn written(written: &'m Interp) -> ProgramForm<'m> {
        ProgramForm { written, rewritten: None, exceeded: &[] }
    }

    /// Rewritten, if it was: `rewritten` is what came of the same program.
    pub fn rewritten(
        written: &'m Interp,
        rewritten: Option<&'m RewrittenProgram>,
    ) -> ProgramForm<'m> {
        ProgramForm { written, rewritten, exceeded: &[] }
    }

    /// The same, by what came of passes.
    pub fn from_result(written: &'m Interp, rewriting: &'m RewriteResult) -> ProgramForm<'m> {
        let RewriteResult { rewritten, exceeded } = rewriting;
        ProgramForm { written, rewritten: rewritten.as_deref(), exceeded }
    }

    /// What runs it.
    pub fn interp(self) -> &'m Interp {
        self.rewritten.map_or(self.written, RewrittenProgram::interp)
    }

    /// The passes that did something.
    pub fn rewritings(self) -> RewriteSelection {
        let of = |it: &RewrittenProgram| RewriteSelection {
            slice: it.slice.as_ref().map(ProgramSlice::checks),
            structural: it.structural.as_ref().map(StructuralReduction::checks),
            values: it.values.is_some(),
            states: it.states.is_some(),
            dead: it.dead.is_some(),
            joint_dead: it.dead.as_ref().is_some_and(DeadVariableElimination::is_joint),
            merge: it.fused.is_some(),
        };
        self.rewritten.map_or(RewriteSelection::NONE, of)
    }

    /// Of some passes that are wanted those that cannot be used whatever the program does, and those whose analyses
    /// exceeded their budget.
    pub fn refusals(self, wanted: RewriteSelection) -> impl Iterator<Item = ReductionRefusal> {
        let program = self.written.program();
        let refused = |name: &str, why| ReductionRefusal { name: name.into(), reason: why };
        let whole = unrewritable_reason(program, self.written.layout()).map(str::to_owned);
        let slice =
            wanted.slice.and_then(|it| whole.clone().or_else(|| slice::refusal(program, it)));
        let merge = whole.clone().or_else(|| merge::refusal(program)).filter(|_| wanted.merge);
        let slice = slice.map(|why| refused(slice::NAME, why));
        let structural =
            wanted.structural.and_then(|it| whole.or_else(|| structural::refusal(program, it)));
        let structural = structural.map(|why| refused(structural::NAME, why));
        let exceeded = self.exceeded.iter().map(move |(name, it)| refused(name, it.to_string()));
        let merge = merge.map(|why| refused(merge::NAME, why));
        slice.into_iter().chain(structural).chain(merge).chain(exceeded)
    }

    /// Each pass that did something, as a reduction of what runs the program; with what is said of runs that end, where
    /// its claim is looked at for whole runs.
    pub fn reductions(
        self,
        runs: Option<FiniteRunPolicy>,
    ) -> impl Iterator<Item = Box<dyn Reduction<'m> + 'm>> {
        let passes = self.rewritten.into_iter().flat_map(RewrittenProgram::passes);
        passes.enumerate().map(move |(number, pass)| {
            let follows = self.rewritten.filter(|_| number == 0);
            let (written, program) = (self.written, self.interp().program());
            Box::new(PassReduction { pass, written, program, follows, runs })
                as Box<dyn Reduction<'m> + 'm>
        })
    }
}

/// A pass, as a reduction of what runs the rewritten program.
struct PassReduction<'m> {
    pass: &'m dyn RewritePass,
    written: &'m Interp,
    program: &'m Program,
    /// All passes, where this is the first of them: it tells for all with the program as written.
    follows: Option<&'m RewrittenProgram>,
    /// What is said of runs that end, where the claim is looked at for whole runs.
    runs: Option<FiniteRunPolicy>,
}

impl<'m> Reduction<'m> for PassReduction<'m> {
    fn name(&self) -> String {
        self.pass.name().into()
    }

    fn kind(&self) -> ReductionKind {
        ReductionKind::Rewriting
    }

    fn preserves(&self) -> PreservedProperties {
        self.pass.preserves()
    }

    fn keeps_all_actions(&self) -> bool {
        self.pass.keeps_all_actions()
    }

    fn describe_effect(&self, _: &Counters) -> Option<String> {
        Some(self.pass.describe_effect(self.program))
    }

    fn incompatibility(&self, _: &ReductionStack<'m>) -> Option<String> {
        None
    }

    /// What is counted with the program's states, a claim, is told with the program as written.
    fn wrap(&self, model: Box<dyn StateSpace + 'm>) -> Box<dyn StateSpace + 'm> {
        let Some(rewritten) = self.follows else { return model };
        let below: Box<dyn StateSpace + 'm> = match NeverClaim::for_runs(self.written, self.runs) {
            Some(claim) => Box::new(claim.with(self.written)),
            None => Box::new(self.written),
        };
        Box::new(RewrittenModel::new(model, below, self.written, rewritten))
    }
}
