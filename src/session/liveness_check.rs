//! Models that are asked whether their runs have a property: a formula, or an automaton that accepts what violates it.

use super::searched_model::DecidedReductions;
use super::text_model::read_text;
use super::{Error, ExecutableProgram, SearchedModel, TextModel};
use crate::budget::AnalysisBudget;
use crate::diag::Diagnostic;
use crate::front::{
    ClaimChoice, CycleLabel, Language, LoadedModel, Options, PropertySource, TemporalProperty,
    TemporalSpec,
};
use crate::ir::{ACCEPTANCE, NON_PROGRESS, Program, PropertyKind, UncheckedKind};
use crate::ltl::{self, Automaton, LtlFormula, hoa};
use crate::model::CheckSelection;
use crate::reduce::claim::FiniteRunPolicy;
use crate::reduce::partial_order::PartialOrderStrategy;
use crate::reduce::{
    NotApplied, ReductionKind, ReductionPlan, ReductionRefusal, ReductionSelection, symmetry,
};
use crate::report::CheckScope;
use crate::search::SearchLimits;
use crate::source::{SourceMap, Span};
use rkyv::{Archive, Deserialize, Serialize};
use std::path::Path;

/// Which runs are judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fairness {
    /// All.
    #[default]
    None,
    /// Those in which each process that is able to move from some point on, always, moves again and again.
    Weak,
}

impl Fairness {
    /// As flags and reports call it.
    pub fn name(self) -> &'static str {
        match self {
            Fairness::None => "none",
            Fairness::Weak => "weak",
        }
    }
}

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub enum PropertyRequest<'a> {
    /// A formula, or the name of one of the model's.
    Formula(&'a str),
    /// A file with an automaton that accepts the runs that there must not be.
    Automaton(&'a Path),
    /// What the labels of this kind in the model's processes ask.
    Labels(CycleLabel),
    /// An automaton that was [saved](SavedProperty).
    Saved {
        /// The file's name.
        name: &'a str,
        /// Its text.
        text: &'a str,
    },
}

/// What is asked, as it is kept with a search.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub enum SavedProperty {
    /// A formula, or the name of one of the model's.
    Formula(String),
    /// The name and the text of a file with an automaton that accepts the runs that there must not be.
    Automaton(String, String),
    /// What the `accept` labels in the model's processes ask.
    Accept,
    /// What the `progress` labels ask.
    Progress,
}

impl SavedProperty {
    fn of(wanted: PropertyRequest<'_>) -> Result<SavedProperty, Error> {
        Ok(match wanted {
            PropertyRequest::Formula(text) => SavedProperty::Formula(text.to_owned()),
            PropertyRequest::Automaton(path) => {
                SavedProperty::Automaton(path.display().to_string(), read_text(path)?)
            }
            PropertyRequest::Saved { name, text } => {
                SavedProperty::Automaton(name.to_owned(), text.to_owned())
            }
            PropertyRequest::Labels(CycleLabel::Accept) => SavedProperty::Accept,
            PropertyRequest::Labels(CycleLabel::Progress) => SavedProperty::Progress,
        })
    }

    /// The flag that asks so.
    pub fn flag(&self) -> &'static str {
        match self {
            SavedProperty::Formula(_) => "--ltl",
            SavedProperty::Automaton(..) => "--automaton",
            SavedProperty::Accept => "--acceptance",
            SavedProperty::Progress => "--non-progress",
        }
    }

    /// What that asks.
    pub fn wanted(&self) -> PropertyRequest<'_> {
        match self {
            SavedProperty::Formula(text) => PropertyRequest::Formula(text),
            SavedProperty::Automaton(name, text) => PropertyRequest::Saved { name, text },
            SavedProperty::Accept => PropertyRequest::Labels(CycleLabel::Accept),
            SavedProperty::Progress => PropertyRequest::Labels(CycleLabel::Progress),
        }
    }
}

impl PropertyRequest<'_> {
    /// What is said of runs that end where nobody says otherwise. A run that has ended goes round no cycle without
    /// progress, as SPIN has it.
    pub fn default_ended_runs(self) -> FiniteRunPolicy {
        match self {
            PropertyRequest::Labels(CycleLabel::Progress) => FiniteRunPolicy::Ignored,
            _ => FiniteRunPolicy::Stutter,
        }
    }
}

