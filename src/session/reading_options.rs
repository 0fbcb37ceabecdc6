//! How a model is read and reduced, as configured.

use super::config::{Definition, ModelConfig, PropertyConfig, SearchConfig};
use super::{CheckConfig, Fairness, SourceModel, SpecificationModel, TextModel};
use crate::front::{ClaimChoice, Language, Options};
use crate::reduce::ReductionRequest;

impl CheckConfig {
    /// Returns the configuration with which a model was read. Everything else has its default.
    pub(super) fn for_model(model: &TextModel) -> CheckConfig {
        let mut config =
            CheckConfig { model: ModelConfig::of(&model.options), ..CheckConfig::default() };
        config.properties.named_conditions = model.options.conditions.clone();
        config
    }

    /// Returns the configuration with which a specification was read. Everything else has its default.
    pub(super) fn for_specification(model: &SpecificationModel) -> CheckConfig {
        let mut config = CheckConfig { model: model.model_config(), ..CheckConfig::default() };
        config.properties.named_conditions = model.conditions().to_vec();
        config
    }

    /// Returns the options of reading a model in a language.
    pub fn reading_options(&self, language: &Language) -> Options {
        self.model.options(language, &self.properties)
    }

    /// Returns the reductions that the configuration requests for a check of infinite runs.
    pub fn run_reduction_request(&self) -> ReductionRequest {
        let is_fair = self.properties.fairness != Fairness::None;
        self.search.reductions.resolve_for_runs(is_fair)
    }
}

impl ModelConfig {
    /// Returns the configuration that corresponds to these options.
    pub fn of(options: &Options) -> ModelConfig {
        let Options { defines, macros, overflow, deadlock, slots, claim, lossy, .. } = options;
        let constants = defines.iter().map(|(name, value)| (name, value.to_string()));
        let macros = macros.iter().map(|(name, text)| (name, text.clone()));
        let define = |(name, value): (&String, String)| Definition {
            name: name.clone(),
            value: Some(value),
        };
        ModelConfig {
            language: None,
            definitions: constants.chain(macros).map(define).collect(),
            overflow: *overflow,
            deadlock: *deadlock,
            slots: *slots,
            lossy: *lossy,
            configuration: None,
            libraries: Vec::new(),
            claim: match claim {
                ClaimChoice::Named(name) => Some(name.clone()),
                ClaimChoice::First | ClaimChoice::Omit => None,
            },
            no_claim: *claim == ClaimChoice::Omit,
        }
    }

    /// Returns which of the model's claims is part of the program.
    pub fn claim_choice(&self) -> ClaimChoice {
        match &self.claim {
            _ if self.no_claim => ClaimChoice::Omit,
            None => ClaimChoice::First,
            Some(name) => ClaimChoice::Named(name.clone()),
        }
    }

    /// Returns the options of reading a model in a language, to check these properties. Definitions are macros in a
    /// language with macros. In other languages they are constants, and definitions with a value that is no integer
    /// are ignored.
    fn options(&self, language: &Language, properties: &PropertyConfig) -> Options {
        let (mut defines, mut macros) = (Vec::new(), Vec::new());
        for definition in &self.definitions {
            let name = definition.name.clone();
            match (language.options.macros, definition.integer()) {
                (true, _) => macros.push((name, definition.text().to_owned())),
                (false, Some(value)) => defines.push((name, value)),
                (false, None) => {}
            }
        }
        Options {
            defines,
            macros,
            overflow: self.overflow,
            deadlock: self.deadlock,
            slots: self.slots,
            slots_by_process: Vec::new(),
            claim: self.claim_choice(),
            lossy: self.lossy,
            conditions: properties.conditions(),
            decided_elsewhere: properties.decided_elsewhere.clone(),
        }
    }
}

impl SearchConfig {
    /// Returns the reductions that the configuration requests for this search.
    pub fn reduction_request(&self) -> ReductionRequest {
        self.reductions.resolve()
    }
}
