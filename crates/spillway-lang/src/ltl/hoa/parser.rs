//! Parser of automata.

use super::acceptance::{AcceptanceTooLarge, DISJUNCTS_MAX, HoaAcceptance};
use super::lex::{HoaToken, HoaTokenKind, lex};
use crate::ltl::cube::{Cube, PROPOSITIONS_MAX};
use crate::ltl::generalized::{GeneralizedAutomaton, MarkedEdge, SETS_MAX};
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;
use std::collections::HashMap;

/// The contents of a file.
#[derive(Clone, Debug)]
pub struct HoaDocument {
    /// The name of the automaton, if it has one.
    pub name: Option<String>,
    /// The propositions.
    pub propositions: Vec<AtomicProposition>,
    /// The automaton, or `None` if it has no initial state or a condition that no run satisfies.
    pub automaton: Option<GeneralizedAutomaton>,
}

/// A proposition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtomicProposition {
    /// The name.
    pub name: String,
    /// The position of the name.
    pub span: Span,
}

type HoaResult<T> = Result<T, Diagnostic>;

/// The maximal number of states.
const STATES_MAX: usize = 1 << 20;
/// The maximal number of cubes of a label.
const CUBES_MAX: usize = 1 << 12;
/// The maximal nesting depth of parentheses and negations in a label.
const DEPTH_MAX: usize = 200;

/// Reads the first automaton of a text.
pub fn read(text: &str, file: u32) -> HoaResult<HoaDocument> {
    let mut reader = HoaParser { tokens: lex(text, file)?, at: 0, header: HoaHeader::default() };
    reader.header()?;
    let edges = reader.body()?;
    let HoaHeader { name, propositions, starts, acceptance, acceptance_span, .. } = reader.header;
    let automaton = acceptance.generalized(edges, &starts).map_err(|AcceptanceTooLarge| {
        let error = "the Büchi automaton for this acceptance condition is too large";
        Diagnostic::error(acceptance_span, error)
            .help("`autfilt -B --small` of Spot may find a smaller one")
    })?;
    Ok(HoaDocument { name, propositions, automaton })
}

#[derive(Default)]
struct HoaHeader {
    name: Option<String>,
    states: Option<usize>,
    starts: Vec<usize>,
    propositions: Vec<AtomicProposition>,
    aliases: HashMap<String, Vec<Cube>>,
    has_acceptance: bool,
    acceptance: HoaAcceptance,
    acceptance_span: Span,
    /// The declared number of sets of edges.
    sets: usize,
}

struct HoaParser {
    tokens: Vec<HoaToken>,
    at: usize,
    header: HoaHeader,
}

impl HoaParser {
    fn kind(&self) -> &HoaTokenKind {
        &self.tokens[self.at].kind
    }

    fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    fn take(&mut self) -> HoaToken {
        let token = self.tokens[self.at].clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn accept(&mut self, sign: char) -> bool {
        let found = *self.kind() == HoaTokenKind::Sign(sign);
        if found {
            self.take();
        }
        found
    }

    fn expect(&mut self, sign: char) -> HoaResult<()> {
        match self.accept(sign) {
            true => Ok(()),
            false => self.unexpected(&format!("`{sign}`")),
        }
    }

    fn unexpected<T>(&self, expected: &str) -> HoaResult<T> {
        self.error(format!("expected {expected}, found {}", self.kind().describe()))
    }

    fn error<T>(&self, message: impl Into<String>) -> HoaResult<T> {
        Err(Diagnostic::error(self.span(), message))
    }

    fn number(&mut self, what: &str) -> HoaResult<usize> {
        match *self.kind() {
            HoaTokenKind::Number(number) => {
                self.take();
                Ok(number)
            }
            _ => self.unexpected(what),
        }
    }

    fn header(&mut self) -> HoaResult<()> {
        if *self.kind() != HoaTokenKind::Header("HOA".into()) {
            return self.unexpected("`HOA:`, with which an automaton begins");
        }
        self.take();
        if !matches!(self.kind(), HoaTokenKind::Name(version) if ["v1", "v1.1"].contains(&version.as_str()))
        {
            return self.unexpected("`v1` or `v1.1`, the versions of the format that are read");
        }
        self.take();
        loop {
            match self.kind().clone() {
                HoaTokenKind::Header(item) => {
                    let span = self.take().span;
                    self.item(&item, span)?;
                }
                HoaTokenKind::Mark(mark) if mark == "--BODY--" => break,
                _ => return self.unexpected("a header item or `--BODY--`"),
            }
        }
        if !self.header.has_acceptance {
            return self
                .error("the automaton does not say what it accepts: `Acceptance:` is missing");
        }
        self.take();
        Ok(())
    }

    fn item(&mut self, item: &str, span: Span) -> HoaResult<()> {
        match item {
            "States" => {
                let states = self.number("the number of states")?;
                if states > STATES_MAX {
                    let error = format!("{states} states are more than {STATES_MAX}");
                    return Err(Diagnostic::error(span, error));
                }
                self.header.states = Some(states);
            }
            "Start" => {
                let start = self.number("the state to begin in")?;
                if *self.kind() == HoaTokenKind::Sign('&') {
                    return self.error("alternating automata are not read");
                }
                self.header.starts.push(start);
            }
            "AP" => self.atomic_propositions()?,
            "Alias" => {
                let HoaTokenKind::Alias(name) = self.take().kind else {
                    self.at -= 1;
                    return self.unexpected("the name of an alias");
                };
                let cubes = self.label(0)?;
                self.header.aliases.insert(name, cubes);
            }
            "Acceptance" => self.acceptance(span)?,
            "name" => match self.take().kind {
                HoaTokenKind::Text(name) => self.header.name = Some(name),
                _ => {
                    self.at -= 1;
                    return self.unexpected("a name between quotes");
                }
            },
            _ if item.starts_with(|it: char| it.is_ascii_uppercase()) => {
                let error =
                    format!("the header item `{item}:` may change what the automaton means");
                return Err(Diagnostic::error(span, error)
                    .help("read are HOA, States, Start, AP, Alias and Acceptance"));
            }
            _ => {
                while !matches!(
                    self.kind(),
                    HoaTokenKind::Header(_) | HoaTokenKind::Mark(_) | HoaTokenKind::End
                ) {
                    self.take();
                }
            }
        }
        Ok(())
    }

    fn atomic_propositions(&mut self) -> HoaResult<()> {
        let count = self.number("the number of propositions")?;
        if count > PROPOSITIONS_MAX {
            return self.error(format!("{count} propositions are more than {PROPOSITIONS_MAX}"));
        }
        for _ in 0..count {
            match self.kind().clone() {
                HoaTokenKind::Text(name) => {
                    let span = self.take().span;
                    self.header.propositions.push(AtomicProposition { name, span });
                }
                _ => return self.unexpected("a proposition between quotes"),
            }
        }
        Ok(())
    }

    /// Parses `2 Fin(0) & (Inf(1) | Inf(!0))`.
    fn acceptance(&mut self, span: Span) -> HoaResult<()> {
        let count = self.number("the number of acceptance sets")?;
        if count > SETS_MAX {
            return self.error(format!("{count} acceptance sets are more than {SETS_MAX}"));
        }
        self.header.sets = count;
        self.header.has_acceptance = true;
        self.header.acceptance = self.acceptance_any(0)?;
        self.header.acceptance_span = span.to(self.tokens[self.at - 1].span);
        match self.kind() {
            HoaTokenKind::Header(_) | HoaTokenKind::Mark(_) => Ok(()),
            _ => self.unexpected("`&`, `|` or the end of the acceptance condition"),
        }
    }

    fn acceptance_any(&mut self, depth: usize) -> HoaResult<HoaAcceptance> {
        let mut any = self.acceptance_all(depth)?;
        while self.accept('|') {
            let more = self.acceptance_all(depth)?;
            any = any.or(more).or_else(|_| self.too_large_acceptance())?;
        }
        Ok(any)
    }

    fn acceptance_all(&mut self, depth: usize) -> HoaResult<HoaAcceptance> {
        let mut all = self.acceptance_operand(depth)?;
        while self.accept('&') {
            let more = self.acceptance_operand(depth)?;
            all = all.and(&more).or_else(|_| self.too_large_acceptance())?;
        }
        Ok(all)
    }

    fn too_large_acceptance<T>(&self) -> HoaResult<T> {
        let error = "this acceptance condition has too many alternatives";
        let help = format!(
            "as a disjunction of conjunctions it has more than {DISJUNCTS_MAX}; \
             `autfilt -B` of Spot rewrites it"
        );
        Err(Diagnostic::error(self.span(), error).help(help))
    }

    fn acceptance_operand(&mut self, depth: usize) -> HoaResult<HoaAcceptance> {
        if depth > DEPTH_MAX {
            return self.error("this acceptance condition is nested too deeply");
        }
        if self.accept('(') {
            let inner = self.acceptance_any(depth + 1)?;
            self.expect(')')?;
            return Ok(inner);
        }
        let make: fn(usize, bool) -> HoaAcceptance = match self.kind() {
            HoaTokenKind::Name(name) if name == "t" => |_, _| HoaAcceptance::constant(true),
            HoaTokenKind::Name(name) if name == "f" => |_, _| HoaAcceptance::constant(false),
            HoaTokenKind::Name(name) if name == "Inf" => HoaAcceptance::infinitely,
            HoaTokenKind::Name(name) if name == "Fin" => HoaAcceptance::finitely,
            _ => return self.unexpected("`Inf`, `Fin`, `t`, `f` or `(`"),
        };
        let is_constant = matches!(self.take().kind, HoaTokenKind::Name(name) if name.len() == 1);
        if is_constant {
            return Ok(make(0, false));
        }
        self.expect('(')?;
        let is_complement = self.accept('!');
        let set = self.number("a set")?;
        if set >= self.header.sets {
            self.at -= 1;
            return self.error(format!("there is no acceptance set {set}"));
        }
        self.expect(')')?;
        Ok(make(set, is_complement))
    }

    fn body(&mut self) -> HoaResult<Vec<Vec<MarkedEdge>>> {
        let mut edges = vec![Vec::new(); self.header.states.unwrap_or_default()];
        if self.header.states.is_some() {
            self.check_starts(edges.len())?;
        }
        while *self.kind() == HoaTokenKind::Header("State".into()) {
            self.take();
            self.state(&mut edges)?;
        }
        match self.kind() {
            HoaTokenKind::Mark(mark) if mark == "--END--" => {}
            _ => return self.unexpected("`State:` or `--END--`"),
        }
        self.check_starts(edges.len())?;
        Ok(edges)
    }

    fn check_starts(&self, states: usize) -> HoaResult<()> {
        match self.header.starts.iter().find(|&&start| start >= states) {
            Some(start) => self.error(format!("it begins in state {start}, which does not exist")),
            None => Ok(()),
        }
    }

    fn state(&mut self, edges: &mut Vec<Vec<MarkedEdge>>) -> HoaResult<()> {
        let common = self.bracketed_label()?;
        let state = self.known_state(edges)?;
        if let HoaTokenKind::Text(_) = self.kind() {
            self.take();
        }
        let marks = self.marks()?;
        let mut implicit = 0;
        loop {
            let own = self.bracketed_label()?;
            if own.is_none() && !matches!(self.kind(), HoaTokenKind::Number(_)) {
                return Ok(());
            }
            let label = match own.or_else(|| common.clone()) {
                Some(label) => label,
                None => {
                    implicit += 1;
                    vec![self.letter(implicit - 1)?]
                }
            };
            let to = self.known_state(edges)?;
            if *self.kind() == HoaTokenKind::Sign('&') {
                return self.error("alternating automata are not read");
            }
            let marks = marks | self.marks()?;
            edges[state].extend(label.into_iter().map(|cube| MarkedEdge { cube, to, marks }));
        }
    }

    /// Returns the letter with a number, for edges without labels.
    fn letter(&self, number: u64) -> HoaResult<Cube> {
        let count = self.header.propositions.len();
        match count < 64 && number < 1 << count {
            true => Ok(Cube { holds: number, fails: !number & ((1 << count) - 1) }),
            false => self.error("this state has more edges without a label than there are letters"),
        }
    }

    /// Parses a state. Creates it if the automaton does not declare the number of states.
    fn known_state(&mut self, edges: &mut Vec<Vec<MarkedEdge>>) -> HoaResult<usize> {
        let state = self.number("a state")?;
        if self.header.states.is_none() && state < STATES_MAX {
            edges.resize(edges.len().max(state + 1), Vec::new());
        }
        if state < edges.len() {
            return Ok(state);
        }
        self.at -= 1;
        self.error(format!("there is no state {state}"))
    }

    /// Parses `{0 1}` and returns the sets as bits.
    fn marks(&mut self) -> HoaResult<u64> {
        let mut marks = 0;
        if self.accept('{') {
            while !self.accept('}') {
                let set = self.number("a set or `}`")?;
                if set >= self.header.sets {
                    self.at -= 1;
                    return self.error(format!("there is no acceptance set {set}"));
                }
                marks |= 1 << set;
            }
        }
        Ok(marks)
    }

    fn bracketed_label(&mut self) -> HoaResult<Option<Vec<Cube>>> {
        if !self.accept('[') {
            return Ok(None);
        }
        let label = self.label(0)?;
        self.expect(']')?;
        Ok(Some(label))
    }

    /// Parses `a | b & !c` and returns its cubes.
    fn label(&mut self, depth: usize) -> HoaResult<Vec<Cube>> {
        let mut any = self.label_all(depth)?;
        while self.accept('|') {
            any.extend(self.label_all(depth)?);
            if any.len() > CUBES_MAX {
                any.sort_unstable();
                any.dedup();
            }
            if any.len() > CUBES_MAX {
                return self.error("this label is too large");
            }
        }
        Ok(any)
    }

    fn label_all(&mut self, depth: usize) -> HoaResult<Vec<Cube>> {
        let mut all = self.label_operand(depth)?;
        while self.accept('&') {
            let more = self.label_operand(depth)?;
            all = self.conjunction(&all, &more)?;
        }
        Ok(all)
    }

    fn conjunction(&self, one: &[Cube], other: &[Cube]) -> HoaResult<Vec<Cube>> {
        let with = |first: &Cube| other.iter().filter_map(|it| first.and(*it)).collect::<Vec<_>>();
        let both: Vec<Cube> = one.iter().flat_map(with).collect();
        match both.len() > CUBES_MAX {
            true => self.error("this label is too large"),
            false => Ok(both),
        }
    }

    fn label_operand(&mut self, depth: usize) -> HoaResult<Vec<Cube>> {
        if depth > DEPTH_MAX {
            return self.error("this label is nested too deeply");
        }
        let token = self.take();
        match token.kind {
            HoaTokenKind::Name(name) if name == "t" => Ok(vec![Cube::ANY]),
            HoaTokenKind::Name(name) if name == "f" => Ok(Vec::new()),
            HoaTokenKind::Number(number) if number < self.header.propositions.len() => {
                Ok(vec![Cube::literal(number, true)])
            }
            HoaTokenKind::Number(number) => {
                Err(Diagnostic::error(token.span, format!("there is no proposition {number}")))
            }
            HoaTokenKind::Alias(name) => match self.header.aliases.get(&name) {
                Some(cubes) => Ok(cubes.clone()),
                None => Err(Diagnostic::error(token.span, format!("there is no alias @{name}"))),
            },
            HoaTokenKind::Sign('!') => {
                let inner = self.label_operand(depth + 1)?;
                self.complement(&inner)
            }
            HoaTokenKind::Sign('(') => {
                let inner = self.label(depth + 1)?;
                self.expect(')')?;
                Ok(inner)
            }
            kind => {
                let error = format!("expected a label, found {}", kind.describe());
                Err(Diagnostic::error(token.span, error))
            }
        }
    }

    /// Returns the cubes that satisfy none of these.
    fn complement(&self, cubes: &[Cube]) -> HoaResult<Vec<Cube>> {
        let mut left = vec![Cube::ANY];
        for cube in cubes {
            let one_fails: Vec<Cube> =
                cube.literals().map(|(number, holds)| Cube::literal(number, !holds)).collect();
            left = self.conjunction(&left, &one_fails)?;
        }
        Ok(left)
    }
}