/// What the source of a formula is called in messages.
const FORMULA_NAME: &str = "--ltl";

impl TextModel {
    /// The names of the model's properties of runs, which `--ltl NAME` checks: its never claim, if that has accept labels,
    /// formulas, claims that it is not searched with, property processes.
    pub fn run_properties(&self) -> Vec<&str> {
        let others = self.interp.program().unchecked.iter();
        let others = others.filter(|it| it.kind.is_property_of_runs()).map(|it| it.name.as_str());
        self.accepting_claim().into_iter().chain(others).collect()
    }

    /// The name of the never claim that the model is searched with, if it has accept labels.
    pub fn accepting_claim(&self) -> Option<&str> {
        self.interp.program().properties.values().find_map(|it| match &it.kind {
            PropertyKind::Claim(claim) => {
                claim.locations.values().any(|it| it.accepting).then_some(it.name.as_str())
            }
            _ => None,
        })
    }

    /// The name of the property of runs that the model brings with it: the never claim that it is searched with, if that
    /// has accept labels, or else a formula or a property process. None if there are several of these.
    pub fn own_property(&self) -> Option<&str> {
        let is_claim = |kind: &PropertyKind| matches!(kind, PropertyKind::Claim(_));
        let has_claim = self.interp.program().properties.values().any(|it| is_claim(&it.kind));
        match (&self.run_properties()[..], self.accepting_claim()) {
            (&[only], claim) if claim.is_some() || !has_claim => Some(only),
            _ => None,
        }
    }
}

/// What is asked of the runs of a model.
pub struct LivenessCheck {
    /// The model; the automaton is a claim of its program, unless nothing can violate it.
    pub model: TextModel,
    /// What the property is called.
    pub name: String,
    /// Accepts the runs that violate it; none where the model's own never claim does, as it stands.
    pub automaton: Option<Automaton>,
    /// The kind of the property, as tools of continuous integration are told: `ltl`, `claim`, `automaton`.
    pub kind: &'static str,
    /// What was asked.
    pub saved_property: SavedProperty,
    /// Why the automaton may see how often a state is repeated, if it may.
    pub counts_steps: Option<&'static str>,
    /// Whether the property tells values of a scalarset from each other, so that states that differ in their names differ.
    pub tells_apart: bool,
}

impl LivenessCheck {
    /// Reads the model in file 0 of `sources`, and what is asked of it. Gives its warnings, ready to print.
    pub fn load(
        language: &'static Language,
        mut sources: SourceMap,
        options: Options,
        wanted: PropertyRequest<'_>,
    ) -> Result<(LivenessCheck, Vec<String>), Error> {
        let options = Options { claim: ClaimChoice::Omit, conditions: Vec::new(), ..options };
        let kept = SavedProperty::of(wanted)?;
        let (asked, read) = property_source(&kept, &mut sources)?;
        let loaded = match &asked {
            None => language.load(&mut sources, &options),
            Some(asked) => language.load_with_property(&mut sources, &options, asked),
        };
        let mut loaded = loaded.map_err(|diagnostics| Error::text(&diagnostics, &sources))?;
        let observed = match wanted {
            PropertyRequest::Labels(label) => observe_labels(language, &mut loaded, label)?,
            _ => loaded.property.take().unwrap_or_else(|| unreachable!("it was asked for")),
        };
        let observed = observed.with_grouped_propositions();
        if let PropertyRequest::Labels(label) = wanted {
            loaded.program.unchecked.retain(|it| it.kind.label() != Some(label.name()));
        }
        let name = name(&observed, read.as_ref(), &kept);
        let automaton = violation_automaton(&observed, read.as_ref(), &name)?;
        match &automaton {
            Some(automaton) if automaton.is_empty() => {}
            Some(automaton) => observed.add_as_claim(&mut loaded.program, &name, automaton),
            None => let_claims_end(&mut loaded.program),
        }
        let (model, warnings) = TextModel::of(language, sources, options, loaded)?;
        let counts_steps = why_counting(&observed, &kept);
        let finite_runs = Some(wanted.default_ended_runs());
        let wished = ReductionPlan { finite_runs, ..ReductionPlan::default() };
        let model = TextModel { wished, ..model };
        let (kind, tells_apart) = (kind(&observed, &kept), observed.breaks_symmetry);
        let watched = LivenessCheck {
            model,
            name,
            automaton,
            kind,
            saved_property: kept,
            counts_steps,
            tells_apart,
        };
        Ok((watched, warnings))
    }

