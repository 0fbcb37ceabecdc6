//! Models that are asked whether their runs have a property: a formula, or an automaton that accepts what violates it.

use super::searched::Decided;
use super::text::read_text;
use super::{Error, Reduce, Runnable, Searched, TextModel};
use crate::budget::AnalysisBudget;
use crate::diag::Diagnostic;
use crate::exec::Checks;
use crate::front::{Asked, ClaimChoice, Demand, Label, Language, Loaded, Observed, Options};
use crate::ir::{ACCEPTANCE, NON_PROGRESS, Program, PropertyKind, UncheckedKind};
use crate::ltl::{self, Automaton, Formula, hoa};
use crate::reduce::claim::EndedRuns;
use crate::reduce::{Refused, Wished, symmetry};
use crate::report::Scope;
use crate::search::Limits;
use crate::source::{Sources, Span};
use rkyv::{Archive, Deserialize, Serialize};
use std::path::Path;

/// Which runs are judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
pub enum Wanted<'a> {
    /// A formula, or the name of one of the model's.
    Formula(&'a str),
    /// A file with an automaton that accepts the runs that there must not be.
    Automaton(&'a Path),
    /// What the labels of this kind in the model's processes ask.
    Labels(Label),
    /// An automaton that was [kept](Kept).
    Kept {
        /// The file's name.
        name: &'a str,
        /// Its text.
        text: &'a str,
    },
}

/// What is asked, as it is kept with a search.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub enum Kept {
    /// A formula, or the name of one of the model's.
    Formula(String),
    /// The name and the text of a file with an automaton that accepts the runs that there must not be.
    Automaton(String, String),
    /// What the `accept` labels in the model's processes ask.
    Accept,
    /// What the `progress` labels ask.
    Progress,
}

impl Kept {
    fn of(wanted: Wanted<'_>) -> Result<Kept, Error> {
        Ok(match wanted {
            Wanted::Formula(text) => Kept::Formula(text.to_owned()),
            Wanted::Automaton(path) => {
                Kept::Automaton(path.display().to_string(), read_text(path)?)
            }
            Wanted::Kept { name, text } => Kept::Automaton(name.to_owned(), text.to_owned()),
            Wanted::Labels(Label::Accept) => Kept::Accept,
            Wanted::Labels(Label::Progress) => Kept::Progress,
        })
    }

    /// The flag that asks so.
    pub fn flag(&self) -> &'static str {
        match self {
            Kept::Formula(_) => "--ltl",
            Kept::Automaton(..) => "--automaton",
            Kept::Accept => "--acceptance",
            Kept::Progress => "--non-progress",
        }
    }

    /// What that asks.
    pub fn wanted(&self) -> Wanted<'_> {
        match self {
            Kept::Formula(text) => Wanted::Formula(text),
            Kept::Automaton(name, text) => Wanted::Kept { name, text },
            Kept::Accept => Wanted::Labels(Label::Accept),
            Kept::Progress => Wanted::Labels(Label::Progress),
        }
    }
}

impl Wanted<'_> {
    /// What is said of runs that end where nobody says otherwise. A run that has ended goes round no cycle without
    /// progress, as SPIN has it.
    pub fn ended(self) -> EndedRuns {
        match self {
            Wanted::Labels(Label::Progress) => EndedRuns::Ignored,
            _ => EndedRuns::Stutter,
        }
    }
}

/// What the source of a formula is called in messages.
const FORMULA_NAME: &str = "--ltl";

impl TextModel {
    /// The name of the property of runs that the model brings with it: the never claim that it is searched with, if that
    /// has accept labels, or else a formula or a property process. None if there are several of these.
    pub fn own_property(&self) -> Option<&str> {
        let program = self.interp.program();
        let claim = program.properties.values().find_map(|it| match &it.kind {
            PropertyKind::Claim(claim) => Some((it.name.as_str(), claim)),
            _ => None,
        });
        let mut others = program.unchecked.iter().filter(|it| it.kind.is_property_of_runs());
        match (claim, others.next(), others.next()) {
            (None, Some(only), None) => Some(&only.name),
            (Some((name, claim)), None, _) => {
                claim.locations.values().any(|it| it.accepting).then_some(name)
            }
            _ => None,
        }
    }
}

/// What is asked of the runs of a model.
pub struct Watched {
    /// The model; the automaton is a claim of its program, unless nothing can violate it.
    pub model: TextModel,
    /// What the property is called.
    pub name: String,
    /// Accepts the runs that violate it; none where the model's own never claim does, as it stands.
    pub automaton: Option<Automaton>,
    /// The kind of the property, as tools of continuous integration are told: `ltl`, `claim`, `automaton`.
    pub kind: &'static str,
    /// What was asked.
    pub kept: Kept,
    /// Why the automaton may see how often a state is repeated, if it may.
    pub counts_steps: Option<&'static str>,
    /// Whether the property tells values of a scalarset from each other, so that states that differ in their names differ.
    pub tells_apart: bool,
    /// How many of the model's sources, from the second on, are there for what was asked.
    pub(super) asked_in: usize,
}

