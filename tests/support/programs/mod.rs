//! Random programs, valid and with many transitions, of all constructs that the interpreter executes.
//!
//! A program is built from a [`Recipe`]: lists of numbers, one for each declaration and action. Every recipe is a valid
//! program, and smaller recipes are simpler programs. So a failing program shrinks automatically: first whole actions
//! and variables are removed, then their parts.
//!
//! Most parts are *careful*: they divide by nonzero numbers, store values that fit, and read defined values. Otherwise
//! states would have no successors, and nothing would be explored. A share of the parts, which varies between programs,
//! is *reckless* and may cause any fault at any position.
//!
//! Spans are consecutive numbers: no two nodes of a program share one.

mod actions;
mod census;
pub mod choices;
mod declare;
mod dense;
mod exprs;
mod functions;
mod loops;
mod messages;
mod names;
mod places;
mod property_tests;
pub mod state_conditions;
mod states;
mod stmts;
mod types;

pub use census::Census;
pub use dense::dense_programs;
pub use property_tests::try_all;
pub use states::random_state;

use choices::Choices;
use places::Part;
use proptest::collection::vec;
use proptest::prelude::*;
use spillway::ir::{Expr, ExprKind, LocalId, PlaceRoot, Program, Stmt, StmtKind, TypeId, text};
use spillway::source::Span;
use std::fmt;

/// A program that prints as its text if a test fails.
#[derive(Clone, PartialEq, Eq)]
pub struct Generated(pub Program);

impl fmt::Debug for Generated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{}", text::print(&self.0))
    }
}

/// Returns programs of all kinds.
pub fn programs() -> impl Strategy<Value = Generated> {
    recipes().prop_map(|recipe| Builder::build(&recipe))
}

/// The choices from which a program is built: a list for each of its parts.
#[derive(Clone, Debug)]
struct Recipe {
    whole: Numbers,
    variables: Vec<Numbers>,
    channels: Vec<Numbers>,
    processes: Vec<(Numbers, Vec<Numbers>)>,
    functions: Vec<Numbers>,
    free: Vec<Numbers>,
    starts: Vec<Numbers>,
    properties: Vec<Numbers>,
}

type Numbers = Vec<u16>;

/// Returns lists long enough for most parts; after the end, choices are the simplest.
fn numbers(most: usize) -> impl Strategy<Value = Numbers> {
    vec(any::<u16>(), most / 2..=most)
}

fn recipes() -> impl Strategy<Value = Recipe> {
    let process = (numbers(16), vec(numbers(120), 2..9));
    (
        numbers(16),
        vec(numbers(40), 2..8),
        vec(numbers(16), 0..4),
        vec(process, 1..5),
        vec(numbers(80), 0..4),
        vec(numbers(120), 0..6),
        vec(numbers(80), 1..3),
        vec(numbers(40), 0..4),
    )
        .prop_map(
            |(whole, variables, channels, processes, functions, free, starts, properties)| Recipe {
                whole,
                variables,
                channels,
                processes,
                functions,
                free,
                starts,
                properties,
            },
        )
}

/// A program under construction.
struct Builder<'a> {
    program: Program,
    choices: Choices<'a>,
    /// All readable and writable parts of variables.
    parts: Vec<Part>,
    /// Scalar types with few values, over which names may range.
    small: Vec<TypeId>,
    /// The names in scope.
    locals: Vec<Bound>,
    /// The type of a result here, if there is one.
    returns: Option<TypeId>,
    /// Whether only variables of the body may be written here.
    pure: bool,
    /// Whether this is the body of a function.
    in_function: bool,
    /// Which functions are pure.
    is_pure: Vec<bool>,
    next_local: u32,
    next_span: usize,
    /// The percentage of roots that are reckless.
    recklessness: u64,
    /// Whether the current part is reckless.
    reckless: bool,
}

/// A name in scope, and its possible values.
#[derive(Clone, Copy)]
struct Bound {
    local: LocalId,
    low: i64,
    high: i64,
    /// The whole variable whose positions these are.
    position_in: Option<PlaceRoot>,
}

impl<'a> Builder<'a> {
    fn build(recipe: &'a Recipe) -> Generated {
        let mut builder = Builder::new(recipe);
        builder.code(recipe);
        builder.program.number_exprs();
        Generated(builder.program)
    }

    /// Builds the declarations of a recipe.
    fn new(recipe: &'a Recipe) -> Self {
        let mut builder = Builder {
            program: Program { name: "generated".into(), ..Program::default() },
            choices: Choices::new(&recipe.whole),
            parts: Vec::new(),
            small: Vec::new(),
            locals: Vec::new(),
            returns: None,
            pure: false,
            in_function: false,
            is_pure: Vec::new(),
            next_local: 0,
            next_span: 0,
            recklessness: 0,
            reckless: false,
        };
        builder.declare(recipe);
        builder.find_parts();
        builder
    }

    /// Starts the next part, with its own numbers and no names in scope.
    fn begin_part(&mut self, numbers: &'a [u16]) {
        self.choices = Choices::new(numbers);
        self.locals.clear();
        self.next_local = 0;
        self.reckless = false;
    }

    /// Returns a unique span.
    fn span(&mut self) -> Span {
        self.next_span += 1;
        Span::new(0, self.next_span..self.next_span + 1)
    }

    fn expr(&mut self, kind: ExprKind) -> Expr {
        Expr::new(kind, self.span())
    }

    fn stmt(&mut self, kind: StmtKind) -> Stmt {
        Stmt { kind, span: self.span() }
    }

    fn local(&mut self) -> LocalId {
        self.next_local += 1;
        LocalId(self.next_local - 1)
    }

    /// Builds something in the scope of a name.
    fn binding<T>(&mut self, bound: Bound, inside: impl FnOnce(&mut Self) -> T) -> T {
        self.locals.push(bound);
        let built = inside(self);
        self.locals.pop();
        built
    }

    /// Builds something that is reckless with some probability.
    fn rooted<T>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.reckless;
        self.reckless |= self.choices.chance(self.recklessness);
        let built = inside(self);
        self.reckless = before;
        built
    }

    /// Returns whether to risk a fault here.
    fn risks(&mut self) -> bool {
        self.reckless && self.choices.chance(50)
    }
}
