//! Printing of programs.
//!
//! The text is for users, who should recognise their model, and for digests: two programs with different meanings
//! have different texts. So it shows everything that has a meaning, which is everything except source spans. Names
//! that clash are distinguished (see `names.rs`). Parentheses preserve the tree of every expression. The printer
//! omits only the parentheses that this table makes redundant:
//!
//! | operators, the strongest first | associativity |
//! | --- | --- |
//! | `-x` `!x` `~x` | |
//! | `*` `/` `%` | left |
//! | `+` `-` | left |
//! | `<<` `>>` | left |
//! | `<` `<=` `>` `>=` | none: `(a < b) < c` |
//! | `==` `!=` | none |
//! | `&` | left |
//! | `^` | left |
//! | <code>\|</code> | left |
//! | `&&` | left |
//! | <code>\|\|</code> | left |
//! | `->` | right |
//! | `c ? a : b` | right |
//!
//! This is C's table, with `->` for implication. `-1` is a constant, and `-(1)` is a negation. A constant that is
//! compared with, stored to or sent as a value of an enumeration or a truth value is printed by its name. A parameter
//! is printed by its name, too. A name that a quantifier or a loop binds is printed by its number, such as `$3`.
//! `docs/internals/ir.md` shows the rest of the grammar by example.
//!
//! Printing takes time proportional to the program, and stack proportional to its nesting.

mod expr;
mod lifecycle;
mod names;
mod program;
mod stmt;

use super::{
    Action, Expr, Function, LocalId, Place, ProcessId, Program, ProgramProperty, PropertyKind,
    StartRule, TypeId,
};
use expr::TextEmitter;
use names::PrintedNames;
use program::{ItemsByOwner, NumberSequence, OwnedItems};
use std::fmt;

/// Prints the whole program. Equal programs have equal texts.
pub fn print(program: &Program) -> impl fmt::Display {
    struct ProgramDisplay<'a>(ProgramPrinter<'a>);
    impl fmt::Display for ProgramDisplay<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.program().fmt(f)
        }
    }
    ProgramDisplay(ProgramPrinter::new(program))
}

/// Prints an expression of the program for a message. To print many, use a [`ProgramPrinter`].
pub fn expr(program: &Program, expr: &Expr, scope: &NameScope) -> impl fmt::Display {
    ProgramPrinter::new(program).to_string(scope, |emitter| emitter.plain(expr))
}

/// The scope of an expression, which determines the names in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameScope {
    /// The process whose variables are printed without the owner.
    process: Option<ProcessId>,
    /// The locals with names, and the types of their values.
    parameters: Vec<(LocalId, String, TypeId)>,
    /// The type of a function's result.
    result: Option<TypeId>,
}

impl NameScope {
    /// Returns the scope of a process, outside its actions.
    pub fn inside(process: ProcessId) -> Self {
        Self { process: Some(process), ..Self::default() }
    }

    /// Returns the scope of the guard, communication and body of an action.
    pub fn of_action(action: &Action) -> Self {
        Self {
            process: action.edge.map(|edge| edge.process),
            parameters: action.parameters.iter().map(named).collect(),
            result: None,
        }
    }

    /// Returns the scope of the body of a function.
    pub fn of_function(function: &Function) -> Self {
        let parameters = function.parameters.iter();
        Self {
            process: None,
            parameters: parameters.map(|p| (p.local, p.name.clone(), p.ty)).collect(),
            result: function.result,
        }
    }

    /// Returns the scope of the body of a start.
    pub fn of_start(start: &StartRule) -> Self {
        Self { parameters: start.parameters.iter().map(named).collect(), ..Self::default() }
    }

    /// Returns the scope of the condition of a property.
    pub fn of_property(property: &ProgramProperty) -> Self {
        match property.kind {
            PropertyKind::AssertionAt { process, .. } => Self::inside(process),
            PropertyKind::Invariant(_)
            | PropertyKind::Cover(_)
            | PropertyKind::Assumption(_)
            | PropertyKind::Constraint(_)
            | PropertyKind::AtEnd(_)
            | PropertyKind::Automaton(_)
            | PropertyKind::Reached
            | PropertyKind::Claim(_) => Self::default(),
        }
    }
}

fn named(parameter: &super::Parameter) -> (LocalId, String, TypeId) {
    (parameter.local, parameter.name.clone(), parameter.over)
}

/// A printer of the parts of one program. Its creation examines every name once.
pub struct ProgramPrinter<'a> {
    program: &'a Program,
    names: PrintedNames<'a>,
}

impl<'a> ProgramPrinter<'a> {
    /// Creates a printer of a program.
    pub fn new(program: &'a Program) -> Self {
        Self { program, names: PrintedNames::new(program) }
    }

