//! What people type who come from other checkers: they are told what is meant here.

use crate::front::{Habit, LANGUAGES, Language};
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// What helps with a command line that is not understood, if it is known from elsewhere.
pub(super) fn help(error: &clap::Error, args: &[String]) -> Option<String> {
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let (typed, meant) = args.iter().find_map(|it| Some((it, meant(it)?)))?;
            Some(format!("help: {typed} is a flag of {meant}"))
        }
        ErrorKind::InvalidSubcommand => {
            let ContextValue::String(file) = error.get(ContextKind::InvalidSubcommand)? else {
                return None;
            };
            Language::of_file(file)?;
            Some(format!("help: `spillway check {file}` searches the model"))
        }
        _ => None,
    }
}

/// Whose flag that is, and what does here what it does there.
fn meant(typed: &str) -> Option<String> {
    let told = |(language, habit): (&Language, &Habit)| {
        format!("other checkers of {}; here: {}", language.title, habit.here)
    };
    let all =
        LANGUAGES.iter().flat_map(|language| language.habits.iter().map(move |it| (*language, it)));
    let told: Vec<String> = all.filter(|(_, habit)| habit.is(typed)).map(told).collect();
    (!told.is_empty()).then(|| told.join(", or of "))
}
