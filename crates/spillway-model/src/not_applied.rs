//! Why a reduction is not applied.

use serde::{Deserialize, Serialize};
use spillway_base::budget::BudgetExceeded;
use thiserror::Error;

/// The reason why a reduction is not applied. The text follows the name of the reduction.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
pub enum NotApplied {
    /// The analysis exceeded its budget.
    #[error("{0}")]
    Exceeded(#[from] BudgetExceeded),
    /// The reduction does not apply to the model.
    #[error("{0}")]
    NothingFound(String),
    /// Action instances cannot be numbered.
    #[error("{0}")]
    Instances(String),
    /// There are more action instances than the analysis supports.
    #[error("the model has more than {0} action instances")]
    TooManyInstances(u32),

    // Properties of the model.
    /// A `cover` statement is within a transition.
    #[error("the model has `cover` statements")]
    CoverStatements,
    /// A variable does not fit into a code of 32 bits.
    #[error("a variable of the model has more than 2^32 values")]
    WideVariable,
    /// An expression reads which process moved last.
    #[error("an expression reads which process moved last")]
    ReadsLastMover,
    /// Actions or processes have priorities.
    #[error("{0} have priorities")]
    Priorities(String),
    /// An action waits until nothing else is enabled.
    #[error("an action waits until no other action is enabled")]
    ReadsTimeout,
    /// All processes move in each transition.
    #[error("the processes move in lockstep")]
    Lockstep,
    /// All processes move in each transition.
    #[error("all processes move in each transition")]
    AllMove,
    /// Assumptions exclude states.
    #[error("assumptions exclude states")]
    Assumptions,
    /// A constraint bounds the search.
    #[error("a constraint bounds the search, and the reduction is not proven beside it")]
    Constraint,
    /// Structural reduction applies to nets only.
    #[error("the model is not a Petri net")]
    NoNet,
    /// A process observes the others.
    #[error("the process {0} observes the others")]
    ObservedBy(String),
    /// The guard alone does not decide whether an action is enabled.
    #[error("the guard alone does not decide whether an action is enabled")]
    GuardsNotAlone,
    /// There is no initial state.
    #[error("the model has no initial state")]
    NoInitialState,
    /// Self-loops do not count as transitions.
    #[error("self-loops do not count as transitions")]
    StutteringSteps,
    /// Any change may prevent a deadlock.
    #[error("every change of a variable may prevent a deadlock")]
    EveryChangeMatters,

    // The never claim.
    /// The claim observes every state.
    #[error("the never claim {0} observes every state")]
    ClaimSeesStates(String),
    /// The claim observes every state, so that chains are not used.
    #[error("the never claim {0} observes every state, so chains are not used")]
    ClaimBesideChains(String),
    /// The claim may observe sleep sets.
    #[error("the never claim {0} may observe sleep sets")]
    ClaimSeesSleep(String),
    /// With a claim, postponed transitions must be explored at once.
    #[error("with the never claim {claim}, postponed transitions must be explored at once")]
    ClaimBesideLevels {
        /// The claim.
        claim: String,
        /// Whether symmetry requires the proviso.
        is_symmetric: bool,
    },
    /// The claim has a condition over enabled actions.
    #[error("the never claim {0} reads which processes are enabled")]
    ClaimReadsEnabled(String),
    /// The analysis of the claim is too expensive.
    #[error("the never claim {0} is too large for the test of stutter invariance")]
    ClaimTooLarge(String),
    /// The program is searched together with a claim.
    #[error("the search is of a product with a claim")]
    BesideClaim,
    /// The claim is not stutter invariant.
    #[error("the never claim {0} is not stutter-invariant")]
    ClaimCountsSteps(String),
    /// The claim observes transitions that were postponed before it.
    #[error("it counts transitions, and some are postponed before it")]
    CountsPostponedSteps,
    /// Deadlocks are not checked together with a claim.
    #[error("with a never claim, deadlocks are not checked")]
    DeadlocksBesideClaim,
    /// A condition of the property is over enabled actions.
    #[error("{0} reads which processes are enabled")]
    PropertyReadsEnabled(String),
    /// A condition of the property may fail.
    #[error("the evaluation of {0} may end in an error")]
    PropertyMayFail(String),
    /// The claim distinguishes elements that symmetry exchanges.
    #[error("the {claim} {why}")]
    ClaimBreaksSymmetry {
        /// The name of the claim in reports.
        claim: String,
        /// The part of the claim that distinguishes them.
        why: String,
    },

    // Other reductions.
    /// The combination with the other reduction has no proof.
    #[error("the combination with {0} has no proof")]
    Unproven(String),
    /// The other reduction changes the transitions of the program.
    #[error("{0} changes the transitions of the program")]
    OtherSteps(String),
    /// The other reduction already chooses transitions.
    #[error("{0} already selects the transitions")]
    AlreadyChosen(String),
    /// The other reduction compares states.
    #[error("{0} compares states that symmetry would replace")]
    ComparesStates(String),
    /// The other reduction is not symmetric.
    #[error("the {0} are not the same for all elements of a scalarset")]
    NotSymmetric(String),
    /// The other reduction may treat processes differently.
    #[error("{0} may differ between processes")]
    DiffersByProcess(String),
    /// Transitions of a representative have no names of their own.
    #[error("sleep sets need transitions with names that symmetry preserves")]
    SleepBesideSymmetry,

    // Parameters, and the selected checks.
    /// The proviso is incompatible with simultaneous transitions.
    #[error("chains are of single transitions, not of simultaneous ones")]
    ChainsOfSeveral,
    /// No property that it helps with is checked.
    #[error("no property is checked")]
    NothingChecked,
    /// Other checks concern the transitions that the claim counts.
    #[error("other checks depend on the transitions that the never claim counts")]
    OtherChecks,
    /// It preserves deadlocks alone.
    #[error("it preserves deadlocks only")]
    OnlyDeadlocks,
    /// For infinite runs only a proviso with an order of the states preserves the property.
    #[error("it preserves properties of infinite runs only with a static order of the states")]
    RunsNeedStatic,
    /// No two instances are independent.
    #[error("no two transitions are independent")]
    NoIndependence,
    /// Sleep sets do not fit.
    #[error("more than {0} transitions may be enabled in one state")]
    WideSleepSets(usize),
    /// A named rule does not exist.
    #[error("there is no rule `{0}`")]
    NoRule(String),
    /// A named variable does not exist.
    #[error("there is no variable `{0}`")]
    NoVariable(String),
    /// A name denotes several variables.
    #[error("`{name}` is the name of several variables: say whose, as in `{example}`")]
    AmbiguousVariable {
        /// The name.
        name: String,
        /// A qualified name.
        example: String,
    },
    /// A multiset has too many elements to try its rules.
    #[error("a multiset is too large")]
    LargeMultiset,
    /// Named variables have too many values in total.
    #[error("{0} have too many combinations of values: name fewer variables")]
    TooManyValues(String),
    /// Named variables may decrease.
    #[error("{names} is no progress function: it may decrease from {from} to {to}")]
    NoProgress {
        /// The variables.
        names: String,
        /// A sum of their values.
        from: i64,
        /// A lower sum that a transition may lead to.
        to: i64,
    },
    /// A violation may be reachable from every state.
    #[error("{target} may be reachable from every state")]
    ReachableEverywhere {
        /// The violation.
        target: String,
        /// Whether it is a deadlock.
        is_deadlock: bool,
    },
    /// The preferred values do not dominate the others.
    #[error("not all {sense} values of `{variable}` dominate: {why}")]
    NotDominating {
        /// `smaller` or `larger`.
        sense: String,
        /// The variable.
        variable: String,
        /// The reason.
        why: String,
    },
    /// Deadlocks may be missed without these values.
    #[error("pruning by {0} may miss a deadlock")]
    MayMissDeadlock(String),
    /// The property distinguishes elements of a scalarset.
    #[error("the formula distinguishes the elements of a scalarset")]
    FormulaBreaksSymmetry,
    /// The property counts repeated states.
    #[error("the property counts repetitions of a state")]
    CountsRepeatedStates,
    /// The analysis of the property is too expensive.
    #[error("the automaton is too large for the test of stutter invariance")]
    AutomatonTooLarge,

    // Trials of `auto`.
    /// The saving is too small.
    #[error("it saves only {0} of the first states")]
    SavesLittle(String),
    /// Choosing takes more time than it saves.
    #[error("selecting transitions takes more time than it saves")]
    Slow,
    /// Another combination of reductions needs less time and memory.
    #[error("{0} needs less time and memory")]
    OtherIsBetter(String),
    /// Almost no transitions can be postponed.
    #[error("almost no transition can be postponed")]
    PostponesLittle,
    /// There are too many instances for a trial.
    #[error("{0} action instances are too many for a trial")]
    ManyInstances(u32),
    /// The program is too large for a trial.
    #[error("the program is too large for a trial")]
    LargeProgram,
    /// The search ends before the reduction pays.
    #[error("there is a violation in the first levels")]
    ViolatedEarly,
    /// There are few states.
    #[error("{0}")]
    FewStates(String),
    /// The first levels do not fit.
    #[error("the first levels are too large for a trial")]
    LargeLevels,
    /// There was no time.
    #[error("there was no time for a trial")]
    NoTime,
    /// The check was stopped.
    #[error("the check was stopped")]
    Stopped,
    /// The trial failed.
    #[error("its trial failed: {0}")]
    TrialFailed(String),
    /// Reversible rules are used.
    #[error("with reversible rules, no transitions are postponed")]
    BesideUndoneRules,
    /// Pruning is used.
    #[error("with pruning of states, no transitions are postponed")]
    BesidePruning,
    /// There is a claim and symmetry.
    #[error("with a claim and symmetry, no transitions are postponed")]
    BesideClaimAndSymmetry,
    /// The store has no room for it.
    #[error("the store has no space for postponed transitions")]
    NoRoomInStore,
}

/// A change by the user that lets a reduction apply. The command line names the flag for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Exclude symmetry.
    NoSymmetry,
    /// Choose the static proviso.
    StaticProviso,
    /// Check no deadlocks.
    NoDeadlocks,
    /// Check deadlocks alone.
    OnlyDeadlocks,
    /// Check the claim alone.
    OnlyClaim,
    /// Give more memory.
    MoreMemory,
}

impl NotApplied {
    /// Returns the remedy, if there is one.
    pub fn remedy(&self) -> Option<Remedy> {
        Some(match self {
            NotApplied::SleepBesideSymmetry
            | NotApplied::ClaimBesideLevels { is_symmetric: true, .. } => Remedy::NoSymmetry,
            NotApplied::ClaimBesideLevels { .. }
            | NotApplied::ClaimBesideChains(_)
            | NotApplied::RunsNeedStatic
            | NotApplied::ChainsOfSeveral => Remedy::StaticProviso,
            NotApplied::ReachableEverywhere { is_deadlock: true, .. }
            | NotApplied::MayMissDeadlock(_) => Remedy::NoDeadlocks,
            NotApplied::OnlyDeadlocks => Remedy::OnlyDeadlocks,
            NotApplied::OtherChecks => Remedy::OnlyClaim,
            NotApplied::Exceeded(BudgetExceeded::Memory(_)) => Remedy::MoreMemory,
            _ => return None,
        })
    }
}
