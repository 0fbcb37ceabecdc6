//! Searching another space than the model's own: reductions that wrap a model and give one again.
//!
//! A [`Reduction`] says what it is called, what it [preserves](PreservedProperties), and why it does not go
//! with others. A [`ReductionStack`] has those that a search uses, in the order in which they act. What they
//! make of a model is a model; its counterexamples are lifted back, reduction by reduction
//! ([`Lift`](crate::exec::Simulation)).

pub mod abstraction;
mod action_trial;
pub mod boring;
mod buffer_pool;
mod checked_properties;
pub mod claim;
pub mod confluence;
pub mod dead;
pub mod dominance;
pub mod doomed;
pub mod equivalent_locations;
pub mod equivalent_values;
pub mod linear;
pub mod merge;
mod not_applied;
pub mod partial_order;
mod preserved;
pub mod pruning;
pub mod reversible;
pub mod rewrite_pass;
pub mod rewriting;
pub mod simultaneous;
pub mod slice;
mod state_map;
pub mod structural;
pub mod symmetry;
mod variable_names;

pub use not_applied::NotApplied;
pub use preserved::{PreservedProperties, PropertyClass};

use crate::analysis::instances::NumberingError;
use crate::budget::{AnalysisBudget, BudgetExceeded};
use crate::exec::{CheckSelection, Counters, Interp, SelectiveStateSpace, StateSpace};
use crate::ir::{Layout, Program, PropertyKind};
use claim::{FiniteRunPolicy, NeverClaim};
use linear::LinearSetReduction;
use partial_order::{CycleProviso, PartialOrder, PartialOrderStrategy};
use pruning::PruningSelection;
use reversible::{ReversibleReduction, RuleSelection};
use rewriting::{ProgramForm, RewriteSelection};
use symmetry::{Symmetry, SymmetryEffort};

/// A way to search another space than the model's own, ready to be used for one program.
pub trait Reduction<'m> {
    /// As reports call it: `symmetry exact`.
    fn name(&self) -> String;

    /// Where it acts.
    fn kind(&self) -> ReductionKind;

    /// What holds in the space that is left if and only if it holds in the one before.
    fn preserves(&self) -> PreservedProperties;

    /// What it did in a search, in words, if there is more to say than that it was used.
    fn describe_effect(&self, counters: &Counters) -> Option<String>;

    /// What keeps steps from being put off for ever, if steps are put off.
    fn proviso(&self) -> Option<&'static str> {
        None
    }

    /// Whether every action that can be taken is taken in what is left, as far as it can be told how often.
    fn keeps_all_actions(&self) -> bool {
        false
    }

    /// Whether the elements of a scalarset are all the same to it.
    fn is_symmetric(&self) -> bool {
        true
    }

    /// Whether it compares states, so that none may be replaced behind it by one that stands for it.
    fn orders_states(&self) -> bool {
        false
    }

    /// Whether it stores states as they are, and expands each of them once: none is run through, or taken up again, or has steps
    /// asleep.
    fn stores_all(&self) -> bool {
        true
    }

    /// Why it cannot be used over those that act before it, if it cannot.
    fn incompatibility(&self, before: &ReductionStack<'m>) -> Option<String>;

    /// The model that is left of one.
    fn wrap(&self, model: Box<dyn StateSpace + 'm>) -> Box<dyn StateSpace + 'm>;
}

/// Where a reduction acts, from the program to the search: so they are stacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReductionKind {
    /// On the actions that are expanded in a state: it leaves some out.
    Choice,
    /// On the state: it adds an automaton's location to it.
    Product,
    /// On what lies behind a state: it need not be explored.
    Pruning,
    /// On the program, before it is run: its states are alike to those of the program as written. It is told
    /// last of what it changes, behind what adds to states.
    Rewriting,
    /// On successors: they are replaced by what stands for them.
    Representative,
    /// On what a search keeps: of states some do for others.
    Dominance,
}

/// Which reductions are wished for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReductionSelection {
    /// Which rules are to be undone, in a search for some checks.
    pub reversible: Option<(RuleSelection, CheckSelection)>,
    /// By which passes the program is to be rewritten.
    pub rewritings: RewriteSelection,
    /// Whether one variable of each set that only count on from each other is always 0.
    pub linear: bool,
    /// The trouble to take over symmetric states.
    pub symmetry: Option<SymmetryEffort>,
    /// Whether processes that are alike are exchanged, too.
    pub processes: bool,
    /// How steps are to be chosen, in a search for some checks.
    pub partial_order: Option<(PartialOrderStrategy, CheckSelection)>,
    /// What need not be explored, or visited, in a search for some checks.
    pub pruning: PruningSelection,
    /// What is said of runs that end, where the claim is looked at for the whole runs that it accepts.
    pub runs: Option<FiniteRunPolicy>,
}

