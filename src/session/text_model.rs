//! Models from texts: from the text to a model that can be searched.

use super::searched_model::{DecidedReductions, ModelSummary, SearchedModel};
use super::{Error, ExecutableProgram, KeyOrder};
use crate::analysis::static_key_order::static_order;
use crate::budget::AnalysisBudget;
use crate::diag::{Diagnostic, Severity};
use crate::exec::{Executor, Interp, SelectiveStateSpace};
use crate::front::{DeclaredName, Language, LoadedModel, Options};
use crate::ir::layout::{GroupId, InvalidKeyOrder};
use crate::ir::validate;
use crate::model::TrialOutcome;
use crate::reduce::claim::NeverClaim;
use crate::reduce::rewriting::{ProgramForm, RewriteCache, RewriteResult, RewrittenProgram};
use crate::reduce::{ReductionKind, ReductionPlan, ReductionStack};
use crate::report::CheckScope;
use crate::search::control::SearchPhase;
use crate::search::key_order::order_from_sample;
use crate::search::{CheckSelection, SearchControl, SearchLimits};
use crate::source::{self, SourceMap};
use std::borrow::Cow;
use std::path::Path;

/// A model from a text, ready to run.
pub struct TextModel {
    /// The interpreter of its program.
    pub interp: Interp,
    /// Its source texts, for messages.
    pub sources: SourceMap,
    /// Its language.
    pub language: &'static Language,
    /// The options with which it was read.
    pub options: Options,
    /// The plan of reductions of its state space.
    pub wished: ReductionPlan,
    /// The outcome of the trial that decided the plan.
    pub trial: TrialOutcome,
    /// The programs rewritten by the reductions of plans, computed on demand.
    pub(super) rewritten: RewriteCache,
    /// The names that its text declares and its program lacks.
    pub(super) names: Vec<DeclaredName>,
}

impl TextModel {
    /// Reads the model in a file. The file name extension selects the language. Returns the warnings as text.
    pub fn open(path: &Path, options: Options) -> Result<(TextModel, Vec<String>), Error> {
        let name = path.display().to_string();
        let language = Language::from_file_name(&name).ok_or_else(|| {
            Error::Unreadable(format!("the name {name} does not determine the language"))
        })?;
        let mut sources = SourceMap::default();
        sources.add(name, read_text(path)?);
        TextModel::load(language, sources, options)
    }

    /// Reads the model in file 0 of `sources`. Returns the warnings as text.
    pub fn load(
        language: &'static Language,
        mut sources: SourceMap,
        options: Options,
    ) -> Result<(TextModel, Vec<String>), Error> {
        let loaded = language
            .load(&mut sources, &options)
            .map_err(|diagnostics| Error::text(&diagnostics, &sources))?;
        TextModel::of(language, sources, options, loaded)
    }

    /// Builds the model from sources that were read. Returns the warnings as text.
    pub(super) fn of(
        language: &'static Language,
        sources: SourceMap,
        options: Options,
        loaded: LoadedModel,
    ) -> Result<(TextModel, Vec<String>), Error> {
        let warnings = loaded.warnings.iter().map(|it| it.render(&sources).to_string()).collect();
        if let Err(problems) = validate::validate(&loaded.program) {
            let listed: Vec<String> =
                problems.iter().map(|it| it.diagnostic().render(&sources).to_string()).collect();
            return Err(Error::IllFormed(listed.join("\n  ")));
        }
        let names = loaded.names;
        let interp = Interp::new(loaded.program)
            .map_err(|diagnostic| Error::text(&[diagnostic], &sources))?;
        let (wished, trial) = (ReductionPlan::default(), TrialOutcome::default());
        let rewritten = RewriteCache::default();
        let model =
            TextModel { interp, sources, language, options, wished, trial, rewritten, names };
        Ok((model, warnings))
    }

    /// Returns the same model with this plan of reductions.
    pub fn with_plan(self, wished: ReductionPlan) -> TextModel {
        TextModel { wished, ..self }
    }

