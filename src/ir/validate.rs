//! What every program satisfies, and the check of it.
//!
//! The rules. A front end's program that breaks one is the front end's fault, a pass's the pass's;
//! whatever can be the user's fault is either refused by the front end with a better message or
//! is a run-time error of the model.
//!
//!  1. Every id names something the program (for a location: the process) has.
//!  2. A type is built only from types before it.
//!  3. A scalar type has at least one value and, undefined included, at most 2^48.
//!  4. Constants and the bounds of domains are integers of the program's arithmetic.
//!  5. A union joins scalarsets and enumerations.
//!  6. Arrays and multisets have room for an element, and the indices of an array are integers,
//!     those of the scalarset, or of the union with one in it, if one indexes it.
//!  7. A state has at most 2^24 scalars.
//!  8. A variable begins with one value for each scalar of its type, each one it may hold; behind
//!     the elements of a multiset is nothing: undefined, or where that cannot be, the least value.
//!  9. A channel's fields are scalars.
//! 10. A process has a location, starts at one of its own, and begins with no more live instances
//!     than it has slots.
//! 11. The parameters of a process are different scalar variables of its own.
//! 12. A place begins at a variable, a parameter of a function, a local variable or an alias, and
//!     each step of it fits the type it steps into.
//! 13. What is read, stored, received or tested as one value is a scalar.
//! 14. Only a multiset is counted in, asked about positions, added to and removed from, and what is
//!     added fits.
//! 15. A slot is given only for what belongs to a process with slots, and is left out only where
//!     an instance of that process moves.
//! 16. A local is bound once in its action, function, start or property, and used inside what
//!     binds it.
//! 17. Parameters, quantifiers and loops over a type range over a scalar type.
//! 18. A communication has one value or pattern for each field of the channel.
//! 19. Questions about messages waiting, statements that communicate, and sorted, anywhere and
//!     peek are for buffered channels.
//! 20. A rendezvous is a matter of processes.
//! 21. A call gives one argument for each parameter, and a place of the same shape exactly where
//!     the parameter is by reference.
//! 22. A function called in an expression has a result and changes nothing but its own, by itself and by
//!     those that it calls; one called as a statement may change the state, and gives its result, if it
//!     has one, to a place.
//! 23. No function calls itself, not even through others.
//! 24. Functions return with a value exactly if they have a result; actions and starts without.
//! 25. The step of a loop is not the constant 0, and the limit of one is not 0.
//! 26. Only the last branch lacks a condition.
//! 27. The undefined value is only stored, sent or given, where it may be.
//! 28. The two sides of a copy have the same shape.
//! 29. Only processes with slots are run and exit, and a run gives one value for each parameter.
//! 30. Only where a process moves is there a slot of the mover.
//! 31. A print gives one value for each `{}`.
//! 32. In lockstep there is no rendezvous and no action outside the processes.
//! 33. A property automaton has no actions.
//! 34. There is at least one start.
//! 35. A claim begins and moves at locations of its own, and its moves only ask and assert.
//! 36. A cover statement meets a property that statements meet.
//! 37. The expressions have the numbers from 0 on, each one of its own.
//!
//! Types are checked first, then what is declared, then what is executed; each part only if those
//! before it were right, so that a fault is not reported again through all that is built on it.

mod bodies;
mod declarations;
mod exprs;
mod functions;
mod numbers;
mod types;

use super::{ChannelRef, LocalId, Owner, ProcessId, Program, TypeId};
use crate::diag::Diagnostic;
use crate::ir::{ChannelId, Entity, FunctionId, InstanceCount, LocationId, VarId};
use crate::source::Span;
use std::collections::HashMap;
use types::TypeFacts;

/// The most bits that states may have which are searched; programs of more are programs all the same.
pub const STATE_BITS_MAX: u64 = 8 * u16::MAX as u64;

/// The most scalars a state may have.
pub const SCALARS_MAX: u64 = 1 << 24;

