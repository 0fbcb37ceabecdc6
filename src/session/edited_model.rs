//! Models as an editor has them: some of their texts may not be saved, and may have errors.

use super::specification::EditedSpecification;
use super::symbols::{self, ModelSymbol};
use super::{Check, CheckConfig, Error, ModelText, TextModel, TraceVisitor, read_text};
use crate::diag::Diagnostic;
use crate::front::Language;
use crate::report::{PropertyJudgement, judgements};
use crate::search::SearchControl;
use crate::session::config::CheckKind;
use crate::source::{SourceMap, Span};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A model as an editor has it.
#[derive(Clone, Debug)]
pub struct EditedModel {
    /// The file of the model, or of the root module of a specification.
    pub path: PathBuf,
    /// The language.
    pub language: &'static Language,
    /// The texts of open files, each with its path. They take the place of the files.
    pub open: Vec<(String, String)>,
}

/// The result of reading a model.
pub struct EditedModelReading {
    /// The texts that were read. File 0 is the model's.
    pub sources: SourceMap,
    /// The errors, or else the warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// The names that the model declares. `None` if there are errors.
    pub symbols: Option<Vec<ModelSymbol>>,
}

/// The result of reading a program.
struct ProgramReading {
    /// The text, with the open files that it includes.
    text: ModelText,
    sources: SourceMap,
    diagnostics: Vec<Diagnostic>,
    model: Option<TextModel>,
}

impl EditedModel {
    /// Reads the model.
    ///
    /// # Errors
    ///
    /// If the file of the model cannot be read. Errors in texts are diagnostics.
    pub fn read(&self, config: &CheckConfig) -> Result<EditedModelReading, Error> {
        if !self.language.has_programs() {
            return Ok(self.read_specification(config));
        }
        let ProgramReading { sources, diagnostics, model, .. } = self.read_program(config)?;
        let symbols = model.map(|it| it.symbols());
        Ok(EditedModelReading { sources, diagnostics, symbols })
    }

    fn read_specification(&self, config: &CheckConfig) -> EditedModelReading {
        let mut sources = SourceMap::default();
        let files = EditedSpecification { path: &self.path, open: &self.open };
        match files.resolve(config, &mut sources) {
            Ok(resolved) => {
                let symbols = Some(symbols::of_specification(&resolved.specification));
                EditedModelReading { sources, diagnostics: resolved.warnings, symbols }
            }
            Err(diagnostics) => EditedModelReading { sources, diagnostics, symbols: None },
        }
    }

    fn read_program(&self, config: &CheckConfig) -> Result<ProgramReading, Error> {
        let reading = self.load(self.text()?, config);
        match self.changed(&reading.sources) {
            changed if changed.is_empty() => Ok(reading),
            changed => Ok(self.load(reading.text.with_included(changed), config)),
        }
    }

    /// Returns the text of the model's file.
    fn text(&self) -> Result<ModelText, Error> {
        let name = self.path.display().to_string();
        let text = match self.open.iter().find(|it| it.0 == name) {
            Some((_, text)) => text.clone(),
            None => read_text(&self.path)?,
        };
        ModelText::new(self.language.name, name, text)
    }

    /// Returns the texts of open files that differ from the included files of some sources, by the names of these.
    fn changed(&self, sources: &SourceMap) -> Vec<(String, String)> {
        let changed = |(name, found): (String, String)| {
            let (_, text) = self.open.iter().find(|it| is_same_file(&it.0, &name))?;
            (*text != found).then(|| (name, text.clone()))
        };
        sources.model_texts().into_iter().skip(1).filter_map(changed).collect()
    }

    fn load(&self, text: ModelText, config: &CheckConfig) -> ProgramReading {
        let mut sources = text.sources();
        let options = config.reading_options(self.language);
        let loaded = match self.language.load(&mut sources, &options) {
            Ok(loaded) => loaded,
            Err(diagnostics) => return ProgramReading { text, sources, diagnostics, model: None },
        };
        // The check of an editor decides the properties of runs.
        let unchecked = loaded.program.unchecked.iter();
        let decided: Vec<Span> =
            unchecked.filter(|it| it.kind.is_property_of_runs()).map(|it| it.span).collect();
        let mut diagnostics = loaded.warnings.clone();
        diagnostics.retain(|it| !decided.contains(&it.span));
        let model = match TextModel::of(self.language, sources.clone(), options, loaded) {
            Ok((model, _)) => Some(model),
            Err(error) => {
                diagnostics = vec![Diagnostic::error(Span::default(), error.to_string())];
                None
            }
        };
        ProgramReading { text, sources, diagnostics, model }
    }

    /// Checks the properties that a configuration selects, and by default the model's own. Passes on each
    /// counterexample.
    ///
    /// # Errors
    ///
    /// Those of [`TextCheck::run`](super::TextCheck::run).
    pub fn check(
        &self,
        config: &CheckConfig,
        control: &Arc<SearchControl>,
        visit: &mut TraceVisitor<'_>,
    ) -> Result<Vec<PropertyJudgement>, Error> {
        if !self.language.has_programs() {
            return self.check_specification(config, control, visit);
        }
        let ProgramReading { text, sources, diagnostics, model } = self.read_program(config)?;
        let model = model.ok_or_else(|| Error::text(&diagnostics, &sources))?;
        let config = with_own_property(config, &model);
        drop(model);
        let report = text.check(&config).control(Arc::clone(control)).run_with(visit)?;
        Ok(report.properties)
    }

    fn check_specification(
        &self,
        config: &CheckConfig,
        control: &Arc<SearchControl>,
        visit: &mut TraceVisitor<'_>,
    ) -> Result<Vec<PropertyJudgement>, Error> {
        let files = EditedSpecification { path: &self.path, open: &self.open };
        let model = files.read(config)?;
        let check = Check::of_specification(&model).config(config.clone());
        let found = check.control(Arc::clone(control)).run()?;
        found.visit_trace(&model, visit)?;
        Ok(found.report().map_or(Vec::new(), |it| judgements(&it, None)))
    }
}

/// Selects the model's own temporal property, and errors in steps, if the configuration selects no property.
fn with_own_property(config: &CheckConfig, model: &TextModel) -> CheckConfig {
    let mut config = config.clone();
    let own = model
        .own_property()
        .filter(|_| config.checks_model_properties() && !config.properties.asks_runs());
    if let Some(name) = own {
        config.properties.ltl = vec![name.to_owned()];
        config.properties.only = Some(vec![CheckKind::Assert, CheckKind::Error]);
    }
    config
}

/// Returns whether two names lead to the same file.
pub fn is_same_file(one: &str, other: &str) -> bool {
    let real = |name: &str| std::fs::canonicalize(Path::new(name)).ok();
    one == other || real(one).is_some_and(|it| real(other) == Some(it))
}
