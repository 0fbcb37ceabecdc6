//! Which reductions there are for a model: of what, where it stands, what each saves by itself.

use super::{ExecutableProgram, ReductionRequest, StepChoice, TextModel};
use crate::analysis::automorphisms::automorphisms;
use crate::analysis::equivalence_classes::connected_sets;
use crate::analysis::linear_sets::linear_sets;
use crate::budget::AnalysisBudget;
use crate::exec::{Executor, Interp};
use crate::ir::{
    ActionId, Domain, LocationId, Process, ProcessId, ProcessInstance, Program, ScalarsetId, Type,
    TypeId, Variable,
};
use crate::model::CheckSelection;
use crate::reduce::boring::{self, BoringStates};
use crate::reduce::dominance::{self, DominanceSense, DominatedValues};
use crate::reduce::doomed::{self, DoomedStates};
use crate::reduce::merge::TransitionMerging;
use crate::reduce::partial_order::{
    CycleProviso, PartialOrder, PartialOrderMethod, PartialOrderStrategy,
};
use crate::reduce::pruning::PruningSelection;
use crate::reduce::reversible::{REDUCTION_NAME, ReversibleRules, RuleSelection};
use crate::reduce::rewriting::{RewriteSelection, RewrittenProgram};
use crate::reduce::structural::AgglomerationKind;
use crate::reduce::{ReductionKind, confluence, linear, symmetry};
use crate::report;
use crate::search::pilot::FirstLevels;
use crate::search::{SearchControl, SearchLimits, StateStorage};
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// A reduction, and what there is of it in a model.
#[derive(Clone, Debug)]
pub struct ApplicableReduction {
    /// As it is named to ask for it.
    pub name: &'static str,
    /// What it is about.
    pub subjects: Vec<ReductionSubject>,
    /// What it saves, or why it is not used.
    pub saves: Result<ReductionSaving, String>,
}

/// Something in a model that a reduction is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReductionSubject {
    /// What it is called.
    pub name: String,
    /// Where it stands in the text.
    pub place: Option<String>,
    /// What is said of it.
    pub about: String,
}

/// What a reduction saves by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ReductionSaving {
    /// States, as the first ones tell.
    States {
        /// The share of the states that it saves.
        share: f64,
        /// How many states of the whole space that is told from.
        states: usize,
        /// Whether there are no others.
        is_all: bool,
    },
    /// Levels: all states are visited, and what is looked for is come to sooner.
    Levels,
}

/// A reduction, how it is asked for by itself, and what it is about in a model.
struct ReductionEntry {
    name: &'static str,
    reduce: ReductionRequest,
    kind: ReductionKind,
    subjects: fn(&TextModel, &AnalysisBudget) -> Vec<ReductionSubject>,
}

