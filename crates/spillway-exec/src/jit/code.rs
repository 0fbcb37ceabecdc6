//! Machine code in memory, with its tables.

use cranelift_jit::JITModule;
use spillway_analysis::instances::InstanceId;
use spillway_base::source::Span;
use spillway_ir::{ActionId, ProcessInstance};
use spillway_model::FaultKind;
use std::sync::Mutex;
use std::time::Duration;

/// A place where compiled code can fail.
#[derive(Clone, Copy, Debug)]
pub(super) struct FaultSite {
    pub action: ActionId,
    pub kind: FaultKind,
    pub span: Span,
    /// The failing action instance, if instances that are not chosen can reach this site.
    pub instance: Option<InstanceId>,
}

/// Machine code with its tables.
pub(super) struct MachineCode {
    /// The entry, which expands states.
    pub entry: *const u8,
    /// The functions that the entry dispatches to.
    pub table: Box<[*const u8]>,
    /// The index in the table of each mover's first function.
    pub firsts: Vec<usize>,
    /// The instances of processes, by number.
    pub instances: Vec<ProcessInstance>,
    /// The number of functions of the table in each mode.
    pub per_mode: usize,
    /// Whether a number follows each candidate.
    pub is_labelled: bool,
    /// Whether the code marks enabled instances instead of taking steps.
    pub marks_enabled: bool,
    /// Whether the code counts the executions of each action.
    pub counts: bool,
    /// The sites at which the code can fail.
    pub sites: Vec<FaultSite>,
    /// The compile time.
    pub time: Duration,
    /// The size of the machine code in bytes.
    pub bytes: usize,
    /// The number of actions that the interpreter runs, because of their constructs or the compile time.
    pub interpreted: usize,
    /// Owns the memory of the code; taken when the memory is freed.
    module: Mutex<Option<JITModule>>,
}

// SAFETY: the pointers are to code, which does not change after compilation.
unsafe impl Send for MachineCode {}
// SAFETY: as above; the module is locked.
unsafe impl Sync for MachineCode {}

impl MachineCode {
    /// Creates the code from finished functions and the module that owns their memory.
    pub fn new(
        module: JITModule,
        entry: *const u8,
        table: Box<[*const u8]>,
        sites: Vec<FaultSite>,
        bytes: usize,
    ) -> MachineCode {
        MachineCode {
            entry,
            table,
            firsts: Vec::new(),
            instances: Vec::new(),
            per_mode: 0,
            is_labelled: false,
            marks_enabled: false,
            counts: false,
            sites,
            time: Duration::ZERO,
            bytes,
            interpreted: 0,
            module: Mutex::new(Some(module)),
        }
    }
}

impl Drop for MachineCode {
    fn drop(&mut self) {
        let module = self.module.get_mut().ok().and_then(Option::take);
        if let Some(module) = module {
            // SAFETY: nothing else refers to the code: the entry and the table are dropped with this.
            unsafe { module.free_memory() };
        }
    }
}
