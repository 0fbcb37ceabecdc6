//! Functions that are compiled once and called, where emitting them at each call would be much code.
//!
//! A name for a place is where that place is, here as in functions that are emitted where they are
//! called: so there is one for each set of places that parameters stand for.

use super::function_compiler::signature;
use super::shape::StoredType;
use super::words::BitOffset;
use crate::ir::FunctionId;
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Module, ModuleError};

/// A function for certain places.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OutlinedFunction {
    pub function: FunctionId,
    /// Where each parameter is; what the state decides of it is an argument.
    pub places: Vec<ParameterPlace>,
}

/// Where a parameter is, as far as that is known beforehand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ParameterPlace {
    /// The first bit, without what the state adds.
    pub bit: u32,
    /// How much the state may add, in bits.
    pub slack: u32,
    /// Whether it adds anything.
    pub is_dynamic: bool,
    /// What is there.
    pub shape: StoredType,
}

impl ParameterPlace {
    /// What is known of a place.
    pub fn new(at: BitOffset, shape: StoredType) -> Self {
        let BitOffset { bit, slack, dynamic } = at;
        ParameterPlace { bit, slack, is_dynamic: dynamic.is_some(), shape }
    }
}

/// All that are called so far.
#[derive(Default)]
pub(super) struct OutlineTable {
    known: Vec<(OutlinedFunction, FuncId)>,
    /// How many of them are compiled.
    done: usize,
    /// The first thing that went wrong.
    pub error: Option<ModuleError>,
}

/// Arguments beside those for parameters: the run-time, the state, the words, and the cursor.
const ARGUMENTS: usize = 4;

impl OutlinedFunction {
    /// How many arguments it takes.
    pub fn arguments(&self) -> usize {
        ARGUMENTS + self.places.iter().filter(|place| place.is_dynamic).count()
    }
}

impl OutlineTable {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.known.len()
    }

    /// Forgets all but the first: code that calls them was given up.
    pub fn forget(&mut self, all_but: usize) {
        self.known.truncate(all_but);
    }

    /// The next one to compile.
    pub fn next(&mut self) -> Option<(OutlinedFunction, FuncId)> {
        let next = self.known.get(self.done).cloned();
        self.done += usize::from(next.is_some());
        next
    }

    /// The function, declared when it is first asked for.
    pub fn declare(
        &mut self,
        outline: &OutlinedFunction,
        module: &mut JITModule,
    ) -> Option<FuncId> {
        if let Some((_, id)) = self.known.iter().find(|(known, _)| known == outline) {
            return Some(*id);
        }
        let signature = signature(module, outline.arguments());
        match module.declare_anonymous_function(&signature) {
            Ok(id) => {
                self.known.push((outline.clone(), id));
                Some(id)
            }
            Err(error) => {
                self.error.get_or_insert(error);
                None
            }
        }
    }
}