/// Declares the rules with their numbers and what to call a breach of each.
macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident = $number:literal,)*) => {
        /// A rule of the list above.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule {
            $($(#[$doc])* $name = $number,)*
        }

        impl Rule {
            /// Every rule, in order.
            pub const ALL: &[Rule] = &[$(Rule::$name),*];
        }
    };
}

rules! {
    /// Ids name things.
    Ids = 1,
    /// Types come in order.
    TypeOrder = 2,
    /// Domains are neither empty nor huge.
    DomainSize = 3,
    /// Integers are those of the arithmetic.
    Integers = 4,
    /// Unions join symmetric sets and enumerations.
    Unions = 5,
    /// Aggregates have room.
    Aggregates = 6,
    /// States are bounded.
    StateSize = 7,
    /// Initial values fit.
    Initial = 8,
    /// Messages are made of scalars.
    ChannelFields = 9,
    /// Processes start somewhere and fit their slots.
    Processes = 10,
    /// Parameters of processes are their own.
    ProcessParameters = 11,
    /// Places follow types.
    Paths = 12,
    /// Single values are scalars.
    ScalarPlaces = 13,
    /// Multisets are multisets.
    Multisets = 14,
    /// Slots belong to processes with slots.
    Slots = 15,
    /// Locals have one binder.
    Locals = 16,
    /// Ranges of names are scalar types.
    ScalarRanges = 17,
    /// Messages have the channel's fields.
    MessageArity = 18,
    /// Buffers are asked about as buffers.
    Buffered = 19,
    /// Rendezvous are between processes.
    Rendezvous = 20,
    /// Arguments match parameters.
    Arguments = 21,
    /// Functions in expressions are pure.
    Results = 22,
    /// No recursion.
    Recursion = 23,
    /// Returns match results.
    Returns = 24,
    /// Loops advance.
    Loops = 25,
    /// Else is last.
    Branches = 26,
    /// Undefined goes only where it may.
    Undefined = 27,
    /// Copies are between equals.
    Copies = 28,
    /// Only slots are taken and given back.
    Instances = 29,
    /// A mover is there to be asked about.
    Mover = 30,
    /// Prints have their values.
    Prints = 31,
    /// Lockstep has what it can do.
    Lockstep = 32,
    /// Automata watch.
    Automata = 33,
    /// There is a beginning.
    Starts = 34,
    /// Claims watch.
    Claims = 35,
    /// What statements meet is there to be met.
    Covers = 36,
    /// Expressions are numbered.
    ExprNumbers = 37,
}

impl Rule {
    /// Its number in the list.
    pub fn number(self) -> u32 {
        self as u32
    }
}

/// A breach of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleViolation {
    /// The rule.
    pub rule: Rule,
    /// What breaks it.
    pub message: String,
    /// Where, if the source has a place for it.
    pub span: Span,
}

impl RuleViolation {
    /// As users see it.
    pub fn diagnostic(&self) -> Diagnostic {
        let rule = format!("rule {} of valid programs ({:?})", self.rule.number(), self.rule);
        Diagnostic::error(self.span, self.message.clone()).help(rule)
    }
}

/// Checks every rule, in time proportional to the program.
pub fn validate(program: &Program) -> Result<(), Vec<RuleViolation>> {
    let mut checker = ProgramValidator::new(program);
    checker.types();
    checker.stop_at_problems()?;
    checker.declarations();
    checker.stop_at_problems()?;
    checker.code();
    checker.stop_at_problems()?;
    checker.expr_numbers();
    checker.stop_at_problems()
}

/// What all checks share: the program, what is known of it, where the check stands, and what it
/// has found.
struct ProgramValidator<'a> {
    program: &'a Program,
    types: TypeFacts,
    functions: functions::FunctionFacts,
    scope: CodeScope,
    problems: Vec<RuleViolation>,
}

/// Where a piece of code stands.
#[derive(Default)]
struct CodeScope {
    /// The process whose instance moves, if one does.
    mover: Option<ProcessId>,
    /// The function whose body it is, if it is one's.
    function: Option<FunctionId>,
    /// Every local bound so far.
    locals: HashMap<LocalId, BoundLocal>,
}

