//! The table of operator symbols: spellings, fixity, precedence, associativity.
//!
//! An operator has a range of precedences, from "low" to "high", as in the tables of the language. Of two neighbouring
//! operators the one with the higher range binds first. If the ranges overlap, the operators must be the same one and
//! associate to the left; everything else needs parentheses.

/// The position of an operator relative to its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fixity {
    /// Before its operand.
    Prefix,
    /// Between its operands.
    Infix,
    /// After its operand.
    Postfix,
}

/// A row of the table.
struct Row {
    symbol: Symbol,
    /// The canonical spelling, by which modules define and use it.
    name: &'static str,
    fixity: Fixity,
    low: u8,
    high: u8,
    is_left_associative: bool,
    /// The other spellings.
    others: &'static [&'static str],
}

/// Defines the symbols from one table.
macro_rules! symbols {
    ($($symbol:ident $name:literal $fixity:ident $low:literal $high:literal $associativity:ident [$($other:literal)*];)*) => {
        /// An operator symbol.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Symbol {
            $(
                #[doc = concat!("`", $name, "`")]
                $symbol,
            )*
        }

        const ROWS: &[Row] = &[$(Row {
            symbol: Symbol::$symbol,
            name: $name,
            fixity: Fixity::$fixity,
            low: $low,
            high: $high,
            is_left_associative: symbols!(@ $associativity),
            others: &[$($other),*],
        },)*];
    };
    (@ left) => { true };
    (@ none) => { false };
}

symbols! {
    Prime "'" Postfix 150 150 none [];
    Caret "^" Infix 140 140 none [];
    Slash "/" Infix 130 130 none [];
    Asterisk "*" Infix 130 130 left [];
    Minus "-" Infix 110 110 left [];
    Negative "-." Prefix 120 120 none [];
    Plus "+" Infix 100 100 left [];
    Equals "=" Infix 50 50 none [];
    Not "\\lnot" Prefix 40 40 left ["~" "\\neg" "¬"];
    And "\\land" Infix 30 30 left ["/\\" "∧"];
    Or "\\lor" Infix 30 30 left ["\\/" "∨"];
    LeadsTo "~>" Infix 20 20 none ["↝"];
    Implies "=>" Infix 10 10 none ["⇒"];
    Always "[]" Prefix 40 150 none ["□"];
    Eventually "<>" Prefix 40 150 none ["◇"];
    Enabled "ENABLED" Prefix 40 150 none [];
    Unchanged "UNCHANGED" Prefix 40 150 none [];
    Powerset "SUBSET" Prefix 100 130 none [];
    BigUnion "UNION" Prefix 100 130 none [];
    Domain "DOMAIN" Prefix 100 130 none [];
    PlusPostfix "^+" Postfix 150 150 none ["⁺"];
    StarPostfix "^*" Postfix 150 150 none [];
    HashPostfix "^#" Postfix 150 150 none [];
    Cdot "\\cdot" Infix 50 140 left ["⋅"];
    Equivalent "\\equiv" Infix 20 20 none ["<=>" "≡" "⇔"];
    Guarantees "-+->" Infix 20 20 none ["⇸"];
    NotEquals "/=" Infix 50 50 none ["#" "≠"];
    Subseteq "\\subseteq" Infix 50 50 none ["⊆"];
    In "\\in" Infix 50 50 none ["∈"];
    NotIn "\\notin" Infix 50 50 none ["∉"];
    Less "<" Infix 50 50 none [];
    LessOrEqual "\\leq" Infix 50 50 none ["<=" "=<" "≤"];
    Greater ">" Infix 50 50 none [];
    GreaterOrEqual "\\geq" Infix 50 50 none [">=" "≥"];
    Times "\\times" Infix 100 130 left ["\\X" "×"];
    SetMinus "\\" Infix 80 80 none [];
    Intersect "\\intersect" Infix 80 80 left ["\\cap" "∩"];
    Union "\\union" Infix 80 80 left ["\\cup" "∪"];
    Dots3 "..." Infix 90 90 none ["…"];
    Dots2 ".." Infix 90 90 none ["‥"];
    Bar "|" Infix 100 110 left [];
    BarBar "||" Infix 100 110 left ["‖"];
    AmpersandAmpersand "&&" Infix 130 130 left [];
    Ampersand "&" Infix 130 130 left [];
    DollarDollar "$$" Infix 90 130 left [];
    Dollar "$" Infix 90 130 left [];
    QuestionQuestion "??" Infix 90 130 left ["⁇"];
    PercentPercent "%%" Infix 100 110 left [];
    Percent "%" Infix 100 110 none [];
    HashHash "##" Infix 90 130 left [];
    PlusPlus "++" Infix 100 100 left [];
    MinusMinus "--" Infix 110 110 left [];
    AsteriskAsterisk "**" Infix 130 130 left [];
    SlashSlash "//" Infix 130 130 none [];
    CaretCaret "^^" Infix 140 140 none [];
    AtAt "@@" Infix 60 60 left [];
    BangBang "!!" Infix 90 130 none ["‼"];
    RightTurnstile "|-" Infix 50 50 none ["⊢"];
    RightDoubleTurnstile "|=" Infix 50 50 none ["⊨"];
    LeftTurnstile "-|" Infix 50 50 none ["⊣"];
    LeftDoubleTurnstile "=|" Infix 50 50 none ["⫤"];
    LessColon "<:" Infix 70 70 none [];
    ColonGreater ":>" Infix 70 70 none [];
    Assign ":=" Infix 50 50 none ["≔"];
    BnfRule "::=" Infix 50 50 none ["⩴"];
    Oplus "\\oplus" Infix 100 100 left ["(+)" "⊕"];
    Ominus "\\ominus" Infix 110 110 left ["(-)" "⊖"];
    Odot "\\odot" Infix 130 130 left ["(.)" "⊙"];
    Oslash "\\oslash" Infix 130 130 none ["(/)" "⊘"];
    Otimes "\\otimes" Infix 130 130 left ["(\\X)" "⊗"];
    Uplus "\\uplus" Infix 90 130 left ["⊎"];
    Sqcap "\\sqcap" Infix 90 130 left ["⊓"];
    Sqcup "\\sqcup" Infix 90 130 left ["⊔"];
    Div "\\div" Infix 130 130 none ["÷"];
    Wr "\\wr" Infix 90 140 none ["≀"];
    Star "\\star" Infix 130 130 left ["⋆"];
    Concat "\\o" Infix 130 130 left ["\\circ" "∘"];
    Bigcirc "\\bigcirc" Infix 130 130 left ["◯"];
    Bullet "\\bullet" Infix 130 130 left ["●"];
    Prec "\\prec" Infix 50 50 none ["≺"];
    Succ "\\succ" Infix 50 50 none ["≻"];
    Preceq "\\preceq" Infix 50 50 none ["⪯"];
    Succeq "\\succeq" Infix 50 50 none ["⪰"];
    Sim "\\sim" Infix 50 50 none ["∼"];
    Simeq "\\simeq" Infix 50 50 none ["≃"];
    Ll "\\ll" Infix 50 50 none ["≪"];
    Gg "\\gg" Infix 50 50 none ["≫"];
    Asymp "\\asymp" Infix 50 50 none ["≍"];
    Subset "\\subset" Infix 50 50 none ["⊂"];
    Supset "\\supset" Infix 50 50 none ["⊃"];
    Supseteq "\\supseteq" Infix 50 50 none ["⊇"];
    Approx "\\approx" Infix 50 50 none ["≈"];
    Cong "\\cong" Infix 50 50 none ["≅"];
    Sqsubset "\\sqsubset" Infix 50 50 none ["⊏"];
    Sqsubseteq "\\sqsubseteq" Infix 50 50 none ["⊑"];
    Sqsupset "\\sqsupset" Infix 50 50 none ["⊐"];
    Sqsupseteq "\\sqsupseteq" Infix 50 50 none ["⊒"];
    Doteq "\\doteq" Infix 50 50 none ["≐"];
    Propto "\\propto" Infix 50 50 none ["∝"];
}

