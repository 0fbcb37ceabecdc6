//! Kinds of values, and a finite set of values of each kind.

use super::Choices;

/// The strings of all models, in the order of their first appearance in each module.
pub const STRINGS: [&str; 3] = ["b", "a", "c"];

/// The names of record fields, in the order of their first appearance in each module.
pub const FIELDS: [&str; 3] = ["g", "f", "h"];

/// The model values.
pub const MODEL_VALUES: [&str; 3] = ["m2", "m1", "m3"];

/// The maximum length of the sequences that a quantifier ranges over.
const LENGTH_MAX: u32 = 2;

/// A kind of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    Integer,
    Boolean,
    Text,
    Model,
    Set(Box<Kind>),
    Function(Box<Kind>, Box<Kind>),
    Tuple(Vec<Kind>),
    /// The kinds of the first fields of [`FIELDS`].
    Record(Vec<Kind>),
    Sequence(Box<Kind>),
}

impl Kind {
    /// Chooses a kind whose domain has at most `size_max` values.
    pub fn choose(choices: &mut Choices, size_max: usize) -> Self {
        let kind = Self::choose_any(choices, 2);
        if kind.size() <= size_max { kind } else { Self::choose_scalar(choices) }
    }

    /// Chooses a kind of values without parts.
    pub fn choose_scalar(choices: &mut Choices) -> Self {
        match choices.weighted(&[4, 2, 2, 2]) {
            0 => Self::Integer,
            1 => Self::Boolean,
            2 => Self::Text,
            _ => Self::Model,
        }
    }

    fn choose_any(choices: &mut Choices, depth: u32) -> Self {
        if depth == 0 {
            return Self::choose_scalar(choices);
        }
        let inner = |choices: &mut Choices| Self::choose_any(choices, depth - 1);
        match choices.weighted(&[6, 4, 4, 2, 3, 3]) {
            0 => Self::choose_scalar(choices),
            1 => Self::Set(Box::new(inner(choices))),
            2 => Self::Function(Box::new(Self::choose_scalar(choices)), Box::new(inner(choices))),
            3 => Self::Tuple((0..2 + choices.below(2)).map(|_| inner(choices)).collect()),
            4 => Self::Record((0..1 + choices.below(3)).map(|_| inner(choices)).collect()),
            _ => Self::Sequence(Box::new(inner(choices))),
        }
    }

    /// Returns the number of values in the domain.
    pub fn size(&self) -> usize {
        match self {
            Self::Boolean => 2,
            Self::Integer | Self::Text | Self::Model => 3,
            Self::Set(of) => power(2, of.size()),
            Self::Function(from, to) => power(to.size(), from.size()),
            Self::Tuple(parts) | Self::Record(parts) => {
                parts.iter().fold(1, |product, it| product.saturating_mul(it.size()))
            }
            Self::Sequence(of) => (0..=LENGTH_MAX as usize)
                .fold(0, |sum, it| power(of.size(), it).saturating_add(sum)),
        }
    }

    /// Returns an expression for the domain, a finite set.
    pub fn domain(&self) -> String {
        match self {
            Self::Integer => "(0 .. 2)".to_owned(),
            Self::Boolean => "BOOLEAN".to_owned(),
            Self::Text => format!("{{{}}}", STRINGS.map(|it| format!("\"{it}\"")).join(", ")),
            Self::Model => "M".to_owned(),
            Self::Set(of) => format!("(SUBSET {})", of.domain()),
            Self::Function(from, to) => format!("[{} -> {}]", from.domain(), to.domain()),
            Self::Tuple(parts) => {
                let parts: Vec<String> = parts.iter().map(Self::domain).collect();
                format!("({})", parts.join(" \\X "))
            }
            Self::Record(fields) => {
                let named = FIELDS.iter().zip(fields);
                let fields: Vec<String> =
                    named.map(|(name, kind)| format!("{name} : {}", kind.domain())).collect();
                format!("[{}]", fields.join(", "))
            }
            Self::Sequence(of) => format!("Sequences({}, {LENGTH_MAX})", of.domain()),
        }
    }
}

fn power(base: usize, exponent: usize) -> usize {
    base.saturating_pow(exponent.min(u32::MAX as usize) as u32)
}
