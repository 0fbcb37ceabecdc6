//! From functions to machine code that can be called.

use super::code::{FaultSite, MachineCode};
use super::runtime;
use cranelift_codegen::Context;
use cranelift_codegen::ir::{AbiParam, FuncRef, Signature, Type, types};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, ModuleError, default_libcall_names};

/// Why a model is not compiled.
#[derive(Debug)]
pub(super) enum CompileError {
    /// There is no back end for this machine.
    Machine(&'static str),
    /// The back end failed.
    Backend(Box<ModuleError>),
}

impl From<ModuleError> for CompileError {
    fn from(error: ModuleError) -> CompileError {
        CompileError::Backend(Box::new(error))
    }
}

/// Makes functions.
pub(super) struct FunctionCompiler {
    pub module: JITModule,
    pub context: Context,
    functions: FunctionBuilderContext,
    helpers: HelperFunctions<FuncId>,
    bytes: usize,
}

/// What compiled code calls.
struct HelperFunctions<F> {
    make_room: F,
    sort_multisets: F,
    leave_to_interpreter: F,
    complete: F,
    interpret_mover: F,
    fault: F,
    fault_within: F,
    stuck: F,
    broken: F,
    told_to_stop: F,
    judge: F,
    interpret: F,
    impossible: F,
}

/// What one function calls.
#[derive(Clone, Copy)]
pub(super) struct FunctionImports {
    pub make_room: FuncRef,
    pub sort_multisets: FuncRef,
    pub leave_to_interpreter: FuncRef,
    pub complete: FuncRef,
    pub interpret_mover: FuncRef,
    pub fault: FuncRef,
    pub fault_within: FuncRef,
    pub stuck: FuncRef,
    pub broken: FuncRef,
    pub told_to_stop: FuncRef,
    pub judge: FuncRef,
    pub interpret: FuncRef,
    pub impossible: FuncRef,
    pub config: TargetFrontendConfig,
}

/// A function that is being made.
pub(super) struct OpenFunction<'f> {
    pub b: FunctionBuilder<'f>,
    /// What it may call.
    pub imports: FunctionImports,
    /// Where others are declared.
    pub module: &'f mut JITModule,
}

impl FunctionCompiler {
    /// A workshop for this machine, by a level of Cranelift's optimization.
    pub fn new(optimization: &str) -> Result<FunctionCompiler, CompileError> {
        let mut flags = settings::builder();
        let checked = if cfg!(debug_assertions) { "true" } else { "false" };
        for (name, value) in
            [("opt_level", optimization), ("is_pic", "false"), ("enable_verifier", checked)]
        {
            flags.set(name, value).map_err(|_| CompileError::Machine("an option is unknown"))?;
        }
        let isa = cranelift_native::builder().map_err(CompileError::Machine)?;
        let isa = isa
            .finish(settings::Flags::new(flags))
            .map_err(|_| CompileError::Machine("the processor is not supported"))?;
        if isa.pointer_bits() != 64 || cfg!(target_endian = "big") {
            return Err(CompileError::Machine(
                "only 64-bit little-endian processors are compiled for",
            ));
        }
        let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
        builder.symbol("make_room", runtime::make_room as *const u8);
        builder.symbol("sort_multisets", runtime::sort_multisets as *const u8);
        builder.symbol("leave_to_interpreter", runtime::leave_to_interpreter as *const u8);
        builder.symbol("complete", runtime::complete as *const u8);
        builder.symbol("interpret_mover", runtime::interpret_mover as *const u8);
        builder.symbol("fault", runtime::fault as *const u8);
        builder.symbol("fault_within", runtime::fault_within as *const u8);
        builder.symbol("stuck", runtime::stuck as *const u8);
        builder.symbol("broken", runtime::broken as *const u8);
        builder.symbol("told_to_stop", runtime::told_to_stop as *const u8);
        builder.symbol("judge", runtime::judge as *const u8);
        builder.symbol("interpret", runtime::interpret as *const u8);
        builder.symbol("impossible", runtime::impossible as *const u8);
        let mut module = JITModule::new(builder);
        let mut import = |name, parameters: &[Type], result: bool| {
            let signature = helper_signature(&module, parameters, result);
            module.declare_function(name, Linkage::Import, &signature).map_err(CompileError::from)
        };
        let (word, number) = (types::I64, types::I32);
        let helpers = HelperFunctions {
            make_room: import("make_room", &[word, word, word], true)?,
            sort_multisets: import("sort_multisets", &[word; 4], false)?,
            leave_to_interpreter: import(
                "leave_to_interpreter",
                &[word, word, number, number],
                false,
            )?,
            complete: import("complete", &[word, word, word], true)?,
            interpret_mover: import("interpret_mover", &[word, word, word, number, number], true)?,
            fault: import("fault", &[word, word, number, word], false)?,
            fault_within: import("fault_within", &[word; 5], false)?,
            stuck: import("stuck", &[word, word, word], false)?,
            broken: import("broken", &[word, word, number], false)?,
            told_to_stop: import("told_to_stop", &[word], true)?,
            judge: import("judge", &[word, word, number], false)?,
            interpret: import("interpret", &[word, word, word, number, number], true)?,
            impossible: import("impossible", &[], false)?,
        };
        let context = module.make_context();
        let functions = FunctionBuilderContext::new();
        Ok(FunctionCompiler { module, context, functions, helpers, bytes: 0 })
    }

