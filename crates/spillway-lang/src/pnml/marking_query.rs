//! Expressions over markings: comparisons of numbers of tokens, and their combinations.
//!
//! Example: `Fork[p0] + Fork[p1] <= 2 && fireable(eat)`. A place denotes its tokens, of all colours or of one.
//! `fireable(t)` holds if some binding enables the transition `t`. `deadlock` holds if no transition is enabled;
//! `deadlock()` does the same where a place is called `deadlock`. A name that is not an identifier is written in double
//! quotes. Operators are those of C, and `and`, `or`, `not`, `imply`. A name that no node has is looked up as an id.

use super::colours::{ClassId, ClassValues};
use super::net::PetriNet;
use super::xml::PnmlResult;
use crate::ltl::{FormulaWord, words};
use crate::name_suggestion::unknown_name_help;
use spillway_base::diag::Diagnostic;
use spillway_base::numbers::count;
use spillway_base::source::Span;
use spillway_base::trees::joined;
use spillway_ir::BinaryOp;
use std::collections::HashMap;

/// The maximum nesting of brackets and operators, including weaker operators around stronger ones.
const DEPTH_MAX: usize = 1000;

/// The maximum number of consecutive operators of one level, except associative ones.
const OPERATORS_MAX: usize = 200;

/// An expression over markings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MarkingQuery {
    pub(super) kind: MarkingQueryKind,
    pub(super) span: Span,
}

/// The kinds of such expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MarkingQueryKind {
    /// A number.
    Number(i64),
    /// The tokens of a place: of one colour, by the positions of its components, or of all colours.
    Tokens(usize, Option<Vec<u32>>),
    /// Whether a transition is enabled.
    Fireable(usize),
    /// Whether no transition is enabled.
    Deadlock,
    /// A negation.
    Not(Box<MarkingQuery>),
    /// Two operands, joined by an operator.
    Joined(BinaryOp, Box<MarkingQuery>, Box<MarkingQuery>),
}

impl MarkingQuery {
    /// Collects the classes whose values it names.
    pub(super) fn collect_classes(&self, net: &PetriNet, found: &mut Vec<ClassId>) {
        match &self.kind {
            MarkingQueryKind::Tokens(place, Some(_)) => found.extend(&net.places[*place].sort),
            MarkingQueryKind::Not(inner) => inner.collect_classes(net, found),
            MarkingQueryKind::Joined(_, left, right) => {
                left.collect_classes(net, found);
                right.collect_classes(net, found);
            }
            MarkingQueryKind::Number(_)
            | MarkingQueryKind::Tokens(..)
            | MarkingQueryKind::Fireable(_)
            | MarkingQueryKind::Deadlock => {}
        }
    }

    /// Returns whether it is boolean, not a number.
    fn is_boolean(&self) -> bool {
        match &self.kind {
            MarkingQueryKind::Fireable(_)
            | MarkingQueryKind::Deadlock
            | MarkingQueryKind::Not(_) => true,
            MarkingQueryKind::Joined(operator, ..) => {
                !matches!(operator, BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply)
            }
            MarkingQueryKind::Number(_) | MarkingQueryKind::Tokens(..) => false,
        }
    }

    fn need(self, is_truth: bool) -> PnmlResult<MarkingQuery> {
        match (self.is_boolean() == is_truth, is_truth) {
            (true, _) => Ok(self),
            (false, true) => {
                Err(Diagnostic::error(self.span, "this is a number, and is neither so nor not")
                    .help("compare it, as in `place > 0`"))
            }
            (false, false) => {
                Err(Diagnostic::error(self.span, "this is so or not, and is no number"))
            }
        }
    }
}

/// The numbers of the nodes of a net, by their names and by their ids.
pub(super) struct NodeIndex<'n> {
    net: &'n PetriNet,
    places: NodeKindIndex<'n>,
    transitions: NodeKindIndex<'n>,
}

/// The nodes of one kind.
struct NodeKindIndex<'n> {
    what: &'static str,
    by_name: HashMap<&'n str, usize>,
    by_id: HashMap<&'n str, usize>,
}

impl<'n> NodeIndex<'n> {
    pub(super) fn new(net: &'n PetriNet) -> Self {
        let places = net.places.iter().map(|it| (it.name.as_str(), it.id.as_str()));
        let transitions = net.transitions.iter().map(|it| (it.name.as_str(), it.id.as_str()));
        let (places, transitions) =
            (NodeKindIndex::of("place", places), NodeKindIndex::of("transition", transitions));
        NodeIndex { net, places, transitions }
    }
}

impl<'n> NodeKindIndex<'n> {
    fn of(what: &'static str, all: impl Iterator<Item = (&'n str, &'n str)> + Clone) -> Self {
        let by_name = all.clone().zip(0..).map(|((name, _), number)| (name, number)).collect();
        let by_id = all.zip(0..).map(|((_, id), number)| (id, number)).collect();
        NodeKindIndex { what, by_name, by_id }
    }

