//! The rules of valid programs, and their validator.
//!
//! If a front end creates a program that breaks a rule, this is an error of the front end. If a pass does so, it is
//! an error of the pass. Errors of users are rejected by the front end with a better message, or are run-time errors
//! of the model. The rules:
//!
//!  1. Every id refers to an object of the program (a location id: of the process).
//!  2. A type is built only from earlier types.
//!  3. A scalar type has at least one value and, including undefined, at most 2^48.
//!  4. Constants and the bounds of domains are integers of the program's arithmetic.
//!  5. A union joins scalarsets and enumerations.
//!  6. Arrays and multisets have room for an element. The indices of an array are integers. If a scalarset, or a
//!     union with one in it, indexes the array, they are its values.
//!  7. A state has at most 2^24 scalars.
//!  8. A variable has one initial value for each scalar of its type, each one permitted. Places after the elements of
//!     a multiset are undefined, or have the least value if they cannot be undefined.
//!  9. A channel's fields are scalars.
//! 10. A process has a location, starts at one of its own, and has at most as many initial instances as slots.
//! 11. The parameters of a process are different scalar variables of its own.
//! 12. A place begins at a variable, a parameter of a function, a local variable or an alias, and each selector fits
//!     the type to which it is applied.
//! 13. A place that is read, stored, received or tested as one value is a scalar.
//! 14. Only multisets are counted in, queried for positions, added to and removed from. An added element fits.
//! 15. A slot is given only for objects of a process with slots. It is omitted only where an instance of that process
//!     moves.
//! 16. A local is bound once in its action, function, start or property, and used only in its scope.
//! 17. Parameters, quantifiers and loops over a type range over a scalar type.
//! 18. A communication has one value or pattern for each field of the channel, unless processes start and end
//!     ([`super::message_arity`]).
//! 19. Queries about messages, statements that communicate, and the options sorted, anywhere and peek are for
//!     buffered channels.
//! 20. Only processes communicate by rendezvous.
//! 21. A call has one argument for each parameter, which is a place of the same shape exactly if the parameter is by
//!     reference.
//! 22. A function called in an expression has a result and changes only its own variables, and so do its callees. A
//!     function called as a statement may change the state, and its result, if any, is stored in a place.
//! 23. No function calls itself, directly or through others.
//! 24. Functions return a value exactly if they have a result; actions and starts return none.
//! 25. The step of a loop is not the constant 0, and the limit of a loop is not 0.
//! 26. Only the last branch lacks a condition.
//! 27. The undefined value is only stored, sent or passed where undefined values are permitted.
//! 28. The two sides of a copy have the same shape.
//! 29. Only processes with slots are run and exit, and a run has one value for each parameter.
//! 30. The slot of the mover is used only where a process moves.
//! 31. A print has one value for each `{}`.
//! 32. In lockstep there is no rendezvous and no action outside the processes.
//! 33. A property automaton has no actions.
//! 34. There is at least one start.
//! 35. A claim begins and moves at its own locations, and its moves have only guards and assertions.
//! 36. A cover statement refers to a property that statements can reach.
//! 37. The expressions are numbered from 0 on, each with its own number.
//!
//! Types are checked first, then declarations, then code. Each part is checked only if the parts before it are valid,
//! so that one error is not reported again in all that depends on it.

mod bodies;
mod declarations;
mod exprs;
mod functions;
mod numbers;
mod types;

use super::{ChannelRef, LocalId, Owner, ProcessId, Program, TypeId};
use crate::{ChannelId, Entity, FunctionId, InstanceCount, LocationId, VarId};
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;
use std::collections::HashMap;
use types::TypeFacts;

/// The maximal number of bits of a state that can be searched. Programs with larger states are valid, too.
pub const STATE_BITS_MAX: u64 = 8 * u16::MAX as u64;

/// The maximal number of scalars of a state.
pub const SCALARS_MAX: u64 = 1 << 24;

