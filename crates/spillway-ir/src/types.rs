//! Types of variables.
//!
//! Every type consists of *scalars*: integers from a finite [`Domain`], which may also be undefined. Aggregates only
//! group scalars; the layout gives each scalar its bits. Symmetric domains (scalarsets, multisets) are separate
//! kinds, because symmetry reduction may permute their values (Ip and Dill, 1996).

use super::{EnumId, ScalarsetId, TypeId};

/// A type of variables, parameters and message fields.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// One integer.
    Scalar(ScalarType),
    /// An array of `length` elements, indexed from `low`.
    Array {
        /// The least index.
        low: i64,
        /// The number of elements.
        length: u32,
        /// The domain of the indices, if its values have names: a scalarset, an enumeration, a union of such, truth
        /// values.
        by: Option<Domain>,
        /// The type of each element.
        element: TypeId,
    },
    /// A record of named fields, in order.
    Record {
        /// The user's name for the type.
        name: String,
        /// The name and type of each field.
        fields: Vec<(String, TypeId)>,
    },
    /// A multiset of at most `capacity` elements. During a step, elements keep their positions: a new element takes
    /// the first free position, and a removal frees one. At the end of the step the elements are sorted, so that
    /// equal multisets are equal states.
    Multiset {
        /// The maximal number of elements.
        capacity: u32,
        /// The type of each element.
        element: TypeId,
    },
}

/// The type of a single integer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ScalarType {
    /// The possible values.
    pub domain: Domain,
    /// Whether it may also be undefined (Murphi), which needs one more code.
    pub undefined: bool,
}

impl ScalarType {
    /// Returns a scalar type that is always defined.
    pub fn defined(domain: Domain) -> Self {
        Self { domain, undefined: false }
    }
}

/// A finite set of integers with a meaning.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Domain {
    /// 0 is false, 1 is true.
    Bool,
    /// All integers from `low` to `high`, inclusive.
    Range {
        /// The least value.
        low: i64,
        /// The greatest value.
        high: i64,
    },
    /// The position of a name in an enumeration (Murphi `enum`, Promela `mtype`).
    Enum(EnumId),
    /// An element of a scalarset, numbered from 0.
    Scalarset(ScalarsetId),
    /// An element of one of several scalarsets or enumerations, numbered consecutively.
    Union(Vec<Domain>),
    /// The number of a channel, or 0 for none (Promela `chan` variables).
    Channel,
    /// The slot number of a process (Promela pids).
    Process,
}

impl Domain {
    /// Returns whether some of its values may be permuted.
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
    /// The user's name.
    pub name: String,
    /// The names of the values, in order.
    pub values: Vec<String>,
}

/// A scalarset: a set of identifiers that may be permuted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalarset {
    /// The user's name.
    pub name: String,
    /// The number of elements.
    pub size: u32,
}
