//! Why reductions are not applied, with the flag that helps.

use crate::reduce::{NotApplied, Remedy};

/// Why a reduction is not applied, and what can be asked for so that it is.
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
