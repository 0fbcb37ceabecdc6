//! Headings of `--help`.

/// How the model is read.
pub const MODEL: &str = "Model";
/// Properties of states and transitions.
pub const PROPERTIES: &str = "Properties";
/// Properties of runs.
pub const LIVENESS: &str = "Liveness";
/// How a hunt chooses.
pub const HUNT: &str = "Hunt";
/// Limits of a session, and its directory.
pub const LIMITS: &str = "Limits";
/// What is printed and written.
pub const OUTPUT: &str = "Output";
/// Reductions and their parameters.
pub const REDUCTIONS: &str = "Reductions";
/// How states are stored.
pub const STORAGE: &str = "Storage";
/// Options that few checks need.
pub const EXPERT: &str = "Expert";