impl ReductionSelection {
    /// Adds linear sets, if they are wished for, or why there are none.
    fn add_linear<'m>(
        &self,
        gathered: &mut ReductionStackBuilder<'m>,
        (program, layout): (&'m Program, &'m Layout),
        budget: &AnalysisBudget,
    ) {
        match (self.linear, unrewritable_reason(program, layout)) {
            (false, _) => {}
            (true, Some(why)) => gathered.refuse([linear::NAME], why),
            (true, None) => {
                let found =
                    LinearSetReduction::of(program, layout, &budget.for_analysis(linear::NAME));
                gathered.add_if_any((BudgetedReduction::Linear, linear::NAME), found);
            }
        }
    }

    /// What is symmetric in a program whose states are laid out so, as far as it is wished for.
    pub fn symmetry_of<'m>(
        &self,
        program: &'m Program,
        layout: &'m Layout,
        budget: &AnalysisBudget,
    ) -> Result<Option<Symmetry<'m>>, BudgetExceeded> {
        let budget = budget.for_analysis(symmetry::NAME);
        let elements = self.symmetry.and_then(|effort| Symmetry::of(program, layout, effort));
        match elements {
            None if self.processes => Symmetry::of_processes(program, layout, &budget),
            elements => Ok(elements),
        }
    }
}

/// A reduction as reports tell of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReductionSummary {
    /// What it is called.
    pub name: String,
    /// What it keeps.
    pub preserves: PreservedProperties,
    /// What it did.
    pub effect: Option<String>,
    /// What keeps steps from being put off for ever, if steps are put off.
    pub proviso: Option<&'static str>,
    /// Whether every action that can be taken is taken all the same.
    pub keeps_all_actions: bool,
}

/// A reduction that was asked for, or tried, and is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReductionRefusal {
    /// What it is called.
    pub name: String,
    /// Why it is not used.
    pub reason: String,
}

/// The reductions that a search uses, the one that acts first in front.
#[derive(Default)]
pub struct ReductionStack<'m> {
    members: Vec<Box<dyn Reduction<'m> + 'm>>,
    refused: Vec<ReductionRefusal>,
    left_off: Option<ReductionRefusal>,
    /// Those of the members that were wished for whose analyses exceeded their budget.
    exceeded: Vec<BudgetedReduction>,
}

/// A reduction of a [`ReductionSelection`] whose analysis has a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BudgetedReduction {
    PartialOrder,
    Symmetry,
    Reversible,
    Linear,
    Dominate,
    Boring,
    Doomed,
}

/// What a [`ReductionStack`] is put together from.
struct ReductionStackBuilder<'m> {
    wanted: Vec<Box<dyn Reduction<'m> + 'm>>,
    refused: Vec<ReductionRefusal>,
    exceeded: Vec<BudgetedReduction>,
}

impl<'m> ReductionStackBuilder<'m> {
    /// Adds a reduction, or why it is not applied, under a name.
    fn add<R: Reduction<'m> + 'm>(
        &mut self,
        (which, name): (BudgetedReduction, &str),
        found: Result<R, NotApplied>,
    ) {
        match found {
            Ok(found) => self.wanted.push(boxed(found)),
            Err(why) => {
                let is_exceeded = matches!(why, NotApplied::Exceeded(_));
                self.exceeded.extend(is_exceeded.then_some(which));
                self.refused.push(ReductionRefusal { name: name.into(), reason: why.to_string() });
            }
        }
    }

    /// The same of a reduction that may find nothing in a program.
    /// Notes that these do not apply, and why.
    fn refuse<'n>(&mut self, names: impl IntoIterator<Item = &'n str>, why: &str) {
        let refused = names
            .into_iter()
            .map(|it| ReductionRefusal { name: it.into(), reason: why.to_owned() });
        self.refused.extend(refused);
    }

    fn add_if_any<R: Reduction<'m> + 'm>(
        &mut self,
        which: (BudgetedReduction, &str),
        found: Result<Option<R>, BudgetExceeded>,
    ) {
        if let Some(found) = found.map_err(NotApplied::from).transpose() {
            self.add(which, found);
        }
    }
}

