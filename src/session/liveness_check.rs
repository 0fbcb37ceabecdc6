//! Models with a temporal property: a formula, or an automaton that accepts violating runs.

use super::reduction_request::{check_order_pays, check_order_postpones, first_states};
use super::run_property::product_limits;
use super::searched_model::DecidedReductions;
use super::text_model::read_text;
use super::trial_limits::reject_large;
use super::{Error, ExecutableProgram, SavedProperty, SearchedModel, TextModel};
use crate::budget::AnalysisBudget;
use crate::diag::Diagnostic;
use crate::front::{
    ClaimChoice, CycleLabel, Language, LoadedModel, Options, PropertySource, TemporalProperty,
    TemporalSpec,
};
use crate::ir::{ACCEPTANCE, NON_PROGRESS, Program, PropertyKind, UncheckedKind};
use crate::ltl::{self, Automaton, LtlFormula, hoa};
use crate::model::{ConditionModality, SuccessorSink};
use crate::reduce::claim::{ClaimProduct, FiniteRunPolicy, NeverClaim};
use crate::reduce::partial_order::{CycleProviso, POR, PartialOrderMethod, PartialOrderStrategy};
use crate::reduce::{
    NotApplied, ParameterValues, ReductionEntry, ReductionKind, ReductionPlan, ReductionRefusal,
    ReductionRequest, merge, symmetry,
};
use crate::report::CheckScope;
use crate::search::liveness::in_memory::probe;
use crate::search::liveness::nested_dfs::{ProbeLimits, ProbeVerdict};
use crate::search::{SearchControl, SearchLimits};
use crate::source::{SourceMap, Span};
use std::path::Path;