    /// Returns the number of the node of this name.
    fn find(&self, word: &str, at: Span) -> PnmlResult<usize> {
        let name = bare(word);
        let found = self.by_name.get(name).or_else(|| self.by_id.get(name));
        found.copied().ok_or_else(|| {
            let mut all: Vec<(&str, &usize)> =
                self.by_name.iter().map(|it| (*it.0, it.1)).collect();
            all.sort_unstable_by_key(|it| it.1);
            let names: Vec<&str> = all.into_iter().map(|it| it.0).collect();
            unknown_name(name, at, self.what, &names)
        })
    }
}

/// Parses an expression at a place of a text.
pub(super) fn parse(nodes: &NodeIndex<'_>, text: &str, span: Span) -> PnmlResult<MarkingQuery> {
    let (words, end) = words(&text[..span.end as usize], span.file);
    let at = words.partition_point(|it| it.span.start < span.start);
    let mut reader = MarkingQueryParser { nodes, words: &words, end, at, depth: 0 };
    let query = reader.level(0)?.need(true)?;
    let (at, found) = reader.next();
    let more = || format!("expected an operator or the end, found `{found}`");
    if found.is_empty() { Ok(query) } else { Err(Diagnostic::error(at, more())) }
}

/// The binary operators, weakest first.
const LEVELS: [&[(&str, BinaryOp)]; 6] = [
    &[("->", BinaryOp::Implies), ("imply", BinaryOp::Implies), ("<->", BinaryOp::Equal)],
    &[("||", BinaryOp::Or), ("or", BinaryOp::Or)],
    &[("&&", BinaryOp::And), ("and", BinaryOp::And)],
    &[
        ("==", BinaryOp::Equal),
        ("!=", BinaryOp::NotEqual),
        ("<=", BinaryOp::LessEqual),
        (">=", BinaryOp::GreaterEqual),
        ("<", BinaryOp::Less),
        (">", BinaryOp::Greater),
    ],
    &[("+", BinaryOp::Add), ("-", BinaryOp::Subtract)],
    &[("*", BinaryOp::Multiply)],
];

/// Returns whether operands can be joined in any order.
fn is_associative(operator: BinaryOp) -> bool {
    matches!(operator, BinaryOp::And | BinaryOp::Or | BinaryOp::Add | BinaryOp::Multiply)
}

/// The operators of this many first levels have boolean operands; those of the others have numbers.
const BOOLEAN_LEVELS: usize = 3;

struct MarkingQueryParser<'a> {
    nodes: &'a NodeIndex<'a>,
    words: &'a [FormulaWord],
    end: Span,
    at: usize,
    depth: usize,
}

impl<'a> MarkingQueryParser<'a> {
    /// Returns the next token without taking it, or an empty one at the end.
    fn next(&self) -> (Span, &'a str) {
        self.words.get(self.at).map_or((self.end, ""), |it| (it.span, &it.text))
    }

    fn take(&mut self) -> (Span, &'a str) {
        let next = self.next();
        self.at += 1;
        next
    }

    fn takes(&mut self, word: &str) -> bool {
        let is_there = self.next().1 == word;
        if is_there {
            self.take();
        }
        is_there
    }

    fn expect(&mut self, word: &str) -> PnmlResult<()> {
        match self.take() {
            (_, found) if found == word => Ok(()),
            (span, "") => Err(Diagnostic::error(span, format!("expected `{word}`, found the end"))),
            (span, found) => {
                Err(Diagnostic::error(span, format!("expected `{word}`, found `{found}`")))
            }
        }
    }

