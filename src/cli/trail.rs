//! Counterexamples as files that SPIN replays.

use super::failure::CommandFailure;
use super::{languages, say};
use crate::escape;
use crate::front::{MakeTrailWriter, StepSource, TrailEnd, TrailWriter};
use crate::model::{StepDescription, Violation};
use crate::search::trace::Counterexample;
use crate::session::{Error, SourceModel, TextModel};
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

/// A trail that was written. Its message is printed last, where it is visible.
#[must_use]
pub(super) struct WrittenTrail(String);

impl WrittenTrail {
    pub(super) fn say(self) {
        say(self.0);
    }
}

/// Writes a counterexample as a SPIN trail.
pub(super) fn write_counterexample(
    path: &Path,
    model: &dyn SourceModel,
    way: &Counterexample,
) -> Result<WrittenTrail, CommandFailure> {
    let model = program_of(model)?;
    // The claim's moves to its end follow the last state.
    let last = way.last().filter(|_| matches!(way.check(), Violation::Property(_)));
    let product = model.claim().map(|claim| claim.with(&model.interp));
    let last = product.zip(last).and_then(|(product, state)| product.last_moves(state));
    let last = last.unwrap_or_default();
    let mut each_step = |visit: &mut dyn FnMut(&StepDescription)| {
        way.each_step(&mut |step, _| visit(step));
    };
    write(path, model, &mut each_step, TrailEnd::LastMoves(&last))
}

/// Writes steps of a model as a SPIN trail.
pub(super) fn write(
    path: &Path,
    model: &TextModel,
    each_step: &mut StepSource<'_>,
    end: TrailEnd<'_>,
) -> Result<WrittenTrail, CommandFailure> {
    let writer = writer_of(model)?;
    let mut write = || writer.write(each_step, end, &mut BufWriter::new(File::create(path)?));
    write().map_err(|error| CommandFailure::cannot_write("the trail", path, error))?;
    let (shown, path, name) =
        (path.display(), escape::shell_path(path), escape::shell(model.name()));
    let define = |it: String| format!("{} ", escape::shell(&format!("-D{it}")));
    let defines: String = model.options.definitions().map(define).collect();
    Ok(WrittenTrail(format!("wrote {shown}; `spin {defines}-t -p -k {path} {name}` replays it")))
}

/// Returns the writer of trails of a model.
pub(super) fn writer_of(model: &TextModel) -> Result<Box<dyn TrailWriter>, CommandFailure> {
    let (make, mut sources) = (trail_of(model)?, model.sources.clone());
    let made = make(&mut sources, &model.options);
    Ok(made.map_err(|diagnostic| Error::text(&[diagnostic], &sources))?)
}

/// Returns an error if a trail is requested and SPIN does not read the model's language.
pub(super) fn refuse(wanted: Option<&Path>, model: &dyn SourceModel) -> Result<(), CommandFailure> {
    wanted.map_or(Ok(()), |_| trail_of(program_of(model)?).map(drop))
}

/// Returns the trail writer of a model, if SPIN reads its language.
fn trail_of(model: &TextModel) -> Result<MakeTrailWriter, CommandFailure> {
    model.language.spin_trail.ok_or_else(not_replayed)
}

/// Returns the program whose steps SPIN may replay.
pub(super) fn program_of(model: &dyn SourceModel) -> Result<&TextModel, CommandFailure> {
    model.as_program().ok_or_else(not_replayed)
}

fn not_replayed() -> CommandFailure {
    CommandFailure::wrong(format!(
        "only counterexamples of {} models can be replayed by SPIN",
        languages::titles(|language| language.spin_trail.is_some())
    ))
}