    /// What is assumed of finite runs.
    pub fn finite_runs(&self) -> FiniteRunPolicy {
        self.model.wished.finite_runs.unwrap_or(self.saved_property.wanted().default_ended_runs())
    }

    /// The kind and the name of the property, which are the same whether it is checked or not.
    pub fn property(&self) -> (&'static str, &str) {
        match self.saved_property {
            SavedProperty::Accept => ACCEPTANCE,
            SavedProperty::Progress => NON_PROGRESS,
            SavedProperty::Formula(_) | SavedProperty::Automaton(..) => (self.kind, &self.name),
        }
    }

    /// What is said of a search: where it came through all states with all their steps, and met no error, that there is none is
    /// known as well, if the automaton can follow every run.
    pub fn scope(&self, came_through: bool) -> CheckScope {
        let program = self.model.interp.program();
        let mut claims = program.properties.values().filter_map(|it| match &it.kind {
            PropertyKind::Claim(claim) => Some(claim),
            _ => None,
        });
        let is_followed = claims.all(|it| it.follows_all());
        CheckScope::of_runs(program, came_through && is_followed, &self.model.sources)
    }

    /// What of a state space is looked at while its states are reached: nothing but whether the automaton accepts whatever
    /// follows.
    pub fn limits(max_states: Option<u64>) -> SearchLimits {
        let checks = CheckSelection { claims: true, ..CheckSelection::NONE };
        SearchLimits { checks, max_states, ..SearchLimits::default() }
    }

    /// The same, where this is said of runs that end, and the product is reduced so: by passes over the program, and by
    /// partial order, unless the automaton may see what that leaves out.
    pub fn reduced(
        mut self,
        mut selection: ReductionSelection,
        ended: FiniteRunPolicy,
    ) -> LivenessCheck {
        if self.tells_apart && selection.remove(symmetry::ENTRY.name).is_some() {
            let refusal = ReductionRefusal::of(&symmetry::ENTRY, NotApplied::FormulaBreaksSymmetry);
            self.model.left_off = Some(refusal);
        }
        let way = PartialOrderStrategy::of_chosen(|name| selection.get(name));
        if let (Some(way), Some(why)) = (way, self.counts_steps) {
            selection = selection.filtered(|it| it.kind != ReductionKind::Choice);
            self.model.left_off = Some(ReductionRefusal {
                reductions: vec!["por".into()],
                name: way.method.reduction_name(),
                reason: NotApplied::CountsRepeatedStates(why.to_owned()),
            });
        }
        let plan = ReductionPlan::new(selection, Self::limits(None).checks);
        self.model.wished = ReductionPlan { finite_runs: Some(ended), ..plan };
        self
    }

    /// What is searched, but with all steps of the states that are left.
    pub fn with_all_steps<'m>(
        &'m self,
        runs: ExecutableProgram<'m>,
        budget: &AnalysisBudget,
    ) -> SearchedModel<'m> {
        let wished = self.model.wished.without_kind(ReductionKind::Choice);
        let decided = DecidedReductions { wished, left_off: None };
        self.model.reduced_as(runs, decided, budget)
    }
}

/// What the front end reads for a property, and the automaton if that is what is given.
fn property_source(
    kept: &SavedProperty,
    sources: &mut SourceMap,
) -> Result<(Option<PropertySource>, Option<hoa::HoaDocument>), Error> {
    Ok(match kept {
        SavedProperty::Accept | SavedProperty::Progress => (None, None),
        SavedProperty::Formula(text) => (
            Some(PropertySource::Formula(
                sources.add_property(FORMULA_NAME, &*ltl::to_spin_signs(text)),
            )),
            None,
        ),
        SavedProperty::Automaton(name, text) => {
            let file = sources.add_property(name.as_str(), text.as_str());
            let read = hoa::read(&sources.file(file).text, file)
                .map_err(|error| Error::text(&[error], sources))?;
            let add = |it: &hoa::AtomicProposition| {
                // Messages tell where in the file the proposition stands.
                let place = sources.locate(it.span).unwrap_or_default();
                (place, it.name.clone())
            };
            let texts: Vec<(String, String)> = read.propositions.iter().map(add).collect();
            let files = texts.into_iter().map(|(place, text)| sources.add_property(place, text));
            (Some(PropertySource::Propositions(files.collect())), Some(read))
        }
    })
}

