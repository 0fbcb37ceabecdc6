//! The values and replacements of a configuration.

use super::names::{DeclaredValue, EnvironmentId, NamePlace, Scope, Symbol};
use super::resolver::{ModuleOperator, Resolver};
use super::tree::{Constant, ConstantId, ConstantValue, ModelValue, ModelValueId};
use crate::config::{Assignment, Config, ConfigName, ConfigValue, Override};
use crate::library::{STANDARD_MODULES, StandardOperator};
use crate::syntax::ast::{Module, Unit};
use spillway_base::diag::Diagnostic;
use std::collections::HashSet;

impl<'a> Resolver<'a> {
    /// Applies the values and replacements of a configuration to the root's environment.
    pub(super) fn apply_settings(&mut self, root: EnvironmentId, config: &Config) {
        for assignment in &config.assignments {
            self.assign(root, assignment);
        }
        let replaced: HashSet<&str> = config
            .overrides
            .iter()
            .filter(|it| it.module.is_none())
            .map(|it| it.name.text.as_str())
            .collect();
        for setting in &config.overrides {
            if replaced.contains(setting.replacement.text.as_str()) {
                let message = format!("`{}` is replaced itself", setting.replacement.text);
                self.report(
                    Diagnostic::error(setting.replacement.span, message)
                        .help("name an operator that the configuration does not replace"),
                );
            }
            self.replace(root, setting);
        }
        self.check_constants(root);
    }

    /// Checks that each constant has a value.
    fn check_constants(&mut self, root: EnvironmentId) {
        let mut missing: Vec<Diagnostic> = Vec::new();
        let mut rows: Vec<Symbol> =
            self.environment(root).symbols.values().map(|it| it.symbol).collect();
        rows.sort_by_key(|it| self.span_of(*it));
        for symbol in rows {
            let Symbol::DeclaredConstant(id) = symbol else { continue };
            let declared = &self.declared[id.0];
            if declared.value == DeclaredValue::Missing {
                let message = format!("the configuration has no value for `{}`", declared.name);
                let help = match declared.arity {
                    0 => format!("write `CONSTANT {} = ...`", declared.name),
                    _ => format!(
                        "define an operator and write `CONSTANT {} <- Operator`",
                        declared.name
                    ),
                };
                missing.push(Diagnostic::error(declared.span, message).help(help));
            }
        }
        missing.into_iter().for_each(|it| self.report(it));
    }

    fn assign(&mut self, root: EnvironmentId, assignment: &Assignment) {
        let Assignment { name, module, value } = assignment;
        let value = self.constant_value(value);
        let symbol = match module {
            None => self.root_symbol(root, name),
            Some(module) => {
                let Some(owner) = self.module_of(module, name) else { return };
                let constant = self.new_constant(name, value);
                match owner {
                    ConfiguredOperator::Module(key) => {
                        self.module_values.insert(key, constant);
                    }
                    ConfiguredOperator::Standard(it) => {
                        self.standard_values.insert(it, constant);
                    }
                }
                return;
            }
        };
        match symbol {
            Some(Symbol::DeclaredConstant(id)) if self.declared[id.0].arity > 0 => {
                let message = format!("`{}` is an operator and cannot have a value", name.text);
                self.report(
                    Diagnostic::error(name.span, message)
                        .help(format!("define an operator and write `{} <- Operator`", name.text)),
                );
            }
            Some(Symbol::DeclaredConstant(id)) => {
                let constant = self.new_constant(name, value);
                self.declared[id.0].value = DeclaredValue::Value(constant);
            }
            Some(Symbol::Entry(id)) => {
                let constant = self.new_constant(name, value);
                self.entries[id.0].value = Some(constant);
            }
            Some(Symbol::Standard(operator)) => {
                let constant = self.new_constant(name, value);
                self.standard_values.insert(operator, constant);
            }
            // As in TLC, a value for a name that the module does not have is no error.
            _ => self.warnings.push(
                Diagnostic::warning(
                    name.span,
                    format!("the module has no constant `{}`", name.text),
                )
                .help("remove the value"),
            ),
        }
    }

    fn new_constant(&mut self, name: &ConfigName, value: ConstantValue) -> ConstantId {
        self.constants.push(Constant { name: name.text.clone(), span: name.span, value });
        ConstantId((self.constants.len() - 1) as u32)
    }

