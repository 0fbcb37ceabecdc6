//! Parser of formulas from words. Operators are SPIN's. From strongest to weakest: `[]`, `<>`, `X`, `!` and their
//! names; then `U`, `V`, `W` and `M`; then `&&`; then `||`; then `xor`; then `->` and `<->`. Binary operators
//! associate to the left.
//!
//! The text between operators is a proposition, an expression of the model's language. It contains all words up to
//! the next operator, including everything in brackets. A bracket encloses a part of the formula if its closing
//! bracket is followed by an operator or the end. Otherwise it belongs to a proposition, as in `(x + 1) % 2 == y`. A
//! `!` belongs to a proposition, too, if it precedes more than a reference: `!x == y` has its meaning in the
//! language.

use super::formula::{LtlConnective, LtlFormula};
use super::operators::{
    ALWAYS, AND_LEVEL, EVENTUALLY, IMPLIES_LEVEL, LEVELS, NEXT, NOT, OR_LEVEL, YIELDING,
    suggested_operator,
};
use super::words::FormulaWord;
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;
use spillway_base::trees::joined;
use std::ops::Range;

/// The spelling in a language of operators that formulas share with its expressions, in addition to SPIN's signs.
#[derive(Clone, Copy, Debug)]
pub struct FormulaSyntax {
    /// Negation.
    pub not: &'static [&'static str],
    /// Conjunction.
    pub and: &'static [&'static str],
    /// Disjunction.
    pub or: &'static [&'static str],
    /// Implication.
    pub implies: &'static [&'static str],
    /// Another tool's sign of equality, which is no operator here, with the sign of the language, such as `=` and
    /// `==`.
    pub equality: (&'static str, &'static str),
    /// Opening words, each with its closing words.
    pub brackets: &'static [(&'static str, &'static [&'static str])],
    /// The opening words of quantifiers, each with whether it is universal. The body follows `do`.
    pub quantifiers: &'static [(&'static str, bool)],
    /// Whether `a->b`, without blanks, is a reference.
    pub has_arrows: bool,
    /// Whether `(a -> b : c)` is an expression.
    pub has_conditionals: bool,
}

impl FormulaSyntax {
    /// The usual words.
    pub const WORDS: FormulaSyntax = FormulaSyntax {
        not: &["not"],
        and: &["and"],
        or: &["or"],
        implies: &["imply"],
        equality: ("=", "=="),
        brackets: &[],
        quantifiers: &[],
        has_arrows: false,
        has_conditionals: false,
    };
}

/// A formula, and the words of each of its propositions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedFormula {
    /// The formula. A [proposition](quantified_formula) replaces each quantified formula.
    pub formula: LtlFormula,
    /// The words of each proposition.
    pub propositions: Vec<Range<usize>>,
    /// For each proposition, the enclosing quantified formulas whose variables it names, the outermost first.
    pub enclosing: Vec<Vec<usize>>,
    /// The quantified formulas with temporal operators. Others are propositions.
    pub quantified: Vec<QuantifiedFormula>,
}

/// A formula that is quantified over variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuantifiedFormula {
    /// Whether the quantifier is universal.
    pub is_universal: bool,
    /// The words that declare the variables, including `do`.
    pub variables: Range<usize>,
    /// The quantified body.
    pub formula: LtlFormula,
}

/// The first number of the propositions for quantified formulas. No formula has this many propositions.
const QUANTIFIED: usize = 1 << 31;

/// Returns the number of the quantified formula of a proposition, if it represents one.
pub fn quantified_formula(proposition: usize) -> Option<usize> {
    proposition.checked_sub(QUANTIFIED)
}

/// The maximal nesting depth of brackets and operators.
const DEPTH_MAX: usize = 200;
/// The maximal length of a sequence of operators of one level, except conjunctions and disjunctions.
const IN_A_ROW_MAX: usize = 200;
/// The closing brackets.
const BRACKETS: [(&str, &[&str]); 3] = [("(", &[")"]), ("[", &["]"]), ("{", &["}"])];