    /// Returns the program rewritten by the reductions of a plan. `None` if they change nothing. Each reduction gets a
    /// `budget` of its own on the first request. If the check is stopped meanwhile, the result is `None`, and the next
    /// request repeats the analysis.
    pub fn rewritten(
        &self,
        plan: &ReductionPlan,
        budget: &AnalysisBudget,
    ) -> Option<&RewrittenProgram> {
        self.rewriting(plan, budget)?.rewritten()
    }

    fn rewriting(&self, plan: &ReductionPlan, budget: &AnalysisBudget) -> Option<&RewriteResult> {
        self.rewritten.get(plan, || RewriteResult::of(&self.interp, plan, budget))
    }

    /// Returns the form in which its program is executed.
    pub(super) fn form(&self, plan: &ReductionPlan, budget: &AnalysisBudget) -> ProgramForm<'_> {
        match self.rewriting(plan, budget) {
            None => ProgramForm::written(&self.interp),
            Some(rewriting) => ProgramForm::from_result(&self.interp, rewriting),
        }
    }

    /// Returns its program in executable form, made by `run`: unchanged, or as the rewriting reductions of a plan
    /// leave it. Each reduction has a `budget` of its own.
    pub fn runnable<'m>(
        &'m self,
        plan: &ReductionPlan,
        budget: &AnalysisBudget,
        run: impl FnOnce(&'m Interp) -> Executor<'m>,
    ) -> ExecutableProgram<'m> {
        ExecutableProgram::new(self.form(plan, budget), run)
    }

    /// Returns the model that is searched, executed by the interpreter. Its reductions were analysed when the search
    /// began, so analyses now get the largest budget.
    pub fn searched(&self) -> SearchedModel<'_> {
        self.searched_as(&self.wished)
    }

    /// Returns the model reduced by a plan.
    pub(super) fn searched_as(&self, plan: &ReductionPlan) -> SearchedModel<'_> {
        let budget = AnalysisBudget::largest();
        let form = self.form(plan, &budget);
        let selective = || Ok(Box::new(form.interp().selector()?) as Box<dyn SelectiveStateSpace>);
        let stack = ReductionStack::of(form, plan, &selective, &budget);
        let stack = stack.with_trial(self.trial.clone());
        SearchedModel::interpreted(form.interp(), stack, form.applied(plan))
    }

    /// Returns the model with an executable program. Each analysis gets this budget.
    pub fn searched_by<'m>(
        &'m self,
        runs: ExecutableProgram<'m>,
        budget: &AnalysisBudget,
    ) -> SearchedModel<'m> {
        let (wished, trial) = (self.wished.clone(), self.trial.clone());
        self.reduced_as(runs, DecidedReductions { wished, trial }, budget)
    }

    /// Returns the model with reductions that were decided before.
    pub(super) fn reduced_as<'m>(
        &'m self,
        runs: ExecutableProgram<'m>,
        DecidedReductions { wished, trial }: DecidedReductions,
        budget: &AnalysisBudget,
    ) -> SearchedModel<'m> {
        let stack = ReductionStack::of(runs.form, &wished, &|| runs.executor.selective(), budget);
        self.searched_with(runs, stack.with_trial(trial), wished)
    }

    /// Returns the model with this stack of reductions, built for this plan.
    pub(super) fn searched_with<'m>(
        &'m self,
        ExecutableProgram { form, executor }: ExecutableProgram<'m>,
        stack: ReductionStack<'m>,
        wished: ReductionPlan,
    ) -> SearchedModel<'m> {
        let wished = form.applied(&stack.within_budget(&wished));
        // Compiling later would take memory that the plan gives to the search. Chosen transitions have other code.
        if stack.names(&[ReductionKind::Choice]).is_empty() {
            executor.compile_steps();
        }
        SearchedModel::of_executor(executor, stack, wished)
    }

    /// Returns the description for reports.
    pub fn about(&self, limits: &SearchLimits) -> ModelSummary<'_> {
        ModelSummary {
            name: self.name().into(),
            language: self.language.name,
            key_order: self.key_order(),
            sources: Cow::Borrowed(&self.sources),
            conditions: &self.options.conditions,
            claim: self.claim().map(|claim| claim.name()),
            scope: self.scope(&limits.checks),
        }
    }

    /// Returns the claim of its search.
    pub fn claim(&self) -> Option<NeverClaim<'_>> {
        NeverClaim::of(&self.interp)
    }

    /// Returns the same model with this key order. For a sampled order it also returns the share of the declared
    /// order's bytes that the new order takes. It is an error if the control stops the sampling.
    pub fn in_key_order(
        self,
        wanted: KeyOrder,
        control: &SearchControl,
    ) -> Result<(TextModel, Option<f64>), Error> {
        let fixed = static_order(self.interp.program(), self.interp.layout());
        let (order, share) = match wanted {
            KeyOrder::Declared => return Ok((self, None)),
            KeyOrder::Static => (fixed, None),
            KeyOrder::Sampled => {
                control.progress.enter(SearchPhase::Sampling);
                let declared = self.interp.layout().key_groups();
                let better = order_from_sample(&self.interp, &declared, &fixed, control);
                if control.should_stop() {
                    return Err(Error::Stopped(control.progress.describe_phase()));
                }
                match better.map_err(Error::Sample)? {
                    None => return Ok((self, None)),
                    Some(better) => (better.order, Some(better.share)),
                }
            }
        };
        let model = self.with_order(&order);
        let model =
            model.unwrap_or_else(|error| unreachable!("an order made for this model: {error}"));
        Ok((model, share))
    }

    /// Returns the same model with this key order.
    pub fn with_order(self, order: &[GroupId]) -> Result<TextModel, InvalidKeyOrder> {
        let (interp, rewritten) = (self.interp.with_order(order)?, RewriteCache::default());
        Ok(TextModel { interp, rewritten, ..self })
    }

    /// Returns the name of the key order.
    pub fn key_order(&self) -> &'static str {
        let layout = self.interp.layout();
        match &layout.order {
            order if order.is_sorted() => "declared",
            order if *order == static_order(self.interp.program(), layout) => "static",
            _ => "sampled",
        }
    }

    /// Returns what a search with `checks` checks and what it does not.
    pub fn scope(&self, checks: &CheckSelection) -> CheckScope {
        CheckScope::of(self.interp.program(), checks, &self.sources)
    }

    /// Returns the name of the model's file.
    pub fn name(&self) -> &str {
        &self.sources.file(0).name
    }
}

impl Error {
    /// Collects the errors among diagnostics.
    pub(crate) fn text(diagnostics: &[Diagnostic], sources: &SourceMap) -> Error {
        let mistakes = diagnostics.iter().filter(|it| it.severity == Severity::Error);
        let shown: Vec<String> =
            mistakes.clone().map(|it| it.render(sources).to_string()).collect();
        Error::Text(shown.join("\n"), mistakes.map(|it| it.mistake(sources)).collect())
    }
}

/// Reads the text of a model.
pub fn read_text(path: &Path) -> Result<String, Error> {
    let name = path.display();
    let bytes = source::read(path)
        .map_err(|error| Error::Unreadable(format!("cannot read the model {name}: {error}")))?;
    let text = String::from_utf8(bytes).or_else(|error| {
        let bytes = error.into_bytes();
        // Comments of old models are often in Latin-1. A text has no zero byte.
        match bytes.contains(&0) {
            true => Err(Error::Unreadable(format!("{name} is not a text file"))),
            false => Ok(bytes.iter().map(|&byte| char::from(byte)).collect()),
        }
    })?;
    match text.trim().is_empty() {
        true => Err(Error::Unreadable(format!("{name} is empty"))),
        false => Ok(text),
    }
}
