//! The order of strings.
//!
//! TLC numbers strings and identifiers together, each at its first appearance. It orders strings and model values by
//! these numbers. It meets them in this order:
//!
//! 1. the values of the configuration;
//! 2. the identifiers of the modules, in the order in which it parses the modules;
//! 3. the strings of the modules, in the order in which it analyses them: a module after those that it needs.
//!
//! TLC parses the root first. It then parses the modules that are extended, breadth first: all modules that a module
//! extends come before those that these extend. Instantiated modules come last. TLC adds a module to those that the
//! root extends.

use super::standard_texts::{ADDED_MODULE, ADDED_STRINGS, STANDARD_TEXTS, StandardText};
use crate::config::{Config, ConfigValue};
use crate::modules::ModuleSet;
use crate::syntax::lexer::{tokenize, unescape};
use crate::syntax::token::{Token, TokenKind};
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
    let texts: Vec<ModuleTokens<'_>> = set
        .modules
        .iter()
        .map(|it| {
            let text = sources.file(it.span.file).text.as_str();
            let tokens = tokenize(it.span.file, text, it.span.start as usize).unwrap_or_default();
            ModuleTokens { text, tokens }
        })
        .collect();
    for name in parse_order(set) {
        order.add(name);
        match (set.index(name), standard(name)) {
            (Some(index), _) => texts[index].of_kind(TokenKind::Identifier, |it| order.add(it)),
            (None, Some(it)) => it.identifiers.split(' ').for_each(|it| order.add(it)),
            (None, None) => {}
        }
    }
    for &index in &set.order {
        if Some(index) == set.index(&set.root().name.text) {
            ADDED_STRINGS.iter().for_each(|it| order.add(it));
        }
        texts[index].of_kind(TokenKind::String, |it| order.add(&unescape(it)));
    }
    order.strings
}

/// The tokens of a module.
struct ModuleTokens<'t> {
    text: &'t str,
    tokens: Vec<Token>,
}

impl ModuleTokens<'_> {
    /// Calls a function for the text of each token of a kind.
    fn of_kind(&self, kind: TokenKind, mut call: impl FnMut(&str)) {
        for token in self.tokens.iter().filter(|it| it.kind == kind) {
            call(&self.text[token.span.start as usize..token.span.end as usize]);
        }
    }
}

fn standard(name: &str) -> Option<&'static StandardText> {
    STANDARD_TEXTS.iter().find(|it| it.name == name)
}

/// Returns the names of the modules that a module extends.
fn extended<'s>(set: &'s ModuleSet, name: &str) -> Vec<&'s str> {
    match (set.index(name), standard(name)) {
        (Some(index), _) => {
            let extends = set.needs[index].extends.iter().map(|it| &*it.text);
            let is_root = name == &*set.root().name.text;
            extends.chain(is_root.then_some(ADDED_MODULE)).collect()
        }
        (None, Some(it)) => it.extends.to_vec(),
        (None, None) => Vec::new(),
    }
}

/// Returns the names of the modules that a module instantiates.
fn instantiated<'s>(set: &'s ModuleSet, name: &str) -> Vec<&'s str> {
    match (set.index(name), standard(name)) {
        (Some(index), _) => set.needs[index].instances.iter().map(|it| &*it.text).collect(),
        (None, Some(it)) => it.instances.to_vec(),
        (None, None) => Vec::new(),
    }
}

/// Returns the names of the modules in the order in which TLC parses them.
fn parse_order(set: &ModuleSet) -> Vec<&str> {
    let mut parsed: Vec<&str> = vec![&set.root().name.text];
    loop {
        let root = parsed[0];
        let mut search = Search { set, parsed: &parsed, visited: HashSet::new() };
        let mut next = search.extension(root);
        if next.is_none() {
            search.visited.clear();
            next = search.instantiation(root);
        }
        match next {
            Some(name) => parsed.push(name),
            None => return parsed,
        }
    }
}

/// The search for the next module to parse.
struct Search<'s, 'p> {
    set: &'s ModuleSet,
    parsed: &'p [&'s str],
    visited: HashSet<&'s str>,
}

impl<'s> Search<'s, '_> {
    fn extension(&mut self, name: &'s str) -> Option<&'s str> {
        if !self.visited.insert(name) {
            return None;
        }
        let (extended, instantiated) = (extended(self.set, name), instantiated(self.set, name));
        if let Some(next) = extended.iter().find(|it| !self.parsed.contains(it)) {
            return Some(next);
        }
        let instantiated = instantiated.into_iter().filter(|it| self.parsed.contains(it));
        extended.into_iter().chain(instantiated).find_map(|it| self.extension(it))
    }

    fn instantiation(&mut self, name: &'s str) -> Option<&'s str> {
        if !self.visited.insert(name) {
            return None;
        }
        let (extended, instantiated) = (extended(self.set, name), instantiated(self.set, name));
        if let Some(next) = instantiated.iter().find(|it| !self.parsed.contains(it)) {
            return Some(next);
        }
        extended.into_iter().chain(instantiated).find_map(|it| self.instantiation(it))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modules::{SearchPath, load_text};

    #[test]
    fn strings_follow_the_identifiers_of_all_modules() {
        let text = "---- MODULE M ----\nEXTENDS Naturals\nzeta == \"b\"\nf == {\"x\", \"a\", \"zeta\"}\n====";
        let (mut sources, search) = (SourceMap::default(), SearchPath::default());
        let set = load_text("M.tla", text, &search, &mut sources).unwrap();
        let file = sources.add("M.cfg", "CONSTANT C = {m2, \"s\", m1}");
        let config = crate::config::parse(file, &sources.file(file).text).unwrap();
        let strings = ordered(&set, &config, &sources);
        let place = |text: &str| strings.iter().position(|it| it == text).unwrap();
        // The configuration, the root's identifiers, those of Naturals, the strings.
        let expected = ["m2", "s", "m1", "zeta", "a", "b", "x"];
        assert!(expected.is_sorted_by_key(|it| place(it)), "{strings:?}");
    }
}
