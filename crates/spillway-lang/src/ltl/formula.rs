//! Formulas of linear temporal logic, as written.

use std::fmt;

/// A formula over numbered propositions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LtlFormula {
    /// True or false.
    Constant(bool),
    /// The proposition holds now.
    Proposition(usize),
    /// The operand does not hold.
    Not(Box<LtlFormula>),
    /// The operand holds after one step (`X`).
    Next(Box<LtlFormula>),
    /// The operand holds now or later (`<>`).
    Eventually(Box<LtlFormula>),
    /// The operand holds now and always later (`[]`).
    Always(Box<LtlFormula>),
    /// A binary operator.
    Binary(LtlConnective, Box<LtlFormula>, Box<LtlFormula>),
}

/// A binary operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LtlConnective {
    /// Both operands hold.
    And,
    /// At least one operand holds.
    Or,
    /// The second operand holds if the first one does.
    Implies,
    /// Both operands hold, or neither.
    Equivalent,
    /// Exactly one operand holds (`xor`).
    Differ,
    /// The second operand holds now or later, and the first one until then (`U`).
    Until,
    /// Like `U`, but the first operand may also hold for ever (`W`).
    WeakUntil,
    /// The second operand holds until both do, or for ever (`V`).
    Release,
    /// The second operand holds until both do, and both do at some time (`M`).
    StrongRelease,
}

impl LtlConnective {
    /// Returns whether the operator is temporal.
    pub fn is_temporal(self) -> bool {
        match self {
            LtlConnective::And
            | LtlConnective::Or
            | LtlConnective::Implies
            | LtlConnective::Equivalent
            | LtlConnective::Differ => false,
            LtlConnective::Until
            | LtlConnective::WeakUntil
            | LtlConnective::Release
            | LtlConnective::StrongRelease => true,
        }
    }

    /// Returns the sign of the operator.
    pub fn sign(self) -> &'static str {
        match self {
            LtlConnective::And => "&&",
            LtlConnective::Or => "||",
            LtlConnective::Implies => "->",
            LtlConnective::Equivalent => "<->",
            LtlConnective::Differ => "xor",
            LtlConnective::Until => "U",
            LtlConnective::WeakUntil => "W",
            LtlConnective::Release => "V",
            LtlConnective::StrongRelease => "M",
        }
    }
}

impl LtlFormula {
    /// Returns the negation.
    pub fn negated(self) -> LtlFormula {
        LtlFormula::Not(Box::new(self))
    }

    /// Returns a formula with a binary operator.
    pub fn binary(operator: LtlConnective, left: LtlFormula, right: LtlFormula) -> LtlFormula {
        LtlFormula::Binary(operator, Box::new(left), Box::new(right))
    }

    /// Returns whether the formula has a next operator, so that it may count steps.
    pub fn has_next(&self) -> bool {
        match self {
            LtlFormula::Constant(_) | LtlFormula::Proposition(_) => false,
            LtlFormula::Next(_) => true,
            LtlFormula::Not(it) | LtlFormula::Eventually(it) | LtlFormula::Always(it) => {
                it.has_next()
            }
            LtlFormula::Binary(_, left, right) => left.has_next() || right.has_next(),
        }
    }

    /// Returns the formula for display, with the texts of the propositions.
    pub fn with_names<'f>(&'f self, names: &'f [String]) -> impl fmt::Display + 'f {
        NamedFormula { formula: self, names }
    }
}

struct NamedFormula<'f> {
    formula: &'f LtlFormula,
    names: &'f [String],
}

impl fmt::Display for NamedFormula<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |formula| NamedFormula { formula, names: self.names };
        match self.formula {
            LtlFormula::Constant(value) => write!(f, "{value}"),
            LtlFormula::Proposition(number) => match self.names.get(*number) {
                Some(name) if name.chars().all(|it| it.is_alphanumeric() || it == '_') => {
                    f.write_str(name)
                }
                Some(name) => write!(f, "({name})"),
                None => write!(f, "p{number}"),
            },
            LtlFormula::Not(it) => write!(f, "!{}", named(it)),
            LtlFormula::Next(it) => write!(f, "X {}", named(it)),
            LtlFormula::Eventually(it) => write!(f, "<>{}", named(it)),
            LtlFormula::Always(it) => write!(f, "[]{}", named(it)),
            LtlFormula::Binary(operator, left, right) => {
                write!(f, "({} {} {})", named(left), operator.sign(), named(right))
            }
        }
    }
}
