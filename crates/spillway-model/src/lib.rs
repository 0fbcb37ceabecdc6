//! The waist: the interface between systems and engines.
//!
//! Everything that is searched implements the traits of this folder: programs in Promela, Murphi, DVE or PNML, Rust
//! types, and every reduction that wraps another system. Every engine (the search on disk, liveness checking,
//! simulation, the search for a trace) uses systems only through these traits. The folder depends neither on languages
//! nor on storage. To attach a language or an engine, read this page; the other files contain the details.
//!
//! # Three ways to attach a system
//!
//! | what you have | what you implement | what you get |
//! | --- | --- | --- |
//! | a Rust type with states and actions | [`TransitionSystem`] | everything; states are serialized and packed for you |
//! | states as bytes of one fixed width | [`StateSpace`] and [`SystemDescription`] | everything, without serialization |
//! | a system that wraps another (a reduction) | [`StateSpace`], and [`StepwiseSimulation`] if its states differ, or [`Simulation`] if its steps do, too | traces in steps of the wrapped system |
//!
//! # The contract of a state space
//!
//! 1. *A state is a byte string.* Every state has exactly [`width`](StateSpace::width) bytes, and equal states are
//!    equal bytes. Wherever an engine sorts states, it sorts them by their bytes.
//! 2. *A state space is a function.* [`initial`](StateSpace::initial) and [`expand`](StateSpace::expand) generate the
//!    same candidates in the same order each time, from every thread.
//! 3. *Results go into a sink.* A system passes candidates, [`Counters`] and [`Findings`] to a [`SuccessorSink`]. It
//!    does not depend on the purpose of an engine, and an engine does not depend on the language of a system.
//! 4. *Errors of the model are findings, failures are errors.* A deadlock, a violated property or a division by zero is
//!    a [`Violation`] with a trace. A system that cannot compute successors [fails](SuccessorSink::fail), and the
//!    search ends with a [`ModelError`]. For invalid bytes (a damaged file) a system may fail or generate nonsense, but
//!    it must not crash.
//! 5. *Stopping is cooperative.* Once [`stop_request::is_requested`], a system may return early. The engine then drops
//!    the results.
//!
//! # Optional capabilities
//!
//! A [`StateSpace`] lists its optional features in [`Capabilities`]. The method is required: a wrapper decides for each
//! capability whether it forwards, replaces or drops it, and a wrapper that omits a capability does not compile. A
//! plain system returns [`Capabilities::NONE`].
//!
//! | capability | meaning | used by |
//! | --- | --- | --- |
//! | [`Simulation`] | its states or steps represent others, and it can compute these | counterexamples, coverage |
//! | [`PostponingStateSpace`] | it can postpone transitions of a state, and the engine re-expands the state if need be | partial-order reduction |
//! | [`CycleProvisoStateSpace`] | it chooses transitions, and the engine can ensure that no cycle omits any for ever | partial-order reduction for infinite runs |
//! | [`SleepSetStateSpace`] | transitions of a state can be in a sleep set, which depends on the path to the state | sleep sets |
//! | [`Dominance`] | some states make others redundant | dominance reduction |
//! | [`GrowingStateSpace`] | states get their bytes when a search reaches them | TLA+ |
//! | [`ViewedStateSpace`] | a part of a state identifies it | `VIEW` of TLA+ |
//!
//! # Kinds of transitions
//!
//! | kind | meaning | counter |
//! | --- | --- | --- |
//! | taken | its target is a candidate | [`transitions`](Counters::transitions) |
//! | excluded | an assumption of the model excludes its target | [`excluded`](Counters::excluded), and `transitions` |
//! | pruned | no violation is reachable behind it | [`pruned`](Counters::pruned), and `transitions` |
//! | postponed | another transition of the state may suffice; the state is [partially expanded](Counters::partially_expanded) | none, until the state is [re-expanded](Counters::re_expanded) |
//!
//! An intermediate state that a wrapper does not pass on is [`skipped`](Counters::skipped).
//!
//! # The oracle
//!
//! [`memory::search`] explores a state space breadth-first in memory, in simple code. Every other search must have the
//! same [`SearchOutcome`].

mod action_counts;
mod back_edges;
mod check_options;
mod check_selection;
mod compilation;
mod counters;
mod ctl;
mod cycle_proviso;
mod description;
mod distance;
mod dominance;
mod error;
mod fairness;
mod findings;
mod forwarding;
mod growing;
mod key_groups;
pub mod memory;
mod not_applied;
mod postponing;
mod preserved;
mod property;
mod reduction;
mod search_limits;
mod search_outcome;
mod simulation;
mod sleep_sets;
mod state_condition;
mod state_value;
pub mod stop_request;
mod successor_sink;
mod transition_system;
mod unchecked_requirements;
mod value_serializer;
mod views;