impl Watched {
    /// Reads the model in file 0 of `sources`, and what is asked of it. Gives its warnings, ready to print.
    pub fn load(
        language: &'static Language,
        mut sources: Sources,
        options: Options,
        wanted: Wanted<'_>,
    ) -> Result<(Watched, Vec<String>), Error> {
        let options = Options { claim: ClaimChoice::Leave, ..options };
        let kept = Kept::of(wanted)?;
        let files_before = sources.iter().count();
        let (asked, read) = match &kept {
            Kept::Accept | Kept::Progress => (None, None),
            Kept::Formula(text) => {
                (Some(Asked::Formula(sources.add(FORMULA_NAME, &*ltl::ascii(text)))), None)
            }
            Kept::Automaton(name, text) => {
                let file = sources.add(name.as_str(), text.as_str());
                let read = hoa::read(&sources.file(file).text, file)
                    .map_err(|error| Error::text(&[error], &sources))?;
                let add = |it: &hoa::AtomicProposition| {
                    // Messages tell where in the file the proposition stands.
                    let place = sources.locate(it.span).unwrap_or_default();
                    (place, it.name.clone())
                };
                let texts: Vec<(String, String)> = read.propositions.iter().map(add).collect();
                let files = texts.into_iter().map(|(place, text)| sources.add(place, text));
                (Some(Asked::Propositions(files.collect())), Some(read))
            }
        };
        let asked_in = sources.iter().count() - files_before;
        let loaded = match &asked {
            None => language.load(&mut sources, &options),
            Some(asked) => language.load_asked(&mut sources, &options, asked),
        };
        let mut loaded = loaded.map_err(|diagnostics| Error::text(&diagnostics, &sources))?;
        let observed = match wanted {
            Wanted::Labels(label) => by_labels(language, &mut loaded, label)?,
            _ => loaded.observed.take().unwrap_or_else(|| unreachable!("it was asked for")),
        };
        let observed = observed.grouped();
        if let Wanted::Labels(label) = wanted {
            loaded.program.unchecked.retain(|it| it.kind.label() != Some(label.name()));
        }
        let name = name(&observed, read.as_ref(), &kept);
        let automaton = violating(&observed, read.as_ref(), &name)?;
        match &automaton {
            Some(automaton) if automaton.is_empty() => {}
            Some(automaton) => observed.watch(&mut loaded.program, &name, automaton),
            None => let_claims_end(&mut loaded.program),
        }
        let (model, warnings) = TextModel::of(language, sources, options, loaded)?;
        let counts_steps = why_counting(&observed, &kept);
        let wished = Wished { runs: Some(wanted.ended()), ..Wished::default() };
        let model = TextModel { wished, ..model };
        let (kind, tells_apart) = (kind(&observed, &kept), observed.tells_apart);
        let watched =
            Watched { model, name, automaton, kind, kept, counts_steps, tells_apart, asked_in };
        Ok((watched, warnings))
    }

    /// The kind and the name of the property, which are the same whether it is checked or not.
    pub fn property(&self) -> (&'static str, &str) {
        match self.kept {
            Kept::Accept => ACCEPTANCE,
            Kept::Progress => NON_PROGRESS,
            Kept::Formula(_) | Kept::Automaton(..) => (self.kind, &self.name),
        }
    }

    /// What is said of a search: where it came through all states with all their steps, and met no error, that there is none is
    /// known as well, if the automaton can follow every run.
    pub fn scope(&self, came_through: bool) -> Scope {
        let program = self.model.interp.program();
        let mut claims = program.properties.values().filter_map(|it| match &it.kind {
            PropertyKind::Claim(claim) => Some(claim),
            _ => None,
        });
        let is_followed = claims.all(|it| it.follows_all());
        Scope::of_runs(program, came_through && is_followed, &self.model.sources)
    }

    /// What of a state space is looked at while its states are reached: nothing but whether the automaton accepts whatever
    /// follows.
    pub fn limits(max_states: Option<u64>) -> Limits {
        let checks = Checks { claims: true, ..Checks::NONE };
        Limits { checks, max_states, ..Limits::default() }
    }

