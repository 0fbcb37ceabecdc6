//! A temporal property given outside the model's text: a formula, or the propositions of an automaton.
//!
//! The operators of formulas are the same in every language (`ltl::parse`). The propositions between them are
//! expressions of the model's language, lowered like any other expression.

use crate::ltl::{
    Automaton, Cube, FormulaSyntax, GroupedFormula, LtlConnective, LtlFormula, PROPOSITIONS_MAX,
    QuantifiedFormula, parse, split_operators, words,
};
use spillway_base::diag::Diagnostic;
use spillway_base::source::{SourceMap, Span};
use spillway_ir::walk::CodeVisitor;
use spillway_ir::{
    Action, ActionControl, Arena, BinaryOp, Claim, ClaimMove, Entity, Expr, ExprKind, LocalId,
    Location, LocationId, Program, ProgramProperty, PropertyKind, UnaryOp, Urgency, renumber, walk,
};
use std::cell::Cell;

/// The source of a temporal property: the files of the sources that contain it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PropertySource {
    /// A formula, or the name of one of the model's formulas.
    Formula(u32),
    /// Propositions, one in each file.
    Propositions(Vec<u32>),
}

/// A temporal property with its propositions as conditions on the states of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct TemporalProperty {
    /// The name, if it is one of the model's properties.
    pub name: Option<String>,
    /// The requirement on runs.
    pub spec: TemporalSpec,
    /// The propositions that it uses.
    pub propositions: Vec<Proposition>,
    /// Whether it distinguishes values of a scalarset, so that symmetric states differ.
    pub breaks_symmetry: bool,
}

/// A requirement on runs.
#[derive(Clone, Debug, PartialEq)]
pub enum TemporalSpec {
    /// All runs satisfy this formula over the propositions.
    Formula(LtlFormula),
    /// No run is accepted by this automaton over the propositions.
    Automaton(Automaton),
    /// The same, for an automaton given elsewhere; only its propositions were read.
    Propositions,
    /// No run takes the program's claim to accepting locations infinitely often or to its end.
    Claim,
}

/// Labels by which a model marks cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CycleLabel {
    /// `accept`: no run passes one infinitely often.
    Accept,
    /// `progress`: every run passes one infinitely often.
    Progress,
}

impl CycleLabel {
    /// Returns the prefix of the label's name in models.
    pub fn name(self) -> &'static str {
        match self {
            CycleLabel::Accept => "accept",
            CycleLabel::Progress => "progress",
        }
    }
}

/// A proposition.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposition {
    /// The text in the source.
    pub text: String,
    /// The condition: the proposition holds if this is not 0.
    pub condition: Expr,
}

impl TemporalProperty {
    /// Returns the property that the labels of a program's processes express, and whether there are any.
    pub fn from_labels(program: &Program, label: CycleLabel) -> (TemporalProperty, bool) {
        let is_marked: fn(&Location) -> bool = match label {
            CycleLabel::Accept => |it| it.accepting,
            CycleLabel::Progress => |it| it.progress,
        };
        let found = program.any_instance_at_marked(is_marked, Span::default());
        let is_any = found.is_some();
        let condition = found.unwrap_or_else(|| Expr::constant(0, Span::default()));
        let text = format!("some process is at a label `{}`", label.name());
        let (name, demand) = match label {
            CycleLabel::Accept => {
                (format!("<>[] !({text})"), TemporalSpec::Automaton(Automaton::infinitely_often()))
            }
            CycleLabel::Progress => {
                let again = LtlFormula::Eventually(Box::new(LtlFormula::Proposition(0)));
                (
                    format!("[]<> ({text})"),
                    TemporalSpec::Formula(LtlFormula::Always(Box::new(again))),
                )
            }
        };
        let propositions = vec![Proposition { text, condition }];
        (
            TemporalProperty {
                name: Some(name),
                spec: demand,
                propositions,
                breaks_symmetry: false,
            },
            is_any,
        )
    }

    /// Adds an automaton over the propositions to a program, as a claim. The automaton has a state.
    pub fn add_as_claim(&self, program: &mut Program, name: &str, automaton: &Automaton) {
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
        program.properties.push(ProgramProperty {
            name: name.to_owned(),
            kind,
            span: Span::default(),
        });
        program.number_exprs();
    }

