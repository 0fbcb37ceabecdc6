//! Functions that are compiled once and called, because emitting them at each call would be much code.
//!
//! An alias is the position of its place, as in functions emitted at their calls. So there is one compiled function
//! for each set of places that the parameters denote.

use super::function_compiler::signature;
use super::shape::StoredType;
use super::words::BitOffset;
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Module, ModuleError};
use spillway_ir::FunctionId;

/// A function for certain places of its parameters.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OutlinedFunction {
    pub function: FunctionId,
    /// The place of each parameter; the part that the state decides is an argument.
    pub places: Vec<ParameterPlace>,
}

/// The place of a parameter, as far as it is known at compile time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ParameterPlace {
    /// The first bit, without the dynamic part.
    pub bit: u32,
    /// The maximum of the dynamic part, in bits.
    pub slack: u32,
    /// Whether there is a dynamic part.
    pub is_dynamic: bool,
    /// The type and storage of the place.
    pub shape: StoredType,
}

impl ParameterPlace {
    /// Creates the compile-time part of a place.
    pub fn new(at: BitOffset, shape: StoredType) -> Self {
        let BitOffset { bit, slack, dynamic } = at;
        ParameterPlace { bit, slack, is_dynamic: dynamic.is_some(), shape }
    }
}

/// All separately compiled functions that are called so far.
#[derive(Default)]
pub(super) struct OutlineTable {
    known: Vec<(OutlinedFunction, FuncId)>,
    /// The number of them that are compiled.
    done: usize,
    /// The first error.
    pub error: Option<ModuleError>,
}

/// The number of arguments besides those for parameters: the runtime, the state, the words, and the cursor.
const ARGUMENTS: usize = 4;

impl OutlinedFunction {
    /// Returns the number of arguments.
    pub fn arguments(&self) -> usize {
        ARGUMENTS + self.places.iter().filter(|place| place.is_dynamic).count()
    }
}

impl OutlineTable {
    /// Returns the number of functions.
    pub fn count(&self) -> usize {
        self.known.len()
    }

    /// Removes all but the first `all_but` functions: the code that calls them was discarded.
    pub fn forget(&mut self, all_but: usize) {
        self.known.truncate(all_but);
    }

    /// Returns the next function to compile.
    pub fn next(&mut self) -> Option<(OutlinedFunction, FuncId)> {
        let next = self.known.get(self.done).cloned();
        self.done += usize::from(next.is_some());
        next
    }

    /// Returns the function, declared at the first request.
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