/// Declares the rules with their numbers and the descriptions of their violations.
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
    /// Ids refer to objects.
    Ids = 1,
    /// Types are ordered.
    TypeOrder = 2,
    /// Domains are neither empty nor too large.
    DomainSize = 3,
    /// Integers are those of the arithmetic.
    Integers = 4,
    /// Unions join scalarsets and enumerations.
    Unions = 5,
    /// Aggregates have room.
    Aggregates = 6,
    /// States are bounded.
    StateSize = 7,
    /// Initial values fit.
    Initial = 8,
    /// Messages consist of scalars.
    ChannelFields = 9,
    /// Processes have a start and fit their slots.
    Processes = 10,
    /// Parameters of processes are their own.
    ProcessParameters = 11,
    /// Places follow types.
    Paths = 12,
    /// Single values are scalars.
    ScalarPlaces = 13,
    /// Operations on multisets are applied to multisets.
    Multisets = 14,
    /// Slots belong to processes with slots.
    Slots = 15,
    /// Locals are bound once.
    Locals = 16,
    /// Names range over scalar types.
    ScalarRanges = 17,
    /// Messages have the channel's fields.
    MessageArity = 18,
    /// Operations on buffers are applied to buffered channels.
    Buffered = 19,
    /// Rendezvous are between processes.
    Rendezvous = 20,
    /// Arguments match parameters.
    Arguments = 21,
    /// Functions in expressions are pure.
    Results = 22,
    /// There is no recursion.
    Recursion = 23,
    /// Returns match results.
    Returns = 24,
    /// Loops advance.
    Loops = 25,
    /// The branch without a condition is the last.
    Branches = 26,
    /// Undefined values are used only where permitted.
    Undefined = 27,
    /// Copies are between equal shapes.
    Copies = 28,
    /// Only processes with slots start and end.
    Instances = 29,
    /// The mover is used only where a process moves.
    Mover = 30,
    /// Prints have their values.
    Prints = 31,
    /// Lockstep programs have only supported constructs.
    Lockstep = 32,
    /// Automata only observe.
    Automata = 33,
    /// There is a start.
    Starts = 34,
    /// Claims only observe.
    Claims = 35,
    /// Cover statements refer to properties of this kind.
    Covers = 36,
    /// Expressions are numbered.
    ExprNumbers = 37,
}

impl Rule {
    /// Returns its number in the list.
    pub fn number(self) -> u32 {
        self as u32
    }
}

/// A violation of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleViolation {
    /// The rule.
    pub rule: Rule,
    /// The description of the violation.
    pub message: String,
    /// The position, if the source has one.
    pub span: Span,
}

impl RuleViolation {
    /// Returns the violation as a message to the user.
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

/// The state of the validation: the program, facts about it, the current scope, and the violations.
struct ProgramValidator<'a> {
    program: &'a Program,
    types: TypeFacts,
    functions: functions::FunctionFacts,
    scope: CodeScope,
    problems: Vec<RuleViolation>,
}

/// The scope of a piece of code.
#[derive(Default)]
struct CodeScope {
    /// The process whose instance moves, if one does.
    mover: Option<ProcessId>,
    /// The function whose body is checked, if it is one.
    function: Option<FunctionId>,
    /// Every local bound so far.
    locals: HashMap<LocalId, BoundLocal>,
}

/// The kind of a local.
#[derive(Clone, Copy)]
enum LocalBinding {
    /// A single value.
    Value,
    /// A place of a type.
    Place(TypeId),
}

/// A local that has been bound.
struct BoundLocal {
    /// Whether the check is in the scope of the local.
    open: bool,
    /// Whether it is a single value.
    scalar: bool,
    /// Its type, if places may begin at it.
    place: Option<TypeId>,
    /// The reach of writes to it.
    reach: WriteReach,
}

/// The code that can observe a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum WriteReach {
    /// Only the body itself.
    #[default]
    Own,
    /// The code that passed the place to the function.
    Given,
    /// All code: the write changes the state.
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

    /// Reports a violation unless `holds`. Computes the message only then.
    fn require(&mut self, holds: bool, rule: Rule, span: Span, message: impl FnOnce() -> String) {
        if !holds {
            self.problem(rule, span, message());
        }
    }

    /// Returns whether an id is one of `count` objects. Reports a violation of rule 1 if not.
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

    /// Returns whether a channel is known to be a rendezvous. A computed channel is not, because it may be any
    /// channel.
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
    fn the_file_comment_lists_all_rules() {
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