    /// Begins a function of so many words that gives a word.
    pub fn begin(&mut self, words: usize) -> OpenFunction<'_> {
        self.module.clear_context(&mut self.context);
        self.context.func.signature = signature(&self.module, words);
        let (module, function) = (&mut self.module, &mut self.context.func);
        let mut import = |id| module.declare_func_in_func(id, function);
        let HelperFunctions {
            make_room,
            sort_multisets,
            leave_to_interpreter,
            complete,
            interpret_mover,
            fault,
            fault_within,
            stuck,
            broken,
            told_to_stop,
            judge,
            interpret,
            impossible,
        } = &self.helpers;
        let imports = FunctionImports {
            make_room: import(*make_room),
            sort_multisets: import(*sort_multisets),
            leave_to_interpreter: import(*leave_to_interpreter),
            complete: import(*complete),
            interpret_mover: import(*interpret_mover),
            fault: import(*fault),
            fault_within: import(*fault_within),
            stuck: import(*stuck),
            broken: import(*broken),
            told_to_stop: import(*told_to_stop),
            judge: import(*judge),
            interpret: import(*interpret),
            impossible: import(*impossible),
            config: self.module.target_config(),
        };
        let b = FunctionBuilder::new(&mut self.context.func, &mut self.functions);
        OpenFunction { b, imports, module: &mut self.module }
    }

    /// Compiles the function in the context.
    pub fn define(&mut self) -> Result<FuncId, CompileError> {
        let id = self.module.declare_anonymous_function(&self.context.func.signature)?;
        self.define_as(id)?;
        Ok(id)
    }

    /// Compiles the function in the context as one that was declared before.
    pub fn define_as(&mut self, id: FuncId) -> Result<(), CompileError> {
        self.module.define_function(id, &mut self.context)?;
        self.bytes += self.context.compiled_code().map_or(0, |code| code.code_buffer().len());
        Ok(())
    }

    /// Makes everything callable.
    pub fn finish(
        mut self,
        entry: FuncId,
        table: &[FuncId],
        sites: Vec<FaultSite>,
    ) -> Result<MachineCode, CompileError> {
        self.module.finalize_definitions()?;
        let address = |id: &FuncId| self.module.get_finalized_function(*id);
        let table = table.iter().map(address).collect();
        let entry = address(&entry);
        Ok(MachineCode::new(self.module, entry, table, sites, self.bytes))
    }
}

/// Of a function of so many words that gives a word.
pub(super) fn signature(module: &JITModule, words: usize) -> Signature {
    helper_signature(module, &vec![types::I64; words], true)
}

fn helper_signature(module: &JITModule, parameters: &[Type], result: bool) -> Signature {
    let mut signature = module.make_signature();
    signature.params = parameters.iter().map(|&ty| AbiParam::new(ty)).collect();
    if result {
        signature.returns.push(AbiParam::new(types::I64));
    }
    signature
}