    /// Prints the whole program.
    pub fn program(&self) -> impl fmt::Display {
        ParagraphDisplay { printer: self }
    }

    /// Prints an expression.
    pub fn expr(&self, expr: &Expr, scope: &NameScope) -> String {
        self.to_string(scope, |emitter| emitter.plain(expr))
    }

    /// Prints the guard, the message and the effect of an action, without its name and edge.
    pub fn step(&self, action: &Action) -> String {
        self.to_string(&NameScope::of_action(action), |emitter| emitter.step(action))
    }

    /// Prints a place.
    pub fn place(&self, place: &Place, scope: &NameScope) -> String {
        self.to_string(scope, |emitter| emitter.place(place))
    }

    /// Prints a value of a scalar type, by its name if it has one.
    pub fn value(&self, ty: TypeId, value: Option<i64>) -> String {
        self.to_string(&NameScope::default(), |emitter| {
            emitter.possibly_undefined(value, emitter.domain_of_type(ty));
        })
    }

    fn to_string(&self, scope: &NameScope, write: impl FnOnce(&mut TextEmitter)) -> String {
        let mut emitter = TextEmitter::new(self.program, &self.names, scope);
        write(&mut emitter);
        emitter.out
    }
}

/// The display of a program, which writes it by paragraphs, so that only one is in memory.
struct ParagraphDisplay<'a, 'p> {
    printer: &'a ProgramPrinter<'p>,
}

impl fmt::Display for ParagraphDisplay<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ProgramPrinter { program, names } = self.printer;
        let emitter = TextEmitter::new(program, names, &NameScope::default());
        ParagraphWriter {
            f,
            emitter,
            channels: NumberSequence::default(),
            actions: NumberSequence::default(),
        }
        .whole(program)
    }
}

struct ParagraphWriter<'a, 'f, 'g> {
    f: &'f mut fmt::Formatter<'g>,
    emitter: TextEmitter<'a>,
    channels: NumberSequence,
    actions: NumberSequence,
}

impl<'a> ParagraphWriter<'a, '_, '_> {
    fn whole(&mut self, program: &Program) -> fmt::Result {
        let ownership = ItemsByOwner::new(program);
        self.each([()], |emitter, ()| emitter.header())?;
        self.each(program.enums.keys(), TextEmitter::enumeration)?;
        self.each(program.scalarsets.keys(), TextEmitter::scalarset)?;
        self.each(program.types.keys(), TextEmitter::record)?;
        self.declarations(&ownership.common)?;
        self.each(program.functions.keys(), TextEmitter::function)?;
        for (id, own) in program.processes.keys().zip(&ownership.own) {
            self.process(id, own)?;
        }
        self.actions(&ownership.common)?;
        self.each(program.starts.iter(), TextEmitter::start)?;
        self.each(program.properties.values(), TextEmitter::property)
    }

    fn process(&mut self, id: ProcessId, own: &OwnedItems) -> fmt::Result {
        self.each([id], TextEmitter::process_head)?;
        self.declarations(own)?;
        self.actions(own)?;
        self.each([()], |emitter, ()| {
            emitter.indent = 0;
            emitter.put("}\n");
        })
    }

    fn declarations(&mut self, own: &OwnedItems) -> fmt::Result {
        self.gap(own.variables.len() + own.channels.len())?;
        self.each(own.variables.iter().copied(), |emitter, id| {
            emitter.entry(|emitter| emitter.variable(id));
        })?;
        let mut sequence = std::mem::take(&mut self.channels);
        self.each(own.channels.iter().copied(), |emitter, id| {
            emitter.entry(|emitter| emitter.channel_declaration(id, &mut sequence));
        })?;
        self.channels = sequence;
        Ok(())
    }

    fn actions(&mut self, own: &OwnedItems) -> fmt::Result {
        self.gap(own.actions.len())?;
        let mut sequence = std::mem::take(&mut self.actions);
        self.each(own.actions.iter().copied(), |emitter, id| {
            emitter.entry(|emitter| emitter.action(id, &mut sequence));
        })?;
        self.actions = sequence;
        Ok(())
    }

    /// Writes an empty line before entries, if there are any.
    fn gap(&mut self, entries: usize) -> fmt::Result {
        self.f.write_str(if entries > 0 { "\n" } else { "" })
    }

    fn each<T>(
        &mut self,
        things: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut TextEmitter<'a>, T),
    ) -> fmt::Result {
        for thing in things {
            write(&mut self.emitter, thing);
            self.f.write_str(&self.emitter.out)?;
            self.emitter.out.clear();
        }
        Ok(())
    }
}
