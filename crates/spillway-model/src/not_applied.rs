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
    #[error("it has more than {0} action instances")]
    TooManyInstances(u32),

    // Properties of the model.
    /// A `cover` statement is within a transition.
    #[error("the model has `cover` statements, which are met only in steps as written")]
    CoverStatements,
    /// A variable does not fit into a code of 32 bits.
    #[error("a variable of the model has more than 2^32 values")]
    WideVariable,
    /// An expression reads which process moved last.
    #[error("something asks who moved last")]
    ReadsLastMover,
    /// Actions or processes have priorities.
    #[error("{0} have priorities")]
    Priorities(String),
    /// An action waits until nothing else is enabled.
    #[error("something waits until nothing else can be done")]
    ReadsTimeout,
    /// All processes move in each transition.
    #[error("steps are taken in lockstep")]
    Lockstep,
    /// All processes move in each transition.
    #[error("all processes move in one step")]
    AllMove,
    /// Assumptions exclude states.
    #[error("states are left out by assumption")]
    Assumptions,
    /// Structural reduction applies to nets only.
    #[error("the model has processes, and is no Petri net")]
    NoNet,
    /// A process observes the others.
    #[error("the process {0} watches the others")]
    ObservedBy(String),
    /// The guard alone does not decide whether an action is enabled.
    #[error("whether an action is possible is not a matter of its guard alone")]
    GuardsNotAlone,
    /// There is no initial state.
    #[error("it has no initial state")]
    NoInitialState,
    /// Self-loops do not count as transitions.
    #[error("a step that leads back to where it began is none")]
    StutteringSteps,
    /// Any change may prevent a deadlock.
    #[error("whatever changes anything may keep from a deadlock")]
    EveryChangeMatters,

    // The never claim.
    /// The claim observes every state.
    #[error("the never claim {0} has to see every state")]
    ClaimSeesStates(String),
    /// The claim observes every state, so that chains are not used.
    #[error("the never claim {0} has to see every state, so none is run through")]
    ClaimBesideChains(String),
    /// The claim may observe sleep sets.
    #[error("the never claim {0} may see which steps are asleep")]
    ClaimSeesSleep(String),
    /// With a claim, postponed transitions must be explored at once.
    #[error("beside the never claim {claim} what is put off has to be taken up at once")]
    ClaimBesideLevels {
        /// The claim.
        claim: String,
        /// Whether symmetry requires the proviso.
        is_symmetric: bool,
    },
    /// The claim has a condition over enabled actions.
    #[error("the never claim {0} asks what can move")]
    ClaimReadsEnabled(String),
    /// The analysis of the claim is too expensive.
    #[error("the never claim {0} is too large to find out whether it counts steps")]
    ClaimTooLarge(String),
    /// The program is searched together with a claim.
    #[error("a claim is looked at beside the program")]
    BesideClaim,
    /// The claim is not stutter invariant.
    #[error("the never claim {0} counts steps")]
    ClaimCountsSteps(String),
    /// The claim observes transitions that were postponed before it.
    #[error("it counts steps, and some are left out before it")]
    CountsPostponedSteps,
    /// Deadlocks are not checked together with a claim.
    #[error("beside a never claim no deadlocks are looked for")]
    DeadlocksBesideClaim,
    /// A condition of the property is over enabled actions.
    #[error("{0} asks what can move")]
    PropertyReadsEnabled(String),
    /// A condition of the property may fail.
    #[error("judging {0} may end in an error")]
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
    #[error("it has not been shown to go with {0}")]
    Unproven(String),
    /// The other reduction changes the transitions of the program.
    #[error("{0} has other steps than the program")]
    OtherSteps(String),
    /// The other reduction already chooses transitions.
    #[error("{0} chooses the steps")]
    AlreadyChosen(String),
    /// The other reduction compares states.
    #[error("{0} compares states that symmetry would replace")]
    ComparesStates(String),
    /// The other reduction is not symmetric.
    #[error("the {0} are not the same for all elements of a scalarset")]
    NotSymmetric(String),
    /// The other reduction may treat processes differently.
    #[error("{0} need not be the same for all processes")]
    DiffersByProcess(String),
    /// Transitions of a representative have no names of their own.
    #[error("where one state stands for others, steps have no names of their own")]
    SleepBesideSymmetry,

    // Parameters, and the selected checks.
    /// The proviso is incompatible with simultaneous transitions.
    #[error("states are run through where a single step is taken, not several together")]
    ChainsOfSeveral,
    /// No property that it helps with is checked.
    #[error("nothing is looked for")]
    NothingChecked,
    /// Other checks concern the transitions that the claim counts.
    #[error("what else is looked for is so by the steps that the never claim counts")]
    OtherChecks,
    /// It preserves deadlocks alone.
    #[error("it finds deadlocks alone")]
    OnlyDeadlocks,
    /// For infinite runs only the static proviso preserves the property.
    #[error("of whole runs it keeps what is asked only by an order of the states")]
    RunsNeedStatic,
    /// No two instances are independent.
    #[error("no two of its steps are independent")]
    NoIndependence,
    /// Sleep sets do not fit.
    #[error("more than {0} of its steps may be possible in one state")]
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
    #[error("a multiset has room for too many")]
    LargeMultiset,
    /// Named variables have too many values in total.
    #[error("{0} may hold too many values together to look at all of them: name fewer variables")]
    TooManyValues(String),
    /// Named variables may decrease.
    #[error("{names} is no progress: it may fall from {from} to {to}")]
    NoProgress {
        /// The variables.
        names: String,
        /// A sum of their values.
        from: i64,
        /// A lower sum that a transition may lead to.
        to: i64,
    },
    /// A violation may be reachable from every state.
    #[error("{target} may be reached from everywhere, as far as it can be told")]
    ReachableEverywhere {
        /// The violation.
        target: String,
        /// Whether it is a deadlock.
        is_deadlock: bool,
    },
    /// The preferred values do not dominate the others.
    #[error("not all {sense} values of `{variable}` can do what others can: {why}")]
    NotDominating {
        /// `smaller` or `larger`.
        sense: String,
        /// The variable.
        variable: String,
        /// The reason.
        why: String,
    },
    /// Deadlocks may be missed without these values.
    #[error("a deadlock may be missed where values of {0} are left out")]
    MayMissDeadlock(String),
    /// The property distinguishes elements of a scalarset.
    #[error("the formula is about each value of a scalarset by itself")]
    FormulaBreaksSymmetry,
    /// The property may count repeated states.
    #[error("{0}")]
    CountsRepeatedStates(String),

    // Trials of `auto`.
    /// The saving is too small.
    #[error("it would save {0} of the first states")]
    SavesLittle(String),
    /// Choosing takes more time than it saves.
    #[error("choosing steps would take longer than what it saves")]
    Slow,
    /// Almost no transitions can be postponed.
    #[error("next to no step can be put off")]
    PostponesLittle,
    /// There are too many instances for a trial.
    #[error("choosing among {0} action instances takes long")]
    ManyInstances(u32),
    /// The program is too large for a trial.
    #[error("the program is so large that it takes long to try it")]
    LargeProgram,
    /// The search ends before the reduction pays.
    #[error("something is violated in the first states")]
    ViolatedEarly,
    /// There are few states.
    #[error("{0}")]
    FewStates(String),
    /// The first levels do not fit.
    #[error("the first levels are too large to be tried")]
    LargeLevels,
    /// There was no time.
    #[error("there was no time to try it")]
    NoTime,
    /// The check was stopped.
    #[error("the check was stopped")]
    Stopped,
    /// The trial failed.
    #[error("it cannot be tried: {0}")]
    TrialFailed(String),
    /// Reversible rules are used.
    #[error("where rules are undone no steps are put off")]
    BesideUndoneRules,
    /// Pruning is used.
    #[error("where states are left out no steps are put off")]
    BesidePruning,
    /// There is a claim and symmetry.
    #[error("steps are not put off beside a claim and symmetry")]
    BesideClaimAndSymmetry,
    /// The store has no room for it.
    #[error("steps cannot be put off where states are stored so")]
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