/// Every reduction.
const NAMED: [ReductionEntry; 15] = [
    ReductionEntry {
        name: "slice",
        reduce: ReductionRequest {
            rewritings: RewriteSelection::slicing(CheckSelection::ALL),
            ..ReductionRequest::NONE
        },
        kind: ReductionKind::Rewriting,
        subjects: TextModel::sliced,
    },
    ReductionEntry {
        name: "structural",
        reduce: ReductionRequest {
            rewritings: RewriteSelection::structural(CheckSelection::ALL),
            ..ReductionRequest::NONE
        },
        kind: ReductionKind::Rewriting,
        subjects: TextModel::structural,
    },
    ReductionEntry {
        name: "values",
        reduce: ReductionRequest { rewritings: RewriteSelection::VALUES, ..ReductionRequest::NONE },
        kind: ReductionKind::Rewriting,
        subjects: TextModel::equivalent,
    },
    ReductionEntry {
        name: "states",
        reduce: ReductionRequest { rewritings: RewriteSelection::STATES, ..ReductionRequest::NONE },
        kind: ReductionKind::Rewriting,
        subjects: TextModel::bisimilar,
    },
    ReductionEntry {
        name: "dead",
        reduce: ReductionRequest { rewritings: RewriteSelection::DEAD, ..ReductionRequest::NONE },
        kind: ReductionKind::Rewriting,
        subjects: TextModel::dead,
    },
    ReductionEntry {
        name: "merge",
        reduce: ReductionRequest { rewritings: RewriteSelection::MERGE, ..ReductionRequest::NONE },
        kind: ReductionKind::Rewriting,
        subjects: TextModel::passed,
    },
    ReductionEntry {
        name: "linear",
        reduce: ReductionRequest { linear: true, ..ReductionRequest::NONE },
        kind: ReductionKind::Representative,
        subjects: TextModel::linear,
    },
    ReductionEntry {
        name: symmetry::NAME,
        reduce: ReductionRequest {
            symmetry: ReductionRequest::AUTO.symmetry,
            processes: true,
            ..ReductionRequest::NONE
        },
        kind: ReductionKind::Representative,
        subjects: TextModel::symmetric,
    },
    ReductionEntry {
        name: "reversible",
        reduce: ReductionRequest { reversible: Some(RuleSelection::ALL), ..ReductionRequest::NONE },
        kind: ReductionKind::Representative,
        subjects: TextModel::reversible,
    },
    ReductionEntry {
        name: "confluence",
        reduce: ReductionRequest {
            steps: StepChoice::Chosen(PartialOrderStrategy {
                method: PartialOrderMethod::Confluence,
                proviso: CycleProviso::Chains,
            }),
            ..ReductionRequest::NONE
        },
        kind: ReductionKind::Choice,
        subjects: TextModel::confluent,
    },
    ReductionEntry {
        name: "simultaneous",
        reduce: ReductionRequest {
            steps: StepChoice::Chosen(PartialOrderStrategy {
                method: PartialOrderMethod::Simultaneous,
                proviso: CycleProviso::Static,
            }),
            ..ReductionRequest::NONE
        },
        kind: ReductionKind::Choice,
        subjects: |_, _| Vec::new(),
    },
    ReductionEntry {
        name: "dominate",
        reduce: ReductionRequest { pruning: PruningSelection::DOMINATE, ..ReductionRequest::NONE },
        kind: ReductionKind::Dominance,
        subjects: TextModel::dominated,
    },
    ReductionEntry {
        name: "boring",
        reduce: ReductionRequest { pruning: PruningSelection::BORING, ..ReductionRequest::NONE },
        kind: ReductionKind::Pruning,
        subjects: TextModel::boring,
    },
    ReductionEntry {
        name: "doomed",
        reduce: ReductionRequest { pruning: PruningSelection::DOOMED, ..ReductionRequest::NONE },
        kind: ReductionKind::Pruning,
        subjects: TextModel::doomed,
    },
    ReductionEntry {
        name: "por",
        reduce: ReductionRequest { steps: StepChoice::Auto, ..ReductionRequest::NONE },
        kind: ReductionKind::Choice,
        subjects: |_, _| Vec::new(),
    },
];

