//! Formulas of linear temporal logic. They are kept as text: what they mean concerns infinite
//! runs, which a search for safety does not judge.

use super::{Formula, Parsed, Parser};
use crate::front::promela::ast::Name;

impl Parser {
    /// `ltl name { formula }`.
    pub(super) fn ltl(&mut self) -> Parsed<()> {
        let span = self.take().span;
        let name = match self.at_name() {
            true => self.name("a name")?,
            false => {
                let text = format!("ltl_{}", self.model.formulas.len()).into();
                Name { text, span }
            }
        };
        if !self.at("{") {
            return self.unexpected("`{` before the formula");
        }
        let tokens = self.balanced("{", "}")?;
        let words: Vec<String> =
            tokens[1..tokens.len() - 1].iter().map(|token| token.kind.to_string()).collect();
        if words.is_empty() {
            return self.error(span, "this formula is empty");
        }
        self.model.formulas.push(Formula { name, text: words.join(" ") });
        Ok(())
    }
}
