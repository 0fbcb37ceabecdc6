//! SPIN's verdicts on formulas: `pan -a`, and `pan -a -f` for weakly fair runs.

use super::tools::{ToolOutcome, make_verifier, run};
use std::path::Path;
use std::process::Command;

/// SPIN's verdicts on the formulas of a model.
pub struct ClaimVerdicts {
    /// For each formula, whether some run violates it, and whether a weakly fair run does. An entry is `None` if SPIN
    /// does not decide it.
    violated: Vec<[Option<bool>; 2]>,
}

impl ClaimVerdicts {
    /// Returns whether a formula is violated, by some run or by a weakly fair one. Returns `None` if SPIN does not
    /// decide it.
    pub fn of(&self, number: usize, is_fair: bool) -> Option<bool> {
        self.violated[number][usize::from(is_fair)]
    }
}

/// Runs SPIN's verifier of acceptance cycles for the formulas `f0`, `f1` and so on of a model, for all runs and for
/// weakly fair runs.
pub fn spin_claims(text: &str, formulas: usize, folder: &Path) -> ToolOutcome<ClaimVerdicts> {
    if let Some(failed) = make_verifier(text, &["-DNOREDUCE", "-DNFAIR=4"], folder) {
        return failed;
    }
    let violated = |number: usize, fairness: &[&str]| {
        let mut pan = Command::new(folder.join("pan"));
        pan.args(["-a", "-w16", "-m500000", "-N", &format!("f{number}")]).args(fairness);
        let (_, printed) = run(&mut pan, folder)?;
        if printed.contains("max search depth too small") {
            return None;
        }
        let (_, rest) = printed.split_once(", errors: ")?;
        rest.split_whitespace().next()?.parse::<u64>().ok().map(|errors| errors > 0)
    };
    let verdicts = |number| [violated(number, &[]), violated(number, &["-f"])];
    ToolOutcome::Answer(ClaimVerdicts { violated: (0..formulas).map(verdicts).collect() })
}