    fn constant_value(&mut self, value: &ConfigValue) -> ConstantValue {
        match value {
            ConfigValue::Boolean(it) => ConstantValue::Boolean(*it),
            ConfigValue::Integer(it) => ConstantValue::Integer(*it),
            ConfigValue::String(it) => ConstantValue::String(self.intern(it)),
            ConfigValue::ModelValue(name) => ConstantValue::ModelValue(self.model_value(name)),
            ConfigValue::Set(items) => {
                ConstantValue::Set(items.iter().map(|it| self.constant_value(it)).collect())
            }
        }
    }

    fn model_value(&mut self, name: &ConfigName) -> ModelValueId {
        if let Some(&id) = self.model_value_ids.get(&name.text) {
            return id;
        }
        let id = ModelValueId(self.model_values.len() as u32);
        let string = self.intern(&name.text);
        self.model_values.push(ModelValue { name: name.text.clone(), string, span: name.span });
        self.model_value_ids.insert(name.text.clone(), id);
        id
    }

    /// Returns the meaning of a name of the configuration in the root module.
    pub(super) fn root_symbol(&self, root: EnvironmentId, name: &ConfigName) -> Option<Symbol> {
        let place = NamePlace { environment: root, order: usize::MAX };
        self.find(&Scope { place, locals: None }, &name.text)
    }

    fn replace(&mut self, root: EnvironmentId, setting: &Override) {
        let Override { name, module, replacement } = setting;
        let Some(by) = self.root_symbol(root, replacement) else {
            let message = format!("`{}` is not defined in the root module", replacement.text);
            self.report(
                Diagnostic::error(replacement.span, message)
                    .help("define it there, or correct its name"),
            );
            return;
        };
        if let Some(module) = module {
            match self.module_of(module, name) {
                Some(ConfiguredOperator::Module(key)) => {
                    self.module_replacements.insert(key, by);
                }
                Some(ConfiguredOperator::Standard(it)) => {
                    self.standard_replacements.insert(it, by);
                }
                None => {}
            }
            return;
        }
        let symbol = self.root_symbol(root, name);
        let arities = symbol.map(|it| (self.arities(it), self.arities(by)));
        if let Some((one, other)) = arities
            && one != other
        {
            let message =
                format!("`{}` and `{}` have different parameters", name.text, replacement.text);
            self.report(
                Diagnostic::error(replacement.span, message)
                    .help("the replacement needs the same number of parameters"),
            );
            return;
        }
        match symbol {
            Some(Symbol::DeclaredConstant(id)) => {
                self.declared[id.0].value = DeclaredValue::Operator(by)
            }
            Some(Symbol::Entry(id)) => self.entries[id.0].replacement = Some(by),
            Some(Symbol::Standard(operator)) => {
                self.standard_replacements.insert(operator, by);
            }
            _ => {
                let message =
                    format!("the root module has no constant or operator `{}`", name.text);
                self.report(
                    Diagnostic::error(name.span, message)
                        .help(format!("for another module write `{} <- [Module] ...`", name.text)),
                );
            }
        }
    }

    /// Returns the operator that a configuration names in a module.
    fn module_of(&mut self, module: &ConfigName, name: &ConfigName) -> Option<ConfiguredOperator> {
        let Some(text) = self.set.get(&module.text) else {
            let message = format!("there is no module `{}`", module.text);
            self.report(
                Diagnostic::error(module.span, message)
                    .help("name a module that the root module extends or instantiates"),
            );
            return None;
        };
        let mut open: Vec<&Module> = vec![text];
        while let Some(it) = open.pop() {
            if defines(it, &name.text) {
                let (module, name) = (it.name.text.clone(), name.text.as_str().into());
                return Some(ConfiguredOperator::Module(ModuleOperator { module, name }));
            }
            open.extend(it.extends.iter().filter_map(|it| self.set.get(&it.text)));
        }
        let standard = STANDARD_MODULES.iter().find_map(|it| it.operator(&name.text));
        if let Some(operator) = standard {
            return Some(ConfiguredOperator::Standard(operator));
        }
        let message = format!("the module `{}` does not define `{}`", module.text, name.text);
        self.report(Diagnostic::error(name.span, message).help("correct the name"));
        None
    }
}

/// An operator that a configuration names in a module.
enum ConfiguredOperator {
    Module(ModuleOperator),
    Standard(StandardOperator),
}

fn defines(module: &Module, name: &str) -> bool {
    module.units.iter().any(|unit| match unit {
        Unit::Definition { definition, .. } => *definition.name.text == *name,
        _ => false,
    })
}