/// A request to check a temporal property.
#[derive(Clone, Copy, Debug)]
pub enum PropertyRequest<'a> {
    /// A formula, or the name of a property of the model.
    Formula(&'a str),
    /// A file with an automaton that accepts the violating runs.
    Automaton(&'a Path),
    /// The property of labels of this kind in the model's processes.
    Labels(CycleLabel),
    /// An automaton that was [saved](SavedProperty).
    Saved {
        /// The file's name.
        name: &'a str,
        /// Its text.
        text: &'a str,
    },
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

    /// Returns the request for the property.
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
    /// Returns the default semantics of finite runs. As in SPIN, a finite run is no non-progress cycle.
    pub fn default_ended_runs(self) -> FiniteRunPolicy {
        match self {
            PropertyRequest::Labels(CycleLabel::Progress) => FiniteRunPolicy::Ignored,
            _ => FiniteRunPolicy::Stutter,
        }
    }
}

/// The limits of the search for a violating run before the trial of reductions.
const TRIED: ProbeLimits = ProbeLimits { states: 5_000, bytes: 16 << 20 };

/// The number of states whose transitions decide whether chains are used. A chain may be long.
const CHAINED_SAMPLE: usize = 64;

/// The name of a formula's source in messages.
const FORMULA_NAME: &str = "--ltl";

impl TextModel {
    /// Returns the names of the model's temporal properties for `--ltl NAME`: its never claim if that has accept
    /// labels, formulas, claims that are not part of its search, and property processes.
    pub fn run_properties(&self) -> Vec<&str> {
        let others = self.interp.program().unchecked.iter();
        let others = others.filter(|it| it.kind.is_property_of_runs()).map(|it| it.name.as_str());
        self.accepting_claim().into_iter().chain(others).collect()
    }

    /// Returns the name of the never claim of the model's search, if it has accept labels.
    pub fn accepting_claim(&self) -> Option<&str> {
        self.interp.program().properties.values().find_map(|it| match &it.kind {
            PropertyKind::Claim(claim) => {
                claim.locations.values().any(|it| it.accepting).then_some(it.name.as_str())
            }
            _ => None,
        })
    }

    /// Returns the name of the model's default temporal property: the never claim of its search if that has accept
    /// labels, or else the only formula or property process. `None` if there are several of these.
    pub fn own_property(&self) -> Option<&str> {
        let is_claim = |kind: &PropertyKind| matches!(kind, PropertyKind::Claim(_));
        let has_claim = self.interp.program().properties.values().any(|it| is_claim(&it.kind));
        match (&self.run_properties()[..], self.accepting_claim()) {
            (&[only], claim) if claim.is_some() || !has_claim => Some(only),
            _ => None,
        }
    }
}

/// A model with a temporal property.
pub struct LivenessCheck {
    /// The model. The automaton is a claim of its program, unless nothing can violate the property.
    pub model: TextModel,
    /// The name of the property.
    pub name: String,
    /// The automaton of violating runs. `None` if the model's own never claim is used unchanged.
    pub automaton: Option<Automaton>,
    /// The kind of the property in files for continuous integration: `ltl`, `claim`, `automaton`.
    pub kind: &'static str,
    /// The property as it was requested.
    pub saved_property: SavedProperty,
    /// Whether the automaton is that of a formula without the operator X, or of labels. Then it does not count
    /// repetitions of a state.
    pub ignores_repetitions: bool,
    /// Whether the property distinguishes values of a scalarset, which excludes symmetry reduction.
    pub tells_apart: bool,
    /// Whether a trial on the first states decides on partial order and symmetry.
    pub tries_reductions: bool,
    /// The model with an invariant in place of the automaton, if the property is equivalent to one.
    pub(super) invariant: Option<Box<TextModel>>,
}

impl LivenessCheck {
    /// Reads the model in file 0 of `sources`, and its temporal property. Returns the warnings as text.
    pub fn load(
        language: &'static Language,
        mut sources: SourceMap,
        options: Options,
        wanted: PropertyRequest<'_>,
    ) -> Result<(LivenessCheck, Vec<String>), Error> {
        if options.conditions.iter().any(|it| it.holds == ConditionModality::Within) {
            return Err(Error::ConstrainedRuns);
        }
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
        let program = automaton.as_ref();
        let program = program.and_then(|it| observed.as_invariant(&loaded.program, &name, it));
        let invariant = program.map(|it| invariant_model(language, &sources, &options, it));
        match &automaton {
            Some(automaton) if automaton.is_empty() => {}
            Some(automaton) => observed.add_as_claim(&mut loaded.program, &name, automaton),
            None => let_claims_end(&mut loaded.program),
        }
        let (model, warnings) = TextModel::of(language, sources, options, loaded)?;
        // A state of one is then a state of the other.
        let is_alike = |it: &TextModel| it.interp.layout() == model.interp.layout();
        let invariant = invariant.transpose()?.filter(is_alike).map(Box::new);
        let ignores_repetitions = match &observed.spec {
            TemporalSpec::Formula(formula) => !formula.has_next(),
            _ => matches!(kept, SavedProperty::Accept | SavedProperty::Progress),
        };
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
            ignores_repetitions,
            tells_apart,
            tries_reductions: false,
            invariant,
        };
        Ok((watched, warnings))
    }

    /// Returns the model with an invariant in place of the automaton, if the property is equivalent to one. The last
    /// state of a finite run must count: the run violates the property if it is one of the states that violate the
    /// invariant.
    pub fn invariant(&self) -> Option<&TextModel> {
        self.invariant.as_deref().filter(|_| self.finite_runs() == FiniteRunPolicy::Stutter)
    }

    /// Returns the same check, which the emptiness of the product decides.
    pub fn without_invariant(self) -> LivenessCheck {
        LivenessCheck { invariant: None, ..self }
    }

    /// Returns the semantics of finite runs.
    pub fn finite_runs(&self) -> FiniteRunPolicy {
        self.model.wished.finite_runs.unwrap_or(self.saved_property.wanted().default_ended_runs())
    }

    /// Returns the kind and the name of the property. They are the same whether it is checked or not.
    pub fn property(&self) -> (&'static str, &str) {
        match self.saved_property {
            SavedProperty::Accept => ACCEPTANCE,
            SavedProperty::Progress => NON_PROGRESS,
            SavedProperty::Formula(_) | SavedProperty::Automaton(..) => (self.kind, &self.name),
        }
    }

    /// Returns the scope of the check. If the search covered all states with all their steps without an error, and the
    /// automaton can follow every run, the absence of errors is verified too.
    pub fn scope(&self, came_through: bool) -> CheckScope {
        let program = self.model.interp.program();
        let mut claims = program.properties.values().filter_map(|it| match &it.kind {
            PropertyKind::Claim(claim) => Some(claim),
            _ => None,
        });
        let is_followed = claims.all(|it| it.follows_all());
        CheckScope::of_runs(program, came_through && is_followed, &self.model.sources)
    }

    /// Returns the limits of the reachability search. It checks only whether the automaton accepts every continuation.
    pub fn limits(max_states: Option<u64>) -> SearchLimits {
        product_limits(max_states)
    }

    /// Returns the same check with this semantics of finite runs and these reductions of the product. Partial order is
    /// left out if the automaton may count repetitions of a state. Symmetry is left out if the property breaks it.
    pub fn reduced(
        mut self,
        request: impl Into<ReductionRequest>,
        ended: FiniteRunPolicy,
    ) -> LivenessCheck {
        self.model.wished.finite_runs = Some(ended);
        if self.invariant().is_some() {
            // The reductions are those of the search for a violating state.
            return self;
        }
        let ReductionRequest { mut selection, is_tried } = request.into();
        self.tries_reductions = is_tried;
        if is_tried {
            selection = selection.with(POR.name, ParameterValues::DEFAULT);
        }
        if self.tells_apart && selection.remove(symmetry::ENTRY.name).is_some() {
            let refusal = symmetry::ENTRY.refusal(NotApplied::FormulaBreaksSymmetry);
            self.model.trial = Some(refusal).into();
        }
        if selection.has(symmetry::ENTRY.name) && selection.remove(merge::ENTRY.name).is_some() {
            let reason = NotApplied::Unproven(symmetry::ENTRY.title.into());
            self.model.trial = Some(merge::ENTRY.refusal(reason)).into();
        }
        let way = PartialOrderStrategy::of_chosen(|name| selection.get(name));
        let merges = selection.has(merge::ENTRY.name);
        if !self.ignores_repetitions
            && (way.is_some() || merges)
            && let Err(reason) = NeverClaim::check_counts_no_repetitions(&self.model.interp)
        {
            let omits = |it: &ReductionEntry| {
                it.kind == ReductionKind::Choice || it.name == merge::ENTRY.name
            };
            selection = selection.filtered(|it| !omits(it));
            let refusal = match way {
                Some(way) => way.method.refusal(reason),
                None => merge::ENTRY.refusal(reason),
            };
            self.model.trial = Some(refusal).into();
        }
        let plan = ReductionPlan::new(selection, Self::limits(None).checks);
        self.model.wished = ReductionPlan { finite_runs: Some(ended), ..plan };
        self
    }

    /// Returns the searched model. If reductions are tried, those are used that pay.
    pub fn searched_by<'m>(
        &'m self,
        product: &ClaimProduct<'_>,
        runs: ExecutableProgram<'m>,
        budget: &AnalysisBudget,
        control: &SearchControl,
    ) -> SearchedModel<'m> {
        if !self.tries_reductions {
            return self.model.searched_by(runs, budget);
        }
        let without = |kinds: &[ReductionKind], reason| {
            let left_off = PartialOrderMethod::DEFAULT.refusal(reason);
            self.without(kinds, runs.clone(), Some(left_off), budget)
        };
        // Symmetry with other parameters than those of `auto` was requested.
        let symmetry = &symmetry::ENTRY;
        let is_automatic =
            self.model.wished.get(symmetry.name) == symmetry.automatic_use().as_ref();
        let apart = match is_automatic {
            true => vec![ReductionKind::Choice, ReductionKind::Representative],
            false => vec![ReductionKind::Choice],
        };
        let plain = self.without(&apart, runs.clone(), None, budget);
        // Counterexamples of few states are shorter, and states of their own are easier to read.
        let first = match first_states(plain.model(), control) {
            Ok(first) => first,
            Err(reason) => return without(&apart, reason),
        };
        // The analysis for partial order may take longer than finding a violation.
        let accepts = |state: &[u8]| product.is_accepting(state);
        let probed = probe(plain.model(), &accepts, TRIED, control);
        if probed.is_ok_and(|it| matches!(it.found, ProbeVerdict::Found(_))) {
            return without(&apart, NotApplied::ViolatedEarly);
        }
        if let Err(reason) = reject_large(&runs) {
            return without(&[ReductionKind::Choice], reason);
        }
        let chained = self.with_chains(runs.clone(), budget);
        if chained.stack().names(&[ReductionKind::Choice]).is_empty() {
            return chained;
        }
        if lead_through_states(&chained, &first.late_sample(CHAINED_SAMPLE)) {
            return chained;
        }
        // The analysis without chains is another one.
        if let Err(reason) = check_order_postpones(&first, &chained, control) {
            return without(&[ReductionKind::Choice], reason);
        }
        let ordered = self.model.searched_by(runs.clone(), budget);
        match check_order_pays(plain.model(), first, &ordered, control) {
            Ok(()) => ordered,
            Err(reason) => without(&[ReductionKind::Choice], reason),
        }
    }

    /// Returns the model with partial order that passes through states.
    fn with_chains<'m>(
        &'m self,
        runs: ExecutableProgram<'m>,
        budget: &AnalysisBudget,
    ) -> SearchedModel<'m> {
        let (method, proviso) = (PartialOrderMethod::DEFAULT, CycleProviso::StaticChains);
        let way = PartialOrderStrategy { method, proviso };
        let wished = &self.model.wished;
        let wished = wished.with_selection(wished.selection.clone().and(&way.into()));
        self.model.reduced_as(runs, wished.into(), budget)
    }

    /// Returns the model without the partial order of `searched`: its states have all their steps.
    pub fn with_all_steps<'m>(
        &'m self,
        searched: &SearchedModel<'m>,
        runs: ExecutableProgram<'m>,
        budget: &AnalysisBudget,
    ) -> SearchedModel<'m> {
        let wished = searched.wished().without_kind(ReductionKind::Choice);
        self.model.reduced_as(runs, wished.into(), budget)
    }

    /// Returns the product with the program as written, which is interpreted.
    pub(super) fn as_written(&self) -> SearchedModel<'_> {
        let finite_runs = self.model.wished.finite_runs;
        self.model.searched_as(&ReductionPlan { finite_runs, ..ReductionPlan::default() })
    }

    /// Returns the searched model without reductions of some kinds.
    fn without<'m>(
        &'m self,
        kinds: &[ReductionKind],
        runs: ExecutableProgram<'m>,
        left_off: Option<ReductionRefusal>,
        budget: &AnalysisBudget,
    ) -> SearchedModel<'m> {
        let all = self.model.wished.clone();
        let wished = kinds.iter().fold(all, |wished, &kind| wished.without_kind(kind));
        self.model.reduced_as(runs, DecidedReductions { wished, trial: left_off.into() }, budget)
    }
}