    /// Returns a program that has the property as an invariant instead of an automaton, if all runs have the property if
    /// and only if all states satisfy a condition. Other invariants of the program are not checked in it.
    ///
    /// `None` also if the program has reachability properties, which a search for violated invariants decides too, or if
    /// the condition reads which steps are possible.
    pub fn as_invariant(
        &self,
        program: &Program,
        name: &str,
        automaton: &Automaton,
    ) -> Option<Program> {
        let violating = automaton.reached_letter()?;
        let mut program = program.clone();
        for number in program.properties.keys() {
            match &mut program.properties[number].kind {
                PropertyKind::Cover(_) | PropertyKind::Reached => return None,
                PropertyKind::Invariant(it) => *it = Expr::constant(1, it.span),
                _ => {}
            }
        }
        let condition = match violating.literals().collect::<Vec<_>>()[..] {
            [(number, false)] => self.propositions[number].condition.clone(),
            _ => {
                let guard = self.guard_of(violating)?;
                let span = guard.span;
                Expr::new(ExprKind::Unary(UnaryOp::Not, Box::new(guard)), span)
            }
        };
        if depends_on_steps(&condition) {
            return None;
        }
        let span = condition.span;
        let kind = PropertyKind::Invariant(condition);
        program.properties.push(ProgramProperty { name: name.to_owned(), kind, span });
        program.number_exprs();
        Some(program)
    }

    /// Replaces each large boolean part of a formula by one proposition.
    pub fn with_grouped_propositions(self) -> TemporalProperty {
        let TemporalSpec::Formula(formula) = &self.spec else { return self };
        let GroupedFormula { formula, groups } = formula.grouped();
        let texts: Vec<String> = self.propositions.iter().map(|it| it.text.clone()).collect();
        let group = |it: &LtlFormula| match it {
            LtlFormula::Proposition(number) => self.propositions[*number].clone(),
            _ => Proposition {
                text: it.with_names(&texts).to_string(),
                condition: self.condition(it, &Cell::new(0)),
            },
        };
        let propositions = groups.iter().map(group).collect();
        TemporalProperty { propositions, spec: TemporalSpec::Formula(formula), ..self }
    }

    /// Returns the condition of a boolean formula over the propositions. Its locals are numbered from `local` on.
    fn condition(&self, formula: &LtlFormula, local: &Cell<u32>) -> Expr {
        let expr = |kind: ExprKind, span: Span| Expr::new(kind, span);
        let not = |it: Expr| expr(ExprKind::Unary(UnaryOp::Not, Box::new(it.clone())), it.span);
        let both = |operator, left: Expr, right: Expr| {
            let span = left.span;
            expr(ExprKind::Binary(operator, Box::new(left), Box::new(right)), span)
        };
        match formula {
            LtlFormula::Constant(value) => {
                expr(ExprKind::Constant(i64::from(*value)), Span::default())
            }
            LtlFormula::Proposition(number) => {
                with_locals_from(&self.propositions[*number].condition, local)
            }
            LtlFormula::Not(it) => not(self.condition(it, local)),
            LtlFormula::Binary(operator, left, right) => {
                let (left, right) = (self.condition(left, local), self.condition(right, local));
                match operator {
                    LtlConnective::And => both(BinaryOp::And, left, right),
                    LtlConnective::Or => both(BinaryOp::Or, left, right),
                    LtlConnective::Implies => both(BinaryOp::Or, not(left), right),
                    // A condition holds if it is not 0, so equal truth values may be different numbers. Negation makes
                    // them equal.
                    LtlConnective::Equivalent => both(BinaryOp::Equal, not(left), not(right)),
                    LtlConnective::Differ => both(BinaryOp::NotEqual, not(left), not(right)),
                    _ => unreachable!("a group has no temporal operator"),
                }
            }
            _ => unreachable!("a group has no temporal operator"),
        }
    }

    /// Returns the condition of a cube. `None` if it has no literals.
    fn guard_of(&self, cube: Cube) -> Option<Expr> {
        let local = Cell::new(0);
        let guard = cube.literals().map(|(number, holds)| {
            let condition = with_locals_from(&self.propositions[number].condition, &local);
            let span = condition.span;
            match holds {
                true => condition,
                false => Expr::new(ExprKind::Unary(UnaryOp::Not, Box::new(condition)), span),
            }
        });
        let both = |one: Expr, other: Expr| {
            let span = one.span;
            Expr::new(ExprKind::Binary(BinaryOp::And, Box::new(one), Box::new(other)), span)
        };
        guard.reduce(both)
    }

    /// Returns the move of an edge that is labelled with a cube.
    fn move_of(&self, automaton: &Automaton, cube: Cube) -> Action {
        let guard = self.guard_of(cube);
        Action {
            name: automaton.label(cube, " && "),
            edge: None,
            parameters: Vec::new(),
            span: guard.as_ref().map_or(Span::default(), |it| it.span),
            guard,
            communication: None,
            body: Vec::new(),
            priority: 0,
            control: ActionControl::default(),
        }
    }
}

