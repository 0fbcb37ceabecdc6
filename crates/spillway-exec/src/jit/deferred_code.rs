//! Code that is compiled once many states are expanded.
//!
//! Compiling a large program takes as long as interpreting thousands of its states. Searches of few states, and trials of
//! reductions, are faster without machine code. So the interpreter expands the first states. Its work is counted in states
//! and transitions. The limit makes no search take much longer than twice the time of the better choice.

use super::Jit;
use super::code::MachineCode;
use super::code_purpose::CodePurpose;
use spillway_model::NotCompiled;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The code for a purpose.
#[derive(Default)]
pub(super) struct DeferredCode {
    code: OnceLock<Result<MachineCode, NotCompiled>>,
    /// The work of the interpreter so far.
    interpreted: AtomicU64,
}

impl DeferredCode {
    /// Returns the code. It is compiled if the interpreter has done enough work. `None` if the interpreter must continue.
    pub fn ready(&self, jit: &Jit<'_>, purpose: CodePurpose) -> Option<&MachineCode> {
        match self.code.get() {
            Some(code) => code.as_ref().ok(),
            None if self.interpreted.load(Ordering::Relaxed) < jit.interpreted => None,
            None => self.compiled(jit, purpose).ok(),
        }
    }

    /// Lets the interpreter expand some states into a sink, and adds its work. `transitions` returns the number of
    /// transitions in the sink.
    pub fn interpret<S>(
        &self,
        states: usize,
        out: &mut S,
        transitions: impl Fn(&mut S) -> u64,
        expand: impl FnOnce(&mut S),
    ) {
        let before = transitions(out);
        expand(out);
        self.count_interpreted(states, transitions(out) - before);
    }

    /// Adds work of the interpreter.
    pub fn count_interpreted(&self, states: usize, transitions: u64) {
        self.interpreted.fetch_add(states as u64 + transitions, Ordering::Relaxed);
    }

    /// Returns the code, or why it cannot be compiled. It is compiled unless it exists.
    pub fn compiled(
        &self,
        jit: &Jit<'_>,
        purpose: CodePurpose,
    ) -> Result<&MachineCode, &NotCompiled> {
        self.code.get_or_init(|| jit.compile(purpose)).as_ref()
    }

    /// Returns why the code could not be compiled.
    pub fn refusal(&self) -> Option<&NotCompiled> {
        self.code.get()?.as_ref().err()
    }
}