/// Parses a formula. `end` is the position of its end. `is_name` returns whether the model has a name.
pub fn parse(
    words: &[FormulaWord],
    end: Span,
    spelling: &FormulaSyntax,
    is_name: &dyn Fn(&str) -> bool,
) -> Result<ParsedFormula, Diagnostic> {
    let brackets = BracketPairs::of(words, spelling);
    let (at, depth) = (0, 0);
    let (propositions, quantified, open) = (Vec::new(), Vec::new(), Vec::new());
    let mut reader = FormulaParser {
        words,
        end,
        spelling,
        is_name,
        brackets,
        at,
        depth,
        propositions,
        quantified,
        open,
    };
    reader.reject_unknown_operators()?;
    let formula = reader.level(0)?;
    if reader.at < words.len() {
        return reader.unexpected("an operator or the end of the formula");
    }
    let (propositions, enclosing) = reader.propositions.into_iter().unzip();
    Ok(ParsedFormula { formula, propositions, enclosing, quantified: reader.quantified })
}

/// The pairs of brackets.
struct BracketPairs {
    /// For each opening word, the position after its closing word, or after the end if there is none.
    behind: Vec<usize>,
    /// For each closing word, its opening word.
    opener: Vec<Option<usize>>,
}

impl BracketPairs {
    fn of(words: &[FormulaWord], spelling: &FormulaSyntax) -> BracketPairs {
        let all = || BRACKETS.iter().chain(spelling.brackets);
        let closing = |text: &str| all().find(|(open, _)| *open == text).map(|(_, close)| *close);
        let mut found =
            BracketPairs { behind: vec![0; words.len()], opener: vec![None; words.len()] };
        let mut open: Vec<(usize, &[&str])> = Vec::new();
        for (at, word) in words.iter().enumerate() {
            let text = word.text.as_str();
            if let Some(close) = closing(text) {
                found.behind[at] = words.len() + 1;
                open.push((at, close));
            } else if let Some((opener, _)) = open.pop_if(|(_, close)| close.contains(&text)) {
                found.behind[opener] = at + 1;
                found.opener[at] = Some(opener);
            }
        }
        found
    }

    fn closes(&self, at: usize) -> bool {
        self.opener.get(at).is_some_and(Option::is_some)
    }

    fn opens(&self, at: usize) -> bool {
        self.behind.get(at).is_some_and(|&behind| behind > 0)
    }
}

struct FormulaParser<'a> {
    words: &'a [FormulaWord],
    end: Span,
    spelling: &'a FormulaSyntax,
    is_name: &'a dyn Fn(&str) -> bool,
    brackets: BracketPairs,
    at: usize,
    depth: usize,
    /// The words of each proposition, and the quantified formulas around it.
    propositions: Vec<(Range<usize>, Vec<usize>)>,
    quantified: Vec<QuantifiedFormula>,
    /// The enclosing quantified formulas.
    open: Vec<usize>,
}

