//! Models that are asked whether their runs have a property: a formula, or an automaton that accepts what violates it.

use super::text::read_text;
use super::{Error, TextModel};
use crate::front::{Asked, ClaimChoice, Demand, Label, Language, Observed, Options};
use crate::ir::{Program, PropertyKind};
use crate::ltl::{self, Automaton, Formula, hoa};
use crate::reduce::claim::EndedRuns;
use crate::source::Sources;
use std::path::Path;

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub enum Wanted<'a> {
    /// A formula, or the name of one of the model's.
    Formula(&'a str),
    /// A file with an automaton that accepts the runs that there must not be.
    Automaton(&'a Path),
    /// What the labels of this kind in the model's processes ask.
    Labels(Label),
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

/// What is asked of the runs of a model.
pub struct Watched {
    /// The model; the automaton is a claim of its program, unless nothing can violate it.
    pub model: TextModel,
    /// What the property is called.
    pub name: String,
    /// Accepts the runs that violate it; none where the model's own never claim does, as it stands.
    pub automaton: Option<Automaton>,
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
        let (asked, read) = match wanted {
            Wanted::Labels(_) => (None, None),
            Wanted::Formula(text) => (Some(Asked::Formula(sources.add(FORMULA_NAME, text))), None),
            Wanted::Automaton(path) => {
                let file = sources.add(path.display().to_string(), read_text(path)?);
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
        let loaded = match &asked {
            None => language.load(&mut sources, &options),
            Some(asked) => language.load_asked(&mut sources, &options, asked),
        };
        let mut loaded = loaded.map_err(|diagnostics| Error::text(&diagnostics, &sources))?;
        let observed = match wanted {
            Wanted::Labels(label) => by_labels(&loaded.program, label)?,
            _ => loaded.observed.take().unwrap_or_else(|| unreachable!("it was asked for")),
        };
        let name = name(&observed, read.as_ref(), wanted);
        let automaton = violating(&observed, read.as_ref(), &name)?;
        match &automaton {
            Some(automaton) if automaton.is_empty() => {}
            Some(automaton) => observed.watch(&mut loaded.program, &name, automaton),
            None => let_claims_end(&mut loaded.program),
        }
        let (model, warnings) = TextModel::of(language, sources, options, loaded)?;
        Ok((Watched { model, name, automaton }, warnings))
    }
}

/// What labels of a kind ask of a program.
fn by_labels(program: &Program, label: Label) -> Result<Observed, Error> {
    let missing = || {
        let (model, label) = (&program.name, label.name());
        Error::Unreadable(format!("no process of {model} has a label `{label}`"))
    };
    Observed::labels(program, label).ok_or_else(missing)
}

/// Lets the claim of a program stay at its end.
fn let_claims_end(program: &mut Program) {
    for property in program.properties.keys() {
        if let PropertyKind::Claim(claim) = &mut program.properties[property].kind {
            claim.stay_at_ends();
        }
    }
}

/// What a property is called.
fn name(observed: &Observed, read: Option<&hoa::Read>, wanted: Wanted<'_>) -> String {
    let own = observed.name.clone();
    match wanted {
        Wanted::Formula(text) => own.unwrap_or_else(|| text.trim().to_owned()),
        Wanted::Automaton(path) => {
            let given = read.and_then(|it| it.name.clone());
            given.unwrap_or_else(|| path.display().to_string())
        }
        Wanted::Labels(label) => own.unwrap_or_else(|| label.name().to_owned()),
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
