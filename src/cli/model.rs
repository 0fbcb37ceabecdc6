//! From the model's file to something that can be searched, with every way that can fail.

use super::args::{KeyOrder, ModelArgs};
use super::failure::Failure;
use super::progress::Display;
use super::{languages, say};
use crate::analysis::order::static_order;
use crate::exec::{self, Interp};
use crate::front::{Language, Options};
use crate::ir::layout::{GroupId, NotAnOrder};
use crate::ir::{EndRule, Overflow, validate};
use crate::reduce::Stack;
use crate::reduce::claim::NeverClaim;
use crate::reduce::symmetry::Effort;
use crate::report::Scope;
use crate::search::Checks;
use crate::search::order::sampled;
use crate::source::{self, Sources};
use std::path::Path;

/// A model ready to run, and where it came from.
pub struct Model {
    /// Runs it.
    pub interp: Interp,
    /// The texts it came from, for messages.
    pub sources: Sources,
    /// Its language.
    pub language: &'static Language,
    /// How it was read.
    pub options: Options,
    /// The trouble taken to visit fewer of its symmetric states.
    pub symmetry: Option<Effort>,
}

/// A model as it is searched, and what makes it of the program's own.
pub struct Searched<'m> {
    model: Box<dyn exec::Model + 'm>,
    stack: Stack<'m>,
}

impl<'m> Searched<'m> {
    /// The model.
    pub fn model(&self) -> &(dyn exec::Model + 'm) {
        &*self.model
    }

    /// How it is reduced.
    pub fn stack(&self) -> &Stack<'m> {
        &self.stack
    }
}

impl Model {
    /// Reads the model that the command line names. Warnings go to standard error.
    pub fn open(args: &ModelArgs) -> Result<Model, Failure> {
        let name = args.model.display().to_string();
        let language = languages::of(args)?;
        let text = read_text(&args.model)?;
        let options = Options {
            defines: args.defines.clone(),
            overflow: Some(Overflow::from(args.overflow)),
            deadlock: args.deadlock.map(EndRule::from),
            slots: args.slots,
            claim: args.claim(),
        };
        let shown = Display::of_wait(format!("reading {name}"));
        let mut sources = Sources::default();
        sources.add(name, text);
        let (model, warnings) = Model::load(language, sources, options)?;
        drop(shown);
        warnings.iter().for_each(say);
        Ok(model)
    }

    /// Reads the model in file 0 of `sources`. Gives its warnings, ready to print.
    pub fn load(
        language: &'static Language,
        mut sources: Sources,
        options: Options,
    ) -> Result<(Model, Vec<String>), Failure> {
        let loaded = language
            .load(&mut sources, &options)
            .map_err(|diagnostics| Failure::model(&diagnostics, &sources))?;
        let warnings = loaded.warnings.iter().map(|it| it.render(&sources).to_string()).collect();
        if let Err(problems) = validate::validate(&loaded.program) {
            let listed: Vec<String> =
                problems.iter().map(|it| it.diagnostic().render(&sources).to_string()).collect();
            return Err(Failure::wrong(format!(
                "the program made from this model is not well-formed; this is a fault of spillway, \
                 please report it\n  {}",
                listed.join("\n  ")
            )));
        }
        let interp = Interp::new(loaded.program)
            .map_err(|diagnostic| Failure::model(&[diagnostic], &sources))?;
        Ok((Model { interp, sources, language, options, symmetry: None }, warnings))
    }

    /// The same model, symmetric states visited with this trouble.
    pub fn with_symmetry(self, symmetry: Option<Effort>) -> Model {
        Model { symmetry, ..self }
    }

    /// The model as it is searched.
    pub fn searched(&self) -> Searched<'_> {
        self.searched_by(&self.interp)
    }

    /// The same, with the steps of an executor of this model.
    pub fn searched_by<'m>(&'m self, model: &'m dyn exec::Model) -> Searched<'m> {
        let stack = Stack::of(&self.interp, self.symmetry);
        Searched { model: stack.over(Box::new(model)), stack }
    }

    /// The claim that it is searched with.
    pub fn claim(&self) -> Option<NeverClaim<'_>> {
        NeverClaim::of(&self.interp)
    }

    /// The same model with its states' variables in the order asked for. Where a sample is judged,
    /// gives also what another order than the declared one takes of the declared one's bytes.
    pub fn in_key_order(self, wanted: KeyOrder) -> Result<(Model, Option<f64>), Failure> {
        let fixed = static_order(self.interp.program(), self.interp.layout());
        let (order, share) = match wanted {
            KeyOrder::Declared => return Ok((self, None)),
            KeyOrder::Static => (fixed, None),
            KeyOrder::Sampled => {
                let better = sampled(&self.interp, self.interp.layout(), &fixed);
                match better.map_err(|error| Failure::wrong(error.to_string()))? {
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

    /// The same model with its states' variables in this order.
    pub fn with_order(self, order: &[GroupId]) -> Result<Model, NotAnOrder> {
        Ok(Model { interp: self.interp.with_order(order)?, ..self })
    }

    /// What the order of its states' variables is called.
    pub fn key_order(&self) -> &'static str {
        let layout = self.interp.layout();
        match &layout.order {
            order if order.is_sorted() => "declared",
            order if *order == static_order(self.interp.program(), layout) => "static",
            _ => "sampled",
        }
    }

    /// What a search of it for `checks` looks for, and what not.
    pub fn scope(&self, checks: &Checks) -> Scope {
        Scope::of(self.interp.program(), checks, &self.sources)
    }

    /// The name of the model's file.
    pub fn name(&self) -> &str {
        &self.sources.file(0).name
    }
}

fn read_text(path: &Path) -> Result<String, Failure> {
    let name = path.display();
    let bytes = source::read(path)
        .map_err(|error| Failure::wrong(format!("cannot read the model {name}: {error}")))?;
    let text = String::from_utf8(bytes).or_else(|error| {
        let bytes = error.into_bytes();
        // Comments of old models are often in Latin-1; a zero byte is in no text.
        match bytes.contains(&0) {
            true => Err(Failure::wrong(format!("{name} is not a text file, so not a model"))),
            false => Ok(bytes.iter().map(|&byte| char::from(byte)).collect()),
        }
    })?;
    match text.trim().is_empty() {
        true => Err(Failure::wrong(format!("{name} is empty, so not a model"))),
        false => Ok(text),
    }
}
