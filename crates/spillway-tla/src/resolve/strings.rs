//! The order of strings.
//!
//! TLC numbers strings and identifiers together as it meets them, and orders strings and model values by these numbers:
//! first the values of the configuration, then the identifiers of the modules as they are parsed, then the strings of
//! the modules as they are analysed, each module after those that it needs.

use crate::config::{Config, ConfigValue};
use crate::modules::ModuleSet;
use crate::syntax::lexer::{tokenize, unescape};
use crate::syntax::token::TokenKind;
use spillway_base::source::SourceMap;
use std::collections::HashSet;

/// Strings in the order of their first appearance.
#[derive(Default)]
struct Order {
    strings: Vec<String>,
    seen: HashSet<String>,
}

impl Order {
    fn add(&mut self, text: &str) {
        if !self.seen.contains(text) {
            self.seen.insert(text.to_owned());
            self.strings.push(text.to_owned());
        }
    }

    fn add_value(&mut self, value: &ConfigValue) {
        match value {
            ConfigValue::String(text) => self.add(text),
            ConfigValue::ModelValue(name) => self.add(&name.text),
            ConfigValue::Set(items) => items.iter().for_each(|it| self.add_value(it)),
            ConfigValue::Boolean(_) | ConfigValue::Integer(_) => {}
        }
    }
}

/// Returns the strings of a specification in their order.
pub(super) fn ordered(set: &ModuleSet, config: &Config, sources: &SourceMap) -> Vec<String> {
    let mut order = Order::default();
    config.assignments.iter().for_each(|it| order.add_value(&it.value));
    let tokens: Vec<_> = set
        .modules
        .iter()
        .map(|it| {
            let text = sources.file(it.span.file).text.as_str();
            (text, tokenize(it.span.file, text, it.span.start as usize).unwrap_or_default())
        })
        .collect();
    for (text, tokens) in &tokens {
        for token in tokens.iter().filter(|it| it.kind == TokenKind::Identifier) {
            order.add(&text[token.span.start as usize..token.span.end as usize]);
        }
    }
    for (text, tokens) in set.order.iter().map(|&it| &tokens[it]) {
        for token in tokens.iter().filter(|it| it.kind == TokenKind::String) {
            order.add(&unescape(&text[token.span.start as usize..token.span.end as usize]));
        }
    }
    order.strings
}
