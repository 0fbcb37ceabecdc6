//! What is asked of a model in temporal logic, beside its text: a formula, or the propositions of an automaton.
//!
//! The operators of formulas are the same in every language (`ltl::parse`), and what stands between them is an expression
//! of the model's language, lowered like any other.

use crate::diag::Diagnostic;
use crate::ir::{
    Action, Arena, Binary, Claim, ClaimMove, Control, Entity, Expr, ExprKind, Location, LocationId,
    Program, Property, PropertyKind, Unary, Urgency,
};
use crate::ltl::{Automaton, Cube, Formula, PROPOSITIONS_MAX, Spelling, parse, words};
use crate::source::{Sources, Span};

/// What is asked, by the files of the sources that it stands in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A formula, or the name of one of the model's.
    Formula(u16),
    /// Propositions, one in each file.
    Propositions(Vec<u16>),
}

/// What was asked, as conditions on the states of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// The name of the formula, if it is one of the model's.
    pub name: Option<String>,
    /// The formula; `true` where only propositions were asked.
    pub formula: Formula,
    /// Its propositions.
    pub propositions: Vec<Proposition>,
    /// An automaton of the model's own that accepts what violates it.
    pub automaton: Option<Automaton>,
}

/// A proposition.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposition {
    /// As it is written.
    pub text: String,
    /// Holds where this is not 0.
    pub condition: Expr,
}

impl Observed {
    /// Lets an automaton over the propositions watch a program, as a claim of it. It has a state.
    pub fn watch(&self, program: &mut Program, name: &str, automaton: &Automaton) {
        let mut locations: Arena<LocationId, Location> = Arena::default();
        let mut moves = Vec::new();
        for (at, state) in automaton.states.iter().enumerate() {
            locations.push(Location {
                name: format!("state {at}"),
                urgency: Urgency::Free,
                valid_end: false,
                progress: false,
                accepting: state.accepts,
                span: Span::default(),
            });
            for edge in &state.edges {
                let (from, to) = (LocationId::from_index(at), LocationId::from_index(edge.to));
                moves.push(ClaimMove { from, to, action: self.move_of(automaton, edge.cube) });
            }
        }
        let claim = Claim { locations, start: LocationId::from_index(0), moves };
        let kind = PropertyKind::Claim(Box::new(claim));
        program.properties.push(Property { name: name.to_owned(), kind, span: Span::default() });
    }

    /// The move of an edge that asks for a cube.
    fn move_of(&self, automaton: &Automaton, cube: Cube) -> Action {
        let guard = cube.literals().map(|(number, holds)| {
            let condition = self.propositions[number].condition.clone();
            let span = condition.span;
            match holds {
                true => condition,
                false => Expr { kind: ExprKind::Unary(Unary::Not, Box::new(condition)), span },
            }
        });
        let both = |one: Expr, other: Expr| Expr {
            span: one.span,
            kind: ExprKind::Binary(Binary::And, Box::new(one), Box::new(other)),
        };
        let guard = guard.reduce(both);
        Action {
            name: automaton.label(cube, " && "),
            edge: None,
            parameters: Vec::new(),
            span: guard.as_ref().map_or(Span::default(), |it| it.span),
            guard,
            communication: None,
            body: Vec::new(),
            priority: 0,
            control: Control::default(),
        }
    }
}

/// A formula, and where its propositions stand.
pub(in crate::front) struct Split {
    pub(in crate::front) formula: Formula,
    pub(in crate::front) propositions: Vec<Span>,
    /// An automaton of the model's own, over these.
    pub(in crate::front) automaton: Option<Automaton>,
}

impl Split {
    /// What is asked of a language whose formulas are spelled like this.
    pub(in crate::front) fn of(
        sources: &Sources,
        asked: Option<&Asked>,
        spelling: &Spelling,
    ) -> Result<Option<Split>, Diagnostic> {
        Ok(Some(match asked {
            None => return Ok(None),
            Some(Asked::Formula(file)) => {
                let (words, end) = words(&sources.file(*file).text, *file);
                let parsed = parse(&words, end, spelling)?;
                let span =
                    |it: &std::ops::Range<usize>| words[it.start].span.to(words[it.end - 1].span);
                let propositions: Vec<Span> = parsed.propositions.iter().map(span).collect();
                not_too_many(propositions.len(), end)?;
                Split { formula: parsed.formula, propositions, automaton: None }
            }
            Some(Asked::Propositions(files)) => {
                let span = |&file: &u16| Span::new(file, 0..sources.file(file).text.len());
                let propositions = files.iter().map(span).collect();
                Split { formula: Formula::Constant(true), propositions, automaton: None }
            }
        }))
    }

    /// With what its propositions are in the program.
    pub(in crate::front) fn observed(self, sources: &Sources, conditions: Vec<Expr>) -> Observed {
        let texts = self.propositions.iter().map(|&span| sources.text(span).trim().to_owned());
        let both = texts.zip(conditions);
        let propositions = both.map(|(text, condition)| Proposition { text, condition }).collect();
        let (formula, automaton) = (self.formula, self.automaton);
        Observed { name: None, formula, propositions, automaton }
    }
}

/// Complains of a formula with more propositions than automata have bits for.
pub(in crate::front) fn not_too_many(propositions: usize, span: Span) -> Result<(), Diagnostic> {
    match propositions > PROPOSITIONS_MAX {
        false => Ok(()),
        true => {
            let error = format!("{propositions} propositions are more than {PROPOSITIONS_MAX}");
            Err(Diagnostic::error(span, error))
        }
    }
}
