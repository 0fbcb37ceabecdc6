//! Models that are asked whether their runs have a property: a formula, or an automaton that accepts what violates it.

use super::text::read_text;
use super::{Error, TextModel};
use crate::front::{Asked, ClaimChoice, Language, Observed, Options};
use crate::ltl::{self, Automaton, Formula, hoa};
use crate::source::Sources;
use std::path::Path;

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub enum Wanted<'a> {
    /// A formula, or the name of one of the model's.
    Formula(&'a str),
    /// A file with an automaton that accepts the runs that there must not be.
    Automaton(&'a Path),
}

/// What the source of a formula is called in messages.
const FORMULA_NAME: &str = "--ltl";

/// What is asked of the runs of a model.
pub struct Watched {
    /// The model; the automaton is a claim of its program, unless nothing can violate it.
    pub model: TextModel,
    /// What the property is called.
    pub name: String,
    /// Accepts the runs that violate it.
    pub automaton: Automaton,
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
            Wanted::Formula(text) => (Asked::Formula(sources.add(FORMULA_NAME, text)), None),
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
                (Asked::Propositions(files.collect()), Some(read))
            }
        };
        let mut loaded = language
            .load_asked(&mut sources, &options, &asked)
            .map_err(|diagnostics| Error::text(&diagnostics, &sources))?;
        let observed = loaded.observed.take();
        let observed = observed.unwrap_or_else(|| unreachable!("it was asked for"));
        let (name, automaton) = property(&observed, read.as_ref(), wanted)?;
        if !automaton.is_empty() {
            observed.watch(&mut loaded.program, &name, &automaton);
        }
        let (model, warnings) = TextModel::of(language, sources, options, loaded)?;
        Ok((Watched { model, name, automaton }, warnings))
    }
}

/// What a property is called, and the automaton that accepts what violates it.
fn property(
    observed: &Observed,
    read: Option<&hoa::Read>,
    wanted: Wanted<'_>,
) -> Result<(String, Automaton), Error> {
    let propositions: Vec<String> =
        observed.propositions.iter().map(|it| it.text.clone()).collect();
    match wanted {
        Wanted::Formula(text) => {
            if let Some(own) = &observed.automaton {
                let automaton = Automaton { propositions, ..own.clone() };
                return Ok((text.trim().to_owned(), automaton));
            }
            let name = observed.name.clone().unwrap_or_else(|| text.trim().to_owned());
            let violated = Formula::Not(Box::new(observed.formula.clone()));
            let automaton = ltl::translate(&violated, propositions).map_err(|_| {
                Error::Unreadable(format!("the automaton of the formula {name} is too large"))
            })?;
            Ok((name, automaton))
        }
        Wanted::Automaton(path) => {
            let given = read.and_then(|it| it.name.clone());
            let name = given.unwrap_or_else(|| path.display().to_string());
            let read = read.and_then(|it| it.automaton.as_ref());
            Ok((name, ltl::of_generalized(read, propositions)))
        }
    }
}
