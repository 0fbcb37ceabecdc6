//! Properties of a model that a search does not check: formulas, other claims, labels.

use crate::promela::ast::{ProcessRole, PromelaProcess, PromelaStmt, PromelaStmtKind};
use crate::promela::parse::PromelaModel;
use spillway_base::source::Span;
use spillway_ir::{UncheckedKind, UncheckedRequirement};

/// Returns the unchecked properties, sorted by kind and place, if `chosen` is the claim of the search; the claim may
/// test `progress` labels.
pub(super) fn unchecked_properties(
    model: &PromelaModel,
    chosen: Option<&PromelaProcess>,
    looks_at_progress: bool,
) -> Vec<UncheckedRequirement> {
    let mut found = UncheckedCollector { found: Vec::new() };
    let asked = model.property.as_ref();
    let is_asked = |name: &str| asked.is_some_and(|it| it.name.as_deref() == Some(name));
    for formula in model.formulas.iter().filter(|it| !is_asked(&it.name.text)) {
        found.add(UncheckedKind::Formula, &formula.name.text, formula.name.span);
    }
    for process in &model.processes {
        let is_chosen = chosen.is_some_and(|it| std::ptr::eq(it, process));
        let (name, span) = (&process.name.text, process.name.span);
        match process.role {
            // The search checks the labels of a claim that is the checked property.
            ProcessRole::Never if is_chosen && is_asked(name) => {}
            ProcessRole::Never if is_chosen => found.labels(&process.body, false),
            ProcessRole::Never => found.add(UncheckedKind::Claim, name, span),
            // The labels of a `trace` do not apply to runs.
            ProcessRole::Trace | ProcessRole::NoTrace => found.labels(&process.body, true),
            ProcessRole::Process => found.labels(&process.body, !looks_at_progress),
        }
    }
    let mut all = found.found;
    all.sort_by_key(|it| (it.kind, it.span.file, it.span.start));
    // An `inline` is expanded at every call.
    all.dedup();
    all
}

struct UncheckedCollector {
    found: Vec<UncheckedRequirement>,
}

impl UncheckedCollector {
    fn add(&mut self, kind: UncheckedKind, name: &str, span: Span) {
        self.found.push(UncheckedRequirement { kind, name: name.to_owned(), span });
    }

    /// Collects the labels of statements that a search for cycles would check.
    fn labels(&mut self, body: &[PromelaStmt], progress: bool) {
        for stmt in body {
            self.label(stmt, progress);
        }
    }

    fn label(&mut self, stmt: &PromelaStmt, progress: bool) {
        match &stmt.kind {
            PromelaStmtKind::Labelled(label, inner) => {
                let name = &*label.name.text;
                if name.starts_with("accept") {
                    self.add(UncheckedKind::AcceptLabel, name, label.name.span);
                } else if progress && name.starts_with("progress") {
                    self.add(UncheckedKind::ProgressLabel, name, label.name.span);
                }
                self.label(inner, progress);
            }
            PromelaStmtKind::If(options) | PromelaStmtKind::Do(options) => {
                options.iter().for_each(|option| self.labels(option, progress));
            }
            PromelaStmtKind::Atomic(body)
            | PromelaStmtKind::DStep(body)
            | PromelaStmtKind::Block(body) => {
                self.labels(body, progress);
            }
            PromelaStmtKind::Unless(normal, escape) => {
                self.label(normal, progress);
                self.label(escape, progress);
            }
            _ => {}
        }
    }
}
