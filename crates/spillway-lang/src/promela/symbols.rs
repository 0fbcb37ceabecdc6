//! Symbols: variables, their types, structures and the names of `mtype`s.

pub use super::ast::SymbolId;
use super::ast::{MtypeValue, PromelaExpr, PromelaName};
use spillway_base::source::Span;
use std::collections::HashMap;
use std::rc::Rc;

/// A scalar type or a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromelaType {
    /// `bit` and `bool`: 0 or 1.
    Bit,
    /// The same, printed as true or false.
    Bool,
    /// `byte`, `pid`: 0 to 255.
    Byte,
    /// 16 bits, signed.
    Short,
    /// 32 bits, signed.
    Int,
    /// An unsigned integer of this many bits.
    Unsigned(u32),
    /// A name of the `mtype` set with this number.
    Mtype(usize),
    /// The number of a channel, or 0.
    Channel,
    /// A structure.
    Struct(usize),
}

/// A variable or a field of a structure.
#[derive(Clone, Debug)]
pub struct PromelaSymbol {
    /// Its name.
    pub name: PromelaName,
    /// The type of the variable, or of the array's elements.
    pub basic: PromelaType,
    /// The number of elements, if it is an array.
    pub length: Option<u32>,
    /// The initial value.
    pub initial: PromelaInitializer,
    /// The number of the process that owns it, or `None` for a global variable.
    pub owner: Option<usize>,
    /// Whether it is a parameter.
    pub parameter: bool,
    /// Whether it is declared `hidden`, that is, not part of the state.
    pub hidden: bool,
    /// Whether it is ever assigned.
    pub assigned: bool,
    /// Whether it is ever read.
    pub read: bool,
}

/// The initial value of a variable.
#[derive(Clone, Debug)]
pub enum PromelaInitializer {
    /// Zero.
    Zero,
    /// An expression, computed when its process starts.
    Value(PromelaExpr),
    /// The elements of an array; the last one is repeated.
    List(Vec<PromelaExpr>),
    /// A channel, or one for each element.
    Channel {
        /// The capacity in messages.
        capacity: u32,
        /// The types of the fields of a message.
        fields: Vec<PromelaType>,
        /// The span of the initializer.
        span: Span,
    },
}

/// A structure.
#[derive(Clone, Debug)]
pub struct PromelaStruct {
    /// Its name.
    pub name: Rc<str>,
    /// Its fields.
    pub fields: Vec<PromelaSymbol>,
}

/// A set of `mtype` names.
#[derive(Clone, Debug)]
pub struct MtypeSet {
    /// Its name; `mtype` for the set without one.
    pub name: Rc<str>,
    /// The names; the name with value 1 is first.
    pub names: Vec<Rc<str>>,
}

/// All declarations.
#[derive(Debug, Default)]
pub struct PromelaSymbolTable {
    /// Variables.
    pub all: spillway_ir::Arena<SymbolId, PromelaSymbol>,
    /// Structures.
    pub structs: Vec<PromelaStruct>,
    /// Sets of names.
    pub sets: Vec<MtypeSet>,
    /// The value of each name of a set.
    pub constants: HashMap<Rc<str>, MtypeValue>,
}

impl PromelaSymbolTable {
    /// Returns the number of the set of this name, creating it if there is none.
    pub fn set(&mut self, name: &str) -> usize {
        match self.sets.iter().position(|set| &*set.name == name) {
            Some(found) => found,
            None => {
                self.sets.push(MtypeSet { name: name.into(), names: Vec::new() });
                self.sets.len() - 1
            }
        }
    }

    /// Adds names to a set. SPIN numbers the last name of each declaration first.
    pub fn extend_set(&mut self, set: usize, names: &[Rc<str>]) {
        for name in names.iter().rev() {
            self.sets[set].names.push(name.clone());
            let value = self.sets[set].names.len() as i64;
            self.constants.insert(name.clone(), MtypeValue { set, value });
        }
    }

    /// Returns the field types of the messages of every channel, as leaves.
    pub fn messages(&self) -> impl Iterator<Item = Vec<PromelaType>> {
        let in_structs = self.structs.iter().flat_map(|structure| &structure.fields);
        self.all.values().chain(in_structs).filter_map(|symbol| match &symbol.initial {
            PromelaInitializer::Channel { fields, .. } => {
                Some(fields.iter().flat_map(|&field| self.leaves(field)).collect())
            }
            _ => None,
        })
    }

    /// Returns the leaf types of a type, in order.
    pub fn leaves(&self, basic: PromelaType) -> Vec<PromelaType> {
        match basic {
            PromelaType::Struct(number) => (self.structs[number].fields.iter())
                .flat_map(|field| {
                    let one = self.leaves(field.basic);
                    let times = field.length.unwrap_or(1) as usize;
                    one.iter().copied().cycle().take(one.len() * times).collect::<Vec<_>>()
                })
                .collect(),
            single => vec![single],
        }
    }
}