impl TextModel {
    /// The reductions that there are, each by itself, for a search that looks for everything; `run` makes a program ready
    /// to run. Each analysis gets what it gets in a search with so much memory.
    pub fn applicable<'m>(
        &'m self,
        memory: u64,
        run: impl Fn(&'m Interp) -> Executor<'m>,
    ) -> spill::Result<Vec<ApplicableReduction>> {
        let control = SearchControl::default();
        let budget = AnalysisBudget::new(memory, &control);
        let limits = SearchLimits::default();
        let ready = |rewritings| self.runnable(rewritings, &budget, &run);
        let alone = |reduce: ReductionRequest, runs: ExecutableProgram<'m>| {
            self.reduced(runs, reduce, (&limits, &StateStorage::default()), &control, &budget)
        };
        let whole = alone(ReductionRequest::NONE, ready(RewriteSelection::NONE));
        let first = FirstLevels::of(whole.model(), &limits.checks, &control)?;
        let mut found = Vec::new();
        for ReductionEntry { name, reduce, kind, subjects } in NAMED {
            let RewriteSelection { merge, structural, .. } = reduce.rewritings;
            let (runs, merges) = (ready(reduce.rewritings), merge || structural.is_some());
            let is_sooner = reduce.pruning.doomed;
            let searched = alone(reduce, runs);
            let saves = match searched.stack().names(&[kind]).is_empty() {
                true => Err(match searched.stack().unused_reductions().first() {
                    Some(unused) => unused.reason.clone(),
                    None => "there is nothing in the model for it".into(),
                }),
                false if is_sooner => Ok(ReductionSaving::Levels),
                false => {
                    let left = match merges {
                        true if !first.is_all => self.left_where_all_stop(&first, merge, &budget),
                        _ => {
                            let left = first.remaining_in(searched.model(), || 0, &control)?;
                            if first.is_all { left.all } else { left.late }
                        }
                    };
                    let (states, is_all) = (first.states(), first.is_all);
                    Ok(ReductionSaving::States { share: 1.0 - left, states, is_all })
                }
            };
            drop(searched);
            found.push(ApplicableReduction { name, subjects: subjects(self, &budget), saves });
        }
        Ok(found)
    }

    /// The share of the first states at which no process is where none would stop, or no tokens are where nobody leaves them. Merged steps are
    /// longer, so that levels do not compare.
    fn left_where_all_stop(
        &self,
        first: &FirstLevels,
        are_merged: bool,
        budget: &AnalysisBudget,
    ) -> f64 {
        if !are_merged {
            let by = RewriteSelection::structural(CheckSelection::ALL);
            let found = self.rewritten(by, budget).and_then(RewrittenProgram::structural);
            return found.map_or(1.0, |it| first.share(it.stable_state_test(self.interp.layout())));
        }
        let fused =
            self.rewritten(RewriteSelection::MERGE, budget).and_then(RewrittenProgram::fused);
        let (program, layout) = (self.interp.program(), self.interp.layout());
        fused.map_or(1.0, |it| first.share(it.stable_state_test(program, layout)))
    }

    /// The variables of which some values are not told apart.
    fn equivalent(&self, budget: &AnalysisBudget) -> Vec<ReductionSubject> {
        let program = self.interp.program();
        let merged =
            self.rewritten(RewriteSelection::VALUES, budget).and_then(RewrittenProgram::values);
        let found = merged.map(|it| it.variables()).unwrap_or_default();
        let subjects = found.into_iter().map(|it| {
            let about = format!("{} values, of which {} are told apart", it.values, it.apart);
            self.variable(&program.variables[it.variable], about)
        });
        subjects.collect()
    }

    /// The locations of processes that are not told apart, each with those that are one with it.
    fn bisimilar(&self, budget: &AnalysisBudget) -> Vec<ReductionSubject> {
        let program = self.interp.program();
        let unified =
            self.rewritten(RewriteSelection::STATES, budget).and_then(RewrittenProgram::states);
        let found = unified.map(|it| it.locations(program)).unwrap_or_default();
        let subjects = found.into_iter().map(|it| {
            let process = &program.processes[it.process];
            let others: Vec<_> = it.others.iter().map(|&it| self.location(it, process)).collect();
            let first = &process.locations[it.first];
            ReductionSubject {
                name: format!("{}.{}", process.name, first.name),
                place: self.sources.locate(first.span),
                about: format!("the same as {}", others.join(", ")),
            }
        });
        subjects.collect()
    }

    /// The actions and variables that can influence nothing that is looked for in a search for everything.
    fn sliced(&self, budget: &AnalysisBudget) -> Vec<ReductionSubject> {
        let program = self.interp.program();
        let by = RewriteSelection::slicing(CheckSelection::ALL);
        let Some(sliced) = self.rewritten(by, budget).and_then(RewrittenProgram::slice) else {
            return Vec::new();
        };
        let actions = sliced.actions().iter().map(|&id| {
            let action = &program.actions[id];
            let place = self.sources.locate(action.span);
            ReductionSubject { name: action.name.clone(), place, about: "removed".into() }
        });
        let variables = sliced
            .variables()
            .iter()
            .map(|&id| self.variable(&program.variables[id], "only its first value".into()));
        actions.chain(variables).collect()
    }

    /// The places and transitions of a net that need not be there in a search for everything.
    fn structural(&self, budget: &AnalysisBudget) -> Vec<ReductionSubject> {
        let program = self.interp.program();
        let by = RewriteSelection::structural(CheckSelection::ALL);
        let Some(found) = self.rewritten(by, budget).and_then(RewrittenProgram::structural) else {
            return Vec::new();
        };
        let place = |id, about: &str| self.variable(&program.variables[id], about.into());
        let agglomerated = found.agglomerated().iter().map(|&(id, side)| match side {
            AgglomerationKind::Post => place(id, "whoever puts tokens there goes on at once"),
            AgglomerationKind::Pre => place(id, "tokens are put there when somebody takes them"),
        });
        let redundant = found.redundant().iter().map(|&id| place(id, "keeps nobody from anything"));
        let removed = found.removed().map(|id| {
            let action = &program.actions[id];
            let place = self.sources.locate(action.span);
            ReductionSubject { name: action.name.clone(), place, about: "removed".into() }
        });
        agglomerated.chain(redundant).chain(removed).collect()
    }

    /// The variables that only count on from each other.
    fn linear(&self, budget: &AnalysisBudget) -> Vec<ReductionSubject> {
        let program = self.interp.program();
        let named = |id| {
            let Variable { owner, name, .. } = &program.variables[id];
            program.owned_name(*owner, name)
        };
        let budget = budget.for_analysis(linear::NAME);
        let sets = linear_sets(program, self.interp.layout(), &budget).unwrap_or_default();
        let subjects = sets.into_iter().flat_map(|set| {
            let of = |id| match id == set.first {
                true => format!("always 0, modulo {}", set.modulus),
                false => format!("counted from {}, modulo {}", named(set.first), set.modulus),
            };
            let subject = |&id| self.variable(&program.variables[id], of(id));
            set.variables.iter().map(subject).collect::<Vec<_>>()
        });
        subjects.collect()
    }

    /// The variables of which some values can do whatever others can, where no deadlocks are looked for.
    fn dominated(&self, budget: &AnalysisBudget) -> Vec<ReductionSubject> {
        let (program, layout) = (self.interp.program(), self.interp.layout());
        let checks = CheckSelection { deadlock: false, ..CheckSelection::ALL };
        let budget = budget.for_analysis(dominance::NAME);
        let found = DominatedValues::of((program, layout), &Vec::new(), checks, &budget);
        let Ok(found) = found else {
            return Vec::new();
        };
        let subjects = found.variables().iter().map(|&(id, sense)| {
            let better = match sense {
                DominanceSense::Down => "smaller",
                DominanceSense::Up => "larger",
            };
            let about = format!("{better} values can do whatever others can, but for deadlocks");
            self.variable(&program.variables[id], about)
        });
        subjects.collect()
    }

    /// What tells that nothing that is looked for can be reached, where no deadlocks are.
    fn boring(&self, budget: &AnalysisBudget) -> Vec<ReductionSubject> {
        let checks = CheckSelection { deadlock: false, ..CheckSelection::ALL };
        let budget = budget.for_analysis(boring::NAME);
        let found = BoringStates::of(&self.interp, checks, &Vec::new(), &budget);
        let told = found.map(|it| it.descriptions().to_vec()).unwrap_or_default();
        let about = "nothing that is looked for follows, but for deadlocks";
        let subject = |name| ReductionSubject { name, place: None, about: about.into() };
        told.into_iter().map(subject).collect()
    }

    /// What tells that something that is looked for surely follows.
    fn doomed(&self, budget: &AnalysisBudget) -> Vec<ReductionSubject> {
        let budget = budget.for_analysis(doomed::NAME);
        let found = DoomedStates::of(&self.interp, CheckSelection::ALL, &budget);
        let told = found.map(|it| it.descriptions()).unwrap_or_default();
        let about = "something that is looked for surely follows";
        let subject = |name| ReductionSubject { name, place: None, about: about.into() };
        told.into_iter().map(subject).collect()
    }

    /// The variables that are dead somewhere.
    fn dead(&self, budget: &AnalysisBudget) -> Vec<ReductionSubject> {
        let program = self.interp.program();
        let cleared =
            self.rewritten(RewriteSelection::DEAD, budget).and_then(RewrittenProgram::dead);
        let found = cleared.map(|it| it.variables(program)).unwrap_or_default();
        let subjects = found.into_iter().map(|it| {
            let variable = &program.variables[it.variable];
            let about = match it.at.is_empty() {
                true => "never read".into(),
                false => format!("dead at {}", self.locations_by_process(&it.at)),
            };
            self.variable(variable, about)
        });
        subjects.collect()
    }

    /// Of each process some of its locations.
    fn locations_by_process(&self, at: &[(ProcessId, LocationId)]) -> String {
        let program = self.interp.program();
        let each = at.chunk_by(|one, other| one.0 == other.0).map(|at| {
            let process = &program.processes[at[0].0];
            let (few, all) = (at.len(), process.locations.len());
            let at: Vec<_> = at.iter().map(|(_, it)| self.location(*it, process)).collect();
            format!("{few} of the {all} locations of {}: {}", process.name, at.join(", "))
        });
        each.collect::<Vec<_>>().join("; while at ")
    }

    /// The processes that do not stop somewhere.
    fn passed(&self, budget: &AnalysisBudget) -> Vec<ReductionSubject> {
        let program = self.interp.program();
        let fused =
            self.rewritten(RewriteSelection::MERGE, budget).and_then(RewrittenProgram::fused);
        let locations = fused.into_iter().flat_map(TransitionMerging::locations);
        let mut at: BTreeMap<ProcessId, Vec<String>> = BTreeMap::new();
        for (process, location) in locations {
            let name = self.location(location, &program.processes[process]);
            at.entry(process).or_default().push(name);
        }
        let subjects = at.into_iter().map(|(process, at)| {
            let process = &program.processes[process];
            let (few, all) = (at.len(), process.locations.len());
            let about = format!("goes on at {few} of its {all} locations: {}", at.join(", "));
            ReductionSubject {
                name: process.name.clone(),
                place: self.sources.locate(process.span),
                about,
            }
        });
        subjects.collect()
    }

    /// The actions with steps that come to the same whatever else happens first.
    fn confluent(&self, budget: &AnalysisBudget) -> Vec<ReductionSubject> {
        let way = PartialOrderStrategy {
            method: PartialOrderMethod::Confluence,
            proviso: CycleProviso::Chains,
        };
        let Ok(selector) = self.interp.selector() else { return Vec::new() };
        let selector = Box::new(selector);
        let budget = budget.for_analysis(confluence::NAME);
        let found =
            PartialOrder::of(&self.interp, selector, way, &CheckSelection::default(), &budget);
        let Ok(found) = found else { return Vec::new() };
        let mut instances: BTreeMap<ActionId, u64> = BTreeMap::new();
        for action in found.confluent_actions() {
            *instances.entry(action).or_default() += 1;
        }
        let subjects = instances.into_iter().map(|(id, instances)| {
            let action = &self.interp.program().actions[id];
            let about = format!("{} taken at once", report::count(instances, "instance"));
            ReductionSubject {
                name: action.name.clone(),
                place: self.sources.locate(action.span),
                about,
            }
        });
        subjects.collect()
    }

    /// The rules that can be undone.
    fn reversible(&self, budget: &AnalysisBudget) -> Vec<ReductionSubject> {
        let budget = budget.for_analysis(REDUCTION_NAME);
        let Ok(found) = ReversibleRules::of(&self.interp, &[], &budget) else { return Vec::new() };
        let count = |count: usize, noun: &str| report::count(count as u64, noun);
        let subjects = found.actions().into_iter().map(|(id, instances, cases)| {
            let action = &self.interp.program().actions[id];
            ReductionSubject {
                name: action.name.clone(),
                place: self.sources.locate(action.span),
                about: format!("{}, {}", count(instances, "instance"), count(cases, "case")),
            }
        });
        subjects.collect()
    }

    /// The variables that hold elements of scalarsets or are indexed by them; or else the processes that are alike.
    fn symmetric(&self, budget: &AnalysisBudget) -> Vec<ReductionSubject> {
        let program = self.interp.program();
        if program.scalarsets.is_empty() {
            return self.alike(budget);
        }
        let of_type = |ty| {
            let mut found = BTreeSet::new();
            scalarsets(program, ty, &mut found);
            found
        };
        let variables = program.variables.values().filter_map(|variable| {
            let found = of_type(variable.ty);
            let names = found.iter().map(|&it| {
                let set = &program.scalarsets[it];
                format!("{} of {}", set.name, set.size)
            });
            let about = names.collect::<Vec<_>>().join(", ");
            (!about.is_empty()).then(|| self.variable(variable, about))
        });
        variables.collect()
    }

    /// The processes that can be exchanged, each with those that it can be exchanged with.
    fn alike(&self, budget: &AnalysisBudget) -> Vec<ReductionSubject> {
        let program = self.interp.program();
        let budget = budget.for_analysis(symmetry::NAME);
        let found = automorphisms(program, self.interp.layout(), &budget).unwrap_or_default();
        let kinds = connected_sets(found.iter().flat_map(|it| it.instances.iter().copied()));
        let name = |it: &ProcessInstance| {
            let name = &program.processes[it.process].name;
            match program.slots(it.process) {
                1 => name.clone(),
                _ => format!("{name}[{}]", it.slot),
            }
        };
        let subjects = kinds.iter().filter_map(|kind| {
            let first = kind.first()?;
            let others: Vec<_> = kind.iter().skip(1).map(name).collect();
            let span = program.processes[first.process].span;
            let about = format!("alike: {}", others.join(", "));
            Some(ReductionSubject { name: name(first), place: self.sources.locate(span), about })
        });
        subjects.collect()
    }

    /// A variable, and what is said of it.
    fn variable(&self, variable: &Variable, about: String) -> ReductionSubject {
        let name = self.interp.program().owned_name(variable.owner, &variable.name);
        ReductionSubject { name, place: self.sources.locate(variable.span), about }
    }

    /// A location of a process, and its line.
    fn location(&self, id: LocationId, of: &Process) -> String {
        let location = &of.locations[id];
        match self.line(location.span) {
            Some(line) => format!("{} (line {line})", location.name),
            None => location.name.clone(),
        }
    }

    /// The line that something begins on.
    fn line(&self, span: Span) -> Option<String> {
        let place = self.sources.locate(span)?;
        place.rsplit(':').nth(1).map(str::to_owned)
    }
}

/// The scalarsets that a type has anything to do with.
fn scalarsets(program: &Program, ty: TypeId, found: &mut BTreeSet<ScalarsetId>) {
    match &program.types[ty] {
        Type::Scalar(scalar) => of_domain(&scalar.domain, found),
        Type::Array { by, element, .. } => {
            by.iter().for_each(|it| of_domain(it, found));
            scalarsets(program, *element, found);
        }
        Type::Record { fields, .. } => {
            fields.iter().for_each(|(_, ty)| scalarsets(program, *ty, found));
        }
        Type::Multiset { element, .. } => scalarsets(program, *element, found),
    }
}

fn of_domain(domain: &Domain, found: &mut BTreeSet<ScalarsetId>) {
    match domain {
        Domain::Scalarset(id) => drop(found.insert(*id)),
        Domain::Union(parts) => parts.iter().for_each(|it| of_domain(it, found)),
        _ => {}
    }
}
