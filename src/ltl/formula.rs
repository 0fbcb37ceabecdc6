//! Formulas of linear temporal logic, as they are written.

use std::fmt;

/// A formula over propositions that are known by their numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LtlFormula {
    /// Always true, or always false.
    Constant(bool),
    /// This proposition holds now.
    Proposition(usize),
    /// The operand does not hold.
    Not(Box<LtlFormula>),
    /// It holds after one step (`X`).
    Next(Box<LtlFormula>),
    /// It holds now or later (`<>`).
    Eventually(Box<LtlFormula>),
    /// It holds now and ever after (`[]`).
    Always(Box<LtlFormula>),
    /// An operator between two.
    Binary(LtlConnective, Box<LtlFormula>, Box<LtlFormula>),
}

/// An operator between two formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LtlConnective {
    /// Both hold.
    And,
    /// One holds.
    Or,
    /// The second holds if the first does.
    Implies,
    /// Both hold, or neither.
    Equivalent,
    /// One holds, and not both (`xor`).
    Differ,
    /// The second holds now or later, and until then the first (`U`).
    Until,
    /// The same, or the first holds for ever (`W`).
    WeakUntil,
    /// The second holds until both do, or for ever (`V`).
    Release,
    /// The second holds until both do, and both do at some time (`M`).
    StrongRelease,
}

impl LtlConnective {
    /// Whether it speaks of more than one state of a run.
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

    /// How it is written.
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
    /// Its negation.
    pub fn negated(self) -> LtlFormula {
        LtlFormula::Not(Box::new(self))
    }

    /// Two with an operator between them.
    pub fn binary(operator: LtlConnective, left: LtlFormula, right: LtlFormula) -> LtlFormula {
        LtlFormula::Binary(operator, Box::new(left), Box::new(right))
    }

    /// Whether it speaks of the next step, so that it may count steps.
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

    /// The same, with what is written for each proposition.
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