/// A local that has been bound.
struct BoundLocal {
    /// Whether the check stands inside what binds it.
    open: bool,
    /// Whether it is a single value.
    scalar: bool,
    /// Its type, if places may begin at it.
    place: Option<TypeId>,
    /// By whom writes to it are seen.
    reach: WriteReach,
}

/// By whom a write is seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum WriteReach {
    /// By its own body alone.
    #[default]
    Own,
    /// By whoever gave the place to the function.
    Given,
    /// By everybody: it is a write to the state.
    State,
}

impl<'a> ProgramValidator<'a> {
    fn new(program: &'a Program) -> Self {
        Self {
            program,
            types: TypeFacts::default(),
            functions: functions::FunctionFacts::new(program),
            scope: CodeScope::default(),
            problems: Vec::new(),
        }
    }

    fn stop_at_problems(&mut self) -> Result<(), Vec<RuleViolation>> {
        match self.problems.is_empty() {
            true => Ok(()),
            false => Err(std::mem::take(&mut self.problems)),
        }
    }

    fn problem(&mut self, rule: Rule, span: Span, message: impl Into<String>) {
        self.problems.push(RuleViolation { rule, message: message.into(), span });
    }

    /// Reports a breach unless `holds`; the message is made only then.
    fn require(&mut self, holds: bool, rule: Rule, span: Span, message: impl FnOnce() -> String) {
        if !holds {
            self.problem(rule, span, message());
        }
    }

    /// Whether an id is one of `count` things; a breach of rule 1 if not.
    fn known(&mut self, id: impl Entity + std::fmt::Debug, count: usize, span: Span) -> bool {
        let known = id.index() < count;
        self.require(known, Rule::Ids, span, || format!("{id:?} names nothing: there are {count}"));
        known
    }

    fn known_type(&mut self, id: TypeId, span: Span) -> bool {
        self.known(id, self.program.types.len(), span)
    }

    fn known_variable(&mut self, id: VarId, span: Span) -> bool {
        self.known(id, self.program.variables.len(), span)
    }

    fn known_channel(&mut self, id: ChannelId, span: Span) -> bool {
        self.known(id, self.program.channels.len(), span)
    }

    fn known_process(&mut self, id: ProcessId, span: Span) -> bool {
        self.known(id, self.program.processes.len(), span)
    }

    fn known_function(&mut self, id: FunctionId, span: Span) -> bool {
        self.known(id, self.program.functions.len(), span)
    }

    fn known_location(&mut self, process: ProcessId, id: LocationId, span: Span) -> bool {
        self.known_process(process, span)
            && self.known(id, self.program.processes[process].locations.len(), span)
    }

    fn known_owner(&mut self, owner: Owner, span: Span) -> bool {
        match owner {
            Owner::Program => true,
            Owner::Process(process) => self.known_process(process, span),
        }
    }

    fn has_slots(&self, process: ProcessId) -> bool {
        matches!(self.program.processes[process].instances, InstanceCount::Slots { .. })
    }

    /// Whether a channel is known to be a rendezvous; a computed one never is, for it may be any.
    fn is_rendezvous(&self, channel: &ChannelRef) -> bool {
        match channel {
            ChannelRef::Named(id) | ChannelRef::Element { first: id, .. } => {
                self.program.channels.get(*id).is_some_and(|channel| channel.capacity == 0)
            }
            ChannelRef::Computed(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_at_the_top_is_the_list_of_rules() {
        let listed: Vec<u32> = include_str!("validate.rs")
            .lines()
            .take_while(|line| line.starts_with("//!"))
            .filter_map(|line| line[3..].trim_start().split_once(". ")?.0.parse().ok())
            .collect();
        let numbers: Vec<u32> = Rule::ALL.iter().map(|rule| rule.number()).collect();
        assert_eq!(listed, numbers);
        assert!(numbers.iter().copied().eq(1..=numbers.len() as u32));
    }
}
