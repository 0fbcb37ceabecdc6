//! Models that are read from texts: programs and specifications.

use super::searched_model::{ModelSummary, SearchedModel};
use super::{SearchBudget, TextModel};
use crate::budget::AnalysisBudget;
use crate::exec::ViolationDistance;
use crate::front::Language;
use crate::model::{RuntimeFault, StateCondition, StateValue, SystemDescription};
use crate::search::SearchLimits;
use crate::search::hunt::DistanceFn;
use crate::session::config::ModelConfig;
use crate::source::SourceMap;

/// A model that was read from texts.
///
/// Commands that need no program use models through this trait. What only programs have is behind
/// [`as_program`](SourceModel::as_program).
pub trait SourceModel {
    /// Returns its texts. File 0 is the file that the user named.
    fn sources(&self) -> &SourceMap;

    /// Returns its language.
    fn language(&self) -> &'static Language;

    /// Returns how it was read.
    fn model_config(&self) -> ModelConfig;

    /// Returns the conditions on states that are checked in addition to its own properties.
    fn conditions(&self) -> &[StateCondition];

    /// Returns the model that is searched, to read the result of a search.
    fn searched(&self) -> SearchedModel<'_>;

    /// Returns the model that is searched, to reconstruct states within a budget.
    fn searched_within(&self, budget: SearchBudget) -> SearchedModel<'_>;

    /// Returns the description for reports.
    fn about(&self, limits: &SearchLimits) -> ModelSummary<'_>;

    /// Returns the description of stored states, unless the model is a program.
    fn stored_description(&self) -> Option<&dyn SystemDescription>;

    /// Returns the program, if the model is one.
    fn as_program(&self) -> Option<&TextModel>;

    /// Returns the value of the expression of a property in a state. `None` if the property has no expression about
    /// states.
    ///
    /// # Errors
    ///
    /// If the evaluation fails, with the reason.
    fn condition_value(
        &self,
        property: u32,
        state: &[u8],
    ) -> Result<Option<StateValue>, RuntimeFault>;

    /// Returns the distance to a violation of any of the properties of single states with selected numbers. `None` if
    /// there are none.
    fn distance<'m>(&'m self, is_selected: &dyn Fn(u32) -> bool) -> Option<Box<DistanceFn<'m>>>;

    /// Returns the name of the model's file.
    fn name(&self) -> &str {
        &self.sources().file(0).name
    }
}

impl SourceModel for TextModel {
    fn sources(&self) -> &SourceMap {
        &self.sources
    }

    fn language(&self) -> &'static Language {
        self.language
    }

    fn model_config(&self) -> ModelConfig {
        ModelConfig::of(&self.options)
    }

    fn conditions(&self) -> &[StateCondition] {
        &self.options.conditions
    }

    fn searched(&self) -> SearchedModel<'_> {
        TextModel::searched(self)
    }

    fn searched_within(&self, budget: SearchBudget) -> SearchedModel<'_> {
        let largest = AnalysisBudget::largest();
        let runs = self.runnable(&self.wished, &largest, |it| budget.executor(it));
        self.searched_by(runs, &largest)
    }

    fn about(&self, limits: &SearchLimits) -> ModelSummary<'_> {
        TextModel::about(self, limits)
    }

    fn stored_description(&self) -> Option<&dyn SystemDescription> {
        None
    }

    fn as_program(&self) -> Option<&TextModel> {
        Some(self)
    }

    fn condition_value(
        &self,
        property: u32,
        state: &[u8],
    ) -> Result<Option<StateValue>, RuntimeFault> {
        TextModel::condition_value(self, property, state)
    }

    fn distance<'m>(&'m self, is_selected: &dyn Fn(u32) -> bool) -> Option<Box<DistanceFn<'m>>> {
        let distance = ViolationDistance::new(&self.interp, is_selected)?;
        Some(Box::new(move |state| distance.of_state(state)))
    }
}