    fn level(&mut self, level: usize) -> PnmlResult<MarkingQuery> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            let error = "too much stands in each other here";
            return Err(Diagnostic::error(self.next().0, error));
        }
        let found = match LEVELS.get(level) {
            Some(operators) => self.binary_chain(level, operators),
            None => self.operand(),
        };
        self.depth -= 1;
        found
    }

    fn binary_chain(
        &mut self,
        level: usize,
        operators: &[(&str, BinaryOp)],
    ) -> PnmlResult<MarkingQuery> {
        let next = |reader: &MarkingQueryParser| {
            let word = reader.next().1;
            operators.iter().find(|it| it.0 == word).map(|it| it.1)
        };
        let mut left = self.level(level + 1)?;
        let mut count = 0;
        while let Some(operator) = next(self) {
            let mut operands = vec![left.need(level < BOOLEAN_LEVELS)?];
            // Operands of an associative operator form one balanced tree.
            while next(self) == Some(operator) && (is_associative(operator) || operands.len() < 2) {
                self.take();
                operands.push(self.level(level + 1)?.need(level < BOOLEAN_LEVELS)?);
            }
            count += 1;
            if count > OPERATORS_MAX {
                let error = format!("more than {OPERATORS_MAX} operators stand in a row here");
                return Err(
                    Diagnostic::error(self.next().0, error).help("put parts of them in brackets")
                );
            }
            let all = joined(operands, |one, other| {
                let span = one.span.to(other.span);
                MarkingQuery {
                    kind: MarkingQueryKind::Joined(operator, Box::new(one), Box::new(other)),
                    span,
                }
            });
            left = all.unwrap_or_else(|| unreachable!("there is a first operand"));
        }
        Ok(left)
    }

    fn operand(&mut self) -> PnmlResult<MarkingQuery> {
        let (span, word) = self.take();
        let kind = match word {
            "" => {
                return Err(Diagnostic::error(span, "expected a place or a number, found the end"));
            }
            "(" => {
                let inner = self.level(0)?;
                self.expect(")")?;
                return Ok(inner);
            }
            "!!" => return self.level(LEVELS.len())?.need(true),
            "!" | "not" => MarkingQueryKind::Not(Box::new(self.level(LEVELS.len())?.need(true)?)),
            "-" => self.negative(span)?,
            "true" | "false" => {
                let [one, other] = [1, i64::from(word == "true")];
                let number =
                    |it| Box::new(MarkingQuery { kind: MarkingQueryKind::Number(it), span });
                MarkingQueryKind::Joined(BinaryOp::Equal, number(one), number(other))
            }
            "fireable" if self.next().1 == "(" => {
                self.take();
                let (at, name) = self.take();
                let number = self.nodes.transitions.find(name, at)?;
                self.expect(")")?;
                MarkingQueryKind::Fireable(number)
            }
            "deadlock" if self.next().1 == "(" => {
                self.take();
                self.expect(")")?;
                MarkingQueryKind::Deadlock
            }
            "deadlock" if !self.nodes.places.by_name.contains_key(word) => {
                MarkingQueryKind::Deadlock
            }
            _ if is_number(word) => MarkingQueryKind::Number(number(word, span)?),
            _ => self.tokens(word, span)?,
        };
        Ok(MarkingQuery { kind, span: span.to(self.words[self.at - 1].span) })
    }

    /// Parses the operand of a minus sign, and negates it.
    fn negative(&mut self, span: Span) -> PnmlResult<MarkingQueryKind> {
        let (at, word) = self.next();
        if is_number(word) {
            self.take();
            return Ok(MarkingQueryKind::Number(-number(word, at)?));
        }
        let zero = MarkingQuery { kind: MarkingQueryKind::Number(0), span };
        let less = self.level(LEVELS.len())?.need(false)?;
        Ok(MarkingQueryKind::Joined(BinaryOp::Subtract, Box::new(zero), Box::new(less)))
    }

    fn tokens(&mut self, word: &str, span: Span) -> PnmlResult<MarkingQueryKind> {
        let net = self.nodes.net;
        let number = self.nodes.places.find(word, span)?;
        let sort = &net.places[number].sort;
        let mut parts = Vec::new();
        while self.takes("[") {
            let (at, value) = self.take();
            let Some(class) = sort.get(parts.len()).map(|it| &net.colours.classes[*it]) else {
                let error = format!(
                    "colours of `{}` have {}",
                    bare(word),
                    count(sort.len() as u64, "part")
                );
                return Err(Diagnostic::error(at, error));
            };
            let position = match &class.values {
                ClassValues::Names(names) => {
                    let names: Vec<&str> = names.iter().map(String::as_str).collect();
                    let found = names.iter().position(|it| *it == bare(value));
                    found.ok_or_else(|| unknown_name(bare(value), at, "value", &names))?
                }
                ClassValues::Range(low, high) => {
                    let number = value.parse::<i64>().ok().filter(|it| (low..=high).contains(&it));
                    let none = || {
                        Diagnostic::error(at, format!("`{}` has no value `{value}`", class.name))
                    };
                    (number.ok_or_else(none)? - low) as usize
                }
            };
            parts.push(position as u32);
            self.expect("]")?;
        }
        match (parts.len(), sort.len()) {
            (0, 1..) => Ok(MarkingQueryKind::Tokens(number, None)),
            (given, all) if given == all => Ok(MarkingQueryKind::Tokens(number, Some(parts))),
            (_, all) => {
                let error =
                    format!("colours of `{}` have {}", bare(word), count(all as u64, "part"));
                Err(Diagnostic::error(span, error)
                    .help("without any, the place is the tokens of all colours"))
            }
        }
    }
}

/// Returns a name without its quotes, if any.
fn bare(word: &str) -> &str {
    word.trim_matches('"')
}

/// Returns the error that no node of a kind has this name.
fn unknown_name(name: &str, at: Span, what: &str, names: &[&str]) -> Diagnostic {
    let error = Diagnostic::error(at, format!("there is no {what} `{name}`"));
    error.help(unknown_name_help(name, names, &format!("{what}s")))
}

fn is_number(word: &str) -> bool {
    word.starts_with(|it: char| it.is_ascii_digit())
}

/// Parses a number of tokens.
fn number(word: &str, span: Span) -> PnmlResult<i64> {
    let wrong = |_| Diagnostic::error(span, format!("`{word}` is no number of tokens"));
    word.parse().map_err(wrong)
}
