//! From text to an automaton.

use super::lex::{Kind, Token, lex};
use crate::diag::Diagnostic;
use crate::ltl::cube::{Cube, PROPOSITIONS_MAX};
use crate::ltl::generalized::{Generalized, MarkedEdge, SETS_MAX};
use crate::source::Span;
use std::collections::HashMap;

/// What a file says.
#[derive(Clone, Debug)]
pub struct Read {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Its propositions.
    pub propositions: Vec<AtomicProposition>,
    /// The automaton; none if it has nowhere to begin.
    pub automaton: Option<Generalized>,
}

/// A proposition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtomicProposition {
    /// What it is called.
    pub name: String,
    /// Where.
    pub span: Span,
}

type Found<T> = Result<T, Diagnostic>;

/// The most states.
const STATES_MAX: usize = 1 << 20;
/// The most cubes of a label.
const CUBES_MAX: usize = 1 << 12;
/// The deepest nest of brackets and negations in a label.
const DEPTH_MAX: usize = 200;

/// Reads the first automaton of a text.
pub fn read(text: &str, file: u32) -> Found<Read> {
    let mut reader = Reader { tokens: lex(text, file)?, at: 0, header: Header::default() };
    reader.header()?;
    let edges = reader.body()?;
    let Header { name, propositions, starts, sets, .. } = reader.header;
    Ok(Read { name, propositions, automaton: begin(edges, &starts, sets) })
}

/// With one state to begin in: where there are several, one more that has the edges of all.
fn begin(mut edges: Vec<Vec<MarkedEdge>>, starts: &[usize], sets: u32) -> Option<Generalized> {
    let start = match starts {
        [] => return None,
        [only] => *only,
        _ => {
            edges.push(starts.iter().flat_map(|&at| edges[at].clone()).collect());
            edges.len() - 1
        }
    };
    Some(Generalized { edges, start, sets })
}

#[derive(Default)]
struct Header {
    name: Option<String>,
    states: Option<usize>,
    starts: Vec<usize>,
    propositions: Vec<AtomicProposition>,
    aliases: HashMap<String, Vec<Cube>>,
    has_acceptance: bool,
    /// The sets that must be met.
    sets: u32,
    /// The number of each declared set among those; none for one that does not matter.
    numbers: Vec<Option<u32>>,
}

struct Reader {
    tokens: Vec<Token>,
    at: usize,
    header: Header,
}

impl Reader {
    fn kind(&self) -> &Kind {
        &self.tokens[self.at].kind
    }

    fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    fn take(&mut self) -> Token {
        let token = self.tokens[self.at].clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn accept(&mut self, sign: char) -> bool {
        let found = *self.kind() == Kind::Sign(sign);
        if found {
            self.take();
        }
        found
    }

    fn expect(&mut self, sign: char) -> Found<()> {
        match self.accept(sign) {
            true => Ok(()),
            false => self.unexpected(&format!("`{sign}`")),
        }
    }

    fn unexpected<T>(&self, expected: &str) -> Found<T> {
        self.error(format!("expected {expected}, found {}", self.kind().told()))
    }

    fn error<T>(&self, message: impl Into<String>) -> Found<T> {
        Err(Diagnostic::error(self.span(), message))
    }

    fn number(&mut self, what: &str) -> Found<usize> {
        match *self.kind() {
            Kind::Number(number) => {
                self.take();
                Ok(number)
            }
            _ => self.unexpected(what),
        }
    }

    fn header(&mut self) -> Found<()> {
        if *self.kind() != Kind::Header("HOA".into()) {
            return self.unexpected("`HOA:`, with which an automaton begins");
        }
        self.take();
        if *self.kind() != Kind::Name("v1".into()) {
            return self.unexpected("`v1`, the version of the format that is read");
        }
        self.take();
        loop {
            match self.kind().clone() {
                Kind::Header(item) => {
                    let span = self.take().span;
                    self.item(&item, span)?;
                }
                Kind::Mark(mark) if mark == "--BODY--" => break,
                _ => return self.unexpected("a header item or `--BODY--`"),
            }
        }
        if !self.header.has_acceptance {
            return self
                .error("the automaton does not say what it accepts: `Acceptance:` is missing");
        }
        if self.header.states.is_none() {
            let help = "`autfilt` of Spot writes it";
            let error = Diagnostic::error(self.span(), "the number of states is not given");
            return Err(error.help(help));
        }
        self.take();
        Ok(())
    }

    fn item(&mut self, item: &str, span: Span) -> Found<()> {
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
                if *self.kind() == Kind::Sign('&') {
                    return self.error("alternating automata are not read");
                }
                self.header.starts.push(start);
            }
            "AP" => self.atomic_propositions()?,
            "Alias" => {
                let Kind::Alias(name) = self.take().kind else {
                    self.at -= 1;
                    return self.unexpected("the name of an alias");
                };
                let cubes = self.label(0)?;
                self.header.aliases.insert(name, cubes);
            }
            "Acceptance" => self.acceptance(span)?,
            "name" => match self.take().kind {
                Kind::Text(name) => self.header.name = Some(name),
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
                while !matches!(self.kind(), Kind::Header(_) | Kind::Mark(_) | Kind::End) {
                    self.take();
                }
            }
        }
        Ok(())
    }

    fn atomic_propositions(&mut self) -> Found<()> {
        let count = self.number("the number of propositions")?;
        if count > PROPOSITIONS_MAX {
            return self.error(format!("{count} propositions are more than {PROPOSITIONS_MAX}"));
        }
        for _ in 0..count {
            match self.kind().clone() {
                Kind::Text(name) => {
                    let span = self.take().span;
                    self.header.propositions.push(AtomicProposition { name, span });
                }
                _ => return self.unexpected("a proposition between quotes"),
            }
        }
        Ok(())
    }

    /// `2 Inf(0)&Inf(1)`: all of some sets must be met for ever again.
    fn acceptance(&mut self, span: Span) -> Found<()> {
        let count = self.number("the number of acceptance sets")?;
        if count > SETS_MAX {
            return self.error(format!("{count} acceptance sets are more than {SETS_MAX}"));
        }
        self.header.numbers = vec![None; count];
        self.header.has_acceptance = true;
        if *self.kind() == Kind::Name("t".into()) {
            self.take();
            return self.acceptance_ends(span);
        }
        loop {
            if *self.kind() != Kind::Name("Inf".into()) {
                return self.other_acceptance(span);
            }
            self.take();
            self.expect('(')?;
            if *self.kind() == Kind::Sign('!') {
                return self.other_acceptance(span);
            }
            let set = self.number("a set")?;
            self.expect(')')?;
            let Some(number) = self.header.numbers.get_mut(set) else {
                return self.error(format!("there is no acceptance set {set}"));
            };
            if number.is_none() {
                *number = Some(self.header.sets);
                self.header.sets += 1;
            }
            if !self.accept('&') {
                return self.acceptance_ends(span);
            }
        }
    }

    fn acceptance_ends(&self, span: Span) -> Found<()> {
        match self.kind() {
            Kind::Header(_) | Kind::Mark(_) => Ok(()),
            _ => self.other_acceptance(span),
        }
    }

    fn other_acceptance<T>(&self, span: Span) -> Found<T> {
        let error = "this acceptance is not Büchi's";
        let help = "`1 Inf(0)` is, and `2 Inf(0)&Inf(1)` is read, too; `autfilt -B` of Spot rewrites others";
        Err(Diagnostic::error(span.to(self.span()), error).help(help))
    }

    fn body(&mut self) -> Found<Vec<Vec<MarkedEdge>>> {
        let states = self.header.states.unwrap_or_default();
        for &start in &self.header.starts {
            if start >= states {
                return self.error(format!("it begins in state {start}, which does not exist"));
            }
        }
        let mut edges = vec![Vec::new(); states];
        while *self.kind() == Kind::Header("State".into()) {
            self.take();
            self.state(&mut edges)?;
        }
        match self.kind() {
            Kind::Mark(mark) if mark == "--END--" => Ok(edges),
            _ => self.unexpected("`State:` or `--END--`"),
        }
    }

    fn state(&mut self, edges: &mut [Vec<MarkedEdge>]) -> Found<()> {
        let common = self.bracketed_label()?;
        let state = self.known_state(edges.len())?;
        if let Kind::Text(_) = self.kind() {
            self.take();
        }
        let marks = self.marks()?;
        let mut implicit = 0;
        loop {
            let own = self.bracketed_label()?;
            if own.is_none() && !matches!(self.kind(), Kind::Number(_)) {
                return Ok(());
            }
            let label = match own.or_else(|| common.clone()) {
                Some(label) => label,
                None => {
                    implicit += 1;
                    vec![self.letter(implicit - 1)?]
                }
            };
            let to = self.known_state(edges.len())?;
            if *self.kind() == Kind::Sign('&') {
                return self.error("alternating automata are not read");
            }
            let marks = marks | self.marks()?;
            edges[state].extend(label.into_iter().map(|cube| MarkedEdge { cube, to, marks }));
        }
    }

    /// The letter of this number, where edges have no labels.
    fn letter(&self, number: u64) -> Found<Cube> {
        let count = self.header.propositions.len();
        match count < 64 && number < 1 << count {
            true => Ok(Cube { holds: number, fails: !number & ((1 << count) - 1) }),
            false => self.error("this state has more edges without a label than there are letters"),
        }
    }

    fn known_state(&mut self, states: usize) -> Found<usize> {
        let state = self.number("a state")?;
        if state < states {
            return Ok(state);
        }
        self.at -= 1;
        self.error(format!("there is no state {state}"))
    }

    /// `{0 1}`, as bits of the sets that matter.
    fn marks(&mut self) -> Found<u64> {
        let mut marks = 0;
        if self.accept('{') {
            while !self.accept('}') {
                let set = self.number("a set or `}`")?;
                match self.header.numbers.get(set) {
                    Some(number) => marks |= number.map_or(0, |number| 1 << number),
                    None => {
                        self.at -= 1;
                        return self.error(format!("there is no acceptance set {set}"));
                    }
                }
            }
        }
        Ok(marks)
    }

    fn bracketed_label(&mut self) -> Found<Option<Vec<Cube>>> {
        if !self.accept('[') {
            return Ok(None);
        }
        let label = self.label(0)?;
        self.expect(']')?;
        Ok(Some(label))
    }

    /// `a | b & !c` as cubes.
    fn label(&mut self, depth: usize) -> Found<Vec<Cube>> {
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

    fn label_all(&mut self, depth: usize) -> Found<Vec<Cube>> {
        let mut all = self.label_operand(depth)?;
        while self.accept('&') {
            let more = self.label_operand(depth)?;
            all = self.conjunction(&all, &more)?;
        }
        Ok(all)
    }

    fn conjunction(&self, one: &[Cube], other: &[Cube]) -> Found<Vec<Cube>> {
        let with = |first: &Cube| other.iter().filter_map(|it| first.and(*it)).collect::<Vec<_>>();
        let both: Vec<Cube> = one.iter().flat_map(with).collect();
        match both.len() > CUBES_MAX {
            true => self.error("this label is too large"),
            false => Ok(both),
        }
    }

    fn label_operand(&mut self, depth: usize) -> Found<Vec<Cube>> {
        if depth > DEPTH_MAX {
            return self.error("this label is nested too deeply");
        }
        let token = self.take();
        match token.kind {
            Kind::Name(name) if name == "t" => Ok(vec![Cube::ANY]),
            Kind::Name(name) if name == "f" => Ok(Vec::new()),
            Kind::Number(number) if number < self.header.propositions.len() => {
                Ok(vec![Cube::literal(number, true)])
            }
            Kind::Number(number) => {
                Err(Diagnostic::error(token.span, format!("there is no proposition {number}")))
            }
            Kind::Alias(name) => match self.header.aliases.get(&name) {
                Some(cubes) => Ok(cubes.clone()),
                None => Err(Diagnostic::error(token.span, format!("there is no alias @{name}"))),
            },
            Kind::Sign('!') => {
                let inner = self.label_operand(depth + 1)?;
                self.complement(&inner)
            }
            Kind::Sign('(') => {
                let inner = self.label(depth + 1)?;
                self.expect(')')?;
                Ok(inner)
            }
            kind => {
                let error = format!("expected a label, found {}", kind.told());
                Err(Diagnostic::error(token.span, error))
            }
        }
    }

    /// What satisfies none of these.
    fn complement(&self, cubes: &[Cube]) -> Found<Vec<Cube>> {
        let mut left = vec![Cube::ANY];
        for cube in cubes {
            let one_fails: Vec<Cube> =
                cube.literals().map(|(number, holds)| Cube::literal(number, !holds)).collect();
            left = self.conjunction(&left, &one_fails)?;
        }
        Ok(left)
    }
}
