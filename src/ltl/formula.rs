//! Formulas of linear temporal logic, as they are written.

use std::fmt;

/// A formula over propositions that are known by their numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Formula {
    /// Always true, or always false.
    Constant(bool),
    /// This proposition holds now.
    Proposition(usize),
    /// The operand does not hold.
    Not(Box<Formula>),
    /// It holds after one step (`X`).
    Next(Box<Formula>),
    /// It holds now or later (`<>`).
    Eventually(Box<Formula>),
    /// It holds now and ever after (`[]`).
    Always(Box<Formula>),
    /// An operator between two.
    Binary(Connective, Box<Formula>, Box<Formula>),
}

/// An operator between two formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Connective {
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

impl Connective {
    /// Whether it speaks of more than one state of a run.
    pub fn is_temporal(self) -> bool {
        match self {
            Connective::And
            | Connective::Or
            | Connective::Implies
            | Connective::Equivalent
            | Connective::Differ => false,
            Connective::Until
            | Connective::WeakUntil
            | Connective::Release
            | Connective::StrongRelease => true,
        }
    }

    /// How it is written.
    pub fn sign(self) -> &'static str {
        match self {
            Connective::And => "&&",
            Connective::Or => "||",
            Connective::Implies => "->",
            Connective::Equivalent => "<->",
            Connective::Differ => "xor",
            Connective::Until => "U",
            Connective::WeakUntil => "W",
            Connective::Release => "V",
            Connective::StrongRelease => "M",
        }
    }
}

impl Formula {
    /// Its negation.
    pub fn negated(self) -> Formula {
        Formula::Not(Box::new(self))
    }

    /// Two with an operator between them.
    pub fn binary(operator: Connective, left: Formula, right: Formula) -> Formula {
        Formula::Binary(operator, Box::new(left), Box::new(right))
    }

    /// Whether it speaks of the next step, so that it may count steps.
    pub fn has_next(&self) -> bool {
        match self {
            Formula::Constant(_) | Formula::Proposition(_) => false,
            Formula::Next(_) => true,
            Formula::Not(it) | Formula::Eventually(it) | Formula::Always(it) => it.has_next(),
            Formula::Binary(_, left, right) => left.has_next() || right.has_next(),
        }
    }

    /// The same, with what is written for each proposition.
    pub fn with_names<'f>(&'f self, names: &'f [String]) -> impl fmt::Display + 'f {
        Named { formula: self, names }
    }
}

struct Named<'f> {
    formula: &'f Formula,
    names: &'f [String],
}

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |formula| Named { formula, names: self.names };
        match self.formula {
            Formula::Constant(value) => write!(f, "{value}"),
            Formula::Proposition(number) => match self.names.get(*number) {
                Some(name) if name.chars().all(|it| it.is_alphanumeric() || it == '_') => {
                    f.write_str(name)
                }
                Some(name) => write!(f, "({name})"),
                None => write!(f, "p{number}"),
            },
            Formula::Not(it) => write!(f, "!{}", named(it)),
            Formula::Next(it) => write!(f, "X {}", named(it)),
            Formula::Eventually(it) => write!(f, "<>{}", named(it)),
            Formula::Always(it) => write!(f, "[]{}", named(it)),
            Formula::Binary(operator, left, right) => {
                write!(f, "({} {} {})", named(left), operator.sign(), named(right))
            }
        }
    }
}
