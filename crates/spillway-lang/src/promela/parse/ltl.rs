//! The parser of `ltl` properties of a model. It checks their syntax and keeps their text; a search checks a formula
//! only if it is the chosen property.

use super::{KEYWORDS, LtlProperty, PromelaParseResult, PromelaParser};
use crate::promela::ast::PromelaName;
use crate::promela::token::{PromelaToken, PromelaTokenKind};
use spillway_base::diag::Diagnostic;

/// The operators before an operand.
const PREFIXES: [&str; 10] = ["[]", "<>", "!", "!!", "-", "~", "X", "always", "eventually", "next"];
/// The binary operators that are words.
const INFIXES: [&str; 9] =
    ["U", "V", "W", "until", "weakuntil", "stronguntil", "release", "implies", "equivalent"];
/// The binary operators that are signs.
const SIGNS: [&str; 22] = [
    "<->", "/\\", "\\/", "||", "&&", "->", "|", "^", "&", "==", "!=", "<", ">", "<=", ">=", "<<",
    ">>", "+", "-", "*", "/", "%",
];
/// The maximum nesting of brackets and operators.
const DEPTH_MAX: usize = 200;

impl PromelaParser {
    /// Parses `ltl name { formula }`.
    pub(super) fn ltl(&mut self) -> PromelaParseResult<()> {
        let span = self.take().span;
        let name = match self.at_name() {
            true => self.name("a name")?,
            false => {
                let text = format!("ltl_{}", self.model.formulas.len()).into();
                PromelaName { text, span }
            }
        };
        if !self.at("{") {
            return self.unexpected("`{` before the formula");
        }
        let mut tokens = self.balanced("{", "}")?.split_off(1);
        // Semicolons may precede its end.
        while let [.., last, _] = tokens.as_slice()
            && last.is(";")
        {
            tokens.remove(tokens.len() - 2);
        }
        let words: Vec<String> =
            tokens[..tokens.len() - 1].iter().map(|token| token.kind.to_string()).collect();
        if words.is_empty() {
            return self.error(span, "this formula is empty");
        }
        if let Some(end) = tokens.last_mut() {
            end.kind = PromelaTokenKind::End;
        }
        self.model.formulas.push(LtlProperty { name, text: words.join(" "), tokens });
        Ok(())
    }

    /// Checks the formulas; they may refer to names declared after them.
    pub(super) fn formulas(&self) -> PromelaParseResult<()> {
        for formula in &self.model.formulas {
            let mut reader = LtlSyntaxChecker { parser: self, tokens: &formula.tokens, at: 0 };
            reader.formula(0)?;
            if reader.peek().kind != PromelaTokenKind::End {
                return reader.unexpected("an operator or the end of the formula");
            }
        }
        Ok(())
    }
}

struct LtlSyntaxChecker<'a> {
    parser: &'a PromelaParser,
    /// The tokens; at least the end token.
    tokens: &'a [PromelaToken],
    at: usize,
}

impl LtlSyntaxChecker<'_> {
    fn peek(&self) -> &PromelaToken {
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn accept(&mut self, text: &str) -> bool {
        let found = self.peek().is(text);
        self.at += usize::from(found);
        found
    }

    fn accept_any(&mut self, texts: &[&str]) -> bool {
        texts.iter().any(|text| self.accept(text))
    }

    fn expect(&mut self, text: &str) -> PromelaParseResult<()> {
        match self.accept(text) {
            true => Ok(()),
            false => self.unexpected(&format!("`{text}`")),
        }
    }

    fn unexpected<T>(&self, expected: &str) -> PromelaParseResult<T> {
        let found = match &self.peek().kind {
            PromelaTokenKind::End => "the end of the formula".to_owned(),
            kind => format!("`{kind}`"),
        };
        let error = format!("expected {expected}, found {found}");
        Err(Diagnostic::error(self.peek().span, error))
    }

    fn formula(&mut self, depth: usize) -> PromelaParseResult<()> {
        loop {
            self.operand(depth)?;
            if !self.accept_any(&SIGNS) && !self.accept_any(&INFIXES) {
                return Ok(());
            }
        }
    }

    fn operand(&mut self, depth: usize) -> PromelaParseResult<()> {
        if depth > DEPTH_MAX {
            return Err(Diagnostic::error(self.peek().span, "this formula is nested too deeply"));
        }
        if self.accept_any(&PREFIXES) {
            return self.operand(depth + 1);
        }
        if self.accept("(") {
            self.formula(depth + 1)?;
            if self.accept(":") {
                self.formula(depth + 1)?;
            }
            return self.expect(")");
        }
        match &self.peek().kind {
            PromelaTokenKind::Number(_) => {
                self.at += 1;
                Ok(())
            }
            PromelaTokenKind::Name(_) => self.named(depth),
            _ => self.unexpected("an operand"),
        }
    }

    /// Checks a variable, an expression about a process or a channel, or a predefined name.
    fn named(&mut self, depth: usize) -> PromelaParseResult<()> {
        let token = self.peek().clone();
        let name = token.name().map_or("", |name| name);
        self.at += 1;
        let model = &self.parser.model;
        let is_process = model.processes.iter().any(|process| &*process.name.text == name);
        let known = is_process
            || KEYWORDS.contains(&name)
            || name.starts_with('_')
            || self.parser.look_up(name).is_some()
            || model.symbols.constants.contains_key(name);
        if !known {
            return self.parser.no_variable(token.span, name);
        }
        loop {
            if self.accept("(") {
                self.formula(depth + 1)?;
                self.expect(")")?;
            } else if self.accept("[") {
                self.formula(depth + 1)?;
                while self.accept(",") {
                    self.formula(depth + 1)?;
                }
                self.expect("]")?;
            } else if self.accept_any(&[".", "@"]) || is_process && self.accept(":") {
                if self.peek().name().is_none() {
                    return self.unexpected("a name");
                }
                self.at += 1;
            } else if !self.accept_any(&["?", "??"]) {
                return Ok(());
            }
        }
    }
}
