//! Compiling functions to callable machine code.

use super::code::{FaultSite, MachineCode};
use super::runtime;
use cranelift_codegen::Context;
use cranelift_codegen::ir::{AbiParam, FuncRef, Function, Signature, Type, types};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, ModuleError, default_libcall_names};

/// Why a model is not compiled.
#[derive(Debug)]
pub(super) enum CompileError {
    /// Cranelift does not support this machine.
    Machine(&'static str),
    /// Cranelift failed.
    Backend(Box<ModuleError>),
}

impl From<ModuleError> for CompileError {
    fn from(error: ModuleError) -> CompileError {
        CompileError::Backend(Box::new(error))
    }
}

/// Compiles functions.
pub(super) struct FunctionCompiler {
    pub module: JITModule,
    pub context: Context,
    functions: FunctionBuilderContext,
    helpers: HelperFunctions,
    bytes: usize,
}

/// Lists the functions of the runtime that compiled code calls, with their parameters and results.
macro_rules! helper_functions {
    ($($name:ident($($parameter:ident),*) $(-> $result:ident)?;)*) => {
        /// The functions that compiled code calls.
        struct HelperFunctions {
            $($name: FuncId,)*
        }

        /// The functions that one function calls.
        #[derive(Clone, Copy)]
        pub(super) struct FunctionImports {
            $(pub $name: FuncRef,)*
            pub config: TargetFrontendConfig,
        }

        impl HelperFunctions {
            /// Links their addresses.
            fn link(builder: &mut JITBuilder) {
                $(builder.symbol(stringify!($name), runtime::$name as *const u8);)*
            }

            /// Declares them in a module.
            fn declare(module: &mut JITModule) -> Result<HelperFunctions, CompileError> {
                $(
                    let (parameters, results) =
                        (&[$(types::$parameter),*] as &[Type], &[$(types::$result)?] as &[Type]);
                    let signature = helper_signature(module, parameters, !results.is_empty());
                    let $name =
                        module.declare_function(stringify!($name), Linkage::Import, &signature)?;
                )*
                Ok(HelperFunctions { $($name),* })
            }

            /// Imports them into a function.
            fn import(&self, module: &mut JITModule, function: &mut Function) -> FunctionImports {
                FunctionImports {
                    $($name: module.declare_func_in_func(self.$name, function),)*
                    config: module.target_config(),
                }
            }
        }
    };
}

helper_functions! {
    make_room(I64, I64, I64) -> I64;
    sort_multisets(I64, I64, I64, I64);
    leave_to_interpreter(I64, I64, I32, I32);
    complete(I64, I64, I64) -> I64;
    interpret_mover(I64, I64, I64, I32, I32) -> I64;
    fault(I64, I64, I32, I64);
    fault_within(I64, I64, I64, I64, I64);
    stuck(I64, I64, I64);
    broken(I64, I64, I32);
    told_to_stop(I64) -> I64;
    judge(I64, I64, I32);
    interpret(I64, I64, I64, I32, I32) -> I64;
    impossible();
}

/// A function under construction.
pub(super) struct OpenFunction<'f> {
    pub b: FunctionBuilder<'f>,
    /// The functions it may call.
    pub imports: FunctionImports,
    /// The module that declares other functions.
    pub module: &'f mut JITModule,
}

impl FunctionCompiler {
    /// Creates a compiler for this machine with a Cranelift optimization level.
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
        HelperFunctions::link(&mut builder);
        let mut module = JITModule::new(builder);
        let helpers = HelperFunctions::declare(&mut module)?;
        let context = module.make_context();
        let functions = FunctionBuilderContext::new();
        Ok(FunctionCompiler { module, context, functions, helpers, bytes: 0 })
    }

    /// Begins a function of `words` words that returns a word.
    pub fn begin(&mut self, words: usize) -> OpenFunction<'_> {
        self.module.clear_context(&mut self.context);
        self.context.func.signature = signature(&self.module, words);
        let imports = self.helpers.import(&mut self.module, &mut self.context.func);
        let b = FunctionBuilder::new(&mut self.context.func, &mut self.functions);
        OpenFunction { b, imports, module: &mut self.module }
    }

    /// Compiles the function in the context.
    pub fn define(&mut self) -> Result<FuncId, CompileError> {
        let id = self.module.declare_anonymous_function(&self.context.func.signature)?;
        self.define_as(id)?;
        Ok(id)
    }

    /// Compiles the function in the context under a declared id.
    pub fn define_as(&mut self, id: FuncId) -> Result<(), CompileError> {
        self.module.define_function(id, &mut self.context)?;
        self.bytes += self.context.compiled_code().map_or(0, |code| code.code_buffer().len());
        Ok(())
    }

    /// Makes all functions callable.
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

/// Returns the signature of a function of `words` words that returns a word.
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
