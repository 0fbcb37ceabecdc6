//! The reasons why reductions are not applied, with the flag that helps.

use crate::model::{NotApplied, Remedy};

/// Formats why a reduction is not applied, and the request that would apply it.
pub fn print_refusal(reason: &NotApplied) -> String {
    let Some(remedy) = reason.remedy() else { return reason.to_string() };
    let help = match remedy {
        Remedy::NoSymmetry => "ask for `--symmetry off`",
        Remedy::StaticProviso => "ask for `--por-proviso static`",
        Remedy::NoDeadlocks => "look for none (--no-deadlock)",
        Remedy::OnlyDeadlocks => "ask for `--only deadlock`",
        Remedy::OnlyClaim => "ask for `--only claim`",
        Remedy::MoreMemory => "give more with --memory",
    };
    format!("{reason}: {help}")
}