/// Returns whether a condition reads which steps are possible in a state: `timeout`, `enabled`.
fn depends_on_steps(condition: &Expr) -> bool {
    struct StepQuery(bool);
    impl CodeVisitor for StepQuery {
        fn expr(&mut self, expr: &Expr) {
            self.0 |= matches!(expr.kind, ExprKind::Timeout | ExprKind::Enabled(_));
            walk::expr(self, expr);
        }
    }
    let mut query = StepQuery(false);
    query.expr(condition);
    query.0
}

/// Renumbers the locals of a condition from `next` on, and advances `next` past them: an action binds each local once.
fn with_locals_from(condition: &Expr, next: &Cell<u32>) -> Expr {
    let (mut condition, from) = (condition.clone(), next.get());
    renumber::locals(&mut condition, &|LocalId(number)| {
        next.set(next.get().max(from + number + 1));
        LocalId(from + number)
    });
    condition
}

/// A requirement on runs, and the spans of its propositions.
pub(crate) struct UnresolvedProperty {
    pub(crate) spec: TemporalSpec,
    pub(crate) propositions: Vec<Span>,
    /// For each proposition, the quantified formulas around it whose variables it names, the outermost first.
    pub(crate) enclosing: Vec<Vec<usize>>,
    /// The quantified formulas with temporal operators.
    pub(crate) quantified: Vec<QuantifiedSubformula>,
}

/// A formula with a quantifier over variables.
pub(crate) struct QuantifiedSubformula {
    pub(crate) is_universal: bool,
    /// The span of the variables' declaration, `do` included.
    pub(crate) variables: Span,
    pub(crate) formula: LtlFormula,
}

impl UnresolvedProperty {
    /// Creates a requirement without quantified formulas.
    pub(crate) fn unquantified(spec: TemporalSpec, propositions: Vec<Span>) -> UnresolvedProperty {
        let enclosing = vec![Vec::new(); propositions.len()];
        UnresolvedProperty { spec, propositions, enclosing, quantified: Vec::new() }
    }

    /// Parses the property of a model, in the formula syntax of its language; `is_name` recognizes the model's names.
    pub(crate) fn parse(
        sources: &SourceMap,
        asked: Option<&PropertySource>,
        spelling: &FormulaSyntax,
        is_name: &dyn Fn(&str) -> bool,
    ) -> Result<Option<UnresolvedProperty>, Diagnostic> {
        Ok(Some(match asked {
            None => return Ok(None),
            Some(PropertySource::Formula(file)) => {
                let (words, end) = words(&sources.file(*file).text, *file);
                let words = split_operators(words, is_name);
                let parsed = parse(&words, end, spelling, is_name)?;
                let span =
                    |it: &std::ops::Range<usize>| words[it.start].span.to(words[it.end - 1].span);
                let propositions: Vec<Span> = parsed.propositions.iter().map(span).collect();
                let part = |it: QuantifiedFormula| QuantifiedSubformula {
                    is_universal: it.is_universal,
                    variables: span(&it.variables),
                    formula: it.formula,
                };
                let quantified: Vec<QuantifiedSubformula> =
                    parsed.quantified.into_iter().map(part).collect();
                if quantified.is_empty() {
                    check_proposition_count(parsed.formula.grouped().groups.len(), end)?;
                }
                let (demand, enclosing) = (TemporalSpec::Formula(parsed.formula), parsed.enclosing);
                UnresolvedProperty { spec: demand, propositions, enclosing, quantified }
            }
            Some(PropertySource::Propositions(files)) => {
                let span = |&file: &u32| Span::new(file, 0..sources.file(file).text.len());
                let propositions: Vec<Span> = files.iter().map(span).collect();
                UnresolvedProperty::unquantified(TemporalSpec::Propositions, propositions)
            }
        }))
    }

    /// Resolves the propositions to these conditions of the program.
    pub(crate) fn resolve(self, sources: &SourceMap, conditions: Vec<Expr>) -> TemporalProperty {
        let texts = self.propositions.iter().map(|&span| sources.text(span).trim().to_owned());
        let both = texts.zip(conditions);
        let propositions = both.map(|(text, condition)| Proposition { text, condition }).collect();
        TemporalProperty { name: None, spec: self.spec, propositions, breaks_symmetry: false }
    }
}

/// Rejects a formula with more propositions than automata have bits for.
pub(crate) fn check_proposition_count(propositions: usize, span: Span) -> Result<(), Diagnostic> {
    match propositions > PROPOSITIONS_MAX {
        false => Ok(()),
        true => Err(too_many_propositions(propositions, span)),
    }
}

/// Returns the error for a formula with so many propositions.
pub(crate) fn too_many_propositions(propositions: usize, span: Span) -> Diagnostic {
    let error = format!("{propositions} propositions are more than {PROPOSITIONS_MAX}");
    Diagnostic::error(span, error)
}
