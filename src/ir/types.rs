//! What a variable can hold.
//!
//! Every type comes down to *scalars*: integers from a finite [`Domain`], some of them possibly
//! undefined. Aggregates only say how scalars are grouped; the layout gives each scalar its bits.
//! Symmetric domains (scalarsets, multisets) are kept as such, because symmetry reduction needs to
//! know that their values may be permuted (Ip and Dill, 1996).

use super::{EnumId, ScalarsetId, TypeId};

/// A type of variables, parameters and message fields.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// One integer.
    Scalar(ScalarType),
    /// `length` elements, indexed from `low`.
    Array {
        /// The least index.
        low: i64,
        /// The number of elements.
        length: u32,
        /// What its elements are called by, where that has names: a scalarset, an enumeration, a union of such, truth
        /// values.
        by: Option<Domain>,
        /// The type of each element.
        element: TypeId,
    },
    /// Named fields, in order.
    Record {
        /// The user's name for the type.
        name: String,
        /// Name and type of each field.
        fields: Vec<(String, TypeId)>,
    },
    /// An unordered bag of at most `capacity` elements. While a step runs they keep their
    /// positions: what is added takes the first free one, what is removed leaves its own free.
    /// When it ends they are sorted, so that equal bags are equal states.
    Multiset {
        /// The most elements it can hold.
        capacity: u32,
        /// The type of each element.
        element: TypeId,
    },
}

/// A single integer and what it may be.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ScalarType {
    /// The values it may take.
    pub domain: Domain,
    /// Whether it may also be undefined (Murphi), which costs one more code.
    pub undefined: bool,
}

impl ScalarType {
    /// A scalar that always has a value.
    pub fn defined(domain: Domain) -> Self {
        Self { domain, undefined: false }
    }
}

/// A finite set of integers with a meaning.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Domain {
    /// 0 is false, 1 is true.
    Bool,
    /// All integers from `low` to `high`, both included.
    Range {
        /// The least value.
        low: i64,
        /// The greatest value.
        high: i64,
    },
    /// The position of a name in an enumeration (Murphi `enum`, Promela `mtype`).
    Enum(EnumId),
    /// One of interchangeable identities, numbered from 0.
    Scalarset(ScalarsetId),
    /// One of several scalarsets or enumerations, numbered one after the other.
    Union(Vec<Domain>),
    /// A channel number, as a value, or 0 for none (Promela `chan` variables).
    Channel,
    /// A process slot number (Promela pids).
    Process,
}

impl Domain {
    /// Whether some of its values are interchangeable.
    pub fn is_permuted(&self) -> bool {
        match self {
            Domain::Scalarset(_) => true,
            Domain::Union(parts) => parts.iter().any(Domain::is_permuted),
            Domain::Bool
            | Domain::Range { .. }
            | Domain::Enum(_)
            | Domain::Channel
            | Domain::Process => false,
        }
    }
}

/// An enumeration: a name for each value from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnumType {
    /// The user's name for it.
    pub name: String,
    /// The names of the values, in order.
    pub values: Vec<String>,
}

/// A set of interchangeable identities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalarset {
    /// The user's name for it.
    pub name: String,
    /// How many there are.
    pub size: u32,
}