impl<'m> ReductionStack<'m> {
    /// Those of some reductions that go together, in the order in which they act.
    pub fn new(mut wanted: Vec<Box<dyn Reduction<'m> + 'm>>) -> ReductionStack<'m> {
        wanted.sort_by_key(|it| it.kind());
        let mut stack = ReductionStack::default();
        for reduction in wanted {
            match reduction.incompatibility(&stack) {
                None => stack.members.push(reduction),
                Some(why) => {
                    stack.refused.push(ReductionRefusal { name: reduction.name(), reason: why })
                }
            }
        }
        stack
    }

    /// What a program is searched with: its claim, if it has one, and of what is wished for that which it
    /// has. `selective` takes its steps by choice. It is rewritten if it comes in such a form. Each analysis gets a
    /// `budget` of its own.
    pub fn of(
        form: ProgramForm<'m>,
        wished: ReductionSelection,
        selective: impl FnOnce() -> Result<Box<dyn SelectiveStateSpace + 'm>, NumberingError>,
        budget: &AnalysisBudget,
    ) -> ReductionStack<'m> {
        let (wanted, refused, exceeded) = (Vec::new(), Vec::new(), Vec::new());
        let mut gathered = ReductionStackBuilder { wanted, refused, exceeded };
        let interp = form.interp();
        let claim = NeverClaim::for_runs(interp, wished.runs);
        let (program, layout) = (interp.program(), interp.layout());
        let symmetry = wished.symmetry_of(program, layout, budget);
        let is_symmetric = matches!(symmetry, Ok(Some(_)));
        if let Some(way) = wished.partial_order {
            let beside = (claim.as_ref(), is_symmetric);
            let found =
                partial_order_reduction((interp, wished.runs), way, beside, (selective, budget));
            let without = found.as_ref().ok().and_then(|it| it.unused_confluence(way.0));
            gathered.refused.extend(without);
            let name = way.0.method.reduction_name();
            gathered.add((BudgetedReduction::PartialOrder, &name), found);
        }
        gathered.wanted.extend(claim.map(boxed));
        gathered.wanted.extend(form.reductions(wished.runs));
        gathered.refused.extend(form.refusals(wished.rewritings));
        if let Some((rules, checks)) = &wished.reversible {
            let budget = budget.for_analysis(reversible::REDUCTION_NAME);
            let found = match unrewritable_reason(program, layout) {
                Some(why) => Err(why.into()),
                None => ReversibleReduction::of(interp, rules, (checks, is_symmetric), &budget),
            };
            gathered.add((BudgetedReduction::Reversible, reversible::REDUCTION_NAME), found);
        }
        gathered.add_if_any((BudgetedReduction::Symmetry, symmetry::NAME), symmetry);
        wished.add_linear(&mut gathered, (program, layout), budget);
        wished.pruning.add_to(&mut gathered, interp, budget);
        let ReductionStackBuilder { wanted, mut refused, exceeded } = gathered;
        let mut stack = ReductionStack::new(wanted);
        stack.refused.append(&mut refused);
        ReductionStack { exceeded, ..stack }
    }

    /// What was wished for without what exceeded its budget. A search that goes on is not to try that again, with
    /// another budget.
    pub fn within_budget(&self, mut wished: ReductionSelection) -> ReductionSelection {
        for which in &self.exceeded {
            match which {
                BudgetedReduction::PartialOrder => wished.partial_order = None,
                BudgetedReduction::Symmetry => (wished.symmetry, wished.processes) = (None, false),
                BudgetedReduction::Reversible => wished.reversible = None,
                BudgetedReduction::Linear => wished.linear = false,
                BudgetedReduction::Dominate => wished.pruning.dominate = None,
                BudgetedReduction::Boring => wished.pruning.boring = None,
                BudgetedReduction::Doomed => wished.pruning.doomed = false,
            }
        }
        wished
    }

    /// The model that all of them leave of one.
    pub fn wrap(&self, model: Box<dyn StateSpace + 'm>) -> Box<dyn StateSpace + 'm> {
        self.members.iter().fold(model, |model, reduction| reduction.wrap(model))
    }

    /// What all of them preserve.
    pub fn preserves(&self) -> PreservedProperties {
        self.members.iter().fold(PreservedProperties::ALL, |all, it| all.and(it.preserves()))
    }

    /// The name of one that compares states.
    pub fn state_comparing_member(&self) -> Option<String> {
        self.members.iter().find(|it| it.orders_states()).map(|it| it.name())
    }

    /// Why one cannot be used over those that is about states as the program has them, if it cannot.
    fn program_state_conflict(&self) -> Option<String> {
        let products = self.names(&[ReductionKind::Product]);
        if let Some(it) = products.first() {
            return Some(format!("it has not been shown to go with {it}"));
        }
        let other = self.members.iter().find(|it| !it.stores_all())?;
        Some(format!("it has not been shown to go with {}", other.name()))
    }

    /// The name of one that tells the elements of a scalarset apart.
    pub fn asymmetric_member(&self) -> Option<String> {
        self.members.iter().find(|it| !it.is_symmetric()).map(|it| it.name())
    }

    /// The names of those that are of one of these kinds.
    pub fn names(&self, kinds: &[ReductionKind]) -> Vec<String> {
        let members = self.members.iter().filter(|it| kinds.contains(&it.kind()));
        members.map(|it| it.name()).collect()
    }

    /// How fewer states are visited, and what came of it.
    pub fn summaries(&self, counters: &Counters) -> Vec<ReductionSummary> {
        let reduces = |kind: ReductionKind| kind != ReductionKind::Product;
        let members = self.members.iter().filter(|it| reduces(it.kind()));
        members
            .map(|it| ReductionSummary {
                name: it.name(),
                preserves: it.preserves(),
                effect: it.describe_effect(counters),
                proviso: it.proviso(),
                keeps_all_actions: it.keeps_all_actions(),
            })
            .collect()
    }

    /// Those that were asked for and are not used.
    pub fn refusals(&self) -> &[ReductionRefusal] {
        &self.refused
    }

    /// The same, with one that nobody asked for and that would not pay.
    pub fn with_unprofitable(self, left_off: Option<ReductionRefusal>) -> ReductionStack<'m> {
        ReductionStack { left_off, ..self }
    }

    /// The one that would not pay.
    pub fn unprofitable(&self) -> Option<&ReductionRefusal> {
        self.left_off.as_ref()
    }

    /// All that are not used, asked for or not.
    pub fn unused_reductions(&self) -> Vec<ReductionRefusal> {
        self.refused.iter().chain(&self.left_off).cloned().collect()
    }
}