impl FormulaParser<'_> {
    fn text(&self, at: usize) -> Option<&str> {
        self.words.get(at).map(|it| it.text.as_str())
    }

    fn span(&self) -> Span {
        self.words.get(self.at).map_or(self.end, |it| it.span)
    }

    fn unexpected<T>(&self, expected: &str) -> Result<T, Diagnostic> {
        let found = match self.text(self.at) {
            None => "the end of the formula".to_owned(),
            Some(text) => format!("`{text}`"),
        };
        Err(Diagnostic::error(self.span(), format!("expected {expected}, found {found}")))
    }

    /// Returns the binary operator at a word, and its level.
    fn connective(&self, at: usize) -> Option<(usize, LtlConnective)> {
        let text = self.text(at)?;
        if self.is_part(at)
            || self.yields(text)
            || text == "->" && self.spelling.has_arrows && self.is_arrow(at)
        {
            return None;
        }
        let own = [
            (self.spelling.implies, (IMPLIES_LEVEL, LtlConnective::Implies)),
            (self.spelling.or, (OR_LEVEL, LtlConnective::Or)),
            (self.spelling.and, (AND_LEVEL, LtlConnective::And)),
        ];
        let own = own.into_iter().find(|(texts, _)| texts.contains(&text));
        own.map(|(_, found)| found).or_else(|| {
            LEVELS.iter().enumerate().find_map(|(level, all)| {
                let found = all.iter().find(|(sign, _)| *sign == text)?;
                Some((level, found.1))
            })
        })
    }

    /// Returns whether a `->` has no blanks around it.
    fn is_arrow(&self, at: usize) -> bool {
        let touches = |one: usize, other: usize| match (self.words.get(one), self.words.get(other))
        {
            (Some(one), Some(other)) => one.span.end == other.span.start,
            _ => false,
        };
        at > 0 && touches(at - 1, at) && touches(at, at + 1)
    }

    fn is_not(&self, at: usize) -> bool {
        self.text(at).is_some_and(|it| NOT.contains(&it) || self.spelling.not.contains(&it))
    }

    /// Returns whether a word names a part of the preceding word.
    fn is_part(&self, at: usize) -> bool {
        at > 0 && matches!(self.text(at - 1), Some("." | "@"))
    }

    /// Returns whether a possible operator is a name of the model.
    fn yields(&self, text: &str) -> bool {
        YIELDING.contains(&text) && (self.is_name)(text)
    }

    /// Returns the prefix operator at a word.
    fn prefix(&self, at: usize) -> Option<fn(Box<LtlFormula>) -> LtlFormula> {
        let text = self.text(at)?;
        if self.is_part(at) || self.yields(text) {
            None
        } else if ALWAYS.contains(&text) {
            Some(LtlFormula::Always)
        } else if EVENTUALLY.contains(&text) {
            Some(LtlFormula::Eventually)
        } else {
            NEXT.contains(&text).then_some(LtlFormula::Next)
        }
    }

    fn is_temporal(&self, at: usize) -> bool {
        self.prefix(at).is_some()
    }

    /// Rejects the first word that is an operator elsewhere but not here.
    fn reject_unknown_operators(&self) -> Result<(), Diagnostic> {
        for (at, word) in self.words.iter().enumerate() {
            let text = word.text.as_str();
            if self.is_part(at) || self.is_not(at) || self.connective(at).is_some() {
                continue;
            }
            let (unknown, equality) = self.spelling.equality;
            let help = match text {
                _ if text == unknown => format!("write `{equality}` to compare"),
                "&" | "|" if self.is_temporal(at + 1) || self.is_behind_temporal(at) => {
                    format!("write `{text}{text}`: `{text}` joins the bits of numbers")
                }
                _ if (self.is_name)(text) => continue,
                _ => match suggested_operator(text) {
                    Some(help) => help.to_owned(),
                    None => continue,
                },
            };
            let error = format!("`{text}` is no operator here");
            return Err(Diagnostic::error(word.span, error).help(help));
        }
        Ok(())
    }

    /// Returns whether a part in brackets with a temporal operator ends before a word.
    fn is_behind_temporal(&self, at: usize) -> bool {
        let opener = at.checked_sub(1).and_then(|close| self.brackets.opener[close]);
        opener.is_some_and(|open| (open..at).any(|it| self.is_temporal(it)))
    }

    /// Parses operands and operators of this level and stronger ones.
    fn level(&mut self, level: usize) -> Result<LtlFormula, Diagnostic> {
        if level == LEVELS.len() {
            return self.operand();
        }
        let mut left = self.level(level + 1)?;
        let mut operators = 0;
        while let Some((_, operator)) = self.connective(self.at).filter(|it| it.0 == level) {
            if matches!(operator, LtlConnective::And | LtlConnective::Or) {
                return self.junction(left, level, operator);
            }
            operators += 1;
            if operators > IN_A_ROW_MAX {
                let error = format!("this formula has more than {IN_A_ROW_MAX} operators in a row");
                return Err(Diagnostic::error(self.span(), error)
                    .help("put parts of it in brackets, or in formulas of their own"));
            }
            self.at += 1;
            left = LtlFormula::binary(operator, left, self.level(level + 1)?);
        }
        Ok(left)
    }

    /// Parses a conjunction or disjunction after its first operand. Builds a tree of minimal height, because
    /// recursions over formulas are as deep as the tree is high.
    fn junction(
        &mut self,
        first: LtlFormula,
        level: usize,
        operator: LtlConnective,
    ) -> Result<LtlFormula, Diagnostic> {
        let mut operands = vec![first];
        while self.connective(self.at).is_some_and(|it| it.0 == level) {
            self.at += 1;
            operands.push(self.level(level + 1)?);
        }
        let all = joined(operands, |left, right| LtlFormula::binary(operator, left, right));
        Ok(all.unwrap_or_else(|| unreachable!("there is a first operand")))
    }

    fn operand(&mut self) -> Result<LtlFormula, Diagnostic> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(Diagnostic::error(self.span(), "this formula is nested too deeply"));
        }
        let found = self.operand_here()?;
        self.depth -= 1;
        Ok(found)
    }

    fn operand_here(&mut self) -> Result<LtlFormula, Diagnostic> {
        let text = self.text(self.at).unwrap_or_default().to_owned();
        let prefix: Option<fn(Box<LtlFormula>) -> LtlFormula> = match text.as_str() {
            _ if self.is_temporal(self.at) => self.prefix(self.at),
            "!!" => Some(|it| LtlFormula::Not(Box::new(LtlFormula::Not(it)))),
            _ if self.is_not(self.at) && self.negates_formula() => Some(LtlFormula::Not),
            _ => None,
        };
        if let Some(make) = prefix {
            self.at += 1;
            return Ok(make(Box::new(self.operand()?)));
        }
        if let Some(is_universal) = self.quantifies_formula(self.at) {
            return self.quantified(is_universal);
        }
        if text == "(" && self.opens_formula(self.at) {
            self.at += 1;
            let inner = self.level(0)?;
            return match self.text(self.at) {
                Some(")") => {
                    self.at += 1;
                    Ok(inner)
                }
                _ => self.unexpected("`)` or an operator"),
            };
        }
        self.proposition()
    }

    /// Returns whether a quantifier of a formula with temporal operators begins at a word, and whether it is
    /// universal.
    fn quantifies_formula(&self, at: usize) -> Option<bool> {
        let text = self.text(at)?;
        let (_, is_universal) = self.spelling.quantifiers.iter().find(|it| it.0 == text)?;
        let is_temporal = |at: usize| {
            self.is_temporal(at) || self.connective(at).is_some_and(|it| it.1.is_temporal())
        };
        (at..self.behind_bracket(at)).any(is_temporal).then_some(*is_universal)
    }

    /// Parses a quantified formula.
    fn quantified(&mut self, is_universal: bool) -> Result<LtlFormula, Diagnostic> {
        let (from, behind) = (self.at, self.behind_bracket(self.at));
        let words = from..behind.min(self.words.len());
        let Some(before) = words.clone().find(|&at| self.text(at) == Some("do")) else {
            self.at = words.end;
            return self.unexpected("`do`");
        };
        if behind > self.words.len() {
            return Err(Diagnostic::error(self.span(), "this bracket is not closed"));
        }
        let number = self.quantified.len();
        let (variables, formula) = (from + 1..before + 1, LtlFormula::Constant(true));
        self.quantified.push(QuantifiedFormula { is_universal, variables, formula });
        self.open.push(number);
        self.at = before + 1;
        self.quantified[number].formula = self.level(0)?;
        self.open.pop();
        if self.at + 1 != behind {
            return self.unexpected("an operator or the end of what is quantified");
        }
        self.at = behind;
        Ok(LtlFormula::Proposition(QUANTIFIED + number))
    }

    /// Returns whether the negation at this position belongs to the formula: it precedes an operator, a part in
    /// brackets or a reference alone.
    fn negates_formula(&self) -> bool {
        let mut at = self.at + 1;
        while self.is_not(at) {
            at += 1;
        }
        if self.is_temporal(at) || self.text(at) == Some("(") {
            return self.is_temporal(at) || self.opens_formula(at);
        }
        if self.quantifies_formula(at).is_some() {
            return true;
        }
        let end = self.end_of_proposition(at);
        let mut links = at + 1;
        while links < end {
            match self.text(links) {
                Some("." | "@" | ":" | "->") => links += 2,
                Some("(" | "[") => links = self.behind_bracket(links),
                _ => return false,
            }
        }
        true
    }

    /// Returns whether the bracket at a position encloses a part of the formula.
    fn opens_formula(&self, at: usize) -> bool {
        let behind = self.behind_bracket(at);
        let ends = behind >= self.words.len()
            || self.connective(behind).is_some()
            || matches!(self.text(behind), Some(")" | "]"))
            || self.brackets.closes(behind)
            || self.is_temporal(behind);
        ends && !(self.spelling.has_conditionals && self.is_conditional(at))
    }

    /// Returns whether `(a -> b : c)` begins at a position.
    fn is_conditional(&self, open: usize) -> bool {
        let (mut at, mut arrow) = (open + 1, None);
        while at < self.words.len() {
            match self.text(at) {
                Some(")") => return false,
                Some("->") => arrow = Some(at),
                // The prefix of `:` in `process:variable` is one word.
                Some(":") if arrow.is_some_and(|arrow| arrow + 1 < at) => {
                    let between = arrow.unwrap_or(at) + 1..at;
                    return !between.into_iter().any(|at| self.is_temporal(at));
                }
                _ => {}
            }
            at = match self.text(at) {
                Some("(" | "[" | "{") => self.behind_bracket(at),
                _ => at + 1,
            };
        }
        false
    }

    /// Returns the position after the closing bracket, or after the end if there is none.
    fn behind_bracket(&self, open: usize) -> usize {
        self.brackets.behind[open]
    }

    /// Returns the end of the words of a proposition.
    fn end_of_proposition(&self, from: usize) -> usize {
        let mut at = from;
        while let Some(text) = self.text(at) {
            if self.brackets.opens(at) {
                at = self.behind_bracket(at);
            } else if matches!(text, ")" | "]" | "}")
                || self.brackets.closes(at)
                || self.connective(at).is_some()
                || at > from && self.is_temporal(at)
            {
                break;
            } else {
                at += 1;
            }
        }
        at
    }

    fn proposition(&mut self) -> Result<LtlFormula, Diagnostic> {
        let mut from = self.at;
        while self.is_not(from) {
            from += 1;
        }
        let end = self.end_of_proposition(from);
        if end == from {
            self.at = from;
            return self.unexpected("an operand");
        }
        if end > self.words.len() {
            let open = (self.at..self.words.len())
                .find(|&at| self.brackets.opens(at) && self.behind_bracket(at) > self.words.len());
            let place = open.map_or(self.end, |at| self.words[at].span);
            return Err(Diagnostic::error(place, "this bracket is not closed"));
        }
        let words = self.at..end;
        self.at = end;
        match self.text(words.start) {
            Some("true" | "1") if words.len() == 1 => return Ok(LtlFormula::Constant(true)),
            Some("false" | "0") if words.len() == 1 => return Ok(LtlFormula::Constant(false)),
            _ => {}
        }
        let texts = |range: &Range<usize>| {
            self.words[range.clone()].iter().map(|it| it.text.as_str()).collect::<Vec<_>>()
        };
        // The proposition depends on the variables that it names.
        let names = |formula: &&usize| {
            let variables = texts(&self.quantified[**formula].variables);
            texts(&words).iter().any(|it| variables.contains(it))
        };
        let enclosing: Vec<usize> = self.open.iter().filter(names).copied().collect();
        let is_same =
            |it: &(Range<usize>, Vec<usize>)| texts(&it.0) == texts(&words) && it.1 == enclosing;
        let known = self.propositions.iter().position(is_same);
        let number = known.unwrap_or(self.propositions.len());
        if known.is_none() {
            self.propositions.push((words, enclosing));
        }
        Ok(LtlFormula::Proposition(number))
    }
}
