//! The reasons why reductions are not applied, with the flag that helps.

use crate::model::{NotApplied, Remedy};

/// Formats why a reduction is not applied, and the request that would apply it.
pub fn print_refusal(reason: &NotApplied) -> String {
    let Some(remedy) = reason.remedy() else { return reason.to_string() };
    let help = match remedy {
        Remedy::NoSymmetry => "use `--symmetry off`",
        Remedy::StaticProviso => "use `-X por-proviso=static`",
        Remedy::NoDeadlocks => "use `--no-deadlock`",
        Remedy::OnlyDeadlocks => "use `--only deadlock`",
        Remedy::OnlyClaim => "use `--only claim`",
        Remedy::MoreMemory => "raise --memory",
    };
    format!("{reason}: {help}")
}
