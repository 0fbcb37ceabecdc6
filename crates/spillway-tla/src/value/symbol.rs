//! Symbols: texts as small integers that are ordered as TLC orders strings.
//!
//! TLC numbers texts by their first appearance: in the configuration, then in the modules. A [`SymbolTable`] does the
//! same while the front end reads the texts. Strings that only evaluation makes (`ToString`, `\o` on strings) are
//! *computed* symbols: they follow all others and are ordered by their text, so that the order does not depend on which
//! thread computes which string first.

use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::sync::{LazyLock, RwLock};

/// The flag of a computed symbol. The other bits are its index in [`COMPUTED`].
const COMPUTED_BIT: u32 = 1 << 31;

/// The text of a string or a name. Equal texts of one specification are equal symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Symbol(u32);

impl Symbol {
    /// Returns the number of the symbol in the order of first appearance, or nothing if evaluation computed the text.
    pub fn number(self) -> Option<u32> {
        (self.0 & COMPUTED_BIT == 0).then_some(self.0)
    }

    /// Returns the text if evaluation computed it.
    pub fn computed_text(self) -> Option<&'static str> {
        if self.0 & COMPUTED_BIT == 0 {
            return None;
        }
        let texts = COMPUTED.read().unwrap_or_else(|it| it.into_inner());
        texts.texts.get((self.0 & !COMPUTED_BIT) as usize).copied()
    }
}

impl Ord for Symbol {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.0 & other.0 & COMPUTED_BIT != 0 && self.0 != other.0 {
            return self.computed_text().cmp(&other.computed_text());
        }
        self.0.cmp(&other.0)
    }
}

impl PartialOrd for Symbol {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The texts that evaluation computed. They live as long as the process.
#[derive(Default)]
struct ComputedTexts {
    texts: Vec<&'static str>,
    indices: FxHashMap<&'static str, u32>,
}

/// The computed texts of all specifications of the process.
static COMPUTED: LazyLock<RwLock<ComputedTexts>> = LazyLock::new(RwLock::default);

/// The texts of a specification, numbered by first appearance.
#[derive(Clone, Debug, Default)]
pub struct SymbolTable {
    texts: Vec<Box<str>>,
    indices: FxHashMap<Box<str>, u32>,
}

impl SymbolTable {
    /// Returns the symbol of a text. A new text gets the next number.
    pub fn intern(&mut self, text: &str) -> Symbol {
        if let Some(index) = self.indices.get(text) {
            return Symbol(*index);
        }
        let index = u32::try_from(self.texts.len()).expect("fewer texts than 2^31");
        assert!(index < COMPUTED_BIT, "fewer texts than 2^31");
        self.texts.push(text.into());
        self.indices.insert(text.into(), index);
        Symbol(index)
    }

    /// Returns the symbol of a text, if it has one of this table.
    pub fn find(&self, text: &str) -> Option<Symbol> {
        self.indices.get(text).map(|it| Symbol(*it))
    }

    /// Returns the symbol of a text that evaluation computed. The table must be complete: a text that it gets later
    /// would be another symbol.
    pub fn computed(&self, text: &str) -> Symbol {
        if let Some(symbol) = self.find(text) {
            return symbol;
        }
        let mut computed = COMPUTED.write().unwrap_or_else(|it| it.into_inner());
        if let Some(index) = computed.indices.get(text) {
            return Symbol(index | COMPUTED_BIT);
        }
        let index = u32::try_from(computed.texts.len()).expect("fewer texts than 2^31");
        let text: &'static str = Box::leak(text.into());
        computed.texts.push(text);
        computed.indices.insert(text, index);
        Symbol(index | COMPUTED_BIT)
    }

    /// Returns the text of a symbol of this table.
    pub fn text(&self, symbol: Symbol) -> &str {
        match symbol.computed_text() {
            Some(text) => text,
            None => &self.texts[symbol.0 as usize],
        }
    }

    /// Returns the symbol with this number.
    pub fn symbol(&self, number: u32) -> Option<Symbol> {
        ((number as usize) < self.texts.len()).then_some(Symbol(number))
    }

    /// Returns the count of numbered texts.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Returns whether the table has no text.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }
}