impl Symbol {
    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// Returns the canonical spelling.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns the fixity.
    pub fn fixity(self) -> Fixity {
        self.row().fixity
    }

    /// Returns the number of operands.
    pub fn arity(self) -> usize {
        if self.fixity() == Fixity::Infix { 2 } else { 1 }
    }

    /// Returns whether this operator, to the left, binds its right operand before `right` does.
    pub fn binds_before(self, right: Symbol) -> bool {
        let (left, right_row) = (self.row(), right.row());
        left.low > right_row.high || self == right && left.is_left_associative
    }

    /// Returns whether this operator, to the left, leaves the operand between to `right`.
    pub fn binds_after(self, right: Symbol) -> bool {
        self.row().high < right.row().low
    }

    /// Returns whether the precedence is above that of a symbol.
    pub fn is_above(self, other: Symbol) -> bool {
        self.row().low > other.row().high
    }

    /// Returns the symbol with a spelling.
    pub fn find(spelling: &str) -> Option<Symbol> {
        let mut rows = ROWS.iter();
        rows.find(|it| it.name == spelling || it.others.contains(&spelling)).map(|it| it.symbol)
    }

    /// Returns every spelling of every symbol.
    pub fn spellings() -> impl Iterator<Item = Spelling> {
        ROWS.iter().flat_map(|row| {
            let texts = std::iter::once(&row.name).chain(row.others);
            texts.map(|&text| Spelling { text, symbol: row.symbol })
        })
    }
}

/// A spelling of a symbol.
#[derive(Clone, Copy, Debug)]
pub struct Spelling {
    /// The text.
    pub text: &'static str,
    /// The symbol.
    pub symbol: Symbol,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn each_spelling_belongs_to_one_symbol() {
        let mut owners = HashMap::new();
        for Spelling { text, symbol } in Symbol::spellings() {
            assert_eq!(owners.insert(text, symbol), None, "{text}");
            assert_eq!(Symbol::find(text), Some(symbol));
        }
        for (index, row) in ROWS.iter().enumerate() {
            assert_eq!(row.symbol as usize, index);
            assert!(row.low <= row.high);
        }
    }

    #[test]
    fn precedence_is_a_range() {
        assert!(Symbol::Asterisk.binds_before(Symbol::Plus));
        assert!(Symbol::Plus.binds_before(Symbol::Plus));
        assert!(Symbol::Equals.binds_after(Symbol::Plus));
        for (left, right) in [(Symbol::And, Symbol::Or), (Symbol::Equals, Symbol::Equals)] {
            assert!(!left.binds_before(right) && !left.binds_after(right));
        }
    }
}