/// Why what is asked may see how often a state is repeated, if it may.
fn why_counting(observed: &TemporalProperty, kept: &SavedProperty) -> Option<&'static str> {
    match (&observed.spec, kept) {
        (TemporalSpec::Formula(formula), _) if formula.has_next() => Some(
            "the formula speaks of the next state, so that it may see how often one is repeated",
        ),
        (TemporalSpec::Formula(_), _) | (_, SavedProperty::Accept | SavedProperty::Progress) => {
            None
        }
        (TemporalSpec::Automaton(_) | TemporalSpec::Propositions | TemporalSpec::Claim, _) => {
            Some("it is not known whether the automaton sees how often a state is repeated")
        }
    }
}

/// What labels of a kind ask of a program. Where there are none, it is warned of that, or refused.
fn observe_labels(
    language: &Language,
    loaded: &mut LoadedModel,
    label: CycleLabel,
) -> Result<TemporalProperty, Error> {
    let (observed, is_any) = TemporalProperty::from_labels(&loaded.program, label);
    let (model, name) = (&loaded.program.name, label.name());
    if is_any {
        return Ok(observed);
    }
    if !language.options.checks_unlabelled_models {
        return Err(Error::Unreadable(format!("no process of {model} has a label `{name}`")));
    }
    let so = match label {
        CycleLabel::Accept => "there is nothing to find",
        CycleLabel::Progress => "every cycle is one without progress",
    };
    let text = format!("no process of {model} comes to rest at a label `{name}`, so {so}");
    loaded.warnings.push(Diagnostic::warning(Span::default(), text));
    Ok(observed)
}

/// Lets the claim of a program stay at its end.
fn let_claims_end(program: &mut Program) {
    for property in program.properties.keys() {
        if let PropertyKind::Claim(claim) = &mut program.properties[property].kind {
            claim.stay_at_ends();
        }
    }
}

/// The kind of a property, as the model's own are called.
fn kind(observed: &TemporalProperty, kept: &SavedProperty) -> &'static str {
    match (kept, &observed.spec) {
        (SavedProperty::Accept, _) => ACCEPTANCE.0,
        (SavedProperty::Progress, _) => NON_PROGRESS.0,
        (SavedProperty::Automaton(..), _) => "automaton",
        (SavedProperty::Formula(_), TemporalSpec::Claim) => "claim",
        (SavedProperty::Formula(_), TemporalSpec::Automaton(_)) => {
            UncheckedKind::PropertyProcess.name()
        }
        (SavedProperty::Formula(_), _) => UncheckedKind::Formula.name(),
    }
}

/// What a property is called.
fn name(
    observed: &TemporalProperty,
    read: Option<&hoa::HoaDocument>,
    kept: &SavedProperty,
) -> String {
    let own = observed.name.clone();
    match kept {
        SavedProperty::Formula(text) => own.unwrap_or_else(|| text.trim().to_owned()),
        SavedProperty::Automaton(file, _) => {
            let given = read.and_then(|it| it.name.clone());
            given.unwrap_or_else(|| file.clone())
        }
        SavedProperty::Accept => own.unwrap_or_else(|| CycleLabel::Accept.name().to_owned()),
        SavedProperty::Progress => own.unwrap_or_else(|| CycleLabel::Progress.name().to_owned()),
    }
}

/// The automaton that accepts what violates a property; none where a claim of the program does.
fn violation_automaton(
    observed: &TemporalProperty,
    read: Option<&hoa::HoaDocument>,
    name: &str,
) -> Result<Option<Automaton>, Error> {
    let propositions: Vec<String> =
        observed.propositions.iter().map(|it| it.text.clone()).collect();
    Ok(Some(match &observed.spec {
        TemporalSpec::Claim => return Ok(None),
        TemporalSpec::Automaton(own) => Automaton { propositions, ..own.clone() },
        TemporalSpec::Propositions => {
            ltl::degeneralize(read.and_then(|it| it.automaton.as_ref()), propositions)
        }
        TemporalSpec::Formula(formula) => {
            let violated = LtlFormula::Not(Box::new(formula.clone()));
            ltl::translate(&violated, propositions).map_err(|_| {
                Error::Unreadable(format!("the automaton of the formula {name} is too large"))
            })?
        }
    }))
}