pub use action_counts::{ActionCounts, ActionId};
pub use back_edges::{BACK_EDGE_BYTES, BackEdge, BackEdgeOverflow};
pub use check_options::{EndRule, ExecutionMode, FiniteRunPolicy, OverflowRule};
pub use check_selection::{
    COVER, CheckSelection, EVENTUALLY, POSTCONDITION, SOMETIMES, is_reachability_kind,
};
pub use compilation::{CompilationStats, InterpretationReason, NotCompiled};
pub use counters::{CounterLabel, Counters};
pub use ctl::{CtlFormula, CtlNode};
pub use cycle_proviso::{ChainedSteps, CycleProvisoStateSpace, StepDescent};
pub use description::{
    ActionInfo, CallSite, DisabledRuleInstance, EndViolation, MovingProcess, OutgoingAction,
    ProcessLocation, ProgramDescription, PropertyInfo, RuntimeFault, StepActor, StepDescription,
    StepOutcome, SystemDescription, TakenAction, UnmetCondition, find_start, without_process,
};
pub use distance::{MeasuredDistance, UNIT_DISTANCE, combined_distance, comparison_distance};
pub use dominance::Dominance;
pub use error::{BreakOff, ModelError, Result};
pub use fairness::{FairSteps, PROCESSES_MAX, ProcessSet, collect_fair, fair_records};
pub use findings::{FaultKind, Finding, Findings, OutOfSlots, TRACE, Violation};
pub use growing::{GrowingStateSpace, UnencodedState, UnencodedStates};
pub use key_groups::{GroupId, KeyGroups};
pub use not_applied::{NotApplied, Remedy};
pub use postponing::{ObligationSink, PostponingStateSpace};
pub use preserved::{PreservedProperties, PropertyClass};
pub use property::{Property, PropertyExpectation};
pub use reduction::{ReductionRefusal, ReductionSummary, TrialOutcome, TriedCombination};
pub use search_limits::SearchLimits;
pub use search_outcome::{HuntedViolation, SearchOutcome, SearchVerdict};
pub use simulation::{
    Simulation, StepwiseSimulation, concrete_violating_state, concretise_single_step,
    find_successor, is_action_hidden, original_action_counts, preserves_depth,
};
pub use sleep_sets::SleepSetStateSpace;
pub use state_condition::{ConditionModality, StateCondition};
pub use state_value::StateValue;
pub use successor_sink::{
    CandidateBatch, ExpansionOutcome, GeneratedCandidates, SuccessorSink, UnencodedCandidate,
};
pub use transition_system::TransitionSystem;
pub use unchecked_requirements::{ACCEPTANCE, NON_PROGRESS, UncheckedKind, UncheckedRequirement};
pub use views::ViewedStateSpace;

/// A transition system over packed states, as engines need it. [The page above](self) has the contract.
pub trait StateSpace: Send + Sync {
    /// Returns the bytes of a state, at least 1.
    fn width(&self) -> usize;

    /// Returns the bits of a state that carry information, at most `8 * width`.
    fn bits(&self) -> u32;

    /// Adds every initial state to `out` as a candidate. A run-time error of start-up code is a finding.
    fn initial(&self, out: &mut SuccessorSink);

    /// Expands `states`, which are concatenated: adds every successor of each as a candidate, counts transitions, and
    /// records deadlocks, violated properties and run-time errors.
    ///
    /// A state is one that the system generated before, byte for byte.
    fn expand(&self, states: &[u8], out: &mut SuccessorSink);

    /// Returns masks of `width` bytes such that every transition changes only bits of at least one mask. A search for
    /// predecessors then considers only states that differ within a mask. [`any_bits`] is always correct.
    fn write_masks(&self) -> Vec<Vec<u8>>;

    /// Returns a digest of everything that determines the state space. A search directory belongs to one digest.
    fn digest(&self) -> [u8; 32];

    /// Returns the description of states, steps and properties: that of the system itself, or of the system that it
    /// wraps.
    fn description(&self) -> &dyn SystemDescription;

    /// Returns the optional features of the system.
    fn capabilities(&self) -> Capabilities<'_>;
}

/// The optional features of a [`StateSpace`]. Build it field by field, so that every wrapper must decide on a new
/// capability.
#[derive(Clone, Default)]
pub struct Capabilities<'s> {
    /// The relation of states and steps of the system to those of the system that it wraps. Absent if the system
    /// describes itself, or if both have the same states and steps.
    pub simulation: Option<&'s dyn Simulation>,
    /// The system as one that can postpone transitions.
    pub postponing: Option<&'s dyn PostponingStateSpace>,
    /// The system as one whose cycle proviso the search can enforce.
    pub cycle_proviso: Option<&'s dyn CycleProvisoStateSpace>,
    /// The system as one with sleep sets.
    pub sleep_sets: Option<&'s dyn SleepSetStateSpace>,
    /// The dominance of states.
    pub dominance: Option<Dominance>,
    /// The system as one whose encoding of states grows. A wrapper cannot forward this: what the system sets aside are
    /// its own states.
    pub growing: Option<&'s dyn GrowingStateSpace>,
    /// The system as one whose states are identified by views. A wrapper whose states are its own cannot forward this.
    pub views: Option<&'s dyn ViewedStateSpace>,
}

impl Capabilities<'_> {
    /// The capabilities of a plain system.
    pub const NONE: Capabilities<'static> = Capabilities {
        simulation: None,
        postponing: None,
        cycle_proviso: None,
        sleep_sets: None,
        dominance: None,
        growing: None,
        views: None,
    };
}

/// Returns the write masks of a system without information about its transitions.
pub fn any_bits(width: usize) -> Vec<Vec<u8>> {
    vec![vec![0xff; width]]
}