/// Returns whether the chosen transitions of some states lead, on average, through one or more states that are not stored.
fn lead_through_states(chained: &SearchedModel<'_>, states: &[u8]) -> bool {
    let Some(model) = chained.model().capabilities().cycle_proviso else { return false };
    let (width, mut successors) = (chained.model().width(), Vec::new());
    let run = |out: &mut SuccessorSink| model.expand_chosen(states, out);
    let expanded = SuccessorSink::collect(width, &mut successors, run);
    expanded.is_ok_and(|it| it.counters.skipped >= it.counters.transitions)
}

/// Builds the model of a program that has an invariant in place of an automaton. Names that its text declares are known
/// from the model with the automaton.
fn invariant_model(
    language: &'static Language,
    sources: &SourceMap,
    options: &Options,
    program: Program,
) -> Result<TextModel, Error> {
    let (warnings, names) = (Vec::new(), Vec::new());
    let loaded = LoadedModel { program, warnings, property: None, names };
    TextModel::of(language, sources.clone(), options.clone(), loaded).map(|(model, _)| model)
}

/// Returns the source of a property for the front end, and its automaton if the property is one.
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
                // Messages name the position of the proposition in the file.
                let place = sources.locate(it.span).unwrap_or_default();
                (place, it.name.clone())
            };
            let texts: Vec<(String, String)> = read.propositions.iter().map(add).collect();
            let files = texts.into_iter().map(|(place, text)| sources.add_property(place, text));
            (Some(PropertySource::Propositions(files.collect())), Some(read))
        }
    })
}

/// Builds the property of labels of a kind. If the program has no such labels, it warns or returns an error.
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
        CycleLabel::Accept => "there is no such cycle",
        CycleLabel::Progress => "every cycle is a non-progress cycle",
    };
    let text = format!("no process of {model} has a location with a label `{name}`, so {so}");
    loaded.warnings.push(Diagnostic::warning(Span::default(), text));
    Ok(observed)
}

/// Lets the claims of a program stay at their end.
fn let_claims_end(program: &mut Program) {
    for property in program.properties.keys() {
        if let PropertyKind::Claim(claim) = &mut program.properties[property].kind {
            claim.stay_at_ends();
        }
    }
}

/// Returns the kind of a property, as for the model's own.
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

/// Returns the name of a property.
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

/// Returns the automaton of violating runs. `None` if a claim of the program accepts them.
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
