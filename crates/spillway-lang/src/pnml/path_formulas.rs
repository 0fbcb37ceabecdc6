//! The path structure of formulas.

use super::parse::PnmlTerm;

/// Returns whether a formula is in CTL: each path quantifier is directly before a path operator, and each path operator
/// directly after a quantifier.
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

/// Returns whether a term is a path operator.
pub(super) fn is_path(term: &PnmlTerm) -> bool {
    matches!(term.name(), "globally" | "finally" | "next" | "until")
}

/// Returns the state formulas to which a path formula applies.
pub(super) fn states_of(path: &PnmlTerm) -> impl Iterator<Item = &PnmlTerm> {
    let is_side = |it: &PnmlTerm| matches!(it.name(), "before" | "reach");
    path.terms
        .iter()
        .flat_map(move |it| if is_side(it) { &it.terms[..] } else { std::slice::from_ref(it) })
}
