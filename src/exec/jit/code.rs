//! Machine code in memory, and what belongs to it.

use crate::analysis::instances::InstanceId;
use crate::ir::{ActionId, ProcessInstance};
use crate::model::FaultKind;
use crate::source::Span;
use cranelift_jit::JITModule;
use std::sync::Mutex;
use std::time::Duration;

/// Where compiled code can fail.
#[derive(Clone, Copy, Debug)]
pub(super) struct FaultSite {
    pub action: ActionId,
    pub kind: FaultKind,
    pub span: Span,
    /// The action instance whose failure it is, where one that is not chosen may come here.
    pub instance: Option<InstanceId>,
}

/// Machine code and what belongs to it.
pub(super) struct MachineCode {
    /// Expands states.
    pub entry: *const u8,
    /// The functions the entry chooses from.
    pub table: Box<[*const u8]>,
    /// Where the functions of each mover begin in the table.
    pub firsts: Vec<usize>,
    /// The instances of processes, by number.
    pub instances: Vec<ProcessInstance>,
    /// How many functions of the table there are of each sort.
    pub per_mode: usize,
    /// Whether candidates have a number behind them.
    pub is_labelled: bool,
    /// Whether it takes no steps, but marks what is enabled.
    pub marks_enabled: bool,
    /// Whether it counts how often each action is taken.
    pub counts: bool,
    /// Where it can fail.
    pub sites: Vec<FaultSite>,
    /// How long compiling took.
    pub time: Duration,
    /// Bytes of machine code.
    pub bytes: usize,
    /// Actions that are left to the interpreter, because of what they do or for lack of time.
    pub interpreted: usize,
    /// Owns the memory of the code; taken when that is given back.
    module: Mutex<Option<JITModule>>,
}

// SAFETY: the pointers are to code, which does not change once it is made.
unsafe impl Send for MachineCode {}
// SAFETY: as above; the module is locked.
unsafe impl Sync for MachineCode {}

impl MachineCode {
    /// Functions that are finished, and the module that owns their memory.
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
            // SAFETY: nothing else refers to the code: the entry and the table go with this.
            unsafe { module.free_memory() };
        }
    }
}
