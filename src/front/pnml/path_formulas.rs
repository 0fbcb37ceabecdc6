//! What formulas of branching time are about: paths, and states on them.

use super::parse::PnmlTerm;

/// Whether each quantifier of paths stands right before an operator about the rest of a path, and each of these right behind
/// one.
pub(super) fn is_branching(term: &PnmlTerm) -> bool {
    match term.name() {
        "exists-path" | "all-paths" => match term.terms.as_slice() {
            [path] => is_path(path) && states_of(path).all(is_branching),
            _ => false,
        },
        _ if is_path(term) => false,
        _ => term.terms.iter().all(is_branching),
    }
}

/// Whether a term says something of the rest of a path.
pub(super) fn is_path(term: &PnmlTerm) -> bool {
    matches!(term.name(), "globally" | "finally" | "next" | "until")
}

/// The formulas on states that a path is about.
pub(super) fn states_of(path: &PnmlTerm) -> impl Iterator<Item = &PnmlTerm> {
    let is_side = |it: &PnmlTerm| matches!(it.name(), "before" | "reach");
    path.terms
        .iter()
        .flat_map(move |it| if is_side(it) { &it.terms[..] } else { std::slice::from_ref(it) })
}