/// Why a program is searched as it is written, if so. What is met inside of a step is seen only by
/// whoever takes it as it is written, and no reduction but symmetry has each step taken. All of them look
/// at the codes of cells, which they take to be small.
pub(crate) fn unrewritable_reason(program: &Program, layout: &Layout) -> Option<&'static str> {
    let has_covers = program.properties.values().any(|it| it.kind == PropertyKind::Reached);
    if has_covers {
        return Some("the model has `cover` statements, which are met only in steps as written");
    }
    layout.has_wide_cells().then_some("a variable of the model has more than 2^32 values")
}

pub(crate) fn boxed<'m>(reduction: impl Reduction<'m> + 'm) -> Box<dyn Reduction<'m> + 'm> {
    Box::new(reduction)
}

/// The steps of a program chosen in a way, beside a claim and symmetry; or why they are not.
fn partial_order_reduction<'m>(
    (interp, runs): (&'m Interp, Option<FiniteRunPolicy>),
    (way, checks): (PartialOrderStrategy, CheckSelection),
    (claim, is_symmetric): (Option<&NeverClaim>, bool),
    (selective, budget): (
        impl FnOnce() -> Result<Box<dyn SelectiveStateSpace + 'm>, NumberingError>,
        &AnalysisBudget,
    ),
) -> Result<PartialOrder<'m>, NotApplied> {
    // A state that stands for another may be anywhere in the order.
    let proviso = if is_symmetric { CycleProviso::Levels } else { way.proviso };
    let way = PartialOrderStrategy { proviso, ..way };
    if let Some(why) = unrewritable_reason(interp.program(), interp.layout()) {
        return Err(why.into());
    }
    if let Some(why) = partial_order_conflict(way, claim, is_symmetric) {
        return Err(why.into());
    }
    let budget = budget.for_analysis(&way.method.reduction_name());
    let selective = selective().map_err(|error| error.reason)?;
    let found = match runs {
        None => PartialOrder::of(interp, selective, way, &checks, &budget)?,
        Some(_) => PartialOrder::for_infinite_runs(interp, selective, way, &budget)?,
    };
    // A claim that counts steps is not what is given up.
    match claim.is_some() && !found.preserves().has(PropertyClass::StutteringClaims) {
        true => Err("beside a never claim no deadlocks are looked for".into()),
        false => Ok(found),
    }
}

/// Why steps are not chosen so beside a claim and symmetry.
fn partial_order_conflict(
    way: PartialOrderStrategy,
    claim: Option<&NeverClaim>,
    is_symmetric: bool,
) -> Option<String> {
    match claim {
        None if way.method.sleeps() && is_symmetric => {
            let why = "where one state stands for others, steps have no names of their own";
            Some(format!("{why}: ask for `--symmetry off`"))
        }
        Some(claim) if way.method.is_confluent() || way.method.takes_several() => {
            Some(format!("the never claim {} has to see every state", claim.name()))
        }
        Some(claim) if way.method.sleeps() => {
            Some(format!("the never claim {} may see which steps are asleep", claim.name()))
        }
        Some(claim) if way.proviso == CycleProviso::Levels => {
            let why = format!(
                "beside the never claim {} what is put off has to be taken up at once",
                claim.name()
            );
            let help = if is_symmetric { "--symmetry off" } else { "--por-proviso static" };
            Some(format!("{why}: ask for `{help}`"))
        }
        Some(claim) if way.proviso == CycleProviso::Chains => {
            let name = claim.name();
            Some(format!(
                "the never claim {name} has to see every state, so none is run through: ask for `--por-proviso static`"
            ))
        }
        _ => None,
    }
}