    /// The same, where this is said of runs that end, and the product is reduced so: by passes over the program, and by
    /// partial order, unless the automaton may see what that leaves out.
    pub fn reduced(mut self, reduce: &Reduce, ended: EndedRuns) -> Watched {
        let Reduce { rewritings, symmetry, processes, steps, .. } = *reduce;
        let only = Reduce { rewritings, symmetry, processes, steps, ..Reduce::NONE };
        let mut wished = Wished { runs: Some(ended), ..only.wished(Self::limits(None).checks) };
        if self.tells_apart && wished.symmetry.take().is_some() {
            let why = "the formula is about each value of a scalarset by itself".to_owned();
            self.model.left_off = Some(Refused { name: symmetry::NAME.into(), why });
        }
        self.model.wished = match (wished.partial_order, self.counts_steps) {
            (Some((way, _)), Some(why)) => {
                let name = way.method.reduction_name();
                self.model.left_off = Some(Refused { name, why: why.to_owned() });
                Wished { partial_order: None, ..wished }
            }
            _ => wished,
        };
        self
    }

    /// What is searched, but with all steps of the states that are left.
    pub fn with_all_steps<'m>(
        &'m self,
        runs: Runnable<'m>,
        budget: &AnalysisBudget,
    ) -> Searched<'m> {
        let wished = Wished { partial_order: None, ..self.model.wished.clone() };
        let decided = Decided { wished, left_off: None, is_open: false };
        self.model.reduced_as(runs, decided, budget)
    }
}

/// Why what is asked may see how often a state is repeated, if it may.
fn why_counting(observed: &Observed, kept: &Kept) -> Option<&'static str> {
    match (&observed.demand, kept) {
        (Demand::Formula(formula), _) if formula.has_next() => Some(
            "the formula speaks of the next state, so that it may see how often one is repeated",
        ),
        (Demand::Formula(_), _) | (_, Kept::Accept | Kept::Progress) => None,
        (Demand::Automaton(_) | Demand::Propositions | Demand::Claim, _) => {
            Some("it is not known whether the automaton sees how often a state is repeated")
        }
    }
}

/// What labels of a kind ask of a program. Where there are none, it is warned of that, or refused.
fn by_labels(language: &Language, loaded: &mut Loaded, label: Label) -> Result<Observed, Error> {
    let (observed, is_any) = Observed::labels(&loaded.program, label);
    let (model, name) = (&loaded.program.name, label.name());
    if is_any {
        return Ok(observed);
    }
    if !language.options.asks_without_labels {
        return Err(Error::Unreadable(format!("no process of {model} has a label `{name}`")));
    }
    let so = match label {
        Label::Accept => "there is nothing to find",
        Label::Progress => "every cycle is one without progress",
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
fn kind(observed: &Observed, kept: &Kept) -> &'static str {
    match (kept, &observed.demand) {
        (Kept::Accept, _) => ACCEPTANCE.0,
        (Kept::Progress, _) => NON_PROGRESS.0,
        (Kept::Automaton(..), _) => "automaton",
        (Kept::Formula(_), Demand::Claim) => "claim",
        (Kept::Formula(_), Demand::Automaton(_)) => UncheckedKind::PropertyProcess.name(),
        (Kept::Formula(_), _) => UncheckedKind::Formula.name(),
    }
}

/// What a property is called.
fn name(observed: &Observed, read: Option<&hoa::Read>, kept: &Kept) -> String {
    let own = observed.name.clone();
    match kept {
        Kept::Formula(text) => own.unwrap_or_else(|| text.trim().to_owned()),
        Kept::Automaton(file, _) => {
            let given = read.and_then(|it| it.name.clone());
            given.unwrap_or_else(|| file.clone())
        }
        Kept::Accept => own.unwrap_or_else(|| Label::Accept.name().to_owned()),
        Kept::Progress => own.unwrap_or_else(|| Label::Progress.name().to_owned()),
    }
}

/// The automaton that accepts what violates a property; none where a claim of the program does.
fn violating(
    observed: &Observed,
    read: Option<&hoa::Read>,
    name: &str,
) -> Result<Option<Automaton>, Error> {
    let propositions: Vec<String> =
        observed.propositions.iter().map(|it| it.text.clone()).collect();
    Ok(Some(match &observed.demand {
        Demand::Claim => return Ok(None),
        Demand::Automaton(own) => Automaton { propositions, ..own.clone() },
        Demand::Propositions => {
            ltl::of_generalized(read.and_then(|it| it.automaton.as_ref()), propositions)
        }
        Demand::Formula(formula) => {
            let violated = Formula::Not(Box::new(formula.clone()));
            ltl::translate(&violated, propositions).map_err(|_| {
                Error::Unreadable(format!("the automaton of the formula {name} is too large"))
            })?
        }
    }))
}
