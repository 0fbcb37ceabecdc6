//! Paths of a walk in formats of other tools.

use super::failure::CommandFailure;
use super::model_walk::ModelWalk;
use super::trail;
use crate::front::TrailEnd;
use crate::model::StepDescription;
use crate::report::{self, TraceFormat};

/// A format of an exported path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExportFormat {
    /// A format of `spillway trace --as`.
    Trace(TraceFormat),
    /// A trail of SPIN.
    Trail,
}

/// A format with its names.
pub(super) struct ExportEntry {
    /// The name in addresses of the explorer.
    // Only the explorer reads it.
    #[cfg_attr(not(feature = "http"), expect(dead_code))]
    pub name: &'static str,
    /// The title.
    pub title: &'static str,
    /// The extension of the file.
    pub extension: &'static str,
    /// The format.
    pub format: ExportFormat,
}

/// All formats.
pub(super) const EXPORTS: &[ExportEntry] = &[
    entry("csv", "CSV", "csv", ExportFormat::Trace(TraceFormat::Csv)),
    entry("itf", "ITF (JSON)", "itf.json", ExportFormat::Trace(TraceFormat::Itf)),
    entry(TraceFormat::TLC_NAME, "TLC", "txt", ExportFormat::Trace(TraceFormat::Tlc)),
    entry("plantuml", "PlantUML", "puml", ExportFormat::Trace(TraceFormat::PlantUml)),
    entry("mermaid", "Mermaid", "mmd", ExportFormat::Trace(TraceFormat::Mermaid)),
    entry("trail", "SPIN trail", "trail", ExportFormat::Trail),
];

const fn entry(
    name: &'static str,
    title: &'static str,
    extension: &'static str,
    format: ExportFormat,
) -> ExportEntry {
    ExportEntry { name, title, extension, format }
}

/// Returns the path of a walk in a format, under a title.
pub(super) fn export(
    walk: &ModelWalk<'_>,
    format: ExportFormat,
    title: &str,
) -> Result<Vec<u8>, CommandFailure> {
    match format {
        ExportFormat::Trace(format) => {
            let (steps, model) = (walk.walked_steps(), walk.model);
            Ok(report::format_steps(format, model.name(), model.sources(), &steps, title).into())
        }
        ExportFormat::Trail => export_trail(walk),
    }
}

fn export_trail(walk: &ModelWalk<'_>) -> Result<Vec<u8>, CommandFailure> {
    let writer = trail::writer_of(trail::program_of(walk.model)?)?;
    let mut each_step = |visit: &mut dyn FnMut(&StepDescription)| {
        walk.steps.iter().for_each(|it| visit(&it.step));
    };
    let mut text = Vec::new();
    let written = writer.write(&mut each_step, TrailEnd::LastMoves(&[]), &mut text);
    let failed = |error| CommandFailure::wrong(format!("cannot write the trail: {error}"));
    written.map_err(failed).map(|()| text)
}
