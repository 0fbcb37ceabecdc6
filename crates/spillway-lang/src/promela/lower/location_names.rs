//! Names of process locations.

use super::PromelaLowering;
use crate::promela::graph::ControlGraph;
use spillway_base::source::Span;
use std::collections::HashMap;

impl PromelaLowering<'_, '_> {
    /// Returns the names of the locations of a process. A name is the label, or the line (`line 12`, `parts.pml:3`). A
    /// column is added if a line has several locations, and a number if one piece of text has several.
    pub(super) fn location_names(&self, control: &ControlGraph<'_>) -> Vec<String> {
        let located: Vec<(String, String)> =
            control.locations.iter().map(|place| self.line_of(place.span)).collect();
        let mut in_line: HashMap<&str, u32> = HashMap::new();
        for (line, _) in &located {
            *in_line.entry(line).or_default() += 1;
        }
        let mut met: HashMap<(&str, &str), u32> = HashMap::new();
        let mut names = Vec::new();
        for (place, (line, column)) in control.locations.iter().zip(&located) {
            let again = met.entry((line, column)).or_default();
            *again += 1;
            names.push(match (place.labels.first(), in_line[line.as_str()], *again) {
                (Some(label), ..) => label.to_string(),
                (None, 1, _) => line.clone(),
                (None, _, 1) => format!("{line}:{column}"),
                (None, _, again) => format!("{line}:{column} #{again}"),
            });
        }
        names
    }

    /// Returns the line and the column of a span; the line includes the file if that is not the model's own.
    fn line_of(&self, span: Span) -> (String, String) {
        let place = self.sources.locate(span).unwrap_or_default();
        let mut parts = place.rsplitn(3, ':');
        let (column, line, file) = (parts.next(), parts.next(), parts.next());
        let own = self.sources.iter().next().map(|file| &*file.name);
        let line = match (line, file) {
            (None, _) => "start".to_owned(),
            (Some(line), file) if file == own => format!("line {line}"),
            (Some(line), file) => format!("{}:{line}", file.unwrap_or_default()),
        };
        (line, column.unwrap_or_default().to_owned())
    }
}
